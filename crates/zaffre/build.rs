//! Tells the program which commit it was built from and for which machine.
//!
//! Must never fail a build: a tree without git, such as a downloaded archive, is built as well.

use std::process::Command;

fn main() {
    let given = std::env::var("ZAFFRE_COMMIT").ok().filter(|text| !text.is_empty());
    let commit = given.or_else(|| git(&["log", "-1", "--format=%h %cs"]));
    println!("cargo::rustc-env=ZAFFRE_COMMIT={}", commit.as_deref().unwrap_or("unknown commit"));
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=ZAFFRE_TARGET={target}");
    println!("cargo::rerun-if-env-changed=ZAFFRE_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    // The log of HEAD changes with every commit.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}

fn git(words: &[&str]) -> Option<String> {
    let done =
        Command::new("git").args(words).output().ok().filter(|done| done.status.success())?;
    let text = String::from_utf8(done.stdout).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
