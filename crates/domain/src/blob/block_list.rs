//! Which blocks a Put Block List commits, and which block ids may be staged together.
//!
//! Must never fetch a block: the caller passes two ways to look one up.

use super::{BlockListEntry, BlockSource};
use crate::Refusal;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;
use zaffre_base::Timestamp;
use zaffre_base::limits::{BLOCK_ID_BYTES, COMMITTED_BLOCKS, UNCOMMITTED_BLOCKS, UNCOMMITTED_DAYS};

/// Where a listed block was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Among the blocks of the blob as it is now.
    Committed,
    /// Among the staged blocks.
    Staged,
}

/// A listed block and where it was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resolved<B> {
    /// Where.
    pub found: Found,
    /// What the lookup gave.
    pub block: B,
}

/// Finds every block of the list, in order, or refuses the whole list.
pub fn resolve<B>(
    entries: &[BlockListEntry],
    mut committed: impl FnMut(&[u8]) -> Option<B>,
    mut staged: impl FnMut(&[u8]) -> Option<B>,
) -> Result<Vec<Resolved<B>>, Refusal> {
    check_entries(entries)?;
    entries
        .iter()
        .map(|entry| {
            let mut of_blob = || {
                let block = committed(&entry.id)?;
                Some(Resolved { found: Found::Committed, block })
            };
            let mut of_stage = || {
                let block = staged(&entry.id)?;
                Some(Resolved { found: Found::Staged, block })
            };
            match entry.source {
                BlockSource::Committed => of_blob(),
                BlockSource::Uncommitted => of_stage(),
                BlockSource::Latest => of_stage().or_else(of_blob),
            }
            .ok_or(Refusal::InvalidBlockList)
        })
        .collect()
}

/// What can be said of a list without looking any block up: its length, and that an id which occurs
/// more than once asks for the same block every time.
pub fn check_entries(entries: &[BlockListEntry]) -> Result<(), Refusal> {
    if entries.len() > COMMITTED_BLOCKS {
        return Err(Refusal::BlockListTooLong);
    }
    let mut sources: BTreeMap<&[u8], BlockSource> = BTreeMap::new();
    for entry in entries {
        let first = *sources.entry(&entry.id).or_insert(entry.source);
        if first != entry.source {
            return Err(Refusal::InvalidBlockList);
        }
    }
    Ok(())
}

/// Whether a decoded id can be that of a block at all.
pub fn is_block_id(id: &[u8]) -> bool {
    (1..=BLOCK_ID_BYTES).contains(&id.len())
}

/// Whether a block may be staged beside others: their ids all have one length, and there are not
/// too many. `staged_id_length` is that of any staged block, `count_after` includes the new one.
pub fn check_staging(
    id: &[u8],
    staged_id_length: Option<usize>,
    count_after: u64,
) -> Result<(), Refusal> {
    if staged_id_length.is_some_and(|length| length != id.len()) {
        return Err(Refusal::InvalidBlobOrBlock);
    }
    if count_after > UNCOMMITTED_BLOCKS {
        return Err(Refusal::BlockCountExceedsLimit);
    }
    Ok(())
}

/// When staged blocks expire if no other block is staged and nothing is committed.
pub fn staging_expires(last_put_block: Timestamp) -> Timestamp {
    last_put_block.plus(Duration::from_secs(UNCOMMITTED_DAYS * 24 * 60 * 60))
}

/// Whether the staged blocks have expired.
pub fn staging_has_expired(last_put_block: Timestamp, now: Timestamp) -> bool {
    now >= staging_expires(last_put_block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::{format, vec};

    /// `C`ommitted, `U`ncommitted or `L`atest and a one-letter id.
    fn list(text: &str) -> Vec<BlockListEntry> {
        text.split_whitespace()
            .map(|word| {
                let (kind, id) = word.split_at(1);
                let source = match kind {
                    "C" => BlockSource::Committed,
                    "U" => BlockSource::Uncommitted,
                    _ => BlockSource::Latest,
                };
                BlockListEntry { source, id: id.as_bytes().to_vec() }
            })
            .collect()
    }

    fn in_set(set: &str, id: &[u8]) -> Option<u8> {
        let [only] = id else { return None };
        set.as_bytes().contains(only).then_some(*only)
    }

    /// Blocks a, b are committed; b, c are staged. The answer reads like the list.
    fn resolved(text: &str) -> Result<String, Refusal> {
        let found = resolve(&list(text), |id| in_set("ab", id), |id| in_set("bc", id))?;
        let words = found.into_iter().map(|resolved| match resolved.found {
            Found::Committed => format!("C{}", char::from(resolved.block)),
            Found::Staged => format!("U{}", char::from(resolved.block)),
        });
        Ok(words.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn lists() {
        for (text, want) in [
            ("", Ok("")),
            ("Ca", Ok("Ca")),
            ("Uc", Ok("Uc")),
            ("La", Ok("Ca")),
            ("Lb", Ok("Ub")),
            ("Lc", Ok("Uc")),
            ("Cb", Ok("Cb")),
            ("Uc Ca Lb", Ok("Uc Ca Ub")),
            ("Ca Ca Uc Uc", Ok("Ca Ca Uc Uc")),
            ("Cc", Err(Refusal::InvalidBlockList)),
            ("Ua", Err(Refusal::InvalidBlockList)),
            ("Ld", Err(Refusal::InvalidBlockList)),
            ("Cb Ub", Err(Refusal::InvalidBlockList)),
            ("Lb Cb", Err(Refusal::InvalidBlockList)),
        ] {
            assert_eq!(resolved(text), want.map(String::from), "{text}");
        }
    }

    #[test]
    fn the_longest_list_passes() {
        let entry = BlockListEntry { source: BlockSource::Latest, id: vec![1] };
        let mut entries = vec![entry.clone(); COMMITTED_BLOCKS];
        let find = |entries: &[BlockListEntry]| resolve(entries, |_| Some(()), |_| None);
        assert_eq!(find(&entries).map(|r| r.len()), Ok(COMMITTED_BLOCKS));
        entries.push(entry);
        assert_eq!(find(&entries), Err(Refusal::BlockListTooLong));
    }

    #[test]
    fn staging() {
        let rows = [
            (4, None, 1, Ok(())),
            (4, Some(4), 100_000, Ok(())),
            (4, Some(5), 2, Err(Refusal::InvalidBlobOrBlock)),
            (4, Some(4), 100_001, Err(Refusal::BlockCountExceedsLimit)),
        ];
        for (length, others, count, want) in rows {
            assert_eq!(check_staging(&vec![0; length], others, count), want);
        }
        for (length, want) in [(0, false), (1, true), (64, true), (65, false)] {
            assert_eq!(is_block_id(&vec![0; length]), want, "{length}");
        }
    }

    #[test]
    fn staged_blocks_live_a_week() {
        let put = Timestamp::from_unix_seconds(1_000_000);
        let after = |seconds: u64| Timestamp::from_unix_seconds(1_000_000 + seconds);
        assert!(!staging_has_expired(put, after(7 * 86_400 - 1)));
        assert!(staging_has_expired(put, after(7 * 86_400)));
    }
}
