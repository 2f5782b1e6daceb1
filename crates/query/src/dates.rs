//! Instants: the forms of ISO 8601 that queries know, their parts, and arithmetic on them.
//!
//! Must never read a clock: `UTCNOW` is given from outside.

use std::cmp::Ordering;
use std::fmt::Write as _;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// An instant, and the offset from UTC it was written with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Microseconds since 1970.
    micros: i64,
    /// Minutes east of UTC.
    offset: i64,
}

impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        self.micros == other.micros
    }
}

impl Moment {
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        self.micros.cmp(&other.micros)
    }
}

/// A part of a date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    TimezoneHour,
    TimezoneMinute,
}

impl Part {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text.to_ascii_lowercase().as_str() {
            "year" => Self::Year,
            "month" => Self::Month,
            "day" => Self::Day,
            "hour" => Self::Hour,
            "minute" => Self::Minute,
            "second" => Self::Second,
            "timezone_hour" => Self::TimezoneHour,
            "timezone_minute" => Self::TimezoneMinute,
            _ => return None,
        })
    }
}

struct Civil {
    year: i64,
    month: i64,
    day: i64,
    /// Microseconds since midnight.
    within: i64,
}

/// Days since 1970 of a date of the proleptic Gregorian calendar.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let shifted = (month + 9) % 12;
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

fn days_in(year: i64, month: i64) -> i64 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_of(next_year, next, 1) - days_of(year, month, 1)
}

impl Moment {
    /// From microseconds since 1970, in UTC.
    pub(crate) fn at(micros: i64) -> Self {
        Self { micros, offset: 0 }
    }

    /// Reads a year, a month, a day, or a day with a time; `T` may end any of the first three.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let year = digits(&mut rest, 4)?;
        let mut month = 1;
        let mut day = 1;
        if take(&mut rest, "-") {
            month = digits(&mut rest, 2)?;
            if take(&mut rest, "-") {
                day = digits(&mut rest, 2)?;
            }
        }
        let has_time = take(&mut rest, "T") || take(&mut rest, "t") || take(&mut rest, " ");
        let (mut within, mut offset) = (0, 0);
        if has_time && !rest.is_empty() {
            (within, offset) = time(&mut rest)?;
        }
        let legal = (1..=9999).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_in(year, month)).contains(&day)
            && rest.is_empty();
        let micros = days_of(year, month, day) * DAY + within - offset * MINUTE;
        legal.then_some(Self { micros, offset })
    }

    fn civil(self) -> Civil {
        let local = self.micros + self.offset * MINUTE;
        let (year, month, day) = date_of(local.div_euclid(DAY));
        Civil { year, month, day, within: local.rem_euclid(DAY) }
    }

    pub(crate) fn iso(self) -> String {
        let Civil { year, month, day, within } = self.civil();
        let (hour, minute, second) = (within / HOUR, within / MINUTE % 60, within / SECOND % 60);
        let millis = within / 1_000 % 1_000;
        let mut text =
            format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}");
        if self.offset == 0 {
            text.push('Z');
        } else {
            text.push_str(&self.zone(true, ":", false));
        }
        text
    }

    pub(crate) fn extract(self, part: Part) -> i64 {
        let civil = self.civil();
        match part {
            Part::Year => civil.year,
            Part::Month => civil.month,
            Part::Day => civil.day,
            Part::Hour => civil.within / HOUR,
            Part::Minute => civil.within / MINUTE % 60,
            Part::Second => civil.within / SECOND % 60,
            Part::TimezoneHour => self.offset / 60,
            Part::TimezoneMinute => self.offset % 60,
        }
    }

    /// `None` when the result lies outside the years 1 to 9999.
    pub(crate) fn add(self, part: Part, quantity: i64) -> Option<Self> {
        let by = |unit: i64| quantity.checked_mul(unit)?.checked_add(self.micros);
        let micros = match part {
            Part::Second => by(SECOND)?,
            Part::Minute => by(MINUTE)?,
            Part::Hour => by(HOUR)?,
            Part::Day => by(DAY)?,
            Part::Month => self.add_months(quantity)?,
            Part::Year => self.add_months(quantity.checked_mul(12)?)?,
            Part::TimezoneHour | Part::TimezoneMinute => return None,
        };
        let year = date_of(micros.div_euclid(DAY)).0;
        (1..=9999).contains(&year).then_some(Self { micros, ..self })
    }

    /// A day that the new month does not have becomes its last.
    fn add_months(self, months: i64) -> Option<i64> {
        let civil = self.civil();
        let total = (civil.year * 12 + civil.month - 1).checked_add(months)?;
        let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
        if !(1..=9999).contains(&year) {
            return None;
        }
        let day = civil.day.min(days_in(year, month));
        Some(days_of(year, month, day) * DAY + civil.within - self.offset * MINUTE)
    }

    /// Whole units from `self` to `other`.
    pub(crate) fn until(self, part: Part, other: Self) -> Option<i64> {
        let apart = other.micros - self.micros;
        Some(match part {
            Part::Second => apart / SECOND,
            Part::Minute => apart / MINUTE,
            Part::Hour => apart / HOUR,
            Part::Day => apart / DAY,
            Part::Month => self.months_until(other),
            Part::Year => self.months_until(other) / 12,
            Part::TimezoneHour | Part::TimezoneMinute => return None,
        })
    }

    fn months_until(self, other: Self) -> i64 {
        let (a, b) = (Self { offset: 0, ..self }.civil(), Self { offset: 0, ..other }.civil());
        let months = (b.year - a.year) * 12 + b.month - a.month;
        let (from, to) = ((a.day, a.within), (b.day, b.within));
        if months > 0 && to < from {
            months - 1
        } else if months < 0 && to > from {
            months + 1
        } else {
            months
        }
    }

    fn zone(self, minutes: bool, colon: &str, bare_zero: bool) -> String {
        if bare_zero && self.offset == 0 {
            return "Z".to_owned();
        }
        let sign = if self.offset < 0 { '-' } else { '+' };
        let (hours, rest) = (self.offset.abs() / 60, self.offset.abs() % 60);
        if minutes {
            format!("{sign}{hours:02}{colon}{rest:02}")
        } else {
            format!("{sign}{hours:02}")
        }
    }

    /// By a pattern of letters: a run of one letter is one field, all else stands for itself.
    pub(crate) fn format(self, pattern: &str) -> String {
        let mut out = String::new();
        let mut rest = pattern;
        while let Some(letter) = rest.chars().next() {
            let end = rest.find(|c| c != letter).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            self.field(&mut out, letter, run);
            rest = after;
        }
        out
    }

    fn field(self, out: &mut String, letter: char, run: &str) {
        let Civil { year, month, day, within } = self.civil();
        let hour = within / HOUR;
        let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
        let name = usize::try_from(month - 1).ok().and_then(|m| MONTHS.get(m)).unwrap_or(&"");
        let count = run.len();
        let number = |value: i64| if count > 1 { format!("{value:02}") } else { value.to_string() };
        let field = match letter {
            'y' if count == 2 => format!("{:02}", year % 100),
            'y' => format!("{year:04}"),
            'M' if count >= 4 => (*name).to_owned(),
            'M' if count == 3 => name.get(..3).unwrap_or(name).to_owned(),
            'M' => number(month),
            'd' => number(day),
            'a' => (if hour < 12 { "AM" } else { "PM" }).to_owned(),
            'h' => number(twelve),
            'H' => number(hour),
            'm' => number(within / MINUTE % 60),
            's' => number(within / SECOND % 60),
            'S' => format!("{:06}", within % SECOND).chars().take(count).collect(),
            'X' | 'x' => {
                let colon = if matches!(count, 3 | 5) { ":" } else { "" };
                self.zone(count > 1, colon, letter == 'X')
            }
            _ => run.to_owned(),
        };
        // Writing to a String cannot fail.
        let _ = out.write_str(&field);
    }
}

fn take(rest: &mut &str, text: &str) -> bool {
    match rest.strip_prefix(text) {
        Some(after) => {
            *rest = after;
            true
        }
        None => false,
    }
}

fn digits(rest: &mut &str, count: usize) -> Option<i64> {
    let text = rest.get(..count)?;
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    *rest = rest.get(count..)?;
    text.parse().ok()
}

/// `hh:mm[:ss[.f]][Z|±hh:mm]`: microseconds since midnight, and minutes east of UTC.
fn time(rest: &mut &str) -> Option<(i64, i64)> {
    let hour = digits(rest, 2)?;
    if !take(rest, ":") {
        return None;
    }
    let minute = digits(rest, 2)?;
    let (mut second, mut fraction) = (0, 0);
    if take(rest, ":") {
        second = digits(rest, 2)?;
        if take(rest, ".") {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (digits, after) = rest.split_at(end);
            let padded: String = digits.chars().chain("000000".chars()).take(6).collect();
            fraction = if digits.is_empty() { return None } else { padded.parse().ok()? };
            *rest = after;
        }
    }
    let offset = if rest.is_empty() || take(rest, "Z") || take(rest, "z") {
        0
    } else {
        let sign = if take(rest, "-") { -1 } else { i64::from(take(rest, "+")) };
        let hours = digits(rest, 2)?;
        take(rest, ":");
        let minutes = if rest.is_empty() { 0 } else { digits(rest, 2)? };
        if sign == 0 || hours > 14 || minutes > 59 {
            return None;
        }
        sign * (hours * 60 + minutes)
    };
    let legal = hour < 24 && minute < 60 && second < 60;
    legal.then_some((hour * HOUR + minute * MINUTE + second * SECOND + fraction, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for (text, want) in [
            ("2007T", Some("2007-01-01T00:00:00.000Z")),
            ("2007", Some("2007-01-01T00:00:00.000Z")),
            ("2007-02T", Some("2007-02-01T00:00:00.000Z")),
            ("2007-02-23", Some("2007-02-23T00:00:00.000Z")),
            ("2007-02-23T12:14Z", Some("2007-02-23T12:14:00.000Z")),
            ("2007-02-23T12:14:33.079-08:00", Some("2007-02-23T12:14:33.079-08:00")),
            ("1969-07-20T20:18Z", Some("1969-07-20T20:18:00.000Z")),
            ("2024-02-29", Some("2024-02-29T00:00:00.000Z")),
            ("2023-02-29", None),
            ("2023-13-01", None),
            ("2023-01-01T25:00", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(Moment::parse(text).map(Moment::iso).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn arithmetic() {
        let of = |text: &str| Moment::parse(text).unwrap_or(Moment::at(0));
        for (from, part, by, want) in [
            ("2017-01-02T03:04:05.006Z", Part::Minute, 1, "2017-01-02T03:05:05.006Z"),
            ("2024-01-31T00:00Z", Part::Month, 1, "2024-02-29T00:00:00.000Z"),
            ("2024-02-29T00:00Z", Part::Year, -1, "2023-02-28T00:00:00.000Z"),
            ("2026-12-31T23:00Z", Part::Hour, 2, "2027-01-01T01:00:00.000Z"),
        ] {
            let got = of(from).add(part, by).map(Moment::iso);
            assert_eq!(got.as_deref(), Some(want), "{from}");
        }
        assert!(of("2026").add(Part::Year, i64::MAX).is_none());
        let (a, b) = (of("2018-11-09T00:00+05:30"), of("2018-11-09T01:00:23-08:00"));
        assert_eq!(a.until(Part::Hour, b), Some(14));
        assert_eq!(of("2020-01-31").until(Part::Month, of("2020-03-30")), Some(1));
        assert_eq!(of("2020-01-31").until(Part::Year, of("2019-01-31")), Some(-1));
        assert_eq!(of("2010-01-01T").extract(Part::Year), 2010);
    }

    #[test]
    fn patterns() {
        let moment = Moment::parse("1969-07-20T20:18:07.25+05:30").unwrap_or(Moment::at(0));
        for (pattern, want) in [
            ("MMMM d, y", "July 20, 1969"),
            ("yy-MM-dd", "69-07-20"),
            ("MMM dd yyyy", "Jul 20 1969"),
            ("hh:mm a", "08:18 PM"),
            ("H:m:s.SS", "20:18:7.25"),
            ("X XX XXX", "+05 +0530 +05:30"),
        ] {
            assert_eq!(moment.format(pattern), want, "{pattern}");
        }
        assert_eq!(Moment::at(0).format("X x"), "Z +00");
    }
}
