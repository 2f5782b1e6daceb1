//! The security descriptors of a share: each is stored once, under a key made from its bytes.
//!
//! Must never change a descriptor that is stored: files name them by key, snapshots too.

use super::books::{alive, refuse};
use super::keys::Keys;
use super::op::{CreatePermission, GetPermission};
use super::records::{Inode, Permission};
use super::share;
use super::tree::Rows;
use crate::records::Record;
use crate::{Core, Error};
use std::sync::LazyLock;
use zaffre_auth::Authorized;
use zaffre_base::checksum::Crc64;
use zaffre_domain::Refusal;
use zaffre_domain::fs::properties::{PermissionSetting, Semantics};
use zaffre_domain::fs::security::{default_root, inherited, merged};
use zaffre_domain::fs::{Descriptor, FileRefusal, PermissionKey};
use zaffre_store::{Abort, Tx};

/// Descriptors with the same hash that are told apart.
const SLOTS: usize = 16;

/// The key of the descriptor that the root directory has until another is set.
static ROOT: LazyLock<(PermissionKey, Vec<u8>)> = LazyLock::new(|| {
    let bytes = default_root().to_bytes().unwrap_or_default();
    (PermissionKey { hash: hash(&bytes), slot: 1 }, bytes)
});

/// The key of the root's default descriptor, which has no row until somebody stores it.
pub(crate) fn root_key() -> PermissionKey {
    ROOT.0
}

fn hash(bytes: &[u8]) -> u64 {
    let mut crc = Crc64::default();
    crc.update(bytes);
    u64::from_be_bytes(crc.finish())
}

/// Stores a descriptor, unless it is there already.
pub(crate) fn keep(
    tx: &mut Tx<'_>,
    keys: Keys,
    descriptor: &Descriptor,
) -> Result<PermissionKey, Abort<Refusal>> {
    let bytes = descriptor.to_bytes().map_err(|refusal| Abort::Fail(refusal.into()))?;
    let hash = hash(&bytes);
    if (hash, &bytes) == (ROOT.0.hash, &ROOT.1) {
        return Ok(ROOT.0);
    }
    let range = keys.permissions(hash);
    let rows = tx.scan(&range.start, range.end.as_deref(), SLOTS)?;
    // The root's default has the first slot of its hash, though it may have no row.
    let first = 1 + u16::from(hash == ROOT.0.hash);
    let mut slot = first;
    for row in &rows {
        let stored = Permission::from_bytes(&row.value).map_err(zaffre_store::Interrupt::from)?;
        if stored.bytes == bytes {
            return Ok(PermissionKey { hash, slot });
        }
        slot += 1;
    }
    if rows.len() == SLOTS {
        return refuse(FileRefusal::InvalidPermission);
    }
    let key = PermissionKey { hash, slot };
    Permission { bytes }.store(tx, &keys.permission(key))?;
    Ok(key)
}

/// The descriptor with a key.
pub(crate) fn load<R: Rows>(
    rows: &mut R,
    keys: Keys,
    key: PermissionKey,
) -> Result<Option<Descriptor>, R::Error> {
    if key == ROOT.0 {
        return Ok(Some(default_root()));
    }
    let Some(row) = rows.row(&keys.permission(key))? else { return Ok(None) };
    let stored = Permission::from_bytes(&row)?;
    let read = Descriptor::from_bytes(&stored.bytes);
    let read = read.map_err(|_| zaffre_store::StoreError::corrupt("a security descriptor"))?;
    Ok(Some(read))
}

/// The descriptor of an inode, which must be there.
pub(crate) fn of<R: Rows>(rows: &mut R, keys: Keys, inode: &Inode) -> Result<Descriptor, R::Error> {
    let missing = || zaffre_store::StoreError::corrupt("a file's security descriptor is missing");
    Ok(load(rows, keys, inode.permission())?.ok_or_else(missing)?)
}

/// Where the descriptor of something new comes from.
pub(crate) struct Origin<'a> {
    /// The directory it is made in.
    pub(crate) parent: &'a Inode,
    /// The descriptor of the source of a copy.
    pub(crate) source: Option<&'a Descriptor>,
    pub(crate) directory: bool,
}

/// The key of the descriptor that something new gets.
pub(crate) fn for_new(
    tx: &mut Tx<'_>,
    keys: Keys,
    setting: &PermissionSetting,
    semantics: Semantics,
    origin: &Origin<'_>,
) -> Result<PermissionKey, Abort<Refusal>> {
    let given = match (setting, origin.source) {
        (PermissionSetting::Given(given), _) => complete(given)?.clone(),
        (PermissionSetting::Source, Some(source)) => source.clone(),
        (PermissionSetting::Key(key), _) => match load(tx, keys, *key)? {
            Some(_) if semantics != Semantics::New => return Ok(*key),
            Some(descriptor) => descriptor,
            None => return refuse(FileRefusal::InvalidPermissionKey),
        },
        (PermissionSetting::Inherit | PermissionSetting::Preserve, _)
        | (PermissionSetting::Source, None) => {
            let parent = of(tx, keys, origin.parent)?;
            return keep(tx, keys, &inherited(&parent, origin.directory));
        }
    };
    if semantics == Semantics::New {
        let parent = of(tx, keys, origin.parent)?;
        return keep(tx, keys, &merged(&given, &parent, origin.directory));
    }
    keep(tx, keys, &given)
}

/// The key of the descriptor that something has after a change.
pub(crate) fn for_change(
    tx: &mut Tx<'_>,
    keys: Keys,
    setting: &PermissionSetting,
    current: &Inode,
    parent: &Inode,
) -> Result<PermissionKey, Abort<Refusal>> {
    match setting {
        PermissionSetting::Preserve | PermissionSetting::Source => Ok(current.permission()),
        PermissionSetting::Inherit | PermissionSetting::Given(_) | PermissionSetting::Key(_) => {
            let directory = current.is_directory();
            let origin = Origin { parent, source: None, directory };
            for_new(tx, keys, setting, Semantics::Restore, &origin)
        }
    }
}

fn complete(given: &Descriptor) -> Result<&Descriptor, Abort<Refusal>> {
    if given.is_complete() { Ok(given) } else { refuse(FileRefusal::InvalidPermission) }
}

/// Keeps a descriptor for later use.
pub async fn create_permission(
    core: &Core,
    op: Authorized<CreatePermission>,
) -> Result<PermissionKey, Error> {
    let (op, _) = op.into_parts();
    let found = share::find(core, &op.at, None).await?.found;
    let keys = Keys(found.place.incarnation);
    let hold = crate::directory::hold(&found.place, found.pin);
    core.transact(&found.place.placement, move |tx| {
        let _ = &hold;
        alive(tx, keys)?;
        keep(tx, keys, complete(&op.descriptor)?)
    })
    .await
}

/// Shows a descriptor that was kept.
pub async fn get_permission(
    core: &Core,
    op: Authorized<GetPermission>,
) -> Result<Descriptor, Error> {
    let (op, _) = op.into_parts();
    let found = share::find(core, &op.at, None).await?.found;
    let inside = core.store().meta.snapshot(&found.place.placement).await?;
    let keys = Keys(found.place.incarnation);
    load(&mut &inside, keys, op.key)?.ok_or_else(|| FileRefusal::InvalidPermissionKey.into())
}
