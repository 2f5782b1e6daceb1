//! What commands keep with a handle between requests.

/// What is kept with a handle.
#[derive(Debug, Default)]
pub(crate) struct Scratch {}
