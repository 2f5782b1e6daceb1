//! Page blobs: which ranges may be written, and what sequence numbers are for.
//!
//! Must never see the bytes: the caller knows where they go.

use crate::Refusal;
use core::ops::Range;
use zaffre_base::limits::{PAGE_BYTES, SEQUENCE_NUMBER};

/// Whether a length or an offset is one of whole pages.
pub fn is_aligned(bytes: u64) -> bool {
    bytes.is_multiple_of(PAGE_BYTES)
}

/// The bytes from the first to the last page; `None` if they are not whole pages.
pub fn pages(first: u64, last: u64) -> Option<Range<u64>> {
    let end = last.checked_add(1)?;
    (first < end && is_aligned(first) && is_aligned(end)).then_some(first..end)
}

/// Whether pages lie in a blob.
pub fn check_inside(pages: &Range<u64>, length: u64) -> Result<(), Refusal> {
    if pages.end <= length { Ok(()) } else { Err(Refusal::InvalidPageRange) }
}

/// What a write asks of the sequence number; absent means not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SequenceConditions {
    /// `x-ms-if-sequence-number-le`
    pub at_most: Option<u64>,
    /// `x-ms-if-sequence-number-lt`
    pub below: Option<u64>,
    /// `x-ms-if-sequence-number-eq`
    pub equal: Option<u64>,
}

impl SequenceConditions {
    /// Whether the blob's number is as the request says.
    pub fn check(&self, number: u64) -> Result<(), Refusal> {
        let holds = self.at_most.is_none_or(|most| number <= most)
            && self.below.is_none_or(|limit| number < limit)
            && self.equal.is_none_or(|wanted| number == wanted);
        if holds { Ok(()) } else { Err(Refusal::SequenceNumberConditionNotMet) }
    }
}

/// `x-ms-sequence-number-action` and its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SequenceAction {
    /// The larger of both.
    Max(u64),
    /// This one.
    Update(u64),
    /// One more.
    Increment,
}

impl SequenceAction {
    /// The number afterwards.
    pub fn apply(self, number: u64) -> Result<u64, Refusal> {
        match self {
            Self::Max(other) => Ok(number.max(other)),
            Self::Update(other) => Ok(other),
            Self::Increment if number >= SEQUENCE_NUMBER => {
                Err(Refusal::SequenceNumberIncrementTooLarge)
            }
            Self::Increment => Ok(number + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (first, last, want) in [
            (0, 511, Some(0..512)),
            (512, 1535, Some(512..1536)),
            (0, 510, None),
            (0, 512, None),
            (1, 511, None),
            (512, 511, None),
            (1024, 511, None),
            (0, u64::MAX, None),
        ] {
            assert_eq!(pages(first, last), want, "{first}-{last}");
        }
        assert_eq!(check_inside(&(0..512), 512), Ok(()));
        assert_eq!(check_inside(&(512..1024), 512), Err(Refusal::InvalidPageRange));
    }

    #[test]
    fn conditions() {
        let no = Err(Refusal::SequenceNumberConditionNotMet);
        for (at_most, below, equal, want) in [
            (None, None, None, Ok(())),
            (Some(7), None, None, Ok(())),
            (Some(6), None, None, no.clone()),
            (None, Some(8), None, Ok(())),
            (None, Some(7), None, no.clone()),
            (None, None, Some(7), Ok(())),
            (None, None, Some(8), no.clone()),
            (Some(7), Some(7), None, no.clone()),
            (Some(9), Some(9), Some(6), no),
        ] {
            let conditions = SequenceConditions { at_most, below, equal };
            assert_eq!(conditions.check(7), want, "{conditions:?}");
        }
    }

    #[test]
    fn actions() {
        let most = SEQUENCE_NUMBER;
        for (action, number, want) in [
            (SequenceAction::Max(3), 7, Ok(7)),
            (SequenceAction::Max(9), 7, Ok(9)),
            (SequenceAction::Update(3), 7, Ok(3)),
            (SequenceAction::Increment, 7, Ok(8)),
            (SequenceAction::Increment, most - 1, Ok(most)),
            (SequenceAction::Increment, most, Err(Refusal::SequenceNumberIncrementTooLarge)),
        ] {
            assert_eq!(action.apply(number), want, "{action:?}");
        }
    }
}
