//! API versions: dates that compare. Any well-formed version from 2009-04-14 on is accepted,
//! newer ones than we know included, so that no SDK upgrade ever breaks a user.

use std::fmt;

/// An `x-ms-version` or `sv`, such as 2024-08-04.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ApiVersion {
    year: u16,
    month: u8,
    day: u8,
}

impl ApiVersion {
    /// A version by its date; for constants.
    pub const fn new(year: u16, month: u8, day: u8) -> Self {
        Self { year, month, day }
    }

    /// The first version of the service.
    pub const OLDEST: Self = Self::new(2009, 4, 14);
    /// The newest version whose behaviour we know; used when a request names none.
    pub const LATEST: Self = Self::new(2026, 10, 6);

    /// Parses `yyyy-MM-dd`; `None` if malformed or older than the service.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let shaped = bytes.len() == 10
            && bytes.iter().enumerate().all(|(i, b)| match i {
                4 | 7 => *b == b'-',
                _ => b.is_ascii_digit(),
            });
        if !shaped {
            return None;
        }
        let year = text.get(..4)?.parse().ok()?;
        let month = text.get(5..7)?.parse().ok()?;
        let day = text.get(8..)?.parse().ok()?;
        let version = Self { year, month, day };
        let legal = (1..=12).contains(&month) && (1..=31).contains(&day);
        if legal && version >= Self::OLDEST { Some(version) } else { None }
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // By hand: every answer carries one.
        let mut text = *b"0000-00-00";
        let fields = [(0..4, self.year), (5..7, self.month.into()), (8..10, self.day.into())];
        for (at, mut left) in fields {
            for digit in text[at].iter_mut().rev() {
                *digit = b'0' + u8::try_from(left % 10).unwrap_or_default();
                left /= 10;
            }
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let v = |t| ApiVersion::parse(t);
        assert!(v("2019-12-12") < v("2020-02-10"));
        assert_eq!(v("2099-01-01").map(|v| v.to_string()).as_deref(), Some("2099-01-01"));
        for bad in ["", "2009-04-13", "2019-1-1", "2019-13-01", "2019-12-12 ", "abcd-ef-gh", "２０"]
        {
            assert_eq!(v(bad), None, "{bad}");
        }
    }
}
