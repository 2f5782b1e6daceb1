//! The flag that stops all acknowledgements after a write or sync failed.
//!
//! Must never be cleared: after a failed sync the kernel may have dropped the dirty pages, so only
//! a restart, which reads what is really on the disk, can tell what is durable.

use crate::error::StoreError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by everything that writes to one disk.
#[derive(Clone, Debug, Default)]
pub struct Poison(Arc<AtomicBool>);

impl Poison {
    /// Not poisoned.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on nothing is acknowledged.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// An error if it is set.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.is_set() { Err(StoreError::Poisoned) } else { Ok(()) }
    }
}
