//! What is chosen for each account: versioning, how long deleted things are kept, and the like.
//!
//! Must never be read inside a transaction: its body gets the values that held when it was begun.

use crate::{Core, Error};
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;
use zaffre_auth::Service;
use zaffre_base::AccountName;
use zaffre_base::limits::ENCRYPTION_SCOPE_BYTES;
use zaffre_domain::service::{DeleteRetention, Retention};

/// How long an archived blob takes to come back unless something else is chosen: long enough that
/// clients meet the state in between, which on Azure lasts for hours.
pub const DEFAULT_REHYDRATION: Duration = Duration::from_mins(1);

/// The choices for one account. In Azure most of these belong to the management plane.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of one account")]
pub struct AccountSettings {
    /// Writes and deletions keep the state before as a version.
    pub versioning: bool,
    /// Days that deleted and overwritten blobs are kept, 1..=365; `None` = not at all.
    pub blob_retention_days: Option<u32>,
    /// Days that deleted containers are kept, 1..=365; `None` = not at all.
    pub container_retention_days: Option<u32>,
    /// What is kept after its deletion may be deleted for good before its time.
    pub permanent_delete: bool,
    /// How long an archived blob usually takes to come back.
    pub rehydration: Duration,
    /// The last access to a blob is remembered.
    pub last_access_tracking: bool,
    /// Blobs can have immutability policies and legal holds; versions are kept then in any case.
    pub version_immutability: bool,
    /// Names of encryption scopes, beside the account's own.
    pub encryption_scopes: Vec<String>,
    /// Containers may be opened to the public.
    pub public_access: bool,
    /// What Get Account Information calls its redundancy.
    pub sku: Sku,
    /// What Get Account Information calls its kind.
    pub kind: AccountKind,
}

macro_rules! spelled {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// As the service spells it.
            pub fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Reads it; `None` if there is no such thing.
            pub fn parse(text: &str) -> Option<Self> {
                [$(Self::$variant,)+].into_iter().find(|known| known.text() == text)
            }
        }
    };
}

spelled! {
    /// How an account's data is said to be kept; a name only, since all of it is in one place.
    Sku {
        /// Locally redundant.
        StandardLrs = "Standard_LRS",
        /// Geo-redundant.
        StandardGrs = "Standard_GRS",
        /// Geo-redundant, readable.
        StandardRagrs = "Standard_RAGRS",
        /// Zone-redundant.
        StandardZrs = "Standard_ZRS",
        /// Geo-zone-redundant.
        StandardGzrs = "Standard_GZRS",
        /// Geo-zone-redundant, readable.
        StandardRagzrs = "Standard_RAGZRS",
        /// Premium, locally redundant.
        PremiumLrs = "Premium_LRS",
        /// Premium, zone-redundant.
        PremiumZrs = "Premium_ZRS",
    }
}

spelled! {
    /// What an account is said to be for.
    AccountKind {
        /// General purpose, second generation.
        StorageV2 = "StorageV2",
        /// General purpose, first generation.
        Storage = "Storage",
        /// Blobs.
        BlobStorage = "BlobStorage",
        /// Premium block blobs.
        BlockBlobStorage = "BlockBlobStorage",
        /// Premium files.
        FileStorage = "FileStorage",
    }
}

impl Sku {
    /// Whether it is one of those that have premium page blobs.
    pub fn is_premium(self) -> bool {
        matches!(self, Self::PremiumLrs | Self::PremiumZrs)
    }
}

impl Default for AccountSettings {
    /// What an account has that was made without asking for anything, except that containers may be
    /// public.
    fn default() -> Self {
        Self {
            versioning: false,
            blob_retention_days: None,
            container_retention_days: None,
            permanent_delete: false,
            rehydration: DEFAULT_REHYDRATION,
            last_access_tracking: false,
            version_immutability: false,
            encryption_scopes: Vec::new(),
            public_access: true,
            // Reads of the secondary endpoint work, which the service calls so.
            sku: Sku::StandardRagrs,
            kind: AccountKind::StorageV2,
        }
    }
}

/// What becomes of the state that a write or a deletion replaces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Keeping {
    /// It becomes a version.
    pub(crate) versions: bool,
    /// It is kept for so long.
    pub(crate) deleted: Option<Duration>,
    /// When the new state was last accessed is remembered.
    pub(crate) accesses: bool,
}

impl AccountSettings {
    /// The same as Get Service Properties shows it.
    pub(crate) fn delete_retention(&self) -> DeleteRetention {
        let days = self.blob_retention_days.and_then(|days| u16::try_from(days).ok());
        DeleteRetention {
            retention: days.and_then(Retention::days).unwrap_or(Retention::NONE),
            allow_permanent_delete: self.permanent_delete,
        }
    }

    pub(crate) fn keeping(&self) -> Keeping {
        let versions = self.versioning || self.version_immutability;
        let deleted = self.blob_retention_days.map(days);
        Keeping { versions, deleted, accesses: self.last_access_tracking }
    }

    pub(crate) fn container_retention(&self) -> Option<Duration> {
        self.container_retention_days.map(days)
    }
}

/// Whether an encryption scope can have this name.
pub fn is_encryption_scope(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    ENCRYPTION_SCOPE_BYTES.contains(&name.len()) && name.bytes().all(legal)
}

fn days(days: u32) -> Duration {
    const HOURS: u64 = 24;
    Duration::from_hours(HOURS * u64::from(days))
}

/// The settings of all accounts.
#[derive(Debug, Default)]
pub(crate) struct Settings(RwLock<Table>);

#[derive(Debug, Default)]
struct Table {
    usual: AccountSettings,
    own: HashMap<AccountName, AccountSettings>,
}

impl Core {
    /// The settings of an account.
    pub fn settings(&self, account: &AccountName) -> AccountSettings {
        let table = self.all_settings().0.read().unwrap_or_else(PoisonError::into_inner);
        let mut settings = table.own.get(account).unwrap_or(&table.usual).clone();
        drop(table);
        // What the account's owner has set over the protocol wins over the operator's default.
        let properties = self.properties().get(account, Service::Blob);
        if let Some(kept) = properties.and_then(|found| found.delete_retention) {
            settings.blob_retention_days = kept.retention.get().map(u32::from);
            settings.permanent_delete = kept.allow_permanent_delete;
        }
        settings
    }

    /// The settings of an account with what its owner has set by Set Service Properties: days that
    /// deleted blobs are kept, and whether they may be deleted for good before.
    pub async fn settings_now(&self, account: &AccountName) -> Result<AccountSettings, Error> {
        // Reads them in, if nobody has since the start.
        self.service_properties(account, Service::Blob).await?;
        Ok(self.settings(account))
    }

    /// From the next operation on, these hold for the account.
    pub fn set_settings(&self, account: &AccountName, settings: AccountSettings) {
        let mut table = self.all_settings().0.write().unwrap_or_else(PoisonError::into_inner);
        table.own.insert(account.clone(), settings);
    }

    /// From the next operation on, these hold for accounts without their own.
    pub fn set_usual_settings(&self, settings: AccountSettings) {
        self.all_settings().0.write().unwrap_or_else(PoisonError::into_inner).usual = settings;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retention_is_in_days() {
        let settings = AccountSettings { blob_retention_days: Some(7), ..Default::default() };
        let week = Duration::from_hours(7 * 24);
        let keeping = Keeping { deleted: Some(week), ..Keeping::default() };
        assert_eq!(settings.keeping(), keeping);
        assert_eq!(settings.container_retention(), None);
    }
}
