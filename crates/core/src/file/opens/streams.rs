//! Named streams beside what they are streams of: each is open by itself, and the file they belong
//! to goes only when none of them is.
//!
//! Must never cost anything where there are no streams.

use super::Opens;
use super::state::State;
use super::types::FileKey;
use super::{Refused, Waiting};
use std::time::Duration;
use zaffre_domain::fs::access::Classes;
use zaffre_domain::fs::oplock::Cause;
use zaffre_domain::fs::share_mode::OpenMode;

/// What deleting a file does to its streams.
const DELETION: OpenMode =
    OpenMode { access: Classes { delete: true, ..Classes::NONE }, share: Classes::ALL };

impl Opens {
    /// Whether a stream of `base` is open.
    pub fn has_open_streams(&self, base: FileKey) -> bool {
        self.state().open_streams(base) > 0
    }
}

impl State {
    /// Notes that `stream` is one of `base`.
    pub(super) fn note_stream(&mut self, base: FileKey, stream: FileKey) {
        let streams = self.streams.entry(base).or_default();
        if !streams.contains(&stream) {
            streams.push(stream);
        }
    }

    /// A stream is not open any more.
    pub(super) fn forget_stream(&mut self, base: FileKey, stream: FileKey) {
        if let Some(streams) = self.streams.get_mut(&base) {
            streams.retain(|other| *other != stream);
            if streams.is_empty() {
                self.streams.remove(&base);
            }
        }
    }

    /// How many handles of streams of `base` there are.
    pub(super) fn open_streams(&self, base: FileKey) -> usize {
        let streams = self.streams.get(&base).into_iter().flatten();
        streams.filter_map(|stream| self.nodes.get(stream)).map(|node| node.opens.len()).sum()
    }

    /// Whether those who have streams of `base` open let it be deleted or emptied; whoever only
    /// caches a handle is asked to let it go.
    pub(super) fn streams_let_go(
        &mut self,
        base: FileKey,
        now: Duration,
    ) -> Result<Option<Waiting>, Refused> {
        for stream in self.streams.get(&base).cloned().unwrap_or_default() {
            self.clear(stream, now, |_, open| !open.mode.agrees_with(DELETION));
            let Some(node) = self.nodes.get_mut(&stream) else { continue };
            if node.opens.iter().all(|open| open.mode.agrees_with(DELETION)) {
                continue;
            }
            if node.break_caches(Cause::SharingConflict, None, false, now) {
                return node.wait(now).map(Some);
            }
            return Err(Refused::SharingViolation);
        }
        Ok(None)
    }

    /// Refuses streams of what goes with its last handle, and waits for what must not see a new one.
    pub(super) fn base_admits(
        &mut self,
        base: FileKey,
        now: Duration,
    ) -> Result<Option<Waiting>, Refused> {
        let Some(node) = self.nodes.get_mut(&base) else { return Ok(None) };
        if let Some(waiting) = node.deleted(now)? {
            return Ok(Some(waiting));
        }
        if node.is_closed_to_opens() { node.wait(now).map(Some) } else { Ok(None) }
    }

    /// Whether `base` goes now that one of its streams is closed; if so it is being removed.
    pub(super) fn base_goes(&mut self, base: Option<FileKey>) -> Option<FileKey> {
        let base = base?;
        let left = self.open_streams(base);
        let node = self.nodes.get_mut(&base)?;
        let goes = node.deletion.is_pending() && !node.removing && node.opens.is_empty();
        (goes && left == 0).then(|| {
            node.removing = true;
            base
        })
    }
}
