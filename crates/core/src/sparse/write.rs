//! What a deciding transaction does to a sparse content: it adds layers, each with its own stamp.
//!
//! Must never read or change what is there, so that a write costs the same whatever is below it.

use super::keys::{Kept, SparseKeys};
use super::receive::Payload;
use super::rows::{Label, Small, clear_to_bytes, label_to_bytes};
use super::{NARROW_CHUNKS, WIDE_CLEARS};
use bytes::Bytes;
use std::ops::Range;
use zaffre_domain::sparse::{CHUNK_BYTES, Part, parts};
use zaffre_store::extents::ExtentRef;
use zaffre_store::extents::runs::{self, Run};
use zaffre_store::{Interrupt, Tx};

/// What is to be put at a place of a content.
#[derive(Clone)]
pub(crate) enum Landed {
    Small { offset: u64, bytes: Bytes },
    Extents(Vec<(Part, ExtentRef)>),
    Runs(Vec<OfChunk>),
}

/// What is to be put at several places of a chunk.
#[derive(Clone)]
pub(crate) struct OfChunk {
    pub(crate) chunk: u32,
    /// Places and lengths in order; their bytes lie one behind the other in the extent.
    pub(crate) stretches: Vec<(u32, u32)>,
    pub(crate) extent: ExtentRef,
}

impl Landed {
    /// What arrived for `offset`.
    pub(crate) fn of(payload: &Payload, offset: u64) -> Self {
        match payload {
            Payload::Small(bytes) => Self::Small { offset, bytes: bytes.clone() },
            Payload::Written(written) => {
                let extent = |(part, piece): &(Part, _)| {
                    let piece: &crate::blob::content::unclaimed::Unclaimed = piece;
                    Some((*part, piece.extent()?))
                };
                Self::Extents(written.iter().filter_map(extent).collect())
            }
        }
    }
}

/// Too many wide clears wait to be worked in.
pub(crate) struct TooManyClears;

/// Adds what arrived. Returns the chunks that got a small write, and how many bytes.
pub(crate) fn land(
    tx: &mut Tx<'_>,
    keys: SparseKeys,
    landed: &Landed,
) -> Result<Vec<(u32, usize)>, Interrupt> {
    let stamp = tx.stamp();
    match landed {
        Landed::Small { offset, bytes } => {
            let end = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            let mut touched = Vec::new();
            for part in parts(*offset, end) {
                let from = usize::try_from(part.offset() - offset).unwrap_or(usize::MAX);
                let length = usize::try_from(part.length).unwrap_or(usize::MAX);
                let bytes = Some(bytes.slice(from..from + length));
                let small = Small { at: part.at, length: part.length, bytes };
                tx.put(&keys.small(part.chunk, stamp), &small.to_bytes())?;
                touched.push((part.chunk, length));
            }
            Ok(touched)
        }
        Landed::Extents(extents) => {
            for (part, extent) in extents {
                let run = Run { at: part.at, length: part.length, extent: *extent, skip: 0 };
                tx.put(&keys.layer(part.chunk, stamp, Kept::Over), &runs::encode(&[run]))?;
            }
            Ok(extents.iter().map(|(part, _)| (part.chunk, 0)).collect())
        }
        Landed::Runs(chunks) => {
            for OfChunk { chunk, stretches, extent } in chunks {
                let mut skip = 0;
                let run = |&(at, length): &(u32, u32)| {
                    let run = Run { at, length, extent: *extent, skip };
                    skip += length;
                    run
                };
                let runs: Vec<Run> = stretches.iter().map(run).collect();
                tx.put(&keys.layer(*chunk, stamp, Kept::Over), &runs::encode(&runs))?;
            }
            Ok(chunks.iter().map(|of| (of.chunk, 0)).collect())
        }
    }
}

/// Clears a range: chunk by chunk if it is narrow, by one row for the whole content otherwise.
pub(crate) fn clear(
    tx: &mut Tx<'_>,
    keys: SparseKeys,
    range: Range<u64>,
) -> Result<Result<Vec<(u32, usize)>, TooManyClears>, Interrupt> {
    let stamp = tx.stamp();
    if range.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    if range.end - range.start <= NARROW_CHUNKS * CHUNK_BYTES {
        let mut touched = Vec::new();
        for part in parts(range.start, range.end) {
            let small = Small { at: part.at, length: part.length, bytes: None };
            tx.put(&keys.small(part.chunk, stamp), &small.to_bytes())?;
            touched.push((part.chunk, 0));
        }
        return Ok(Ok(touched));
    }
    let all = keys.clears(stamp);
    if tx.scan(&all.start, all.end.as_deref(), WIDE_CLEARS)?.len() >= WIDE_CLEARS {
        return Ok(Err(TooManyClears));
    }
    tx.put(&keys.clear(stamp), &clear_to_bytes(&range))?;
    Ok(Ok(Vec::new()))
}

/// Says whose content it is; to be written with the first row that names the content.
pub(crate) fn label(tx: &mut Tx<'_>, keys: SparseKeys, label: &Label) -> Result<(), Interrupt> {
    tx.put(&keys.label(), &label_to_bytes(label))
}
