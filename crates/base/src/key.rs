//! How names become ordered store keys: UTF-16BE code units closed by 0000.
//!
//! The order is Azure's (ordinal code units) and lossless for SMB. U+0000 never occurs in a name.

/// Appends `name` to `key`: at most 2 bytes per code unit plus the terminator.
pub fn push_name(key: &mut Vec<u8>, name: &str) {
    push_prefix(key, name);
    key.extend_from_slice(&[0, 0]);
}

/// Appends `name` without its terminator, so that the key is a prefix of every longer name's.
pub fn push_prefix(key: &mut Vec<u8>, name: &str) {
    // No more units than bytes, and as many if all are ASCII.
    key.reserve(2 * name.len());
    if name.is_ascii() {
        let start = key.len();
        key.resize(start + 2 * name.len(), 0);
        for (unit, byte) in key[start..].chunks_exact_mut(2).zip(name.bytes()) {
            unit[1] = byte;
        }
        return;
    }
    for unit in name.encode_utf16() {
        key.extend_from_slice(&unit.to_be_bytes());
    }
}

/// Reads a name from the start of `bytes` and returns it with what follows its terminator.
pub fn split_name(bytes: &[u8]) -> Option<(String, &[u8])> {
    let mut units = Vec::new();
    let mut rest = bytes;
    loop {
        let (unit, after) = rest.split_first_chunk::<2>()?;
        rest = after;
        match u16::from_be_bytes(*unit) {
            0 => return String::from_utf16(&units).ok().map(|name| (name, rest)),
            unit => units.push(unit),
        }
    }
}

/// The smallest byte string greater than every string that starts with `prefix`.
/// `None` when there is none (all bytes 0xFF).
pub fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < 0xFF {
            end.push(last + 1);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_keep_utf16_order() {
        let names = ["", "A", "B", "a", "a/b", "ab", "aé", "é", "\u{10000}", "\u{FFFD}"];
        let keys: Vec<Vec<u8>> = names
            .iter()
            .map(|n| {
                let mut k = Vec::new();
                push_name(&mut k, n);
                assert_eq!(split_name(&k), Some(((*n).to_owned(), &[][..])));
                k
            })
            .collect();
        assert!(keys.is_sorted(), "surrogates sort before U+FFFD, as in UTF-16");
    }

    #[test]
    fn successors() {
        assert_eq!(successor(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(successor(&[1, 0xFF]), Some(vec![2]));
        assert_eq!(successor(&[0xFF, 0xFF]), None);
    }
}
