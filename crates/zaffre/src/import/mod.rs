//! `zaffre import azurite DIR`: an Azurite data folder becomes a data folder of ours.
//!
//! Must never change Azurite's folder, nor run beside a server that uses ours; what could not be
//! moved is named, and makes the command fail.

mod blobs;
mod loki;
mod queues;
mod send;
mod tables;

use crate::failure::Failure;
use crate::sealed;
use crate::terminal::say;
use loki::{Database, Extents, text};
use send::{Call, Services};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime;
use zaffre_base::{AccountName, Timestamp};
use zaffre_core::{Core, CoreOptions};
use zaffre_store::disk::RealDisk;
use zaffre_store::{Store, StoreOptions};

/// Problems that are shown one by one.
const SHOWN: usize = 100;

/// What to import.
#[derive(clap::Subcommand, Clone, Debug)]
pub(crate) enum ImportCommand {
    /// Move blobs, queues and tables of an Azurite data folder in; Azurite must not be running
    Azurite {
        /// Azurite's data folder: the one with __azurite_db_blob__.json
        dir: PathBuf,
        /// Where data is kept; made if missing. No server may be using it
        #[arg(short, long, value_name = "DIR", default_value = "./zaffre-data")]
        location: PathBuf,
        /// The key file of an encrypted data directory
        #[arg(long = "encryption-key-file", value_name = "FILE")]
        key_file: Option<PathBuf>,
    },
}

/// Moves everything in; `Ok(true)` if nothing was left out.
pub(crate) fn run(command: &ImportCommand) -> Result<bool, Failure> {
    let ImportCommand::Azurite { dir, location, key_file } = command;
    let read = |name| Database::read(dir, name).map_err(|said| failed(dir, said));
    let (blob, queue, table) = (read("blob")?, read("queue")?, read("table")?);
    if ![&blob, &queue, &table].into_iter().any(Database::is_there) {
        return Err(failed(dir, "there is no data of Azurite here".to_owned()));
    }
    let accounts = accounts(&[&blob, &queue, &table]);
    let store = open(location, key_file.as_deref())?;
    let core = Core::new(store, CoreOptions::default());
    let services = Services::new(core.clone(), &accounts);
    let services = services.map_err(|error| Failure::System { doing: "drawing a key", error })?;
    let total = blobs::count(&blob) + queues::count(&queue) + tables::count(&table);
    let mut mover = Mover { services, core, progress: Progress::of(total) };
    let starting = |error| Failure::System { doing: "starting threads", error };
    let runtime = runtime::Builder::new_multi_thread().enable_all().build().map_err(starting)?;
    runtime.block_on(async {
        blobs::run(&mut mover, &blob, &Extents::of(dir, "__blobstorage__")).await;
        queues::run(&mut mover, &queue, &Extents::of(dir, "__queuestorage__")).await;
        tables::run(&mut mover, &table).await;
    });
    Ok(mover.progress.tell(location))
}

fn failed(path: &Path, reason: String) -> Failure {
    Failure::Data { path: path.to_owned(), reason }
}

fn open(location: &Path, key_file: Option<&Path>) -> Result<Store, Failure> {
    let said = |error: String| failed(location, error);
    let key = sealed::key(key_file)?;
    let disk = RealDisk::create(location).map_err(|error| said(error.to_string()))?;
    let disk = sealed::cover(Arc::new(disk), key).map_err(|error| said(error.to_string()))?;
    Store::open(disk, &StoreOptions::default()).map_err(|error| said(error.to_string()))
}

/// Every account that has something.
fn accounts(databases: &[&Database]) -> BTreeSet<AccountName> {
    const WITH: [&str; 4] = [
        "$CONTAINERS_COLLECTION$",
        "$BLOBS_COLLECTION$",
        "$QUEUES_COLLECTION$",
        "$TABLES_COLLECTION$",
    ];
    let rows = databases.iter().flat_map(|all| WITH.iter().flat_map(|name| all.rows(name)));
    let names = rows.filter_map(|row| text(row, "accountName").or(text(row, "account")));
    names.filter_map(|name| AccountName::parse(name).ok()).collect()
}

/// Moves rows and keeps count.
struct Mover {
    services: Services,
    core: Core,
    progress: Progress,
}

impl Mover {
    async fn send(&self, call: Call) -> Result<(), String> {
        self.services.send(call).await
    }

    /// Milliseconds since 1970.
    fn now(&self) -> u64 {
        let since = self.core.store().clock.now().since(Timestamp::from_unix_seconds(0));
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn done(&mut self, what: &'static str, result: Result<(), String>) {
        self.progress.done(what, result);
    }
}

/// The account that a row belongs to.
fn account(row: &Value, field: &str) -> Result<AccountName, String> {
    let name = text(row, field).unwrap_or_default();
    AccountName::parse(name).map_err(|_| format!("`{name}` cannot be the name of an account"))
}

/// How far it is.
struct Progress {
    total: u64,
    at: u64,
    moved: BTreeMap<&'static str, u64>,
    problems: Vec<String>,
    watched: bool,
}

impl Progress {
    fn of(total: u64) -> Self {
        let watched = std::io::stderr().is_terminal();
        Self { total, at: 0, moved: BTreeMap::new(), problems: Vec::new(), watched }
    }

    fn done(&mut self, what: &'static str, result: Result<(), String>) {
        self.at += 1;
        match result {
            Ok(()) => *self.moved.entry(what).or_default() += 1,
            Err(problem) => self.problems.push(format!("{what}: {problem}")),
        }
        if self.watched {
            let _ = write!(std::io::stderr(), "\r{}", self.bar());
        }
    }

    /// `[#####.....]  50% 5 of 10`
    fn bar(&self) -> String {
        const WIDTH: u64 = 40;
        let share = |of: u64| (self.at * of).checked_div(self.total).unwrap_or(of).min(of);
        let full = usize::try_from(share(WIDTH)).unwrap_or_default();
        let rest = usize::try_from(WIDTH).unwrap_or_default() - full;
        let bar = "#".repeat(full) + &".".repeat(rest);
        format!("[{bar}] {:3}% {} of {}", share(100), self.at, self.total)
    }

    fn tell(&self, location: &Path) -> bool {
        if self.watched {
            let _ = writeln!(std::io::stderr());
        }
        for problem in self.problems.iter().take(SHOWN) {
            say(problem);
        }
        let moved: Vec<String> =
            self.moved.iter().map(|(what, n)| format!("{what}: {n}")).collect();
        let (moved, problems) = (moved.join(", "), self.problems.len());
        say(&format!("{}: moved {moved}; problems: {problems}", location.display()));
        self.problems.is_empty()
    }
}

/// A document of stored access policies, if there are any.
fn policies(list: Option<&Value>) -> Option<String> {
    let list = list?.as_array().filter(|list| !list.is_empty())?;
    let element = |row: &Value, field: &str, name: &str| {
        text(row, field)
            .map_or_else(String::new, |value| format!("<{name}>{}</{name}>", escaped(value)))
    };
    let each = list.iter().map(|row| {
        let policy = row.get("accessPolicy").unwrap_or(&Value::Null);
        format!(
            "<SignedIdentifier>{}<AccessPolicy>{}{}{}</AccessPolicy></SignedIdentifier>",
            element(row, "id", "Id"),
            element(policy, "start", "Start"),
            element(policy, "expiry", "Expiry"),
            element(policy, "permission", "Permission")
        )
    });
    let inside: String = each.collect();
    Some(format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><SignedIdentifiers>{inside}</SignedIdentifiers>"
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars() {
        for (at, total, want) in [
            (0, 10, "  0% 0 of 10"),
            (5, 10, " 50% 5 of 10"),
            (3, 3, "100% 3 of 3"),
            (0, 0, "100% 0 of 0"),
        ] {
            let mut progress = Progress::of(total);
            progress.at = at;
            assert!(progress.bar().ends_with(want), "{}", progress.bar());
        }
    }
}
