//! What an operator may choose for accounts, as text: lines of the config file and `--setting`.
//!
//! Must never be lenient: a setting that is misspelt, or that names nobody, is an error with advice.

use std::time::Duration;
use zaffre_auth::Account;
use zaffre_base::AccountName;
use zaffre_base::limits::{REHYDRATION_SECONDS, RETENTION_DAYS};
use zaffre_core::settings::{AccountKind, AccountSettings, Sku, is_encryption_scope};

/// One choice.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Setting {
    Versioning(bool),
    BlobRetention(Option<u32>),
    ContainerRetention(Option<u32>),
    Rehydration(Duration),
    LastAccess(bool),
    VersionImmutability(bool),
    EncryptionScopes(Vec<String>),
    PermanentDelete(bool),
    PublicAccess(bool),
    KeyAccess(bool),
    Sku(Sku),
    Kind(AccountKind),
}

/// A choice and whom it is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Line {
    /// All accounts if there is none.
    account: Option<AccountName>,
    setting: Setting,
}

/// Stands for all accounts in front of a setting's name.
const ALL: &str = "*";

/// Reads a value.
type Read = fn(&str) -> Option<Setting>;

/// A setting as it is written, shown and read. `docs/configuration.md` is made of these.
pub(crate) struct Row {
    /// Its name.
    pub(crate) name: &'static str,
    /// What its value may be.
    pub(crate) values: &'static str,
    /// What it is when nothing is chosen.
    pub(crate) default: &'static str,
    /// What it does.
    pub(crate) help: &'static str,
    read: Read,
}

const fn row(
    name: &'static str,
    values: &'static str,
    default: &'static str,
    help: &'static str,
    read: Read,
) -> Row {
    Row { name, values, default, help, read }
}

const SWITCH: &str = "true or false";

/// Every setting.
pub(crate) const TABLE: &[Row] = &[
    row(
        "versioning",
        SWITCH,
        "false",
        "writes and deletions keep the state before as a version",
        |v| flag(v).map(Setting::Versioning),
    ),
    row(
        "blob-retention-days",
        "0 (off) to 365",
        "0",
        "how long deleted and overwritten blobs are kept, until a client sets it",
        |v| days(v).map(Setting::BlobRetention),
    ),
    row(
        "container-retention-days",
        "0 (off) to 365",
        "0",
        "how long deleted containers are kept, so that Restore Container brings them back",
        |v| days(v).map(Setting::ContainerRetention),
    ),
    row(
        "permanent-delete",
        SWITCH,
        "false",
        "whether what is kept may be deleted for good, until a client sets it",
        |v| flag(v).map(Setting::PermanentDelete),
    ),
    row(
        "rehydration-seconds",
        "0 to 54000 (15 hours)",
        "60",
        "how long an archived blob takes to come back; a fifteenth of it with priority High",
        |v| seconds(v).map(Setting::Rehydration),
    ),
    row(
        "version-immutability",
        SWITCH,
        "false",
        "whether blobs can have immutability policies and legal holds; versions are kept then",
        |v| flag(v).map(Setting::VersionImmutability),
    ),
    row(
        "encryption-scopes",
        "names of 3 to 63 letters, digits and hyphens, with commas between",
        "none",
        "which encryption scopes blobs and containers can name",
        |v| scopes(v).map(Setting::EncryptionScopes),
    ),
    row(
        "last-access",
        SWITCH,
        "false",
        "whether the last access to blobs is remembered: by reads once a day at most",
        |v| flag(v).map(Setting::LastAccess),
    ),
    row(
        "public-access",
        SWITCH,
        "true",
        "whether containers may be opened to the public; false also closes those that are",
        |v| flag(v).map(Setting::PublicAccess),
    ),
    row(
        "key-access",
        SWITCH,
        "true",
        "whether account keys, and SAS made with them, are good",
        |v| flag(v).map(Setting::KeyAccess),
    ),
    row(
        "sku",
        "Standard_LRS, Standard_GRS, Standard_RAGRS, Standard_ZRS, Standard_GZRS, \
         Standard_RAGZRS, Premium_LRS or Premium_ZRS",
        "Standard_RAGRS",
        "what Get Account Information shows; with a premium one page blobs have tiers P4 to P80",
        |v| Sku::parse(v).map(Setting::Sku),
    ),
    row(
        "kind",
        "StorageV2, Storage, BlobStorage, BlockBlobStorage or FileStorage",
        "StorageV2",
        "what Get Account Information shows; nothing else depends on it",
        |v| AccountKind::parse(v).map(Setting::Kind),
    ),
];

fn flag(text: &str) -> Option<bool> {
    text.parse().ok()
}

#[expect(clippy::option_option, reason = "not a number of days, or kept for none")]
fn days(text: &str) -> Option<Option<u32>> {
    match text.parse::<u16>().ok()? {
        0 => Some(None),
        days if RETENTION_DAYS.contains(&days) => Some(Some(u32::from(days))),
        _ => None,
    }
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds = text.parse().ok().filter(|seconds| *seconds <= REHYDRATION_SECONDS)?;
    Some(Duration::from_secs(seconds))
}

fn scopes(text: &str) -> Option<Vec<String>> {
    let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
    let names: Vec<String> = names.map(str::to_owned).collect();
    names.iter().all(|name| is_encryption_scope(name)).then_some(names)
}

impl Line {
    /// Whether the left side of a line of the config file is a setting rather than an account.
    pub(crate) fn is_setting(left: &str) -> bool {
        left.contains('.')
    }

    /// Reads `name=value` or `account.name=value`, as `--setting` has it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (left, value) =
            text.split_once('=').ok_or("a setting is written name=value or account.name=value")?;
        Self::of_sides(left.trim(), value.trim())
    }

    /// Reads the two sides of the equals sign.
    pub(crate) fn of_sides(left: &str, value: &str) -> Result<Self, String> {
        let (account, name) = match left.split_once('.') {
            None | Some((ALL, _)) => (None, left.rsplit('.').next().unwrap_or(left)),
            Some((account, name)) => {
                let account = AccountName::parse(account)
                    .map_err(|_| format!("`{account}` cannot be the name of an account"))?;
                (Some(account), name)
            }
        };
        let Some(row) = TABLE.iter().find(|row| row.name == name) else {
            let known: Vec<&str> = TABLE.iter().map(|row| row.name).collect();
            return Err(format!("there is no setting `{name}`; there are {}", known.join(", ")));
        };
        let setting = (row.read)(value)
            .ok_or_else(|| format!("`{name}` must be {}, and `{value}` is not", row.values))?;
        Ok(Self { account, setting })
    }

    /// The account it names, if it names one.
    pub(crate) fn account(&self) -> Option<&AccountName> {
        self.account.as_ref()
    }
}

/// All choices. What names an account wins over what is for all; among equals the last wins.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Choices(pub(crate) Vec<Line>);

impl Choices {
    fn of<'a>(&'a self, account: &'a AccountName) -> impl Iterator<Item = &'a Setting> + 'a {
        let all = self.0.iter().filter(|line| line.account.is_none());
        let own = self.0.iter().filter(move |line| line.account.as_ref() == Some(account));
        all.chain(own).map(|line| &line.setting)
    }

    /// The settings of an account.
    pub(crate) fn settings(&self, account: &AccountName) -> AccountSettings {
        let mut settings = AccountSettings::default();
        for setting in self.of(account) {
            match setting {
                Setting::Versioning(on) => settings.versioning = *on,
                Setting::BlobRetention(days) => settings.blob_retention_days = *days,
                Setting::ContainerRetention(days) => settings.container_retention_days = *days,
                Setting::Rehydration(time) => settings.rehydration = *time,
                Setting::LastAccess(on) => settings.last_access_tracking = *on,
                Setting::VersionImmutability(on) => settings.version_immutability = *on,
                Setting::EncryptionScopes(names) => settings.encryption_scopes.clone_from(names),
                Setting::PermanentDelete(on) => settings.permanent_delete = *on,
                Setting::PublicAccess(on) => settings.public_access = *on,
                Setting::Sku(sku) => settings.sku = *sku,
                Setting::Kind(kind) => settings.kind = *kind,
                Setting::KeyAccess(_) => {}
            }
        }
        settings
    }

    /// The account with what its credentials must know of the settings.
    pub(crate) fn adapted(&self, mut account: Account) -> Account {
        let name = account.name().clone();
        let settings = self.settings(&name);
        let keys = self.of(&name).fold(true, |allowed, setting| match setting {
            Setting::KeyAccess(on) => *on,
            _ => allowed,
        });
        if !settings.public_access {
            account = account.without_public_access();
        }
        if keys { account } else { account.without_key_access() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        for (text, want) in [
            ("versioning=true", Ok(())),
            ("*.versioning = false", Ok(())),
            ("acct.blob-retention-days=7", Ok(())),
            ("blob-retention-days=0", Ok(())),
            ("sku=Standard_LRS", Ok(())),
            ("rehydration-seconds=0", Ok(())),
            ("rehydration-seconds=54001", Err("`rehydration-seconds` must be 0 to 54000")),
            ("encryption-scopes=red, blue-2", Ok(())),
            ("encryption-scopes=x!", Err("`encryption-scopes` must be names")),
            ("container-retention-days=7", Ok(())),
            ("last-access=true", Ok(())),
            ("version-immutability=true", Ok(())),
            ("kind=BlobStorage", Ok(())),
            ("versioning", Err("a setting is written")),
            ("versionning=true", Err("there is no setting `versionning`; there are versioning,")),
            ("versioning=yes", Err("`versioning` must be true or false, and `yes` is not")),
            ("blob-retention-days=366", Err("`blob-retention-days` must be 0 (off) to 365")),
            ("blob-retention-days=-1", Err("`blob-retention-days` must be")),
            ("sku=Cheap", Err("`sku` must be Standard_LRS,")),
            ("A!.versioning=true", Err("`A!` cannot be the name")),
        ] {
            match (Line::parse(text), want) {
                (Ok(_), Ok(())) => {}
                (Err(said), Err(start)) => assert!(said.starts_with(start), "{text}: {said}"),
                (got, _) => panic!("{text}: {got:?}"),
            }
        }
    }

    #[test]
    fn an_accounts_own_choice_wins() {
        let lines = ["acct.versioning=false", "versioning=true", "blob-retention-days=7"];
        let choices = Choices(lines.iter().flat_map(|line| Line::parse(line)).collect());
        let of = |name: &str| choices.settings(&AccountName::parse(name).expect("legal"));
        assert!(!of("acct").versioning && of("other").versioning);
        assert_eq!(of("acct").blob_retention_days, Some(7));
        assert_eq!(
            Choices::default().settings(&AccountName::parse("acct").expect("legal")),
            AccountSettings::default()
        );
    }
}
