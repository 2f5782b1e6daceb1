//! The accounts of a running server, shared by its services.
//!
//! Must never be read twice for one request: it keeps those it began with.

use std::sync::{Arc, PoisonError, RwLock};
use zaffre_auth::Accounts;

/// The accounts of a running server; the operator may change them at any time.
#[derive(Clone, Debug)]
pub struct AccountsHandle(Arc<RwLock<Arc<Accounts>>>);

impl AccountsHandle {
    /// Starts with these.
    pub fn new(accounts: Accounts) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(accounts))))
    }

    /// The accounts now; a request keeps those it began with.
    pub fn current(&self) -> Arc<Accounts> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// From the next request on, what `change` makes of them.
    pub fn change(&self, change: impl FnOnce(&Accounts) -> Accounts) {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(change(&current));
    }
}
