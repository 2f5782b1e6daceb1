//! Copy File: a file with the content of another, finished before it is answered; and Abort Copy,
//! which therefore never finds anything to abort.
//!
//! Must never name a content before all its bytes are there.

use super::books::alive;
use super::create_file::{NewFile, Target, make};
use super::found::{Reading, Writing};
use super::keys::Keys;
use super::landing::{Arrived, Outcome, commit, stopped};
use super::op::{AbortCopyFile, CopyFile, Kind};
use super::records::Intent;
use super::reply::{Copied, CopySource};
use crate::blob::ByteStream;
use crate::blob::content::free::sparse_keys;
use crate::blob::content::upload::Expected;
use crate::blob::replace::LeftOver;
use crate::blob::site::{Site, writers_pin};
use crate::records::Record;
use crate::service::fresh_id;
use crate::sparse::{self, CHUNK, SparseKeys};
use crate::{Core, Error};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use std::sync::Arc;
use tokio::sync::Mutex;
use zaffre_auth::Authorized;
use zaffre_base::limits::FILE_BYTES;
use zaffre_domain::fs::FileRefusal;
use zaffre_store::pins::ContentPin;
use zaffre_store::{StoreError, Tx};

/// Copies a source into a file.
pub async fn copy_file(
    core: &Core,
    op: Authorized<CopyFile>,
    source: CopySource,
) -> Result<Copied, Error> {
    let (op, grants) = op.into_parts();
    if source.length > FILE_BYTES {
        return Err(FileRefusal::FileTooLarge.into());
    }
    let Target { writing, .. } = Target::find(core, &op.at, op.patience).await?;
    let Writing { site, keys, .. } = writing;
    let store = core.store();
    let content = fresh_id(&store.clock)?;
    // Keeps the rows that are written before the content is named.
    let own = writers_pin(store.pins.enter(store.meta.last_stamp()), &site.placement, content);
    let (at, own) = (sparse_keys(&site, content), Arc::new(own));
    let pieces = u64::try_from(core.options().layout.pieces_per_commit).unwrap_or(1);
    let step = pieces.saturating_mul(CHUNK);
    let mut copy = Copying { core, site: &site, keys, at, own, step, intent: None, offset: 0 };
    let cut = Arc::new(Mutex::new(Cut { body: source.body, rest: None }));
    while source.length - copy.offset > step {
        copy.ahead(segment(&cut, step)).await?;
    }
    let rest = source.length - copy.offset;
    let arrived = copy.receive(segment(&cut, u64::MAX), rest).await?;
    let (id, patience) = (op.id, op.patience);
    let new = NewFile {
        at: op.at,
        length: source.length,
        properties: source.properties,
        smb: op.smb,
        source: source.smb,
        set_archive: op.set_archive,
        metadata: op.metadata.unwrap_or(source.metadata),
        lease: op.lease,
        overwrite: grants.overwrite,
        ignore_read_only: op.ignore_read_only,
        copy: Some((op.id, op.source)),
    };
    let ahead = copy.intent.clone().map(|intent| (intent, Arc::clone(&copy.own)));
    let made = make(core, new, patience, content, Some(arrived), ahead).await?;
    copy.intent = None;
    Ok(Copied { written: made.written, id })
}

/// A copy on its way.
struct Copying<'a> {
    core: &'a Core,
    site: &'a Site,
    keys: Keys,
    at: SparseKeys,
    /// Keeps what the intent covers, also while a commit goes on without the caller.
    own: Arc<ContentPin>,
    /// Bytes whose rows one transaction writes.
    step: u64,
    /// Covers what was written so far.
    intent: Option<Vec<u8>>,
    offset: u64,
}

impl Copying<'_> {
    async fn receive(&self, body: ByteStream, length: u64) -> Result<Arrived, Error> {
        let expected = Expected { limit: length, length: Some(length), md5: false };
        let (core, site) = (self.core, self.site);
        let incoming = sparse::receive(core, site, self.at, self.offset, body, expected).await?;
        Ok(Arrived::new(incoming.bytes, self.offset))
    }

    /// Writes one segment before the commit that names the content.
    async fn ahead(&mut self, body: ByteStream) -> Result<(), Error> {
        let arrived = self.receive(body, self.step).await?;
        let (keys, at, covered) = (self.keys, self.at, self.intent.clone());
        let (landed, own) = (arrived.landed, Arc::clone(&self.own));
        let body = move |tx: &mut Tx<'_>| {
            let _ = &own;
            alive(tx, keys).map_err(stopped)?;
            let intent = covered.clone().unwrap_or_else(|| keys.intent(tx.stamp()));
            if covered.is_none() {
                Intent::Provisional { content: at.content }.store(tx, &intent)?;
            }
            sparse::land(tx, at, &landed)?;
            Ok((intent, LeftOver::Nothing))
        };
        match commit(self.core, self.site, arrived.extents, body).await? {
            Outcome::Done(intent) => self.intent = Some(intent),
            Outcome::Moved(_) => return Err(StoreError::Busy.into()),
        }
        self.offset += self.step;
        Ok(())
    }
}

impl Drop for Copying<'_> {
    fn drop(&mut self) {
        if self.intent.is_some() {
            self.core.pending().mark(self.site);
        }
    }
}

/// A stream that is read in parts.
struct Cut {
    body: ByteStream,
    rest: Option<Bytes>,
}

/// The next bytes of a stream, at most so many.
fn segment(cut: &Arc<Mutex<Cut>>, limit: u64) -> ByteStream {
    let state = (Arc::clone(cut), limit);
    Box::pin(stream::unfold(state, |(cut, left)| async move {
        if left == 0 {
            return None;
        }
        let mut held = cut.lock().await;
        let next = match held.rest.take() {
            Some(rest) => Some(Ok(rest)),
            None => held.body.next().await,
        };
        let mut bytes = match next? {
            Ok(bytes) => bytes,
            Err(error) => {
                drop(held);
                return Some((Err(error), (cut, 0)));
            }
        };
        let take = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let rest = bytes.split_off(take);
        held.rest = Some(rest).filter(|rest| !rest.is_empty());
        drop(held);
        let left = left - u64::try_from(take).unwrap_or(left);
        Some((Ok(bytes), (cut, left)))
    }))
}

/// Refuses: every copy is finished when it is answered.
pub async fn abort_copy_file(core: &Core, op: Authorized<AbortCopyFile>) -> Result<(), Error> {
    let (op, _) = op.into_parts();
    let reading = Reading::open(core, &op.at).await?;
    let (_, inode) = reading.item(&op.at.path, Kind::File)?;
    super::admit::write(&inode, op.lease, super::admit::Use::Properties, reading.now)?;
    Err(FileRefusal::NoPendingCopy.into())
}
