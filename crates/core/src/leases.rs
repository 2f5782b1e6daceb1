//! Leases that are held now, counted for whoever watches.
//!
//! Must never decide anything: what holds is in the rows. Counted is what was taken or renewed since the
//! start, so that leases for ever from before are missing until they are used again.

use crate::blob::op::{BlobPath, ContainerPath};
use crate::file::op::ItemPath;
use crate::file::share::op::ShareAt;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use zaffre_base::{AccountName, Timestamp};
use zaffre_domain::LeaseOn;
use zaffre_domain::fs::FileId;
use zaffre_domain::lease::{Lease, LeaseView, view};

/// Leases that are counted; those beyond are not.
const COUNTED: usize = 65_536;

/// What is leased: in which container or share of which account, and which blob, file or snapshot.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Leased {
    /// What kind of thing it is.
    pub(crate) on: LeaseOn,
    /// Whose.
    pub(crate) account: AccountName,
    /// The container or share.
    pub(crate) inside: String,
    /// The name of a blob, the id of a file; nothing for the container or share itself.
    pub(crate) name: Vec<u8>,
}

impl BlobPath {
    pub(crate) fn leased(&self) -> Leased {
        let (account, inside) = (self.account.clone(), self.container.as_str().to_owned());
        Leased { on: LeaseOn::Blob, account, inside, name: self.blob.as_str().into() }
    }
}

impl ContainerPath {
    pub(crate) fn leased(&self) -> Leased {
        let (account, inside) = (self.account.clone(), self.container.as_str().to_owned());
        Leased { on: LeaseOn::Container, account, inside, name: Vec::new() }
    }
}

impl ItemPath {
    /// Files are told apart by their ids: they keep their leases when they are renamed.
    pub(crate) fn leased(&self, id: FileId) -> Leased {
        let (account, inside) = (self.share.account.clone(), self.share.share.as_str().to_owned());
        Leased { on: LeaseOn::File, account, inside, name: id.0.to_be_bytes().to_vec() }
    }
}

impl ShareAt {
    pub(crate) fn leased(&self) -> Leased {
        let (account, inside) = (self.share.account.clone(), self.share.share.as_str().to_owned());
        let name = self.snapshot.map(|taken| taken.0.to_be_bytes().to_vec());
        Leased { on: LeaseOn::Share, account, inside, name: name.unwrap_or_default() }
    }
}

/// When each runs out; `None` = never.
#[derive(Default, Debug)]
pub struct Leases(Mutex<HashMap<Leased, Option<Timestamp>>>);

impl Leases {
    fn held(&self) -> MutexGuard<'_, HashMap<Leased, Option<Timestamp>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how a lease stands after something was done with it.
    pub(crate) fn note(&self, what: Leased, lease: &Lease, now: Timestamp) {
        let until = match view(lease, now) {
            LeaseView::Leased { .. } => lease.expires,
            LeaseView::Breaking => lease.breaks,
            LeaseView::Available | LeaseView::Broken | LeaseView::Expired => {
                self.held().remove(&what);
                return;
            }
        };
        let mut held = self.held();
        if held.len() >= COUNTED {
            held.retain(|_, until| until.is_none_or(|until| until > now));
        }
        if held.len() < COUNTED || held.contains_key(&what) {
            held.insert(what, until);
        }
    }

    /// What was leased is gone.
    pub(crate) fn forget(&self, what: &Leased) {
        self.held().remove(what);
    }

    /// A container or share is gone with everything in it.
    pub(crate) fn forget_inside(&self, on: LeaseOn, account: &AccountName, inside: &str) {
        let files = is_of_files(on);
        self.held().retain(|what, _| {
            is_of_files(what.on) != files || what.account != *account || what.inside != inside
        });
    }

    /// A share or a snapshot of it is gone.
    pub(crate) fn forget_at(&self, what: &Leased) {
        if what.name.is_empty() {
            self.forget_inside(what.on, &what.account, &what.inside);
        } else {
            self.forget(what);
        }
    }

    /// How many are held: of containers, blobs, shares and files.
    pub fn count(&self, now: Timestamp) -> [(&'static str, u64); 4] {
        let mut counts = [("container", 0), ("blob", 0), ("share", 0), ("file", 0)];
        let mut held = self.held();
        held.retain(|_, until| until.is_none_or(|until| until > now));
        for what in held.keys() {
            let at = match what.on {
                LeaseOn::Container => 0,
                LeaseOn::Blob => 1,
                LeaseOn::Share => 2,
                LeaseOn::File => 3,
            };
            counts[at].1 += 1;
        }
        counts
    }
}

fn is_of_files(on: LeaseOn) -> bool {
    matches!(on, LeaseOn::Share | LeaseOn::File)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_base::Guid;

    fn blob(name: &str) -> Leased {
        let account = AccountName::parse("acct").expect("legal");
        let name = name.as_bytes().to_vec();
        Leased { on: LeaseOn::Blob, account, inside: "c".to_owned(), name }
    }

    fn lease(expires: Option<u64>) -> Lease {
        let expires = expires.map(Timestamp);
        Lease { id: Some(Guid(1)), expires, ..Lease::default() }
    }

    #[test]
    fn leases_are_counted_until_they_run_out_or_go() {
        let leases = Leases::default();
        let blobs = |now| leases.count(Timestamp(now))[1].1;
        leases.note(blob("finite"), &lease(Some(10)), Timestamp(1));
        leases.note(blob("for ever"), &lease(None), Timestamp(1));
        leases.note(blob("another"), &lease(None), Timestamp(1));
        assert_eq!(blobs(2), 3);
        leases.note(blob("another"), &Lease::default(), Timestamp(2));
        assert_eq!(blobs(3), 2, "one was released");
        assert_eq!(blobs(11), 1, "one ran out");
        leases.note(blob("gone"), &lease(None), Timestamp(11));
        leases.forget(&blob("gone"));
        assert_eq!(blobs(12), 1);
        let account = AccountName::parse("acct").expect("legal");
        leases.forget_inside(LeaseOn::Share, &account, "c");
        assert_eq!(blobs(13), 1, "a share is not a container");
        leases.forget_inside(LeaseOn::Container, &account, "c");
        assert_eq!(blobs(14), 0);
    }
}
