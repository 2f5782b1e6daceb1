//! Whose keys are accepted: the config file's, `AZURITE_ACCOUNTS`, or the development account.
//!
//! Must never print a key, nor let the development account be reachable from other machines
//! unless the operator asked for it by name.

use crate::args::Args;
use crate::endpoints::Endpoint;
use crate::failure::Failure;
use crate::terminal;
use std::env;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;
use zaffre_auth::accounts::parse_key;
use zaffre_auth::{Account, Accounts, AccountsError};
use zaffre_base::{AccountName, Secret};
use zaffre_http::AccountsHandle;

const VARIABLE: &str = "AZURITE_ACCOUNTS";
/// How often the file and the variable are read again.
const REREAD_EVERY: Duration = Duration::from_mins(1);

/// Where accounts come from, and the text that was found there last.
pub(crate) struct Source {
    args: Args,
    text: Option<Secret<String>>,
}

impl Source {
    /// Reads the accounts for services that listen on `endpoints`.
    pub(crate) fn open(args: &Args, endpoints: &[&Endpoint]) -> Result<(Self, Accounts), Failure> {
        Self::open_at(args, endpoints.iter().map(|endpoint| endpoint.ip()))
    }

    fn open_at(
        args: &Args,
        mut ips: impl Iterator<Item = IpAddr>,
    ) -> Result<(Self, Accounts), Failure> {
        let mut source = Self { args: args.clone(), text: None };
        source.text = source.read()?;
        let (accounts, named) = source.accounts()?;
        if let Some(ip) = ips.find(|ip| !named && !ip.is_loopback()) {
            return Err(Failure::OpenDevelopmentAccount { host: ip.to_string() });
        }
        Ok((source, accounts))
    }

    /// Reads again for ever and replaces the accounts when they have changed. What cannot be
    /// understood changes nothing.
    pub(crate) async fn follow(mut self, handle: AccountsHandle) {
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
                Ok((accounts, true)) => {
                    handle.change(|old| accounts.trusting(old.trust().cloned()));
                    tracing::info!("the accounts were read again");
                }
                // The way back to the development account is a restart, with its checks.
                Ok((_, false)) => self.text = old,
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

    /// The accounts, and whether the operator named them.
    fn accounts(&self) -> Result<(Accounts, bool), Failure> {
        let text = self.text.as_ref().map(|text| text.expose().as_str());
        let (accounts, named) = match (&self.args.config, text) {
            (Some(path), text) => (from_config(path, text.unwrap_or_default())?, true),
            (None, None | Some("")) => (Accounts::development(), false),
            (None, Some(text)) => match Accounts::parse_env(text) {
                Ok(accounts) => (accounts, true),
                Err(error) => {
                    terminal::warn(&format!(
                        "{VARIABLE}: {}; the development account is used instead",
                        explain(error, "entry")
                    ));
                    (Accounts::development(), false)
                }
            },
        };
        if !self.args.development_account {
            return Ok((accounts, named));
        }
        let development = Accounts::development();
        Ok((accounts.iter().chain(development.iter()).cloned().collect(), true))
    }
}

fn shown(text: Option<&Secret<String>>) -> Option<&str> {
    text.map(|text| text.expose().as_str())
}

fn from_config(path: &Path, text: &str) -> Result<Accounts, Failure> {
    parse_config(text).map_err(|error| Failure::file("config file", path, explain(error, "line")))
}

/// Reads lines of `name = key1[, key2]`; errors count lines.
fn parse_config(text: &str) -> Result<Accounts, AccountsError> {
    let mut accounts: Vec<Account> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let entry = index + 1;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, keys) = line.split_once('=').ok_or(AccountsError::Shape { entry })?;
        let name = AccountName::parse(name.trim()).map_err(|_| AccountsError::Name { entry })?;
        if accounts.iter().any(|account| *account.name() == name) {
            return Err(AccountsError::Repeated { entry });
        }
        let mut keys =
            keys.split(',').map(|key| parse_key(key).ok_or(AccountsError::Key { entry }));
        let mut account = Account::new(name, keys.next().ok_or(AccountsError::Key { entry })??);
        if let Some(second) = keys.next() {
            account = account.with_second_key(second?);
        }
        if keys.next().is_some() {
            return Err(AccountsError::Shape { entry });
        }
        accounts.push(account);
    }
    if accounts.is_empty() { Err(AccountsError::Empty) } else { Ok(accounts.into_iter().collect()) }
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
            let (accounts, found) = source(line, text).accounts().expect("accounts");
            assert_eq!(
                (names(&accounts), found),
                (want.iter().map(|n| (*n).to_owned()).collect(), named)
            );
        }
        assert!(source("--config f", Some("malformed")).accounts().is_err());
    }

    #[test]
    fn config_files() {
        let good = "# mine\n\nacc1 = a2V5, a2V5Mg==\n  acc2=a2V5Mg==\n";
        for (text, want) in [
            (good, Ok(vec!["acc1".to_owned(), "acc2".to_owned()])),
            ("", Err(AccountsError::Empty)),
            ("# only this", Err(AccountsError::Empty)),
            ("acc1", Err(AccountsError::Shape { entry: 1 })),
            ("\nA!=a2V5", Err(AccountsError::Name { entry: 2 })),
            ("acc1=", Err(AccountsError::Key { entry: 1 })),
            ("acc1=a2V5,", Err(AccountsError::Key { entry: 1 })),
            ("acc1=a2V5,a2V5,a2V5", Err(AccountsError::Shape { entry: 1 })),
            ("acc1=a2V5\nacc1=a2V5", Err(AccountsError::Repeated { entry: 2 })),
        ] {
            assert_eq!(parse_config(text).map(|accounts| names(&accounts)), want, "{text}");
        }
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
