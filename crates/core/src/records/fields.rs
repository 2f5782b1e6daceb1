//! How the vocabulary's own types look inside records: numbers, and ids as byte strings.

use minicbor::decode::{Decoder, Error as DecodeError};
use minicbor::encode::{Encoder, Error as EncodeError, Write};
use minicbor::{Decode, Encode};
use std::collections::BTreeMap;
use zaffre_base::{ContentId, Guid, Incarnation, Stamp, Timestamp};
use zaffre_domain::blob::encryption::Encrypted;
use zaffre_domain::lease::Lease;

/// A type that is stored as another one.
pub(crate) trait Stored: Sized {
    type As: Encode<()> + for<'b> Decode<'b, ()>;
    fn to_stored(&self) -> Self::As;
    fn from_stored(stored: Self::As) -> Self;

    /// What an absent field stands for, if it may be absent.
    fn absent() -> Option<Self> {
        None
    }

    /// Whether the field may be left out.
    fn is_absent(&self) -> bool {
        false
    }
}

pub(crate) fn nil<T: Stored>() -> Option<T> {
    T::absent()
}

pub(crate) fn is_nil<T: Stored>(value: &T) -> bool {
    value.is_absent()
}

pub(crate) fn encode<C, T: Stored, W: Write>(
    value: &T,
    e: &mut Encoder<W>,
    _: &mut C,
) -> Result<(), EncodeError<W::Error>> {
    value.to_stored().encode(e, &mut ())
}

pub(crate) fn decode<C, T: Stored>(d: &mut Decoder<'_>, _: &mut C) -> Result<T, DecodeError> {
    T::As::decode(d, &mut ()).map(T::from_stored)
}

/// Sixteen bytes, big-endian.
#[derive(Encode, Decode, Clone, Copy)]
#[cbor(transparent)]
pub(crate) struct Bytes16(#[cbor(n(0), with = "minicbor::bytes")] [u8; 16]);

macro_rules! stored_number {
    ($($name:ident),*) => {$(
        impl Stored for $name {
            type As = u64;
            fn to_stored(&self) -> u64 {
                self.0
            }
            fn from_stored(stored: u64) -> Self {
                Self(stored)
            }
        }
    )*};
}

macro_rules! stored_id {
    ($($name:ident),*) => {$(
        impl Stored for $name {
            type As = Bytes16;
            fn to_stored(&self) -> Bytes16 {
                Bytes16(self.0.to_be_bytes())
            }
            fn from_stored(stored: Bytes16) -> Self {
                Self(u128::from_be_bytes(stored.0))
            }
        }
    )*};
}

impl Stored for [u8; 16] {
    type As = Bytes16;

    fn to_stored(&self) -> Bytes16 {
        Bytes16(*self)
    }

    fn from_stored(stored: Bytes16) -> Self {
        stored.0
    }
}

stored_number!(Stamp, Timestamp, Incarnation);
stored_id!(ContentId, Guid);

/// Thirty-two bytes.
#[derive(Encode, Decode, Clone, Copy)]
#[cbor(transparent)]
pub(crate) struct Bytes32(#[cbor(n(0), with = "minicbor::bytes")] [u8; 32]);

/// Absent while it is the account's own.
#[derive(Encode, Decode)]
#[cbor(map)]
pub(crate) struct StoredEncrypted {
    #[n(0)]
    key_digest: Option<Bytes32>,
    #[n(1)]
    scope: Option<String>,
}

impl Stored for Encrypted {
    type As = StoredEncrypted;

    fn to_stored(&self) -> StoredEncrypted {
        let (key_digest, scope) = match self {
            Self::ByAccount => (None, None),
            Self::ByCustomer(digest) => (Some(Bytes32(*digest)), None),
            Self::ByScope(name) => (None, Some(name.clone())),
        };
        StoredEncrypted { key_digest, scope }
    }

    fn from_stored(stored: StoredEncrypted) -> Self {
        match (stored.key_digest, stored.scope) {
            (Some(digest), _) => Self::ByCustomer(digest.0),
            (None, Some(name)) => Self::ByScope(name),
            (None, None) => Self::ByAccount,
        }
    }

    fn absent() -> Option<Self> {
        Some(Self::ByAccount)
    }

    fn is_absent(&self) -> bool {
        *self == Self::ByAccount
    }
}

/// Absent while nobody has ever held it.
#[derive(Encode, Decode)]
#[cbor(map)]
pub(crate) struct StoredLease {
    #[n(0)]
    id: Option<Bytes16>,
    #[n(1)]
    seconds: Option<u64>,
    #[n(2)]
    expires: Option<u64>,
    #[n(3)]
    breaks: Option<u64>,
}

impl Stored for Lease {
    type As = StoredLease;

    fn to_stored(&self) -> StoredLease {
        StoredLease {
            id: self.id.map(|id| id.to_stored()),
            seconds: self.seconds,
            expires: self.expires.map(|at| at.0),
            breaks: self.breaks.map(|at| at.0),
        }
    }

    fn from_stored(stored: StoredLease) -> Self {
        Self {
            id: stored.id.map(Guid::from_stored),
            seconds: stored.seconds,
            expires: stored.expires.map(Timestamp),
            breaks: stored.breaks.map(Timestamp),
        }
    }
}

/// Absent while there are none.
impl Stored for BTreeMap<String, String> {
    type As = Self;

    fn to_stored(&self) -> Self {
        self.clone()
    }

    fn from_stored(stored: Self) -> Self {
        stored
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Stored> Stored for Option<T> {
    type As = Option<T::As>;

    fn to_stored(&self) -> Self::As {
        self.as_ref().map(Stored::to_stored)
    }

    fn from_stored(stored: Self::As) -> Self {
        stored.map(T::from_stored)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}
