//! Rows of one kind in the order of their names, read ahead as far as a page needs.

use crate::Error;
use crate::blob::keys::{KeyRange, NameSpace};
use crate::blob::op::ListBlobs;
use std::collections::VecDeque;
use zaffre_store::{Row, Snapshot, StoreError};

/// Rows of one kind, read in batches that grow while they are used up and shrink after a jump.
pub(super) struct Cursor<'a> {
    inside: &'a Snapshot,
    pub(super) space: NameSpace,
    range: KeyRange,
    pub(super) rows: VecDeque<Row>,
    ended: bool,
    batch: usize,
    jumps: bool,
}

impl<'a> Cursor<'a> {
    const SMALL: usize = 8;
    const LARGE: usize = 512;

    pub(super) fn new(inside: &'a Snapshot, space: NameSpace, op: &ListBlobs) -> Self {
        let range = space.starting_with(&op.prefix);
        let jumps = op.delimiter.is_some();
        // One more than the page shows: the marker names it.
        let page = usize::try_from(op.max_results).unwrap_or(Self::LARGE).saturating_add(1);
        let batch = if jumps { Self::SMALL } else { page.min(Self::LARGE) };
        Self { inside, space, range, rows: VecDeque::new(), ended: false, batch, jumps }
    }

    pub(super) fn fill(&mut self) -> Result<(), Error> {
        if !self.rows.is_empty() || self.ended {
            return Ok(());
        }
        let rows = self.inside.scan(&self.range.start, self.range.end.as_deref(), self.batch)?;
        match rows.last() {
            Some(last) if rows.len() == self.batch => {
                self.range.start = [last.key.as_slice(), &[0]].concat();
                self.batch = (self.batch * 2).min(Self::LARGE);
            }
            _ => self.ended = true,
        }
        self.rows = rows.into();
        Ok(())
    }

    pub(super) fn peek(&mut self) -> Result<Option<String>, Error> {
        self.fill()?;
        let Some(row) = self.rows.front() else { return Ok(None) };
        let name = self.space.name_of(&row.key);
        Ok(Some(name.ok_or_else(|| StoreError::corrupt("the key of a blob"))?))
    }

    pub(super) fn take_named(&mut self, name: &str) -> Result<Option<Row>, Error> {
        let is_next = self.peek()?.is_some_and(|next| next == name);
        Ok(if is_next { self.rows.pop_front() } else { None })
    }

    /// Goes on at `key` or where it is, whichever is later.
    pub(super) fn skip_to(&mut self, key: Vec<u8>) {
        while self.rows.front().is_some_and(|row| row.key < key) {
            self.rows.pop_front();
        }
        if self.rows.is_empty() && !self.ended && self.range.start < key {
            self.range.start = key;
            if self.jumps {
                self.batch = Self::SMALL;
            }
        }
    }

    pub(super) fn skip_past(&mut self, past: Option<Vec<u8>>) {
        if let Some(past) = past {
            self.skip_to(past);
        } else {
            self.rows.clear();
            self.ended = true;
        }
    }
}
