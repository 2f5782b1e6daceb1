//! What commands keep with a handle between requests.

use super::notify::Watch;
use super::query_directory::Search;
use super::write_time::WriteTime;
use std::sync::{Mutex, MutexGuard, PoisonError};
use zaffre_core::file::mount::KeptTimes;

/// What is kept with a handle.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    kept: Mutex<Kept>,
    /// A listing under way; held while an answer is made, so that two requests do not share one.
    pub(crate) search: tokio::sync::Mutex<Option<Search>>,
    /// What it watches.
    pub(crate) watch: Watch,
}

/// The small things.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    /// Where the client says it is.
    pub(crate) position: u64,
    /// Times that this handle's writes do not change.
    pub(crate) times: KeptTimes,
    /// What was written and not yet told.
    pub(crate) write_time: WriteTime,
}

impl Scratch {
    /// The small things, to be looked at and changed.
    pub(crate) fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Times that this handle's writes do not change.
    pub(crate) fn kept_times(&self) -> KeptTimes {
        self.kept().times
    }
}
