//! Rows as bytes: a version byte, then CBOR with numbered fields.
//!
//! Must never reuse a field's number. Readers skip numbers they do not know and take absent ones as
//! unset, so that fields can be added without a new version.

mod directory;
pub(crate) mod fields;
mod policy;

pub(crate) use directory::{Guard, HeldName, Purge};
pub(crate) use policy::Policy;

use minicbor::{Decode, Encode};
use zaffre_store::{Interrupt, Snapshot, StoreError, Tx};

/// The first byte of every row written today.
const VERSION: u8 = 1;
/// Room for most rows.
const USUAL_BYTES: usize = 256;

/// A row's value.
pub(crate) trait Record: Encode<()> + for<'b> Decode<'b, ()> {
    /// What it is, for the message when it cannot be read.
    const WHAT: &'static str;

    /// The row's value as bytes.
    fn to_bytes(&self) -> Vec<u8> {
        to_bytes(self)
    }

    /// Reads a row's value.
    fn from_bytes(bytes: &[u8]) -> Result<Self, StoreError> {
        let unreadable = |why: &str| StoreError::corrupt(format!("{}: {why}", Self::WHAT));
        match bytes.split_first() {
            Some((&VERSION, cbor)) => {
                minicbor::decode(cbor).map_err(|error| unreadable(&error.to_string()))
            }
            Some((version, _)) => Err(unreadable(&format!("unknown version {version}"))),
            None => Err(unreadable("empty")),
        }
    }

    /// Reads the row under `key` inside a transaction.
    fn load(tx: &mut Tx<'_>, key: &[u8]) -> Result<Option<Self>, Interrupt> {
        Ok(tx.get(key)?.map(|bytes| Self::from_bytes(&bytes)).transpose()?)
    }

    /// Reads the row under `key` in a snapshot.
    fn peek(snapshot: &Snapshot, key: &[u8]) -> Result<Option<Self>, StoreError> {
        snapshot.get(key)?.map(|bytes| Self::from_bytes(&bytes)).transpose()
    }

    /// Writes the row under `key`.
    fn store(&self, tx: &mut Tx<'_>, key: &[u8]) -> Result<(), Interrupt> {
        tx.put(key, &self.to_bytes())
    }
}

/// A row's value as bytes, of whatever has the form of one.
pub(crate) fn to_bytes(record: &(impl Encode<()> + ?Sized)) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    write_bytes(record, &mut bytes);
    bytes
}

/// The same in place of what is in `bytes`.
pub(crate) fn write_bytes(record: &(impl Encode<()> + ?Sized), bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.push(VERSION);
    minicbor::encode(record, bytes).expect("writing to memory and plain fields cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Encode, Decode, Debug, PartialEq)]
    #[cbor(map)]
    struct Old {
        #[n(0)]
        a: u64,
    }

    #[derive(Encode, Decode, Debug, PartialEq)]
    #[cbor(map)]
    struct New {
        #[n(0)]
        a: u64,
        #[n(1)]
        b: Option<String>,
    }

    impl Record for Old {
        const WHAT: &'static str = "old";
    }

    impl Record for New {
        const WHAT: &'static str = "new";
    }

    #[test]
    fn fields_can_be_added() {
        let newer = New { a: 7, b: Some("x".to_owned()) };
        assert_eq!(Old::from_bytes(&newer.to_bytes()).ok(), Some(Old { a: 7 }));
        let older = Old { a: 7 };
        assert_eq!(New::from_bytes(&older.to_bytes()).ok(), Some(New { a: 7, b: None }));
    }

    #[test]
    fn damage_is_an_error_and_never_a_panic() {
        let good = New { a: 7, b: Some("x".to_owned()) }.to_bytes();
        for end in 0..good.len() {
            assert!(New::from_bytes(&good[..end]).is_err(), "cut at {end}");
        }
        let mut other = good.clone();
        other[0] = 2;
        assert!(New::from_bytes(&other).is_err(), "a version from the future");
    }
}
