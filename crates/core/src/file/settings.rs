//! What a request's settings make of an inode's SMB properties.
//!
//! Must never decide a rule itself: they are in `zaffre_domain::fs::properties`.

use super::books::{Books, refuse};
use super::permission::{self, Origin};
use super::records::Inode;
use zaffre_base::Timestamp;
use zaffre_domain::Refusal;
use zaffre_domain::fs::properties::{
    SmbSettings, TimeSetting, Times, changed_attributes, new_attributes, resolve_time,
};
use zaffre_domain::fs::{Attributes, PermissionKey};
use zaffre_store::{Abort, Tx};

/// The SMB properties of something new.
pub(super) struct NewSmb {
    pub(super) attributes: Attributes,
    pub(super) times: Times,
    pub(super) permission: PermissionKey,
}

/// Makes the properties of something new.
pub(super) fn of_new(
    tx: &mut Tx<'_>,
    books: &Books,
    settings: &SmbSettings,
    origin: &Origin<'_>,
    source: Option<(Attributes, Times)>,
) -> Result<NewSmb, Abort<Refusal>> {
    let now = tx.stamp().time();
    let plain = Times { created: now, last_write: now, change: now, last_access: now };
    let (from_attributes, from_times) = source.unwrap_or((Attributes::NONE, plain));
    let attributes =
        new_attributes(settings.attributes, from_attributes, settings.semantics, origin.directory);
    let attributes = match attributes {
        Ok(attributes) => attributes,
        Err(refusal) => return refuse(refusal),
    };
    let times = Times {
        created: resolve_time(settings.created, from_times.created, now),
        last_write: resolve_time(settings.last_write, from_times.last_write, now),
        change: resolve_time(settings.change, from_times.change, now),
        last_access: now,
    };
    let permission =
        permission::for_new(tx, books.keys, &settings.permission, settings.semantics, origin)?;
    Ok(NewSmb { attributes, times, permission })
}

/// Changes the properties of an inode.
pub(super) fn apply(
    tx: &mut Tx<'_>,
    books: &Books,
    settings: &SmbSettings,
    inode: &mut Inode,
    parent: &Inode,
) -> Result<(), Abort<Refusal>> {
    let now = tx.stamp().time();
    let directory = inode.is_directory();
    match changed_attributes(settings.attributes, inode.attributes(), directory) {
        Ok(attributes) => inode.set_attributes(attributes),
        Err(refusal) => return refuse(refusal),
    }
    let times = inode.times();
    inode.set_times(Times {
        created: resolve_time(settings.created, times.created, now),
        last_write: resolve_time(settings.last_write, times.last_write, now),
        change: resolve_time(settings.change, times.change, now),
        last_access: times.last_access,
    });
    let key = permission::for_change(tx, books.keys, &settings.permission, inode, parent)?;
    inode.set_permission(key);
    Ok(())
}

/// Marks a write: when it happened, unless the time is to stay.
pub(super) fn touch(inode: &mut Inode, last_write: TimeSetting, now: Timestamp) {
    let times = inode.times();
    inode.set_times(Times {
        last_write: resolve_time(last_write, times.last_write, now),
        change: now,
        ..times
    });
}
