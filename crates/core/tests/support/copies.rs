//! Copies as tests ask for them.

use super::{CONTEXT, World, get, path};
use zaffre_base::Guid;
use zaffre_core::blob::copy::{
    AbortCopy, CopyBlob, IncrementalCopy, When, abort_copy, copy_blob, incremental_copy,
    open_source,
};
use zaffre_core::blob::op::{BlobPath, GetBlob};
use zaffre_core::blob::reply::CopyReply;
use zaffre_core::{CopyOptions, CoreOptions, Error, Layout};
use zaffre_domain::blob::Metadata;
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::conditions::Conditions;

/// Small pieces and steps; nothing is copied before the answer unless it must be.
pub fn options() -> CoreOptions {
    CoreOptions {
        container_delete_delay: std::time::Duration::ZERO,
        layout: Layout { inline_bytes: 64, piece_bytes: 4096, pieces_per_commit: 4 },
        copies: CopyOptions { at_once_bytes: 0, step_bytes: 10_000, bytes_per_second: None },
        ..CoreOptions::default()
    }
}

/// A copy with this id to `to`.
pub fn copy(to: &str, id: u128) -> CopyBlob {
    CopyBlob {
        encryption: zaffre_core::blob::op::Encryption::default(),
        at: path(to),
        id: Guid(id),
        shown_source: "http://here/source".to_owned(),
        when: When::Later,
        metadata: Metadata::new(),
        tags: Tags::new(),
        tier: None,
        priority: None,
        protection: Protection::default(),
        seal: None,
        lease: None,
        conditions: Conditions::default(),
        context: CONTEXT,
    }
}

impl World {
    /// Copies the state at `from`.
    pub async fn copy_with(&self, from: BlobPath, op: CopyBlob) -> Result<CopyReply, Error> {
        let source = GetBlob { at: from, ..get("photos/x") };
        let source = open_source(&self.core, self.ok(source)).await?;
        copy_blob(&self.core, self.ok(op), source).await
    }

    pub async fn copy(&self, from: &str, to: &str, id: u128) -> Result<CopyReply, Error> {
        self.copy_with(path(from), copy(to, id)).await
    }

    pub async fn abort(&self, to: &str, id: u128) -> Result<(), Error> {
        let op = AbortCopy { at: path(to), id: Guid(id), lease: None };
        abort_copy(&self.core, self.ok(op)).await
    }

    pub async fn follow(&self, from: BlobPath, to: &str, id: u128) -> Result<CopyReply, Error> {
        let source = GetBlob { at: from, ..get("photos/x") };
        let source = open_source(&self.core, self.ok(source)).await?;
        let op = IncrementalCopy {
            at: path(to),
            id: Guid(id),
            shown_source: "http://here/source".to_owned(),
            conditions: Conditions::default(),
            context: CONTEXT,
        };
        incremental_copy(&self.core, self.ok(op), source).await
    }
}
