//! Fuzzing: coverage-guided where the tools for it are there, the same targets on generated input
//! from a fixed seed everywhere else.
//!
//! Must never end well without having run a target.

use crate::needs::answers;
use crate::step::{Counts, Program};
use crate::{Outcome, number_after, root};
use std::fs;
use std::time::Duration;

/// Runs per target in `cargo xtask test`.
const SMOKE_RUNS: u64 = 50_000;
/// Runs per target when the command line names none.
const DEFAULT_RUNS: u64 = 1_000_000;

/// `fuzz [target] [--runs N]`.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let runs = number_after(words, "--runs")?.unwrap_or(DEFAULT_RUNS);
    let wanted = words.first().filter(|word| !word.starts_with("--")).copied();
    let targets = targets()?;
    if let Some(name) = wanted.filter(|name| !targets.iter().any(|target| target == name)) {
        return Err(format!("no target `{name}`; there are: {}", targets.join(", ")));
    }
    let chosen: Vec<&str> = targets
        .iter()
        .map(String::as_str)
        .filter(|name| wanted.is_none_or(|w| w == *name))
        .collect();
    if !has_cargo_fuzz() {
        println!("no nightly toolchain with cargo-fuzz here: generated input, without coverage");
        let done = deterministic(wanted, runs)?;
        return Ok(done.failed == 0);
    }
    let mut clean = true;
    for name in chosen {
        let line = format!("cargo +nightly fuzz run {name} -- -runs={runs} -timeout=1");
        let done = Program::new(&line).limit(Duration::from_hours(24)).run()?;
        clean &= done.failed == 0;
    }
    Ok(clean)
}

/// The bounded form for `cargo xtask test`: every target, always the same input.
pub(crate) fn smoke() -> Result<Counts, String> {
    targets()?;
    deterministic(None, SMOKE_RUNS)
}

fn deterministic(target: Option<&str>, runs: u64) -> Result<Counts, String> {
    let line = format!(
        "cargo run --manifest-path fuzz/Cargo.toml --target-dir target --bin smoke -- --runs {runs}"
    );
    Program::new(&line).args(target.as_slice()).limit(Duration::from_hours(24)).run()
}

/// Names of the files in `fuzz/fuzz_targets`.
fn targets() -> Result<Vec<String>, String> {
    let folder = root().join("fuzz/fuzz_targets");
    let entries = fs::read_dir(&folder)
        .map_err(|_| "could not run: there is no fuzz/fuzz_targets".to_owned())?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut targets: Vec<String> =
        names.filter_map(|name| name.strip_suffix(".rs").map(str::to_owned)).collect();
    targets.sort();
    if targets.is_empty() { Err("fuzz/fuzz_targets is empty".to_owned()) } else { Ok(targets) }
}

fn has_cargo_fuzz() -> bool {
    answers(&["cargo", "+nightly", "fuzz", "--version"])
}
