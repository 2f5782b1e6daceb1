//! Append blobs: what may be added, and when.
//!
//! Must never see the bytes: the caller knows how many there are.

use crate::Refusal;
use zaffre_base::limits::APPEND_BLOCKS;
use zaffre_base::planted::{Bug, planted};

/// What an append blob is like before something is added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Appendable {
    /// Bytes so far.
    pub length: u64,
    /// Blocks so far.
    pub blocks: u32,
    /// Whether it was sealed.
    pub sealed: bool,
}

/// The two conditions that only append blobs have; absent means not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AppendConditions {
    /// `x-ms-blob-condition-appendpos`: where the blob must end.
    pub position: Option<u64>,
    /// `x-ms-blob-condition-maxsize`: how large the blob may become.
    pub max_size: Option<u64>,
}

/// Where a block of `added` bytes goes, or why it does not.
pub fn admit(blob: Appendable, conditions: AppendConditions, added: u64) -> Result<u64, Refusal> {
    if blob.sealed {
        return Err(Refusal::BlobIsSealed);
    }
    check_position(blob.length, conditions)?;
    let after = blob.length.checked_add(added).ok_or(Refusal::MaxBlobSizeConditionNotMet)?;
    if conditions.max_size.is_some_and(|most| after > most) {
        return Err(Refusal::MaxBlobSizeConditionNotMet);
    }
    if blob.blocks >= APPEND_BLOCKS {
        return Err(Refusal::AppendedBlockCountExceedsLimit);
    }
    Ok(blob.length)
}

/// Whether the blob may be sealed. Sealing a sealed blob changes nothing and is allowed.
pub fn admit_seal(blob: Appendable, conditions: AppendConditions) -> Result<(), Refusal> {
    check_position(blob.length, conditions)
}

fn check_position(length: u64, conditions: AppendConditions) -> Result<(), Refusal> {
    match conditions.position {
        Some(position) if position != length && !planted(Bug::AppendAnywhere) => {
            Err(Refusal::AppendPositionConditionNotMet)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: u32 = APPEND_BLOCKS;

    #[test]
    fn adding() {
        use Refusal as R;
        for (length, blocks, sealed, position, max_size, added, want) in [
            (0, 0, false, None, None, 1, Ok(0)),
            (7, 2, false, None, None, 1, Ok(7)),
            (7, 2, false, Some(7), None, 1, Ok(7)),
            (7, 2, false, Some(6), None, 1, Err(R::AppendPositionConditionNotMet)),
            (7, 2, false, Some(8), None, 1, Err(R::AppendPositionConditionNotMet)),
            (7, 2, false, None, Some(8), 1, Ok(7)),
            (7, 2, false, None, Some(7), 1, Err(R::MaxBlobSizeConditionNotMet)),
            (7, 2, false, None, Some(6), 1, Err(R::MaxBlobSizeConditionNotMet)),
            (7, 2, false, Some(6), Some(6), 1, Err(R::AppendPositionConditionNotMet)),
            (7, MOST - 1, false, None, None, 1, Ok(7)),
            (7, MOST, false, None, None, 1, Err(R::AppendedBlockCountExceedsLimit)),
            (7, MOST, false, Some(6), None, 1, Err(R::AppendPositionConditionNotMet)),
            (7, 2, true, None, None, 1, Err(R::BlobIsSealed)),
            (7, 2, true, Some(6), Some(1), 1, Err(R::BlobIsSealed)),
            (u64::MAX, 2, false, None, None, 1, Err(R::MaxBlobSizeConditionNotMet)),
        ] {
            let blob = Appendable { length, blocks, sealed };
            let conditions = AppendConditions { position, max_size };
            assert_eq!(admit(blob, conditions, added), want, "{blob:?} {conditions:?}");
        }
    }

    #[test]
    fn sealing() {
        for (sealed, position, want) in [
            (false, None, Ok(())),
            (false, Some(7), Ok(())),
            (false, Some(6), Err(Refusal::AppendPositionConditionNotMet)),
            (true, Some(7), Ok(())),
            (true, Some(6), Err(Refusal::AppendPositionConditionNotMet)),
        ] {
            let blob = Appendable { length: 7, blocks: 1, sealed };
            let conditions = AppendConditions { position, max_size: None };
            assert_eq!(admit_seal(blob, conditions), want, "{sealed} {position:?}");
        }
    }
}
