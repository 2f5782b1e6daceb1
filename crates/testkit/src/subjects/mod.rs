//! Each kind of resource as clients ask for it over the wire.
//!
//! Must never decide whether an answer is right: it only says what was answered.

mod append;
mod batch;
mod blob;
mod container;
mod entity;
mod files;
mod lease;
mod queue;
mod range_lock;
mod share_mode;

pub(crate) use append::AppendBlob;
pub(crate) use batch::Batch;
pub(crate) use blob::Blob;
pub(crate) use container::Container;
pub(crate) use entity::Entity;
pub(crate) use lease::BlobLease;
pub(crate) use queue::QueueMessages;
pub(crate) use range_lock::RangeLock;
pub(crate) use share_mode::ShareMode;

use crate::models::When;
use crate::real::http::Reply;

/// The headers of a condition.
pub(crate) fn headers(when: &When) -> Vec<(&'static str, &str)> {
    match when {
        When::Always => Vec::new(),
        When::Absent => vec![("If-None-Match", "*")],
        When::Present => vec![("If-Match", "*")],
        When::Tag(etag) => vec![("If-Match", etag)],
    }
}

/// A success, or what was said instead.
pub(crate) fn expect(reply: &Reply, status: u64) -> Result<(), String> {
    if reply.status == status {
        return Ok(());
    }
    Err(format!("expected {status}: {} {}", reply.status, reply.text()))
}
