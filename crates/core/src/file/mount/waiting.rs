//! What a mount sees of writes that wait to be committed, and how it has them committed.
//!
//! Must never look at what waits after it has looked at what is committed: a commit in between would
//! be in neither.

use super::{BasicChange, Mount, NodeFacts, allocated};
use crate::file::found::Reading;
use crate::file::opens::FileKey;
use crate::file::write_back::{self, Calm, Kept, Over, Piece, Way};
use crate::{Core, Error};
use std::collections::HashMap;
use std::ops::Range;
use zaffre_domain::fs::FileId;

/// How often a reader looks again because a commit began meanwhile, before it makes them wait.
const LOOKS: usize = 4;

impl Mount {
    /// The share that a write waits for.
    pub(in crate::file) fn on(core: &Core, way: Way) -> Self {
        let Way { share, incarnation } = way;
        Self { core: core.clone(), share, incarnation, snapshot: None }
    }

    fn key(&self, file: FileId) -> FileKey {
        FileKey { share: self.incarnation, file }
    }

    fn way(&self) -> Way {
        Way { share: self.share.clone(), incarnation: self.incarnation }
    }

    /// Takes a write that may wait.
    pub(super) async fn keep(&self, id: FileId, offset: u64, piece: &Piece) -> Result<Kept, Error> {
        let basis = || async {
            let reading = self.reading().await?;
            let size = self.inode_of(&reading, id)?.length();
            let used = crate::file::state::used(&reading.inside, reading.keys)?;
            Ok((size, reading.quota.saturating_sub(used)))
        };
        write_back::keep(&self.core, self.key(id), &self.way(), (offset, piece), basis).await
    }

    /// Makes everything durable that was written to a file, whoever wrote it, and changes its times
    /// in the same commit.
    pub async fn flush(&self, id: FileId, also: Option<BasicChange>) -> Result<(), Error> {
        if self.snapshot.is_none() && write_back::flush(&self.core, self.key(id), also).await? {
            return Ok(());
        }
        match also {
            Some(change) => self.set_basic(id, change).await.map(drop),
            None => Ok(()),
        }
    }

    /// Gives up writes that could not be committed: nobody is left who could be told again.
    pub fn abandon(&self, id: FileId) {
        self.discard(id);
    }

    pub(super) fn discard(&self, id: FileId) {
        if self.snapshot.is_none() {
            self.core.write_back().discard(self.key(id));
        }
    }

    /// Commits what waits, and lets nothing wait until the value is dropped.
    pub(super) async fn calm(&self, id: FileId) -> Result<Calm, Error> {
        write_back::calm(&self.core, self.key(id)).await
    }

    /// Where the writes to a file that wait end; to be asked before looking at what is committed.
    pub(super) fn written_to(&self, id: FileId) -> u64 {
        if self.snapshot.is_some() { 0 } else { self.core.write_back().end(self.key(id)) }
    }

    /// The same of all files of the share that have any.
    pub(super) fn all_written_to(&self) -> HashMap<FileId, u64> {
        if self.snapshot.is_some() {
            return HashMap::new();
        }
        self.core.write_back().ends(self.incarnation)
    }

    /// What waits of a range, and what is committed below it: nothing newer. None if nothing waits.
    pub(super) async fn over(
        &self,
        id: FileId,
        range: Range<u64>,
    ) -> Result<Option<(Reading, Over)>, Error> {
        if self.snapshot.is_some() {
            return Ok(None);
        }
        let key = self.key(id);
        for _ in 0..LOOKS {
            let Some(over) = self.core.write_back().over(key, range.clone()) else {
                return Ok(None);
            };
            let reading = self.reading().await?;
            if over.is_current() {
                return Ok(Some((reading, over)));
            }
        }
        let Some(over) = self.core.write_back().over(key, range.clone()) else { return Ok(None) };
        // No commit begins until this is dropped.
        let (over, turn) = over.again(range).await;
        let reading = self.reading().await?;
        drop(turn);
        Ok(Some((reading, over)))
    }
}

impl NodeFacts {
    /// With the size that a write that waits gives the file.
    pub(super) fn written_to(mut self, end: u64) -> Self {
        if !self.directory && end > self.size {
            self.size = end;
            self.allocated = allocated(end);
        }
        self
    }
}
