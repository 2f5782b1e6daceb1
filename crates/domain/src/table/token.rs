//! Continuation tokens: the key of the first entity of the next page, opaque to clients.
//!
//! The form is the service's own: `1!{length}!{Base64}`, with the characters that a URL would
//! escape replaced.

use super::TableRefusal;
use alloc::format;
use alloc::string::String;
use zaffre_base::base64;

/// The token for a key.
pub fn make(key: &str) -> String {
    let text = base64::encode(key.as_bytes());
    let text = text.replace('=', "-").replace('+', ".").replace('/', "_");
    format!("1!{}!{text}", text.len())
}

/// The key of a token.
pub fn read(token: &str) -> Result<String, TableRefusal> {
    parse(token).ok_or(TableRefusal::InvalidToken)
}

fn parse(token: &str) -> Option<String> {
    let (length, text) = token.strip_prefix("1!")?.split_once('!')?;
    if length.parse() != Ok(text.len()) {
        return None;
    }
    let text = text.replace('-', "=").replace('.', "+").replace('_', "/");
    String::from_utf8(base64::decode(&text)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        assert_eq!(make("pkadca2e0d"), "1!16!cGthZGNhMmUwZA--");
        for key in ["", "a", "it's ?>~ é 漢", "\u{10000}\u{FFFF}"] {
            let token = make(key);
            let safe = |b: u8| b.is_ascii_alphanumeric() || b"!-._".contains(&b);
            assert!(token.bytes().all(safe), "{token}");
            assert_eq!(read(&token).as_deref(), Ok(key));
        }
        for bad in ["", "x", "1!", "1!4!", "1!3!YQ--", "2!4!YQ--", "1!4!Y%--", "1!4!/w--"] {
            assert_eq!(read(bad), Err(TableRefusal::InvalidToken), "{bad}");
        }
    }
}
