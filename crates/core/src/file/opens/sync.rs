//! The lock of the open table: shuttle's under its feature, std's otherwise.

#[cfg(not(feature = "shuttle"))]
pub(super) use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "shuttle")]
pub(super) use {
    shuttle::sync::{Mutex, MutexGuard},
    std::sync::PoisonError,
};
