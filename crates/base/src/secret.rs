//! Secrets: values that cannot be printed and compare in constant time.

use std::fmt;
use subtle::ConstantTimeEq;

/// Wraps a key or token so that no log line can show it.
#[derive(Clone)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Takes the value in.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself; the name makes every use easy to find in a review.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Compares two byte strings without telling by its time where they differ.
pub fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}
