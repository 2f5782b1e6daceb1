//! The values of the rows of a sparse content that are not runs.
//!
//! ```text
//! small write   01, offset in the chunk (4), length (4), then the bytes; none = cleared
//! wide clear    01, from (8), to (8)
//! label         01, the blob's name in UTF-8; or 02, the file's id (8)
//! ```
//! Integers are little-endian.

use bytes::Bytes;
use std::ops::Range;
use zaffre_domain::fs::FileId;
use zaffre_domain::sparse::CHUNK_BYTES;
use zaffre_store::StoreError;

const VERSION: u8 = 1;

/// What one small write did to a chunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Small {
    pub(crate) at: u32,
    pub(crate) length: u32,
    /// As many bytes as `length` says; `None` = cleared.
    pub(crate) bytes: Option<Bytes>,
}

impl Small {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let held = self.bytes.as_ref().map_or(0, Bytes::len);
        let mut value = Vec::with_capacity(9 + held);
        value.push(VERSION);
        value.extend_from_slice(&self.at.to_le_bytes());
        value.extend_from_slice(&self.length.to_le_bytes());
        value.extend_from_slice(self.bytes.as_deref().unwrap_or_default());
        value
    }

    pub(crate) fn from_bytes(value: Vec<u8>) -> Result<Self, StoreError> {
        let wrong = || StoreError::corrupt("a small write cannot be read");
        let value = Bytes::from(value);
        let front = value.strip_prefix(&[VERSION]).ok_or_else(wrong)?;
        let (at, rest) = front.split_first_chunk::<4>().ok_or_else(wrong)?;
        let (length, _) = rest.split_first_chunk::<4>().ok_or_else(wrong)?;
        let (at, length) = (u32::from_le_bytes(*at), u32::from_le_bytes(*length));
        let bytes = value.slice(9..);
        let fits = u64::from(at) + u64::from(length) <= CHUNK_BYTES && length > 0;
        let whole = bytes.is_empty() || u32::try_from(bytes.len()) == Ok(length);
        if !fits || !whole {
            return Err(wrong());
        }
        Ok(Self { at, length, bytes: Some(bytes).filter(|bytes| !bytes.is_empty()) })
    }
}

/// The value of a wide clear.
pub(crate) fn clear_to_bytes(range: &Range<u64>) -> Vec<u8> {
    [&[VERSION][..], &range.start.to_le_bytes(), &range.end.to_le_bytes()].concat()
}

/// A wide clear's range.
pub(crate) fn clear_from_bytes(value: &[u8]) -> Result<Range<u64>, StoreError> {
    let wrong = || StoreError::corrupt("a wide clear cannot be read");
    let rest = value.strip_prefix(&[VERSION]).ok_or_else(wrong)?;
    let (from, to) = rest.split_first_chunk::<8>().ok_or_else(wrong)?;
    let to = <[u8; 8]>::try_from(to).map_err(|_| wrong())?;
    Ok(u64::from_le_bytes(*from)..u64::from_le_bytes(to))
}

/// Whose content a content is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Label {
    /// That of a blob with this name.
    Blob(String),
    /// That of a file with this id.
    File(FileId),
}

const FILE_LABEL: u8 = 2;

/// The value of a label.
pub(crate) fn label_to_bytes(label: &Label) -> Vec<u8> {
    match label {
        Label::Blob(name) => [&[VERSION], name.as_bytes()].concat(),
        Label::File(id) => [&[FILE_LABEL], id.0.to_le_bytes().as_slice()].concat(),
    }
}

/// What a label says.
pub(crate) fn label_from_bytes(value: &[u8]) -> Result<Label, StoreError> {
    let wrong = || StoreError::corrupt("the label of a content cannot be read");
    if let Some(id) = value.strip_prefix(&[FILE_LABEL]) {
        let id = <[u8; 8]>::try_from(id).map_err(|_| wrong())?;
        return Ok(Label::File(FileId(u64::from_le_bytes(id))));
    }
    let name = value.strip_prefix(&[VERSION]).ok_or_else(wrong)?;
    String::from_utf8(name.to_vec()).map(Label::Blob).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip_and_nonsense_is_refused() {
        for bytes in [None, Some(Bytes::from_static(b"abcd"))] {
            let small = Small { at: 512, length: 4, bytes };
            let value = small.to_bytes();
            assert_eq!(Small::from_bytes(value.clone()).ok(), Some(small));
            for cut in 0..9 {
                assert!(Small::from_bytes(value[..cut].to_vec()).is_err(), "{cut}");
            }
            assert!(Small::from_bytes([value, vec![0]].concat()).is_err());
        }
        let outside = Small { at: u32::MAX, length: 1, bytes: None };
        assert!(Small::from_bytes(outside.to_bytes()).is_err());
        let range = 5..u64::MAX;
        assert_eq!(clear_from_bytes(&clear_to_bytes(&range)).ok(), Some(range));
        assert!(clear_from_bytes(&[1; 16]).is_err() && clear_from_bytes(&[]).is_err());
        for label in [Label::Blob("é".to_owned()), Label::File(FileId(7))] {
            assert_eq!(label_from_bytes(&label_to_bytes(&label)).ok(), Some(label));
        }
        assert!(label_from_bytes(&[2, 0]).is_err());
        assert!(label_from_bytes(&[1, 0xFF]).is_err() && label_from_bytes(&[]).is_err());
    }
}
