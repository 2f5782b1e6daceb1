//! `histories planted`: makes each mistake of `zaffre_base::planted` and sees that the tests find it.
//!
//! Must never take a test that did not run for one that found something: every suite must pass first
//! without a mistake.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How a mistake is found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Suite {
    /// Histories of this kind.
    Histories(&'static str),
    /// Tests of this package, with these words.
    Tests(&'static str, &'static str),
}

/// Every mistake and the suite that must find it.
const BUGS: [(&str, Suite); 12] = [
    ("skipped-sync", Suite::Tests("zaffre-store", "--test store_crash random_crashes")),
    ("early-answer", Suite::Histories("blob")),
    ("stale-read", Suite::Histories("entity")),
    ("lost-update", Suite::Histories("blob")),
    ("late-expiry", Suite::Histories("blob-lease")),
    ("reused-receipt", Suite::Histories("queue")),
    ("torn-batch", Suite::Histories("batch")),
    ("one-sided-share", Suite::Tests("zaffre-domain", "--lib share_mode")),
    ("early-unlock", Suite::Tests("zaffre-domain", "--lib locks")),
    ("append-anywhere", Suite::Histories("append")),
    ("visible-message", Suite::Histories("queue")),
    ("dropped-record", Suite::Histories("blob")),
];

/// Turns the mistakes on in what is built.
const FEATURE: &str = "zaffre-base/planted";
/// Histories of one try, and tries.
const HISTORIES: &str = "2";
const TRIES: u64 = 60;
/// Seeds of the crash tests: with a mistake, far fewer are enough.
const CRASH_SEEDS: &str = "100";

/// Plants `count` of the mistakes, those that `seed` chooses.
pub(crate) fn run(count: u64, seed: u64) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let binary = build(&folder)?;
    let all = u64::try_from(BUGS.len()).unwrap_or(u64::MAX);
    let count = count.min(all);
    let chosen: Vec<_> = (0..count)
        .filter_map(|step| usize::try_from((seed * count + step) % all).ok())
        .map(|index| BUGS[index])
        .collect();
    let suites: BTreeSet<Suite> = chosen.iter().map(|bug| bug.1).collect();
    for suite in suites {
        if !suite.passes(&folder, &binary, None, seed)? {
            return Err(format!("{suite:?} fails without a mistake"));
        }
    }
    let mut missed = Vec::new();
    for (name, suite) in &chosen {
        match suite.finds(&folder, &binary, name, seed)? {
            Some(tries) => println!("{name}: found by {suite:?}, try {tries}"),
            None => missed.push(*name),
        }
    }
    let found = chosen.len() - missed.len();
    println!("figure planted: {found} mistakes found, seed {seed}, of {} planted", chosen.len());
    if missed.is_empty() { Ok(()) } else { Err(format!("not found: {}", missed.join(", "))) }
}

/// Builds the server with mistakes, beside the one without.
fn build(folder: &Path) -> Result<PathBuf, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--locked", "-p", "zaffre", "--features", FEATURE]).current_dir(folder);
    succeed(&mut cargo)?;
    let binary = folder.join("target/zaffre-planted");
    let built = folder.join("target/debug/zaffre");
    std::fs::copy(&built, &binary).map_err(|error| format!("{}: {error}", built.display()))?;
    Ok(binary)
}

fn succeed(command: &mut Command) -> Result<(), String> {
    if is_success(command)? { Ok(()) } else { Err(format!("failed: {command:?}")) }
}

fn is_success(command: &mut Command) -> Result<bool, String> {
    let done = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    Ok(done.success())
}

impl Suite {
    /// The try that found the mistake, if one did.
    fn finds(
        self,
        folder: &Path,
        binary: &Path,
        name: &str,
        seed: u64,
    ) -> Result<Option<u64>, String> {
        let tries = if matches!(self, Self::Tests(..)) { 1 } else { TRIES };
        for tried in 1..=tries {
            let seed = seed.wrapping_add(tried * 2);
            if !self.passes(folder, binary, Some(name), seed)? {
                return Ok(Some(tried));
            }
        }
        Ok(None)
    }

    fn passes(
        self,
        folder: &Path,
        binary: &Path,
        bug: Option<&str>,
        seed: u64,
    ) -> Result<bool, String> {
        let mut command = match self {
            Self::Histories(kind) => {
                let ours = std::env::current_exe().map_err(|error| error.to_string())?;
                let mut command = Command::new(ours);
                command.args(["--count", HISTORIES, "--only", kind, "--seed", &seed.to_string()]);
                command.env("ZAFFRE_BINARY", binary);
                command
            }
            Self::Tests(package, words) => {
                let mut base = Command::new("cargo");
                base.args(["test", "--locked", "-q", "-p", package, "--features", FEATURE]);
                base.args(words.split(' ')).current_dir(folder);
                base.env("ZAFFRE_SEEDS", CRASH_SEEDS);
                base
            }
        };
        // What a mistake makes a suite say is long, and wanted only if it says nothing.
        if bug.is_some() {
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        }
        is_success(command.env("ZAFFRE_PLANTED", bug.unwrap_or_default()))
    }
}
