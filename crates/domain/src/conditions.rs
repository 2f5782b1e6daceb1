//! Conditional headers: If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since.
//!
//! Must never look anything up: the caller passes the validators of what is there now.

mod accepted;
mod evaluate;

pub use accepted::{Accepted, ConditionalOperation, LeaseHeader, accepted};
pub use evaluate::{check_combination, evaluate, evaluate_container};

use crate::blob::tags::{Predicate, Tags};
use alloc::vec::Vec;
use zaffre_base::{ApiVersion, ETag, Timestamp};

/// One ETag condition as sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TagCondition {
    /// `*`
    Any,
    /// One tag, or for reads several. A tag that we cannot have issued is `None`.
    Tags(Vec<Option<ETag>>),
}

impl TagCondition {
    /// Whether `*` or one of the tags names what is there.
    fn names(&self, current: ETag) -> bool {
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.contains(&Some(current)),
        }
    }
}

/// The conditions of a request, syntax already checked; absent means not sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Conditions {
    /// If-Match
    pub if_match: Option<TagCondition>,
    /// If-None-Match
    pub if_none_match: Option<TagCondition>,
    /// If-Modified-Since
    pub if_modified_since: Option<Timestamp>,
    /// If-Unmodified-Since
    pub if_unmodified_since: Option<Timestamp>,
    /// `x-ms-if-tags`
    pub if_tags: Option<Predicate>,
}

/// What conditions are compared with: the state of the blob or container that is there now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Validators<'a> {
    /// Its entity tag.
    pub etag: ETag,
    /// When it last changed; compared in whole seconds.
    pub last_modified: Timestamp,
    /// Its tags.
    pub tags: &'a Tags,
}

/// What the conditional operation is going to do; a false condition means different things to each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Get Blob, Get Blob Properties, Get Blob Metadata.
    Read {
        /// The version the answer must look like: the rules changed twice.
        version: ApiVersion,
    },
    /// Put Blob, Put Block List, and every other operation that may bring a blob into being.
    CreateOrReplace {
        /// The request named the active lease of the blob (see [`crate::lease::holds`]): its
        /// holder already knows that the blob exists, so `If-None-Match: *` is ignored.
        holds_lease: bool,
    },
    /// Operations on a blob that must be there: Set Blob Metadata, Set Blob Properties, Delete
    /// Blob, Snapshot Blob, Lease Blob.
    Modify,
}
