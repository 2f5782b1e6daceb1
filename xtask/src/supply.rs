//! What we build on: licences, banned and doubled crates, sources, and how many packages there are.
//!
//! Must never hide that advisories went unchecked.

use crate::step::Program;
use crate::tools;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Pinned: a new release must not change a verdict overnight.
const VERSION: &str = "0.20.2";
/// What it says when it has no advisories to compare with.
const UNREACHABLE: &str = "failed to fetch advisory database";
/// Each package is code that we answer for.
const MOST_PACKAGES: usize = 250;

/// Checks everything that needs no network once the tool is there.
pub(crate) fn check() -> Result<(), String> {
    let packages = count_packages()?;
    println!("{packages} packages in Cargo.lock, at most {MOST_PACKAGES}");
    if packages > MOST_PACKAGES {
        return Err(format!(
            "Cargo.lock has {packages} packages, at most {MOST_PACKAGES} are allowed"
        ));
    }
    let tool = tools::ensure("cargo-deny", VERSION)?;
    deny(&tool, "--locked check bans licenses sources", |_| {})?;
    let mut unreachable = false;
    let advisories =
        deny(&tool, "check advisories", |line| unreachable |= line.contains(UNREACHABLE));
    if unreachable {
        println!(
            "KNOWN LIMITATION: the advisory database cannot be reached from here, so known \
             vulnerabilities of dependencies were NOT checked. Run `cargo xtask test supply` where \
             it can be reached before a release (SECURITY.md)."
        );
        return Ok(());
    }
    advisories
}

fn deny(tool: &Path, args: &str, mut each: impl FnMut(&str)) -> Result<(), String> {
    // Its findings go to standard error; one stream keeps them in order and lets us read them.
    let line = format!("exec '{}' {args} 2>&1", tool.display());
    let program = Program::new("sh -c").args(&[&line]);
    let done = program.limit(Duration::from_mins(3)).run_with(|line| {
        println!("{line}");
        each(line);
    })?;
    if done.failed == 0 {
        Ok(())
    } else {
        Err(format!("`cargo deny {args}` found faults (see above); deny.toml has the rules"))
    }
}

fn count_packages() -> Result<usize, String> {
    let lock = fs::read_to_string(crate::root().join("Cargo.lock"));
    let lock = lock.map_err(|error| format!("Cargo.lock: {error}"))?;
    Ok(lock.lines().filter(|line| *line == "[[package]]").count())
}
