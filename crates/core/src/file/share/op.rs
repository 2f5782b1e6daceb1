//! The operations on shares as plain data: what a protocol parses a request into.
//!
//! Must never know HTTP; every field is typed and already checked for syntax.

use zaffre_base::{AccountName, ShareName};

/// A share by its full name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharePath {
    /// The account.
    pub account: AccountName,
    /// The share.
    pub share: ShareName,
}
