//! What we build on: licences, banned and doubled crates, sources, and how many packages there are.
//!
//! Must never hide that advisories went unchecked.

use crate::step::Program;
use std::fs;
use std::process::Command;
use std::time::Duration;

/// Pinned: a new release must not change a verdict overnight.
const VERSION: &str = "0.20.2";
const FOLDER: &str = "target/tools";
const TOOL: &str = "target/tools/bin/cargo-deny";
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
    install()?;
    deny("--locked check bans licenses sources", |_| {})?;
    let mut unreachable = false;
    let advisories = deny("check advisories", |line| unreachable |= line.contains(UNREACHABLE));
    if unreachable {
        println!(
            "KNOWN LIMITATION: the advisory database cannot be reached from here, so known \
             vulnerabilities of dependencies were NOT checked. Run `{TOOL} check advisories` where \
             it can be reached before a release (SECURITY.md)."
        );
        return Ok(());
    }
    advisories
}

fn deny(args: &str, mut each: impl FnMut(&str)) -> Result<(), String> {
    // Its findings go to standard error; one stream keeps them in order and lets us read them.
    let program = Program::new("sh -c").args(&[&format!("exec {TOOL} {args} 2>&1")]);
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

/// Puts cargo-deny into `target/tools` unless it is there (about two minutes on two cores).
fn install() -> Result<(), String> {
    if has_version() {
        return Ok(());
    }
    let line =
        format!("cargo install --locked --force cargo-deny --version {VERSION} --root {FOLDER}");
    let done = Program::new(&line).limit(Duration::from_mins(15)).run()?;
    if done.failed == 0 { Ok(()) } else { Err("cargo-deny was not installed".to_owned()) }
}

fn has_version() -> bool {
    let output = Command::new(crate::root().join(TOOL)).arg("--version").output();
    output.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).trim().ends_with(VERSION))
}

fn count_packages() -> Result<usize, String> {
    let lock = fs::read_to_string(crate::root().join("Cargo.lock"));
    let lock = lock.map_err(|error| format!("Cargo.lock: {error}"))?;
    Ok(lock.lines().filter(|line| *line == "[[package]]").count())
}
