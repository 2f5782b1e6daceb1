//! Copies between blobs.
//!
//! ```text
//!   source, opened and pinned ─► small, or wanted now: content is made, then one commit names it
//!                            └─► larger: the head says `pending`, a row says how far it is,
//!                                and the background goes on, also after a restart
//! ```
//! Must never show a part of a copy: the content counts when the last commit says so. Whatever was
//! written before that is named by the content that the row names, so that it can be given back.

mod abort;
mod batch;
mod bytes;
mod decide;
mod end;
mod incremental;
mod make;
pub mod op;
mod pages;
mod remote;
mod source;
mod start;
mod work;

pub use abort::abort_copy;
pub use incremental::incremental_copy;
pub use op::{AbortCopy, CopyBlob, IncrementalCopy, When};
pub use remote::{Remote, RemoteBlob, RemoteError, RemotePart};
pub use source::{CopySource, open_source};
pub use start::copy_blob;
pub(crate) use work::{Copies, look, run, work_off};

/// Rows, and bytes in them, that one commit of a copy writes.
const STEP_ROWS: usize = 256;
const STEP_ROW_BYTES: usize = 1024 * 1024;

/// Copies that the background works on at the same time.
const TOGETHER: usize = 4;

/// Blocks of an append blob that is made from a source without blocks.
const APPENDED_BYTES: u64 = 4 * 1024 * 1024;
