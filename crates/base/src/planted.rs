//! Mistakes on purpose, to see that the tests find them.
//!
//! Must never be in a program that is used: without the feature `planted`, which nothing turns on,
//! every question is answered `false` while compiling, and the mistake is not in the program at all.

/// A mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// The journal is not synced.
    SkippedSync,
    /// Commits are answered before they are durable.
    EarlyAnswer,
    /// Some snapshots miss the newest commit.
    StaleRead,
    /// `If-Match` is met by every ETag.
    LostUpdate,
    /// A lease lasts a second longer.
    LateExpiry,
    /// Old pop receipts stay good.
    ReusedReceipt,
    /// Some batches stop after their first operation and say they are done.
    TornBatch,
    /// Share modes are asked in one direction only.
    OneSidedShare,
    /// Unlocking one range unlocks all of the handle.
    EarlyUnlock,
    /// An append does not look at its position.
    AppendAnywhere,
    /// A message that was received stays visible.
    VisibleMessage,
    /// Recovery drops the last batch.
    DroppedRecord,
}

impl Bug {
    /// All of them, each with the name it is chosen by.
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::SkippedSync, "skipped-sync"),
        (Self::EarlyAnswer, "early-answer"),
        (Self::StaleRead, "stale-read"),
        (Self::LostUpdate, "lost-update"),
        (Self::LateExpiry, "late-expiry"),
        (Self::ReusedReceipt, "reused-receipt"),
        (Self::TornBatch, "torn-batch"),
        (Self::OneSidedShare, "one-sided-share"),
        (Self::EarlyUnlock, "early-unlock"),
        (Self::AppendAnywhere, "append-anywhere"),
        (Self::VisibleMessage, "visible-message"),
        (Self::DroppedRecord, "dropped-record"),
    ];
}

/// Whether this mistake is to be made.
#[cfg(not(feature = "planted"))]
#[inline]
pub const fn planted(_: Bug) -> bool {
    false
}

/// Whether this mistake is to be made: if `ZAFFRE_PLANTED` names it.
#[cfg(feature = "planted")]
pub fn planted(bug: Bug) -> bool {
    static CHOSEN: std::sync::OnceLock<Option<Bug>> = std::sync::OnceLock::new();
    let chosen = CHOSEN.get_or_init(|| {
        let name = std::env::var("ZAFFRE_PLANTED").unwrap_or_default();
        Bug::ALL.iter().find(|(_, known)| *known == name).map(|(bug, _)| *bug)
    });
    *chosen == Some(bug)
}
