//! Rows, and the checksum that every stored value carries.
//!
//! redb verifies its page checksums only when asked to check the whole file, so a flipped bit in a
//! leaf would be returned as data. Each value therefore ends with a CRC32C over full key and value.

use crate::error::StoreError;
use zaffre_base::checksum::crc32c_of;

/// A key with its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// Relative to the placement.
    pub key: Vec<u8>,
    /// As it was put.
    pub value: Vec<u8>,
}

/// Bytes a seal adds to a value.
pub(crate) const SEAL_BYTES: usize = 4;

/// Makes `stored` the value as it is stored: followed by its checksum.
pub(crate) fn seal_into(stored: &mut Vec<u8>, full_key: &[u8], value: &[u8]) {
    stored.clear();
    stored.extend_from_slice(value);
    stored.extend_from_slice(&crc32c_of([full_key, value]).to_le_bytes());
}

/// The value of a stored row, or the news that it is damaged.
pub(crate) fn unseal<'a>(full_key: &[u8], stored: &'a [u8]) -> Result<&'a [u8], StoreError> {
    let damaged =
        || StoreError::corrupt(format!("metadata row {} fails its checksum", show(full_key)));
    let (value, crc) = stored.split_last_chunk::<SEAL_BYTES>().ok_or_else(damaged)?;
    if crc32c_of([full_key, value]) == u32::from_le_bytes(*crc) {
        Ok(value)
    } else {
        Err(damaged())
    }
}

/// A key for a message: printable and short.
fn show(key: &[u8]) -> String {
    let mut text = key.escape_ascii().to_string();
    text.truncate(120);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_of_key_or_value_is_seen() {
        let (key, value) = (b"key".to_vec(), b"some value".to_vec());
        let mut stored = b"what was there before".to_vec();
        seal_into(&mut stored, &key, &value);
        assert_eq!(unseal(&key, &stored).ok(), Some(&value[..]));
        for bit in 0..stored.len() * 8 {
            let mut bad = stored.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(unseal(&key, &bad).is_err(), "bit {bit}");
        }
        for bit in 0..key.len() * 8 {
            let mut bad = key.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(unseal(&bad, &stored).is_err(), "key bit {bit}");
        }
        assert!(unseal(&key, &[]).is_err());
    }
}
