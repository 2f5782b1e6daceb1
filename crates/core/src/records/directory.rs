//! The directory's rows that all kinds of things share: held names, and what waits to be purged.

use super::{Record, fields};
use minicbor::{Decode, Encode};
use zaffre_base::{Incarnation, Stamp, Timestamp};

/// A name that must not be used again yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct HeldName {
    #[cbor(n(0), with = "fields")]
    pub(crate) until: Timestamp,
}

impl Record for HeldName {
    const WHAT: &'static str = "held name";
}

/// A deleted container, queue or table whose contents are still to be removed.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Purge {
    #[n(0)]
    pub(crate) name: String,
    #[cbor(n(1), with = "fields")]
    pub(crate) incarnation: Incarnation,
}

impl Record for Purge {
    const WHAT: &'static str = "purge intent";
}

/// Marks a deleted incarnation; what it holds is for people who look at the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Guard {
    #[cbor(n(0), with = "fields")]
    pub(crate) set: Stamp,
}

impl Record for Guard {
    const WHAT: &'static str = "guard";
}
