//! The storage accounts a server knows, with their keys.
//!
//! Must never print a key: keys live in `Secret` from the moment they are parsed.

use crate::bearer::TokenTrust;
use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use zaffre_base::{AccountName, Secret};

/// The name of the development account every Azure tool knows.
pub const DEVELOPMENT_ACCOUNT: &str = "devstoreaccount1";
/// Its key: public knowledge, hence no secret.
pub const DEVELOPMENT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// Keys people wrote by hand often lack their padding, and SDKs decode them all the same.
const KEY_BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// One storage account.
#[derive(Clone, Debug)]
pub struct Account {
    name: AccountName,
    primary: Secret<Vec<u8>>,
    secondary: Option<Secret<Vec<u8>>>,
    public_access: bool,
    key_access: bool,
}

impl Account {
    /// An account with one key that allows public containers and key-based access.
    pub fn new(name: AccountName, key: Secret<Vec<u8>>) -> Self {
        Self { name, primary: key, secondary: None, public_access: true, key_access: true }
    }

    /// Adds the second key, so that keys can be rotated without an outage.
    #[must_use]
    pub fn with_second_key(mut self, key: Secret<Vec<u8>>) -> Self {
        self.secondary = Some(key);
        self
    }

    /// Forbids anonymous access whatever the containers' ACLs say.
    #[must_use]
    pub fn without_public_access(mut self) -> Self {
        self.public_access = false;
        self
    }

    /// Forbids Shared Key and every SAS signed with an account key.
    #[must_use]
    pub fn without_key_access(mut self) -> Self {
        self.key_access = false;
        self
    }

    /// Its name.
    pub fn name(&self) -> &AccountName {
        &self.name
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Secret<Vec<u8>>> {
        std::iter::once(&self.primary).chain(&self.secondary)
    }

    pub(crate) fn allows_public_access(&self) -> bool {
        self.public_access
    }

    pub(crate) fn allows_key_access(&self) -> bool {
        self.key_access
    }
}

/// Why a list of accounts could not be read. Never carries the text itself: it holds keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccountsError {
    /// No account at all.
    Empty,
    /// An entry is not `name:key` or `name:key1:key2`; entries count from 1.
    Shape {
        /// Which entry.
        entry: usize,
    },
    /// The entry's name cannot be an account name.
    Name {
        /// Which entry.
        entry: usize,
    },
    /// A key of the entry is empty or not Base64.
    Key {
        /// Which entry.
        entry: usize,
    },
    /// The entry's name was used before.
    Repeated {
        /// Which entry.
        entry: usize,
    },
}

impl fmt::Display for AccountsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no account in the list"),
            Self::Shape { entry } => {
                write!(f, "entry {entry} is not name:key or name:key1:key2")
            }
            Self::Name { entry } => write!(f, "the name of entry {entry} is no account name"),
            Self::Key { entry } => write!(f, "a key of entry {entry} is not Base64"),
            Self::Repeated { entry } => write!(f, "the name of entry {entry} was used before"),
        }
    }
}

impl std::error::Error for AccountsError {}

/// All accounts of a server.
#[derive(Clone, Debug)]
pub struct Accounts {
    by_name: BTreeMap<AccountName, Account>,
    trust: Option<Arc<TokenTrust>>,
}

impl Accounts {
    /// The well-known development account alone.
    pub fn development() -> Self {
        let text = format!("{DEVELOPMENT_ACCOUNT}:{DEVELOPMENT_KEY}");
        Self::parse_env(&text).expect("the development account is well formed")
    }

    /// Reads `name:key1[:key2];…`, the form of `AZURITE_ACCOUNTS`.
    pub fn parse_env(text: &str) -> Result<Self, AccountsError> {
        let mut by_name = BTreeMap::new();
        let entries = text.split(';').map(str::trim).filter(|e| !e.is_empty());
        for (index, text) in entries.enumerate() {
            let entry = index + 1;
            let account = parse_account(text, entry)?;
            if by_name.insert(account.name.clone(), account).is_some() {
                return Err(AccountsError::Repeated { entry });
            }
        }
        if by_name.is_empty() {
            return Err(AccountsError::Empty);
        }
        Ok(Self { by_name, trust: None })
    }

    /// The account of that name.
    pub fn get(&self, name: &AccountName) -> Option<&Account> {
        self.by_name.get(name)
    }

    /// The same accounts, for bearers of these tokens too; without any, for none.
    #[must_use]
    pub fn trusting(mut self, trust: Option<Arc<TokenTrust>>) -> Self {
        self.trust = trust;
        self
    }

    /// Whose bearer tokens are taken.
    pub fn trust(&self) -> Option<&Arc<TokenTrust>> {
        self.trust.as_ref()
    }

    /// All accounts, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Account> {
        self.by_name.values()
    }
}

impl FromIterator<Account> for Accounts {
    fn from_iter<I: IntoIterator<Item = Account>>(accounts: I) -> Self {
        let by_name = accounts.into_iter().map(|a| (a.name.clone(), a)).collect();
        Self { by_name, trust: None }
    }
}

/// Decodes an account key; `None` if it is empty or not Base64.
pub fn parse_key(text: &str) -> Option<Secret<Vec<u8>>> {
    let key = KEY_BASE64.decode(text.trim()).ok()?;
    if key.is_empty() { None } else { Some(Secret::new(key)) }
}

fn parse_account(text: &str, entry: usize) -> Result<Account, AccountsError> {
    let mut parts = text.split(':');
    let (Some(name), Some(first), second, None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(AccountsError::Shape { entry });
    };
    let name = AccountName::parse(name.trim()).map_err(|_| AccountsError::Name { entry })?;
    let key = |text| parse_key(text).ok_or(AccountsError::Key { entry });
    let account = Account::new(name, key(first)?);
    match second {
        Some(second) => Ok(account.with_second_key(key(second)?)),
        None => Ok(account),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Result<Vec<(String, usize)>, AccountsError> {
        let accounts = Accounts::parse_env(text)?;
        Ok(accounts.iter().map(|a| (a.name().to_string(), a.keys().count())).collect())
    }

    #[test]
    fn env_forms() {
        let one = |name: &str, keys| Ok(vec![(name.to_owned(), keys)]);
        for (text, want) in [
            ("acc1:a2V5", one("acc1", 1)),
            ("acc1:a2V5:a2V5Mg==", one("acc1", 2)),
            (" acc1 : a2V5 ; ", one("acc1", 1)),
            ("acc1:a2V5Mg", one("acc1", 1)),
            ("b12:a2V5;a12:a2V5", Ok(vec![("a12".to_owned(), 1), ("b12".to_owned(), 1)])),
            ("", Err(AccountsError::Empty)),
            (";;", Err(AccountsError::Empty)),
            ("acc1", Err(AccountsError::Shape { entry: 1 })),
            ("acc1:a2V5:a2V5:a2V5", Err(AccountsError::Shape { entry: 1 })),
            ("acc1:a2V5;A!:a2V5", Err(AccountsError::Name { entry: 2 })),
            ("acc1:", Err(AccountsError::Key { entry: 1 })),
            ("acc1:a2V5:", Err(AccountsError::Key { entry: 1 })),
            ("acc1:*", Err(AccountsError::Key { entry: 1 })),
            ("acc1:a2V5;acc1:a2V5", Err(AccountsError::Repeated { entry: 2 })),
        ] {
            assert_eq!(shape(text), want, "{text}");
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let shown = format!("{:?}", Accounts::development());
        assert!(shown.contains(DEVELOPMENT_ACCOUNT));
        assert!(!shown.contains("Eby8") && !shown.contains("19, 188"), "{shown}");
    }

    #[test]
    fn errors_say_which_entry() {
        let entry = 3;
        for (error, want) in [
            (AccountsError::Empty, "there is no account in the list"),
            (AccountsError::Shape { entry }, "entry 3 is not name:key or name:key1:key2"),
            (AccountsError::Name { entry }, "the name of entry 3 is no account name"),
            (AccountsError::Key { entry }, "a key of entry 3 is not Base64"),
            (AccountsError::Repeated { entry }, "the name of entry 3 was used before"),
        ] {
            assert_eq!(error.to_string(), want);
        }
    }
}
