//! The proof that a request may do what it asks.

use crate::key_range::KeyRange;

/// An operation whose caller was authenticated and may perform it. Only this crate can make one.
#[derive(Debug)]
pub struct Authorized<Op> {
    op: Op,
    grants: Grants,
    keys: Option<Box<KeyRange>>,
}

/// What the caller may do beyond the operation itself: effects only the state decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent permissions, not states")]
pub struct Grants {
    /// May replace a blob that exists (not so for a SAS with `c` but without `w`).
    pub overwrite: bool,
    /// May read, set and compare tags.
    pub tags: bool,
    /// May set immutability policies and legal holds.
    pub immutability: bool,
    /// May delete what soft delete still keeps.
    pub permanent_delete: bool,
}

impl Grants {
    /// What the owner of an account may do.
    pub(crate) const ALL: Self =
        Self { overwrite: true, tags: true, immutability: true, permanent_delete: true };
    /// What somebody unknown may do.
    pub(crate) const NONE: Self =
        Self { overwrite: false, tags: false, immutability: false, permanent_delete: false };

    /// What the service may do with what it writes itself, such as logs.
    pub fn owner() -> Self {
        Self::ALL
    }

    /// What the letters of a SAS allow.
    pub(crate) fn of(permissions: &str) -> Self {
        Self {
            overwrite: permissions.contains('w'),
            tags: permissions.contains('t'),
            immutability: permissions.contains('i'),
            permanent_delete: permissions.contains('y'),
        }
    }

    /// Whether these include what an operation does besides.
    pub(crate) fn include(self, extras: Extras) -> bool {
        (self.tags || !extras.tags) && (self.immutability || !extras.immutability)
    }
}

/// What an operation does besides its own work, known from its head alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extras {
    /// Sets tags (`x-ms-tags`), or depends on them (`x-ms-if-tags`).
    pub tags: bool,
    /// Sets an immutability policy or a legal hold along with the blob.
    pub immutability: bool,
}

impl<Op> Authorized<Op> {
    pub(crate) fn new(op: Op, grants: Grants, keys: Option<Box<KeyRange>>) -> Self {
        Self { op, grants, keys }
    }

    /// The operation and what else the caller may do.
    pub fn into_parts(self) -> (Op, Grants) {
        (self.op, self.grants)
    }

    /// The operation.
    pub fn op(&self) -> &Op {
        &self.op
    }

    /// The entities of the table that the caller may see. An operation on one entity was held
    /// against it already; a query has to keep to it.
    pub fn key_range(&self) -> &KeyRange {
        self.keys.as_deref().unwrap_or(KeyRange::ALL)
    }
}
