//! Extents that no row names yet: released when dropped, unless pledged to a commit.

use crate::service::surely_nothing_written;
use std::sync::Arc;
use zaffre_store::TransactError;
use zaffre_store::extents::{ExtentRef, Extents, WriteGuard};

/// An extent that was written and that nothing refers to.
pub(crate) struct Unclaimed {
    extents: Extents,
    at: Option<ExtentRef>,
    /// Keeps the extent from counting as an orphan.
    open: Arc<WriteGuard>,
}

impl Unclaimed {
    pub(crate) fn new(extents: Extents, at: ExtentRef, open: Arc<WriteGuard>) -> Self {
        Self { extents, at: Some(at), open }
    }

    pub(crate) fn extent(&self) -> Option<ExtentRef> {
        self.at
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(at) = self.at {
            self.extents.release(&[at]);
        }
    }
}

/// Extents that a commit on its way may come to name. Dropped without an outcome they stay where
/// they are: the runtime can end while the commit waits, and the commit still happens. If it does
/// not, the scan for orphans finds them.
pub(crate) struct Pledged(Vec<(Extents, ExtentRef, Arc<WriteGuard>)>);

impl Pledged {
    /// To be done before the commit is begun.
    pub(crate) fn new(unclaimed: Vec<Unclaimed>) -> Self {
        let pledge = |mut piece: Unclaimed| {
            let at = piece.at.take()?;
            Some((piece.extents.clone(), at, Arc::clone(&piece.open)))
        };
        Self(unclaimed.into_iter().filter_map(pledge).collect())
    }

    /// Surely no commit names them, and another one may.
    pub(crate) fn take_back(self) -> Vec<Unclaimed> {
        let back = |(extents, at, open)| Unclaimed::new(extents, at, open);
        self.0.into_iter().map(back).collect()
    }

    /// Surely no commit names them.
    pub(crate) fn release(self) {
        for (extents, at, _open) in self.0 {
            extents.release(&[at]);
        }
    }

    /// The commit has ended: what surely no row names is released.
    pub(crate) fn settle<T, E>(self, outcome: &Result<T, TransactError<E>>) {
        if outcome.as_ref().err().is_some_and(surely_nothing_written) {
            for (extents, at, _open) in self.0 {
                extents.release(&[at]);
            }
        }
    }
}
