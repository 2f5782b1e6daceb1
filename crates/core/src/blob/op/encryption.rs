//! What a request says about encryption.
//!
//! Must never let a key be printed or stored: its digest stands for it.

use zaffre_base::checksum::sha256;
use zaffre_base::{ContentId, Secret};
use zaffre_domain::blob::encryption::{Encrypted, KeyDigest};
use zaffre_store::xts::Xts;

/// A key that a customer brings along with every request.
#[derive(Clone, Debug)]
pub struct CustomerKey {
    key: Secret<[u8; 32]>,
    digest: KeyDigest,
}

impl CustomerKey {
    /// Takes a key in.
    pub fn new(key: [u8; 32]) -> Self {
        Self { digest: sha256(&key), key: Secret::new(key) }
    }

    /// Its SHA-256, which may be known.
    pub fn digest(&self) -> KeyDigest {
        self.digest
    }

    /// The cipher of one content. Each has keys of its own, so that equal bytes in two of them look
    /// different.
    pub(crate) fn cipher(&self, content: ContentId) -> Xts {
        Xts::derived(&self.key, &content.0.to_be_bytes())
    }
}

/// How content is to be encrypted, or is said to be.
#[derive(Clone, Debug, Default)]
pub enum Encryption {
    /// As the container or the account has it.
    #[default]
    Account,
    /// With the customer's key.
    Customer(CustomerKey),
    /// With that of a scope.
    Scope(String),
}

impl Encryption {
    /// The same without the key.
    pub fn shown(&self) -> Encrypted {
        match self {
            Self::Account => Encrypted::ByAccount,
            Self::Customer(key) => Encrypted::ByCustomer(key.digest()),
            Self::Scope(name) => Encrypted::ByScope(name.clone()),
        }
    }

    /// The customer's key.
    pub(crate) fn key(&self) -> Option<&CustomerKey> {
        match self {
            Self::Customer(key) => Some(key),
            Self::Account | Self::Scope(_) => None,
        }
    }
}
