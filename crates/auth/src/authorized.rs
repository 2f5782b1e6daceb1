//! The proof that a request may do what it asks.

/// An operation whose caller was authenticated and may perform it. Only this crate can make one.
#[derive(Debug)]
pub struct Authorized<Op> {
    op: Op,
    grants: Grants,
}

/// What the caller may do beyond the operation itself: effects only the state decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grants {
    /// May replace a blob that exists (not so for a SAS with `c` but without `w`).
    pub overwrite: bool,
}

impl<Op> Authorized<Op> {
    pub(crate) fn new(op: Op, grants: Grants) -> Self {
        Self { op, grants }
    }

    /// The operation and what else the caller may do.
    pub fn into_parts(self) -> (Op, Grants) {
        (self.op, self.grants)
    }

    /// The operation.
    pub fn op(&self) -> &Op {
        &self.op
    }
}
