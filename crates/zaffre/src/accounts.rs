//! Whose keys are accepted: the config file's, `AZURITE_ACCOUNTS`, or the development account; and
//! what is chosen for these accounts.
//!
//! Must never print a key, nor let the development account be reachable from other machines
//! unless the operator asked for it by name.

use crate::args::Args;
use crate::endpoints::Endpoint;
use crate::failure::Failure;
use crate::settings::{Choices, Line};
use crate::terminal;
use std::env;
use std::net::IpAddr;
use std::time::Duration;
use zaffre_auth::accounts::parse_key;
use zaffre_auth::{Account, Accounts, AccountsError};
use zaffre_base::{AccountName, Secret};
use zaffre_core::Core;
use zaffre_http::AccountsHandle;

const VARIABLE: &str = "AZURITE_ACCOUNTS";
/// How often the file and the variable are read again.
const REREAD_EVERY: Duration = Duration::from_mins(1);

/// The accounts of a server and what is chosen for them.
pub(crate) struct Known {
    pub(crate) accounts: Accounts,
    choices: Choices,
    /// The operator named the accounts.
    named: bool,
}

impl Known {
    /// Lets `core` know what is chosen.
    pub(crate) fn tell(&self, core: &Core) {
        for account in self.accounts.iter() {
            core.set_settings(account.name(), self.choices.settings(account.name()));
        }
    }
}

/// Where accounts come from, and the text that was found there last.
pub(crate) struct Source {
    args: Args,
    text: Option<Secret<String>>,
}

impl Source {
    /// Reads the accounts for services that listen on `endpoints` and at `smb`.
    pub(crate) fn open(
        args: &Args,
        endpoints: &[&Endpoint],
        smb: Option<IpAddr>,
    ) -> Result<(Self, Known), Failure> {
        Self::open_at(args, endpoints.iter().map(|endpoint| endpoint.ip()).chain(smb))
    }

    fn open_at(
        args: &Args,
        mut ips: impl Iterator<Item = IpAddr>,
    ) -> Result<(Self, Known), Failure> {
        let mut source = Self { args: args.clone(), text: None };
        source.text = source.read()?;
        let known = source.accounts()?;
        if let Some(ip) = ips.find(|ip| !known.named && !ip.is_loopback()) {
            return Err(Failure::OpenDevelopmentAccount { host: ip.to_string() });
        }
        Ok((source, known))
    }

    /// Reads again for ever and replaces the accounts and what is chosen for them when they have
    /// changed. What cannot be understood changes nothing.
    pub(crate) async fn follow(mut self, handle: AccountsHandle, core: Core) {
        loop {
            tokio::time::sleep(REREAD_EVERY).await;
            let text = match self.read() {
                Ok(text) => text,
                Err(failure) => {
                    tracing::warn!(%failure, "the accounts stay as they are");
                    continue;
                }
            };
            if shown(text.as_ref()) == shown(self.text.as_ref()) {
                continue;
            }
            let old = std::mem::replace(&mut self.text, text);
            match self.accounts() {
                Ok(known) if known.named => {
                    known.tell(&core);
                    handle.change(|old| known.accounts.trusting(old.trust().cloned()));
                    tracing::info!("the accounts were read again");
                }
                // The way back to the development account is a restart, with its checks.
                Ok(_) => self.text = old,
                Err(failure) => tracing::warn!(%failure, "the accounts stay as they are"),
            }
        }
    }

    fn read(&self) -> Result<Option<Secret<String>>, Failure> {
        let text = match &self.args.config {
            Some(path) => {
                let text = std::fs::read_to_string(path);
                Some(text.map_err(|error| Failure::file("config file", path, error))?)
            }
            None => env::var(VARIABLE).ok(),
        };
        Ok(text.map(Secret::new))
    }

    /// The accounts and what is chosen for them, by the file and then by the command line.
    fn accounts(&self) -> Result<Known, Failure> {
        let text = self.text.as_ref().map(|text| text.expose().as_str());
        let (accounts, lines, named) = match (&self.args.config, text) {
            (Some(path), text) => {
                let (accounts, lines) = parse_config(text.unwrap_or_default())
                    .map_err(|reason| Failure::file("config file", path, reason))?;
                (accounts, lines, true)
            }
            (None, None | Some("")) => (Accounts::development(), Vec::new(), false),
            (None, Some(text)) => match Accounts::parse_env(text) {
                Ok(accounts) => (accounts, Vec::new(), true),
                Err(error) => {
                    terminal::warn(&format!(
                        "{VARIABLE}: {}; the development account is used instead",
                        explain(error, "entry")
                    ));
                    (Accounts::development(), Vec::new(), false)
                }
            },
        };
        let also = Some(Accounts::development()).filter(|_| self.args.development_account);
        let named = named || also.is_some();
        let all: Vec<Account> =
            accounts.iter().chain(also.iter().flat_map(Accounts::iter)).cloned().collect();
        let choices = Choices([lines, self.args.settings.clone()].concat());
        for name in choices.0.iter().filter_map(Line::account) {
            if !all.iter().any(|account| account.name() == name) {
                return Err(Failure::SettingForNobody { account: name.to_string() });
            }
        }
        let accounts = all.into_iter().map(|account| choices.adapted(account)).collect();
        Ok(Known { accounts, choices, named })
    }
}

fn shown(text: Option<&Secret<String>>) -> Option<&str> {
    text.map(|text| text.expose().as_str())
}

/// Reads lines of `name = key1[, key2]` and `account.setting = value`; errors name the line.
fn parse_config(text: &str) -> Result<(Accounts, Vec<Line>), String> {
    let said = |error| explain(error, "line");
    let (mut accounts, mut settings): (Vec<Account>, Vec<Line>) = (Vec::new(), Vec::new());
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let entry = index + 1;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let shape = || said(AccountsError::Shape { entry });
        let (left, right) = line.split_once('=').ok_or_else(shape)?;
        let (left, right) = (left.trim(), right.trim());
        if Line::is_setting(left) {
            let read = Line::of_sides(left, right);
            settings.push(read.map_err(|reason| format!("line {entry}: {reason}"))?);
            continue;
        }
        let account = parse_account(left, right, entry).map_err(said)?;
        if accounts.iter().any(|other| other.name() == account.name()) {
            return Err(said(AccountsError::Repeated { entry }));
        }
        accounts.push(account);
    }
    if accounts.is_empty() {
        return Err(said(AccountsError::Empty));
    }
    Ok((accounts.into_iter().collect(), settings))
}

fn parse_account(name: &str, keys: &str, entry: usize) -> Result<Account, AccountsError> {
    let name = AccountName::parse(name).map_err(|_| AccountsError::Name { entry })?;
    let mut keys = keys.split(',').map(|key| parse_key(key).ok_or(AccountsError::Key { entry }));
    let mut account = Account::new(name, keys.next().ok_or(AccountsError::Key { entry })??);
    if let Some(second) = keys.next() {
        account = account.with_second_key(second?);
    }
    if keys.next().is_some() { Err(AccountsError::Shape { entry }) } else { Ok(account) }
}

fn explain(error: AccountsError, unit: &str) -> String {
    match error {
        AccountsError::Empty => "there is no account in the text".to_owned(),
        AccountsError::Shape { entry } => {
            format!("{unit} {entry} is not a name with one or two keys")
        }
        AccountsError::Name { entry } => format!("{unit} {entry} has no legal account name"),
        AccountsError::Key { entry } => format!("{unit} {entry} has a key that is not Base64"),
        AccountsError::Repeated { entry } => format!("{unit} {entry} names an account again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn source(line: &str, text: Option<&str>) -> Source {
        let words = std::iter::once("zaffre").chain(line.split_whitespace());
        let args = Args::try_parse_from(words).expect("a legal line");
        Source { args, text: text.map(|text| Secret::new(text.to_owned())) }
    }

    fn names(accounts: &Accounts) -> Vec<String> {
        accounts.iter().map(|account| account.name().to_string()).collect()
    }

    #[test]
    fn sources() {
        let development = zaffre_auth::accounts::DEVELOPMENT_ACCOUNT;
        for (line, text, want, named) in [
            ("", None, vec![development], false),
            ("", Some(""), vec![development], false),
            ("", Some("acc1:a2V5"), vec!["acc1"], true),
            ("", Some("malformed"), vec![development], false),
            ("--developmentAccount", None, vec![development], true),
            ("--developmentAccount", Some("acc1:a2V5"), vec!["acc1", development], true),
            ("--config f", Some("acc2 = a2V5"), vec!["acc2"], true),
        ] {
            let known = source(line, text).accounts().expect("accounts");
            assert_eq!(
                (names(&known.accounts), known.named),
                (want.iter().map(|n| (*n).to_owned()).collect(), named)
            );
        }
        assert!(source("--config f", Some("malformed")).accounts().is_err());
    }

    #[test]
    fn config_files() {
        let good = "# mine\n\nacc1 = a2V5, a2V5Mg==\n  acc2=a2V5Mg==\nacc1.versioning = true\n";
        for (text, want) in [
            (good, Ok(vec!["acc1".to_owned(), "acc2".to_owned()])),
            ("", Err("there is no account in the text")),
            ("# only this", Err("there is no account")),
            ("*.versioning = true", Err("there is no account")),
            ("acc1", Err("line 1 is not a name with one or two keys")),
            ("\nA!=a2V5", Err("line 2 has no legal account name")),
            ("acc1=", Err("line 1 has a key that is not Base64")),
            ("acc1=a2V5,", Err("line 1 has a key")),
            ("acc1=a2V5,a2V5,a2V5", Err("line 1 is not a name")),
            ("acc1=a2V5\nacc1=a2V5", Err("line 2 names an account again")),
            ("acc1=a2V5\nacc1.versioning=2", Err("line 2: `versioning` must be true or false")),
            ("acc1=a2V5\n*.nothing=2", Err("line 2: there is no setting `nothing`")),
        ] {
            match (parse_config(text), want) {
                (Ok((accounts, _)), Ok(want)) => assert_eq!(names(&accounts), want),
                (Err(said), Err(start)) => assert!(said.starts_with(start), "{text}: {said}"),
                (got, _) => panic!("{text}: {:?}", got.map(|_| ())),
            }
        }
    }

    #[test]
    fn settings_come_from_the_file_and_the_command_line() {
        let text = "acc1 = a2V5\nacc2 = a2V5\n*.versioning = true\nacc2.versioning = false";
        let line = "--config f --setting blob-retention-days=7 --setting acc1.sku=Standard_LRS";
        let known = source(line, Some(text)).accounts().expect("accounts");
        let of = |name: &str| known.choices.settings(&AccountName::parse(name).expect("a name"));
        assert!(of("acc1").versioning && !of("acc2").versioning);
        assert_eq!(of("acc1").blob_retention_days, Some(7));
        assert_eq!(of("acc1").sku.text(), "Standard_LRS");
        let nobody = source("--setting acc9.versioning=true", None).accounts();
        assert!(nobody.is_err_and(|failure| failure.to_string().contains("acc9")));
    }

    #[test]
    fn the_development_account_stays_on_this_machine() {
        let (here, everywhere) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0]));
        let open =
            |line: &str, ip| Source::open_at(&source(line, None).args, [here, ip].into_iter());
        if env::var(VARIABLE).is_err() {
            assert!(open("", here).is_ok());
            assert!(open("", everywhere).is_err());
        }
        assert!(open("--developmentAccount", everywhere).is_ok());
    }
}
