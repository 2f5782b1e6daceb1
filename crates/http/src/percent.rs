//! Percent-decoding, done exactly once per request.
//!
//! Must never be applied to its own output.

use memchr::memchr;

/// Decodes `%XX`; `None` for a broken escape or bytes that are not UTF-8. `+` stays a plus.
pub fn decode(text: &str) -> Option<String> {
    if memchr(b'%', text.as_bytes()).is_none() {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>()?;
        bytes.push(hex(digits[0])? << 4 | hex(digits[1])?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

/// As `decode`, with `+` read as a space: the rule for query strings.
pub fn decode_query(text: &str) -> Option<String> {
    if memchr(b'+', text.as_bytes()).is_some() {
        decode(&text.replace('+', " "))
    } else {
        decode(text)
    }
}

/// Escapes all but the characters that a URL's path may hold as they are.
pub fn encode(text: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble & 0xF)]);
            out.extend(['%', digit(byte >> 4), digit(byte)]);
        }
    }
    out
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once() {
        for (raw, path, query) in [
            ("abc", Some("abc"), Some("abc")),
            ("a+b", Some("a+b"), Some("a b")),
            ("a%20b%2Fc", Some("a b/c"), Some("a b/c")),
            ("%2B", Some("+"), Some("+")),
            ("%252F", Some("%2F"), Some("%2F")),
            ("%C3%A9é", Some("éé"), Some("éé")),
            ("%", None, None),
            ("%4", None, None),
            ("%zz", None, None),
            ("%+1", None, None),
            ("%ff", None, None),
        ] {
            assert_eq!(decode(raw).as_deref(), path, "{raw}");
            assert_eq!(decode_query(raw).as_deref(), query, "{raw}");
        }
    }
}
