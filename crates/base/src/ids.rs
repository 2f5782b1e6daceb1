//! Identifiers: GUIDs in every .NET text form, incarnations and content ids.
//!
//! Must never draw randomness itself: callers pass the random bytes in.

use std::fmt;

/// A 128-bit id such as a lease or copy id, compared by value and shown in lower-case 8-4-4-4-12.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Guid(pub u128);

impl Guid {
    /// A version-4 GUID from random bytes.
    pub fn from_random(bytes: [u8; 16]) -> Self {
        let bits = u128::from_be_bytes(bytes);
        let bits = bits & !(0xF << 76) | (0x4 << 76);
        Self(bits & !(0x3 << 62) | (0x2 << 62))
    }

    /// Parses the .NET text forms `N`, `D`, `B`, `P` and `X`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.starts_with("{0x") || text.starts_with("{0X") {
            return parse_x(text);
        }
        let inner = wrapped(text, '{', '}').or_else(|| wrapped(text, '(', ')'));
        match inner {
            Some(inner) => parse_d(inner),
            None if text.len() == 32 => hex(text).map(Self),
            None => parse_d(text),
        }
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        const HYPHENS: [usize; 4] = [8, 13, 18, 23];
        // By hand: every answer carries one.
        let mut text = [b'-'; 36];
        let mut at = 0;
        for byte in self.0.to_be_bytes() {
            if HYPHENS.contains(&at) {
                at += 1;
            }
            text[at] = DIGITS[usize::from(byte >> 4)];
            text[at + 1] = DIGITS[usize::from(byte & 15)];
            at += 2;
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

fn wrapped(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

fn hex(text: &str) -> Option<u128> {
    let clean = !text.is_empty() && text.bytes().all(|b| b.is_ascii_hexdigit());
    if clean { u128::from_str_radix(text, 16).ok() } else { None }
}

fn parse_d(text: &str) -> Option<Guid> {
    let mut value = 0_u128;
    let mut parts = text.split('-');
    for width in [8, 4, 4, 4, 12] {
        let part = parts.next().filter(|p| p.len() == width)?;
        value = value << (4 * width) | hex(part)?;
    }
    if parts.next().is_some() { None } else { Some(Guid(value)) }
}

/// `{0x00000000,0x0000,0x0000,{0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00}}`
fn parse_x(text: &str) -> Option<Guid> {
    let (head, tail) = wrapped(text, '{', '}')?.split_once(",{")?;
    let tail = tail.strip_suffix('}')?;
    let mut value = 0_u128;
    let fields = head.split(',').zip([8, 4, 4]).chain(tail.split(',').zip([2; 8]));
    let mut count = 0;
    for (field, width) in fields {
        let digits = field.strip_prefix("0x").or_else(|| field.strip_prefix("0X"))?;
        if digits.len() > width {
            return None;
        }
        value = value << (4 * width) | hex(digits)?;
        count += 1;
    }
    let exact = count == 11 && head.split(',').count() == 3 && tail.split(',').count() == 8;
    if exact { Some(Guid(value)) } else { None }
}

/// Tells one life of a container, queue, table or share from the next one under the same name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Incarnation(pub u64);

/// Names one immutable piece of content inside an incarnation; never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ContentId(pub u128);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guid_forms() {
        let want = Guid(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
        for text in [
            "00112233445566778899aabbccddeeff",
            "00112233-4455-6677-8899-AABBCCDDEEFF",
            "{00112233-4455-6677-8899-aabbccddeeff}",
            "(00112233-4455-6677-8899-aabbccddeeff)",
            "{0x00112233,0x4455,0x6677,{0x88,0x99,0xaa,0xbb,0xcc,0xdd,0xee,0xff}}",
        ] {
            assert_eq!(Guid::parse(text), Some(want), "{text}");
        }
        assert_eq!(want.to_string(), "00112233-4455-6677-8899-aabbccddeeff");
    }

    #[test]
    fn not_guids() {
        for text in [
            "",
            "x",
            "{00112233-4455-6677-8899-aabbccddeeff",
            "00112233-4455-6677-8899-aabbccddeef",
            "00112233-4455-6677-8899-aabbccddeeff-00",
            "{0x00112233,0x4455,{0x88,0x99,0xaa,0xbb,0xcc,0xdd,0xee,0xff}}",
            "+0112233445566778899aabbccddeeff",
        ] {
            assert_eq!(Guid::parse(text), None, "{text}");
        }
    }

    #[test]
    fn random_guids_are_version_4() {
        let text = Guid::from_random([0xFF; 16]).to_string();
        assert_eq!(text, "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
