//! Extents that no row names yet: released when dropped, unless claimed.

use std::sync::Arc;
use zaffre_store::extents::{ExtentRef, Extents, WriteGuard};

/// An extent that was written and that nothing refers to.
pub(crate) struct Unclaimed {
    extents: Extents,
    at: Option<ExtentRef>,
    /// Keeps the extent from counting as an orphan.
    _open: Arc<WriteGuard>,
}

impl Unclaimed {
    pub(crate) fn new(extents: Extents, at: ExtentRef, open: Arc<WriteGuard>) -> Self {
        Self { extents, at: Some(at), _open: open }
    }

    pub(crate) fn extent(&self) -> Option<ExtentRef> {
        self.at
    }

    /// A row names it, or may: it is not ours to release any more.
    pub(crate) fn claim(mut self) {
        self.at = None;
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(at) = self.at {
            self.extents.release(&[at]);
        }
    }
}
