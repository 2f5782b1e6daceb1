//! Base64 as the protocols use it: standard alphabet with padding, strict.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Encodes with padding.
pub fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes; `None` for anything but canonical padded Base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
