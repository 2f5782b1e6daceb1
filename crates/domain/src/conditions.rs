//! Conditional headers: If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since.
//!
//! Must never look anything up: the caller passes the validators of what is there now.

use alloc::string::String;
use alloc::vec::Vec;
use zaffre_base::{ETag, Timestamp};

/// One ETag condition as sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TagCondition {
    /// `*`
    Any,
    /// One tag, or for reads several. A tag that we cannot have issued is `None`.
    Tags(Vec<Option<ETag>>),
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
    /// `x-ms-if-tags`, for a later issue; carried so that it is never silently dropped.
    pub if_tags: Option<String>,
}
