//! List Directories and Files: one page of a directory, files and directories together.
//!
//! Must never cost more the more entries there are before the page, or the more snapshots there are.

use super::entered::{enter, is_delete_pending, is_open};
use super::found::{Reading, smb_view};
use super::keys::{Keys, until_of};
use super::op::{Kind, ListDirectory, Patience};
use super::records::Entry;
use super::reply::{EntryPage, EntryView};
use crate::blob::marker::{self, Listing, Place};
use crate::directory::KeyRange;
use crate::records::Record;
use crate::service::blocking;
use crate::{Core, Error};
use std::sync::Arc;
use zaffre_auth::Authorized;
use zaffre_base::Stamp;
use zaffre_domain::fs::name::fold;
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::{EntryName, FileId};
use zaffre_store::{Row, Snapshot, StoreError};

/// Entries read at once.
const BATCH: usize = 256;

/// Lists one page of a directory.
pub async fn list_directory(
    core: &Core,
    op: Authorized<ListDirectory>,
) -> Result<EntryPage, Error> {
    let (op, _) = op.into_parts();
    let op = Arc::new(op);
    let page = look(core, &op).await?;
    if !op.exact_sizes || op.at.snapshot.is_some() {
        return Ok(page);
    }
    let place = Reading::open(core, &op.at).await?.place;
    let mut waited = false;
    for entry in page.entries.iter().filter(|entry| entry.length.is_some()) {
        let id = entry.smb.id;
        if is_open(core, &place, id) {
            // What its client has cached is written while this waits.
            enter(core, &place, id, RestOp::GetProperties, Patience::default()).await?;
            waited = true;
        }
    }
    if waited { look(core, &op).await } else { Ok(page) }
}

async fn look(core: &Core, op: &Arc<ListDirectory>) -> Result<EntryPage, Error> {
    let reading = Reading::open(core, &op.at).await?;
    let from = op.marker.as_deref().map(|text| marker::read(Listing::Entries, text)).transpose()?;
    let (directory, _) = reading.item(&op.at.path, Kind::Directory)?;
    let (core, op) = (core.clone(), Arc::clone(op));
    blocking(move || page(&core, &reading, directory, &op, from.as_ref())).await
}

fn page(
    core: &Core,
    reading: &Reading,
    directory: FileId,
    op: &ListDirectory,
    from: Option<&Place>,
) -> Result<EntryPage, Error> {
    let most = usize::try_from(op.max_results).unwrap_or(usize::MAX);
    let prefix = fold(&op.prefix);
    let from = from.map(|place| place.name.clone());
    let mut walk = Entries::new(reading, directory, &prefix, from);
    let mut entries = Vec::new();
    while let Some((folded, entry)) = walk.next()? {
        let id = entry.child();
        if reading.at.is_none() && is_delete_pending(core, &reading.place, id) {
            continue;
        }
        if entries.len() == most {
            let next = Some(marker::make(Listing::Entries, &Place::blob(folded)));
            return Ok(EntryPage { directory, entries, next });
        }
        entries.push(shown(reading, &entry)?);
    }
    Ok(EntryPage { directory, entries, next: None })
}

fn shown(reading: &Reading, entry: &Entry) -> Result<EntryView, Error> {
    let inode = reading.inode(entry.child())?;
    let name = EntryName::parse(&entry.name);
    let name = name.map_err(|_| StoreError::corrupt("the name of an entry"))?;
    Ok(EntryView {
        name,
        length: (!entry.directory).then(|| inode.length()),
        written: inode.written,
        smb: smb_view(entry.child(), &inode),
    })
}

/// The entries of a directory in order, as they are or as a snapshot of the share shows them.
pub(super) struct Entries<'a> {
    inside: &'a Snapshot,
    at: Option<Stamp>,
    current: Rows,
    /// What was there when the snapshot was taken and is not any more.
    past: Rows,
}

impl<'a> Entries<'a> {
    /// From the name on that is given in upper case.
    pub(super) fn new(
        reading: &'a Reading,
        directory: FileId,
        folded_prefix: &str,
        from: Option<String>,
    ) -> Self {
        let keys = reading.keys;
        let mut current = keys.entries(directory, folded_prefix);
        let mut past = keys.all_past_entries_in(directory, folded_prefix);
        if let Some(from) = from {
            current.start = current.start.max(keys.entry_folded(directory, &from));
            past.start = past.start.max(keys.past_entries_from(directory, &from));
        }
        let ended = reading.at.is_none();
        Self {
            inside: &reading.inside,
            at: reading.at,
            current: Rows::new(current, false),
            past: Rows::new(past, ended),
        }
    }

    /// The next one, and its name in upper case.
    pub(super) fn next(&mut self) -> Result<Option<(String, Entry)>, StoreError> {
        let (current, past) = (self.peek_current()?, self.peek_past()?);
        let earlier = match (&current, &past) {
            (Some(current), Some(past)) => units(&current.0) <= units(&past.0),
            (current, _) => current.is_some(),
        };
        if earlier {
            self.current.take();
            Ok(current)
        } else {
            self.past.take();
            Ok(past)
        }
    }

    /// The next current entry that is looked for.
    fn peek_current(&mut self) -> Result<Option<(String, Entry)>, StoreError> {
        loop {
            let Some(row) = self.current.peek(self.inside)? else { return Ok(None) };
            let found = named(row)?;
            if self.at.is_none_or(|at| found.1.since <= at) {
                return Ok(Some(found));
            }
            self.current.take();
        }
    }

    /// The next past entry that the snapshot shows.
    fn peek_past(&mut self) -> Result<Option<(String, Entry)>, StoreError> {
        loop {
            let Some(row) = self.past.peek(self.inside)? else { return Ok(None) };
            let until = until_of(&row.key).ok_or_else(|| StoreError::corrupt("a past entry"))?;
            let found = named(row)?;
            if self.at.is_some_and(|at| found.1.since <= at && at < until) {
                return Ok(Some(found));
            }
            self.past.take();
        }
    }
}

/// Names are in the order of their UTF-16 units.
fn units(name: &str) -> Vec<u16> {
    name.encode_utf16().collect()
}

fn named(row: &Row) -> Result<(String, Entry), StoreError> {
    let folded = Keys::folded_of(&row.key);
    let folded = folded.ok_or_else(|| StoreError::corrupt("the key of an entry"))?;
    Ok((folded, Entry::from_bytes(&row.value)?))
}

/// Rows of a range, some at a time.
struct Rows {
    range: KeyRange,
    batch: std::collections::VecDeque<Row>,
    ended: bool,
}

impl Rows {
    fn new(range: KeyRange, ended: bool) -> Self {
        Self { range, batch: std::collections::VecDeque::new(), ended }
    }

    fn peek(&mut self, inside: &Snapshot) -> Result<Option<&Row>, StoreError> {
        if self.batch.is_empty() && !self.ended {
            let rows = inside.scan(&self.range.start, self.range.end.as_deref(), BATCH)?;
            self.ended = rows.len() < BATCH;
            if let Some(last) = rows.last() {
                self.range.start = [last.key.as_slice(), &[0]].concat();
            }
            self.batch = rows.into();
        }
        Ok(self.batch.front())
    }

    fn take(&mut self) {
        self.batch.pop_front();
    }
}
