//! When writes of SMB handles may wait to be committed, and when they may not.
//!
//! Must never let more wait than one commit can take: what is committed together is all or nothing.

/// Bytes that wait for one commit of a file.
pub const BATCH_BYTES: u64 = 32 * 1024 * 1024;
/// Pieces that wait for one commit of a file.
pub const BATCH_PIECES: usize = 4_096;
/// Chunks that one commit of a file touches. Two such commits that became one, because the first of
/// them failed, still have fewer rows than a transaction may write.
pub const BATCH_CHUNKS: usize = 384;
/// Pieces of one chunk that wait for one commit. Those of two commits fit one row.
pub const CHUNK_PIECES: usize = 1_000;
/// Bytes of all files that wait.
pub const ALL_BYTES: u64 = 256 * 1024 * 1024;

/// What waits for one file, with the write that asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Waiting {
    /// Bytes, those of the write included.
    pub bytes: u64,
    /// Pieces, that of the write included.
    pub pieces: usize,
    /// Chunks, those of the write included.
    pub chunks: usize,
    /// Pieces in the fullest chunk of the write.
    pub in_chunk: usize,
    /// Bytes of all files, those of the write included.
    pub all_bytes: u64,
    /// Whether anything waits beside the write.
    pub others: bool,
    /// Whether an operation is under way that changes the file at once.
    pub calm: bool,
    /// Whether the last commit failed: its client has yet to hear of it.
    pub failed: bool,
    /// Whether the share has room for what the file grows by.
    pub fits: bool,
    /// Whether a commit of the file is on its way.
    pub committing: bool,
}

/// What becomes of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It waits.
    Keep,
    /// It waits, and all that waits is committed now, while the client goes on.
    KeepAndCommit,
    /// What waits is committed first; then it is asked again.
    Wait,
    /// What waits is committed first, and then the write by itself before it is answered.
    Through,
}

/// What becomes of a write.
pub fn verdict(waiting: &Waiting) -> Verdict {
    if waiting.calm || waiting.failed || !waiting.fits || waiting.all_bytes > ALL_BYTES {
        return Verdict::Through;
    }
    let over = waiting.bytes > BATCH_BYTES
        || waiting.pieces > BATCH_PIECES
        || waiting.chunks > BATCH_CHUNKS
        || waiting.in_chunk > CHUNK_PIECES;
    if over {
        return if waiting.others { Verdict::Wait } else { Verdict::Through };
    }
    // Half of it, so that the next half can be gathered while the first is on its way.
    let half = waiting.bytes > BATCH_BYTES / 2 || waiting.pieces > BATCH_PIECES / 2;
    if half && !waiting.committing { Verdict::KeepAndCommit } else { Verdict::Keep }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    const SOME: Waiting = Waiting {
        bytes: 100,
        pieces: 2,
        chunks: 2,
        in_chunk: 2,
        all_bytes: 1_000,
        others: true,
        calm: false,
        failed: false,
        fits: true,
        committing: false,
    };

    #[test]
    fn verdicts() {
        let rows = [
            (SOME, Verdict::Keep),
            (Waiting { calm: true, ..SOME }, Verdict::Through),
            (Waiting { failed: true, ..SOME }, Verdict::Through),
            (Waiting { fits: false, ..SOME }, Verdict::Through),
            (Waiting { all_bytes: 256 * MIB, ..SOME }, Verdict::Keep),
            (Waiting { all_bytes: 256 * MIB + 1, ..SOME }, Verdict::Through),
            (Waiting { bytes: 16 * MIB, ..SOME }, Verdict::Keep),
            (Waiting { bytes: 16 * MIB + 1, ..SOME }, Verdict::KeepAndCommit),
            (Waiting { bytes: 32 * MIB, committing: true, ..SOME }, Verdict::Keep),
            (Waiting { bytes: 32 * MIB + 1, committing: true, ..SOME }, Verdict::Wait),
            (Waiting { pieces: BATCH_PIECES / 2, ..SOME }, Verdict::Keep),
            (Waiting { pieces: BATCH_PIECES / 2 + 1, ..SOME }, Verdict::KeepAndCommit),
            (Waiting { pieces: BATCH_PIECES, ..SOME }, Verdict::KeepAndCommit),
            (Waiting { pieces: BATCH_PIECES + 1, ..SOME }, Verdict::Wait),
            (Waiting { chunks: BATCH_CHUNKS, ..SOME }, Verdict::Keep),
            (Waiting { chunks: BATCH_CHUNKS + 1, ..SOME }, Verdict::Wait),
            (Waiting { in_chunk: CHUNK_PIECES, ..SOME }, Verdict::Keep),
            (Waiting { in_chunk: CHUNK_PIECES + 1, ..SOME }, Verdict::Wait),
            (Waiting { bytes: 32 * MIB + 1, others: false, ..SOME }, Verdict::Through),
        ];
        for (waiting, want) in rows {
            assert_eq!(verdict(&waiting), want, "{waiting:?}");
        }
    }
}
