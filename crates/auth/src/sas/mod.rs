//! Shared access signatures: parameters of the query that carry their own permission.
//!
//! Must never act on a parameter that the token's signature does not cover.

pub(crate) mod account;
pub(crate) mod delegated;
pub(crate) mod field;
pub(crate) mod layout;
pub(crate) mod limits;
pub(crate) mod resource;
pub(crate) mod service;

use zaffre_base::ApiVersion;

/// Response headers a service SAS replaces on reads; only those its signature covers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ResponseOverrides {
    /// `rscc`
    pub cache_control: Option<String>,
    /// `rscd`
    pub content_disposition: Option<String>,
    /// `rsce`
    pub content_encoding: Option<String>,
    /// `rscl`
    pub content_language: Option<String>,
    /// `rsct`
    pub content_type: Option<String>,
}

/// The first version with account SAS, `sip`, `spr` and distinct error codes.
pub(crate) const V2015_04_05: ApiVersion = ApiVersion::new(2015, 4, 5);
