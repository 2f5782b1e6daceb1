//! Snapshot Blob: the current state, kept as it is under the time of the commit.

use super::admit::{self, Presented};
use super::history::Past;
use super::op::SnapshotBlob;
use super::records::{Head, PastKind, Record};
use super::reply::{SnapshotReply, Written};
use super::site::{alive, find};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::Stamp;
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_store::{Abort, Tx};

/// Takes a snapshot. Where versions are kept, the current state becomes one as well and the blob
/// goes on under a new id.
pub async fn snapshot_blob(
    core: &Core,
    op: Authorized<SnapshotBlob>,
) -> Result<SnapshotReply, Error> {
    let (op, _) = op.into_parts();
    check_combination(&op.conditions, Access::Modify)?;
    let keeping = core.settings(&op.at.account).keeping();
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let shown = op.encryption.shown();
    let (keys, name, metadata) = (site.keys, op.at.blob, op.metadata);
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        let stamp = tx.stamp();
        let key = keys.blob(&name);
        let head = Head::load(tx, &key)?;
        let mut head = admit::snapshot(head, &presented, stamp.time()).map_err(Abort::Fail)?;
        head.encrypted.admits(&shown).map_err(Abort::Fail)?;
        let mut snapshot = head.to_past().with_version(None);
        snapshot.set_protection(Protection::default());
        if !metadata.is_empty() {
            snapshot.metadata.clone_from(&metadata);
            snapshot.written = stamp;
        }
        let mut past = Past::load(tx, keys, &name)?;
        past.add(tx, stamp, PastKind::Snapshot, &snapshot)?;
        if keeping.versions {
            past.add_version(tx, &head)?;
            (head.version, head.created) = (Some(stamp), stamp.time());
            head.store(tx, &key)?;
        }
        let version = head.version.filter(|_| keeping.versions).map(Stamp::time);
        let written = Written { stamp: snapshot.written, version };
        let left = past.finish(tx, None, None)?;
        Ok((SnapshotReply { snapshot: stamp.time(), written }, left))
    };
    core.commit(&site, body).await
}
