//! What can be asked about copies, as plain data.

use crate::blob::op::{BlobPath, Context, Encryption, ExpectedChecksum};
use zaffre_auth::Extras;
use zaffre_auth::action::{Action, Guarded, Scope};
use zaffre_base::Guid;
use zaffre_domain::blob::Metadata;
use zaffre_domain::blob::immutability::Protection;
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::blob::tier::{AccessTier, RehydratePriority};
use zaffre_domain::conditions::Conditions;

/// Copy Blob and Copy Blob From URL. The source is opened before.
#[derive(Clone, Debug)]
pub struct CopyBlob {
    /// The destination.
    pub at: BlobPath,
    /// The id of the copy, drawn by the protocol.
    pub id: Guid,
    /// The source's URL as it is shown later.
    pub shown_source: String,
    /// When it is to be done.
    pub when: When,
    /// Replaces the source's metadata, unless empty.
    pub metadata: Metadata,
    /// Tags to store.
    pub tags: Tags,
    /// `x-ms-access-tier`
    pub tier: Option<AccessTier>,
    /// `x-ms-rehydrate-priority`, for a source in the archive.
    pub priority: Option<RehydratePriority>,
    /// A policy and a hold that the copy gets.
    pub protection: Protection,
    /// The scope of the copy; a customer's key is not for copies.
    pub encryption: Encryption,
    /// `x-ms-seal-blob`; the source's is taken over when absent.
    pub seal: Option<bool>,
    /// `x-ms-lease-id` of the destination.
    pub lease: Option<Guid>,
    /// If-* headers, about the destination.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
}

/// When a copy is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// Before the answer or after it, as it comes: Copy Blob.
    Later,
    /// Before the answer, of a block blob of limited size: Copy Blob From URL.
    Now(ExpectedChecksum),
}

/// Abort Copy Blob.
#[derive(Clone, Debug)]
pub struct AbortCopy {
    /// The destination.
    pub at: BlobPath,
    /// Which copy.
    pub id: Guid,
    /// `x-ms-lease-id`
    pub lease: Option<Guid>,
}

/// Incremental Copy Blob. The source is opened before.
#[derive(Clone, Debug)]
pub struct IncrementalCopy {
    /// The destination.
    pub at: BlobPath,
    /// The id of the copy, drawn by the protocol.
    pub id: Guid,
    /// The source's URL as it is shown later.
    pub shown_source: String,
    /// If-* headers, about the destination.
    pub conditions: Conditions,
    /// The rules differ by version.
    pub context: Context,
}

fn on_blob(at: &BlobPath) -> Scope<'_> {
    Scope::object(&at.account, at.container.as_str(), at.blob.as_str())
}

impl Guarded for CopyBlob {
    fn action(&self) -> Action {
        match self.when {
            When::Later => Action::CopyBlob,
            When::Now(_) => Action::CopyBlobFromUrl,
        }
    }

    fn scope(&self) -> Scope<'_> {
        on_blob(&self.at)
    }

    fn extras(&self) -> Extras {
        let tags = self.conditions.if_tags.is_some() || !self.tags.is_empty();
        Extras { tags, immutability: self.protection.is_some() }
    }
}

impl Guarded for AbortCopy {
    fn action(&self) -> Action {
        Action::AbortCopyBlob
    }

    fn scope(&self) -> Scope<'_> {
        on_blob(&self.at)
    }
}

impl Guarded for IncrementalCopy {
    fn action(&self) -> Action {
        Action::IncrementalCopyBlob
    }

    fn scope(&self) -> Scope<'_> {
        on_blob(&self.at)
    }

    fn extras(&self) -> Extras {
        Extras { tags: self.conditions.if_tags.is_some(), ..Extras::default() }
    }
}
