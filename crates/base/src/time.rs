//! Instants as 100-ns ticks since 0001-01-01, the unit behind Azure's ETags, and their text forms.
//!
//! Must never read a clock: `now` is always an argument.

use crate::text::trimmed;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// Ticks (100 ns) in one second.
pub const TICKS_PER_SECOND: u64 = 10_000_000;
const SECONDS_PER_DAY: u64 = 86_400;
/// Ticks from 0001-01-01 to 1970-01-01.
pub const UNIX_EPOCH_TICKS: u64 = 621_355_968_000_000_000;
/// The last tick of the year 9999, the largest instant any text form can show.
pub const MAX_TICKS: u64 = 3_155_378_975_999_999_999;

/// An instant: 100-ns ticks since 0001-01-01T00:00:00Z.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(pub u64);

/// The instant the store assigned to a commit: unique and strictly rising over the life of a store.
///
/// It is what ETag and Last-Modified are made of, so it must never repeat, even after a delete.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Stamp(pub u64);

impl Stamp {
    /// The stamp read as an instant.
    pub fn time(self) -> Timestamp {
        Timestamp(self.0)
    }
}

impl Timestamp {
    /// From seconds since 1970.
    pub fn from_unix_seconds(seconds: u64) -> Self {
        Self(UNIX_EPOCH_TICKS.saturating_add(seconds.saturating_mul(TICKS_PER_SECOND)))
    }

    /// From the time since 1970.
    pub fn from_unix(since: Duration) -> Self {
        let ticks = u64::try_from(since.as_nanos() / 100).unwrap_or(u64::MAX);
        Self(UNIX_EPOCH_TICKS.saturating_add(ticks).min(MAX_TICKS))
    }

    /// Whole seconds since 1970 (0 for anything earlier).
    pub fn unix_seconds(self) -> u64 {
        self.0.saturating_sub(UNIX_EPOCH_TICKS) / TICKS_PER_SECOND
    }

    /// The same instant with the fraction of the second cut off; HTTP dates compare like this.
    #[must_use]
    pub fn whole_seconds(self) -> Self {
        Self(self.0 - self.0 % TICKS_PER_SECOND)
    }

    /// This instant and `by` after it, never beyond the year 9999.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        let ticks = u64::try_from(by.as_nanos() / 100).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(ticks).min(MAX_TICKS))
    }

    /// How long from `earlier` to here; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        let ticks = self.0.saturating_sub(earlier.0);
        Duration::from_secs(ticks / TICKS_PER_SECOND)
            + Duration::from_nanos(ticks % TICKS_PER_SECOND * 100)
    }

    fn civil(self) -> Civil {
        let seconds = self.0 / TICKS_PER_SECOND;
        let (year, month, day) = date_of_day(seconds / SECONDS_PER_DAY);
        let in_day = seconds % SECONDS_PER_DAY;
        Civil {
            year,
            month,
            day,
            hour: in_day / 3600,
            minute: in_day / 60 % 60,
            second: in_day % 60,
            fraction: self.0 % TICKS_PER_SECOND,
        }
    }

    /// `Sun, 15 Nov 2026 04:42:16 GMT`.
    pub fn rfc1123(self) -> Rfc1123 {
        Rfc1123(self)
    }

    /// `2026-11-15T04:42:16.1234567Z`, the form of snapshot ids and error bodies.
    pub fn iso7(self) -> Iso7 {
        Iso7(self)
    }

    /// Parses an HTTP date: RFC 1123, or RFC 850 which Azure also accepts.
    pub fn parse_http(text: &str) -> Option<Self> {
        if let Some(usual) = parse_usual(text) {
            return Some(usual);
        }
        let (_weekday, rest) = trimmed(text).split_once(',')?;
        let rest = rest.trim();
        if rest.contains('-') { parse_rfc850(rest) } else { parse_rfc1123(rest) }
    }

    /// Parses the ISO 8601 forms of SAS tokens and access policies: a date, optionally a time with
    /// minutes, seconds and up to seven fractional digits, and `Z` or `±hh:mm`.
    pub fn parse_iso(text: &str) -> Option<Self> {
        parse_iso(text)
    }
}

struct Civil {
    year: u64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
    fraction: u64,
}

/// Displays as RFC 1123.
pub struct Rfc1123(Timestamp);

impl fmt::Display for Rfc1123 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let c = self.0.civil();
        let weekday = self.0.0 / TICKS_PER_SECOND / SECONDS_PER_DAY % 7;
        // By hand: every answer carries two or three of these, and the machinery of `write!` costs
        // more than all the rest of them.
        let mut text = *b"Www, 00 Mmm 0000 00:00:00 GMT";
        text[..3].copy_from_slice(pick(&WEEKDAYS, weekday).as_bytes());
        text[8..11].copy_from_slice(pick(&MONTHS, c.month - 1).as_bytes());
        for (at, value) in [(5, c.day), (12, c.year / 100), (14, c.year % 100)] {
            two_digits(&mut text, at, value);
        }
        for (at, value) in [(17, c.hour), (20, c.minute), (23, c.second)] {
            two_digits(&mut text, at, value);
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

fn two_digits(text: &mut [u8], at: usize, value: u64) {
    let digit = |value: u64| b'0' + u8::try_from(value % 10).unwrap_or_default();
    text[at] = digit(value / 10);
    text[at + 1] = digit(value);
}

/// Displays as ISO 8601 with seven fractional digits.
pub struct Iso7(Timestamp);

impl Iso7 {
    /// The text, as ASCII.
    pub fn bytes(&self) -> [u8; 28] {
        let c = self.0.civil();
        // By hand: most answers have one of these, and the formatter takes its time.
        let mut text = *b"0000-00-00T00:00:00.0000000Z";
        let fields = [
            (0..4, c.year),
            (5..7, c.month),
            (8..10, c.day),
            (11..13, c.hour),
            (14..16, c.minute),
            (17..19, c.second),
            (20..27, c.fraction),
        ];
        for (at, mut left) in fields {
            for digit in text[at].iter_mut().rev() {
                *digit = b'0' + u8::try_from(left % 10).unwrap_or_default();
                left /= 10;
            }
        }
        text
    }
}

impl fmt::Display for Iso7 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.bytes()).unwrap_or_default())
    }
}

/// 0001-01-01 was a Monday.
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn pick<'a>(names: &[&'a str], index: u64) -> &'a str {
    usize::try_from(index).ok().and_then(|i| names.get(i)).copied().unwrap_or("???")
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_in_month(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 0001-01-01 to the first day of `year`.
fn days_before_year(year: u64) -> u64 {
    let y = year - 1;
    y * 365 + y / 4 - y / 100 + y / 400
}

/// Days of 400 years; they repeat.
const ERA_DAYS: u64 = 146_097;

/// The date that comes `day` days after 0001-01-01. Years are counted from March here, so that the day
/// a leap year adds is its last, and months have their lengths in a regular order.
fn date_of_day(day: u64) -> (u64, u64, u64) {
    /// From 0000-03-01 to 0001-01-01.
    const SINCE_MARCH: u64 = 306;
    let day = day + SINCE_MARCH;
    let (era, in_era) = (day / ERA_DAYS, day % ERA_DAYS);
    let year = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / (ERA_DAYS - 1)) / 365;
    let in_year = in_era - (year * 365 + year / 4 - year / 100);
    let month = (in_year * 5 + 2) / 153;
    let in_month = in_year - (month * 153 + 2) / 5;
    let (years, month) = if month < 10 { (0, month + 3) } else { (1, month - 9) };
    (era * 400 + year + years, month, in_month + 1)
}

/// Days before each month of a year that has no leap day.
const DAYS_BEFORE_MONTH: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

fn days_before_month(year: u64, month: u64) -> u64 {
    let before = usize::try_from(month - 1).ok().and_then(|at| DAYS_BEFORE_MONTH.get(at));
    before.copied().unwrap_or_default() + u64::from(month > 2 && is_leap(year))
}

fn from_civil(c: &Civil) -> Option<Timestamp> {
    let valid = (1..=9999).contains(&c.year)
        && (1..=12).contains(&c.month)
        && c.day >= 1
        && c.day <= days_in_month(c.year, c.month)
        && c.hour < 24
        && c.minute < 60
        && c.second < 60;
    if !valid {
        return None;
    }
    let days = days_before_year(c.year) + days_before_month(c.year, c.month) + (c.day - 1);
    let seconds = days * SECONDS_PER_DAY + c.hour * 3600 + c.minute * 60 + c.second;
    Some(Timestamp(seconds * TICKS_PER_SECOND + c.fraction))
}

/// Exactly `width` ASCII digits.
fn digits(text: &str, width: usize) -> Option<u64> {
    let fits = text.len() == width && text.bytes().all(|b| b.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

fn clock_fields(text: &str) -> Option<(u64, u64, u64)> {
    let mut parts = text.split(':');
    let hour = digits(parts.next()?, 2)?;
    let minute = digits(parts.next()?, 2)?;
    let second = digits(parts.next()?, 2)?;
    if parts.next().is_some() { None } else { Some((hour, minute, second)) }
}

fn month_number(name: &str) -> Option<u64> {
    let index = MONTHS.iter().position(|m| m.eq_ignore_ascii_case(name))?;
    u64::try_from(index + 1).ok()
}

/// The form that nearly every request is dated in, each field at its place; `None` for any other.
fn parse_usual(text: &str) -> Option<Timestamp> {
    const FORM: &[u8; 29] = b"Www, 00 Mmm 0000 00:00:00 GMT";
    let text: &[u8; 29] = text.as_bytes().try_into().ok()?;
    let fits = text.iter().zip(FORM).all(|(sent, form)| match form {
        b'0' => sent.is_ascii_digit(),
        b'W' | b'w' | b'M' | b'm' => sent.is_ascii_alphabetic(),
        other => sent == other,
    });
    if !fits {
        return None;
    }
    let number = |at: Range<usize>| text[at].iter().fold(0, |n, b| n * 10 + u64::from(b - b'0'));
    let month = MONTHS.iter().position(|month| month.as_bytes() == &text[8..11])?;
    from_civil(&Civil {
        year: number(12..16),
        month: u64::try_from(month).ok()? + 1,
        day: number(5..7),
        hour: number(17..19),
        minute: number(20..22),
        second: number(23..25),
        fraction: 0,
    })
}

fn parse_rfc1123(rest: &str) -> Option<Timestamp> {
    let mut parts = rest.split_ascii_whitespace();
    let day = parts.next()?;
    let day = digits(day, 2).or_else(|| digits(day, 1))?;
    let month = month_number(parts.next()?)?;
    let year = digits(parts.next()?, 4)?;
    let (hour, minute, second) = clock_fields(parts.next()?)?;
    if parts.next() != Some("GMT") || parts.next().is_some() {
        return None;
    }
    from_civil(&Civil { year, month, day, hour, minute, second, fraction: 0 })
}

fn parse_rfc850(rest: &str) -> Option<Timestamp> {
    let mut parts = rest.split_ascii_whitespace();
    let mut date = parts.next()?.split('-');
    let day = digits(date.next()?, 2)?;
    let month = month_number(date.next()?)?;
    let short = digits(date.next()?, 2)?;
    let year = if short < 70 { 2000 + short } else { 1900 + short };
    let (hour, minute, second) = clock_fields(parts.next()?)?;
    if date.next().is_some() || parts.next() != Some("GMT") || parts.next().is_some() {
        return None;
    }
    from_civil(&Civil { year, month, day, hour, minute, second, fraction: 0 })
}

fn parse_iso(text: &str) -> Option<Timestamp> {
    let date = text.get(..10)?;
    let mut parts = date.split('-');
    let year = digits(parts.next()?, 4)?;
    let month = digits(parts.next()?, 2)?;
    let day = digits(parts.next()?, 2)?;
    let mut c = Civil { year, month, day, hour: 0, minute: 0, second: 0, fraction: 0 };
    let rest = text.get(10..)?;
    if rest.is_empty() {
        return from_civil(&c);
    }
    let rest = rest.strip_prefix('T')?;
    let zone_at = rest.find(['Z', '+', '-'])?;
    let (clock, zone) = rest.split_at(zone_at);
    let (clock, fraction) = match clock.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (clock, None),
    };
    let mut fields = clock.split(':');
    c.hour = digits(fields.next()?, 2)?;
    c.minute = digits(fields.next()?, 2)?;
    if let Some(second) = fields.next() {
        c.second = digits(second, 2)?;
    } else if fraction.is_some() {
        return None;
    }
    if fields.next().is_some() {
        return None;
    }
    if let Some(fraction) = fraction {
        if fraction.is_empty() || fraction.len() > 7 {
            return None;
        }
        let scale = 10_u64.pow(u32::try_from(7 - fraction.len()).ok()?);
        c.fraction = digits(fraction, fraction.len())? * scale;
    }
    apply_zone(from_civil(&c)?, zone)
}

fn apply_zone(local: Timestamp, zone: &str) -> Option<Timestamp> {
    if zone == "Z" {
        return Some(local);
    }
    let (sign, offset) = zone.split_at_checked(1)?;
    let (hours, minutes) = offset.split_once(':')?;
    let minutes = digits(hours, 2)? * 60 + digits(minutes, 2)?;
    let ticks = minutes * 60 * TICKS_PER_SECOND;
    match sign {
        "+" => local.0.checked_sub(ticks).map(Timestamp),
        "-" => local.0.checked_add(ticks).filter(|t| *t <= MAX_TICKS).map(Timestamp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_has_its_date() {
        let (mut year, mut month, mut day) = (1, 1, 1);
        for number in 0..days_before_year(10_000) {
            assert_eq!(date_of_day(number), (year, month, day), "day {number}");
            let before = days_before_year(year) + days_before_month(year, month);
            assert_eq!(before + day - 1, number, "{year}-{month}-{day}");
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
    }

    #[test]
    fn the_usual_form_is_read_as_the_others_are() {
        let form = |text: &str| parse_usual(text).is_some();
        assert!(form("Sun, 15 Nov 2026 04:42:16 GMT"));
        for text in [
            "Sun, 15 Nov 2026 04:42:16 GMT",
            "Xyz, 29 Feb 2024 23:59:59 GMT",
            "Sun, 29 Feb 2026 04:42:16 GMT",
            "Sun, 15 nov 2026 04:42:16 GMT",
            "Sun, 15 Nov 2026 24:42:16 GMT",
            "Sun, 15 Nov 2026 04:42:16 UTC",
            "S,n, 15 Nov 2026 04:42:16 GMT",
            "Sun, 15 Nov 2026 04:42:16 GMT ",
            "Sun,  5 Nov 2026 04:42:16 GMT",
        ] {
            let slow = text.split_once(',').and_then(|(_, rest)| parse_rfc1123(rest));
            assert!(parse_usual(text).is_none_or(|quick| Some(quick) == slow), "{text}");
        }
    }

    #[test]
    fn http_dates_round_trip() {
        for (unix, text) in [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (951_827_696, "Tue, 29 Feb 2000 12:34:56 GMT"),
            (1_794_717_736, "Sun, 15 Nov 2026 04:42:16 GMT"),
        ] {
            let t = Timestamp::from_unix_seconds(unix);
            assert_eq!(t.rfc1123().to_string(), text);
            assert_eq!(Timestamp::parse_http(text), Some(t), "{text}");
        }
        assert_eq!(
            Timestamp::parse_http("Sunday, 06-Nov-94 08:49:37 GMT").map(Timestamp::unix_seconds),
            Some(784_111_777)
        );
    }

    #[test]
    fn bad_http_dates_are_refused() {
        for text in [
            "",
            "Sun",
            "Sun, 31 Feb 2026 00:00:00 GMT",
            "Sun, 15 Nov 2026 24:00:00 GMT",
            "Sun, 15 Nov 2026 04:42:16 UTC",
            "Sun, 15 Nov 2026 04:42:16 GMT x",
            "Sun, 15 Nov 10000 04:42:16 GMT",
        ] {
            assert_eq!(Timestamp::parse_http(text), None, "{text}");
        }
    }

    #[test]
    fn iso_forms() {
        let day = Timestamp::parse_iso("2026-11-15");
        for (text, ticks) in [
            ("2026-11-15T00:00Z", 0),
            ("2026-11-15T01:30+01:30", 0),
            ("2026-11-14T22:00:00-02:00", 0),
            ("2026-11-15T00:00:00.1Z", 1_000_000),
            ("2026-11-15T00:00:00.0000001Z", 1),
        ] {
            let want = day.map(|d| Timestamp(d.0 + ticks));
            assert_eq!(Timestamp::parse_iso(text), want, "{text}");
        }
        for text in ["2026-11-15T", "2026-11-15T00:00", "2026-13-01", "x", "2026-11-15T00:00:00.Z"]
        {
            assert_eq!(Timestamp::parse_iso(text), None, "{text}");
        }
    }

    #[test]
    fn iso7_round_trips_every_day_of_four_centuries() {
        for day in (0..146_097 * 2).step_by(17) {
            let t = Timestamp(day * SECONDS_PER_DAY * TICKS_PER_SECOND + 1_234_567);
            assert_eq!(Timestamp::parse_iso(&t.iso7().to_string()), Some(t));
        }
    }
}
