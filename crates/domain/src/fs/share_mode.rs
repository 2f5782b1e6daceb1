//! Share modes: whether a new open can stand beside those that are there.
//!
//! Must never know who opened or why; `spec/file_share_modes.csv` has every cell.

use super::access::Classes;
use zaffre_base::planted::{Bug, planted};

/// What an open does and what it lets others do beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenMode {
    /// What it does.
    pub access: Classes,
    /// What it lets others do.
    pub share: Classes,
}

/// Two opens that cannot stand beside each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharingViolation;

impl OpenMode {
    /// Whether the two can stand beside each other. Opens that touch attributes only always can.
    pub fn agrees_with(self, other: Self) -> bool {
        self.access.is_none()
            || other.access.is_none()
            || (other.share.contains(self.access)
                && (self.share.contains(other.access) || planted(Bug::OneSidedShare)))
    }
}

/// Whether `wanted` can stand beside all of `there`.
pub fn admits(there: &[OpenMode], wanted: OpenMode) -> Result<(), SharingViolation> {
    let agrees = there.iter().all(|open| open.agrees_with(wanted));
    if agrees { Ok(()) } else { Err(SharingViolation) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(bits: u8) -> Classes {
        Classes::from_bits(bits).expect("at most 7")
    }

    /// The rule in other words, over bits, for all accesses and shares of two opens.
    #[test]
    fn every_pair_of_modes_is_decided_both_ways_alike() {
        let mut violations = 0;
        for code in 0..8_u32.pow(4) {
            let bit = |place: u32| u8::try_from(code >> (3 * place) & 7).expect("three bits");
            let [had, had_share, wants, shares] = [bit(0), bit(1), bit(2), bit(3)];
            let first = OpenMode { access: classes(had), share: classes(had_share) };
            let second = OpenMode { access: classes(wants), share: classes(shares) };
            let counts = had != 0 && wants != 0;
            let collide = counts && (wants & !had_share != 0 || had & !shares != 0);
            assert_eq!(admits(&[first], second).is_err(), collide, "{code:o}");
            assert_eq!(admits(&[second], first).is_err(), collide, "{code:o} swapped");
            violations += u32::from(collide);
        }
        assert_eq!(violations, 2775);
    }

    #[test]
    fn one_of_many_is_enough_to_refuse() {
        let shares_all = OpenMode { access: classes(1), share: classes(7) };
        let shares_none = OpenMode { access: classes(1), share: classes(0) };
        assert_eq!(admits(&[], shares_none), Ok(()));
        assert_eq!(admits(&[shares_all; 3], shares_all), Ok(()));
        assert_eq!(admits(&[shares_all, shares_none], shares_all), Err(SharingViolation));
    }
}
