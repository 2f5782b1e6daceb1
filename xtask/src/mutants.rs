//! Mutation: small changes of the rules and of authentication, each of which a test must notice.
//!
//! Must never call a run good that tried nothing where there was something to try.

use crate::step::{Counts, Program};
use crate::{Outcome, root, tools};
use std::fs;
use std::process::Command;
use std::time::Duration;

/// Pinned: a new release makes other mutants.
const VERSION: &str = "27.1.0";
const TOOL: &str = "cargo-mutants";
const OUTPUT: &str = "target/mutants";
const ALL: &str = "tests/mutants/run.py";
const DIFF: &str = "target/mutants.diff";
/// Where a mistake is a wrong answer or an open door.
const WATCHED: [&str; 2] = ["crates/domain/src", "crates/auth/src"];
/// The same, as the tool is told.
const PACKAGES: &str = "--package zaffre-domain --package zaffre-auth";
/// Of a hundred mutants, so many must be noticed.
const LEAST_PERCENT: usize = 90;
/// Mutants of changed lines that `cargo xtask test` tries, spread over all of them.
const MOST_OF_A_CHANGE: usize = 16;

/// `mutants [--all [--shard K/N] [--only REGEX] [--jobs N]]`: those of changed lines, or all, which
/// are built together.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let Some(("--all", rest)) = words.split_first().map(|(first, rest)| (*first, rest)) else {
        return Ok(changed()?.failed == 0);
    };
    let tool = tools::ensure(TOOL, VERSION)?;
    let all = Program::new(&format!("nice python3 {ALL} --tool {}", tool.display())).args(rest);
    if all.limit(Duration::from_hours(6)).run()?.failed > 0 {
        return Err("not every mutant was tried".to_owned());
    }
    Ok(judge()?.failed == 0)
}

/// Those of lines that differ from `ZAFFRE_BASE`, or from the commit before.
pub(crate) fn changed() -> Result<Counts, String> {
    let base = std::env::var("ZAFFRE_BASE").unwrap_or_else(|_| "HEAD~1".to_owned());
    let mut diff = Command::new("git");
    diff.current_dir(root()).args(["diff", "--no-color", &base, "--"]).args(WATCHED);
    let output = diff.output().map_err(|error| format!("git diff: {error}"))?;
    if !output.status.success() {
        return Err(format!("git diff {base} failed"));
    }
    if output.stdout.is_empty() {
        println!("figure mutants: 0 mutants, seed none, no watched line differs from {base}");
        return Ok(Counts { passed: 1, ..Counts::default() });
    }
    fs::write(root().join(DIFF), &output.stdout).map_err(|error| format!("{DIFF}: {error}"))?;
    let tool = tools::ensure(TOOL, VERSION)?;
    // By name: without, only the package of the binary is looked at, and nothing is ever found.
    let line = format!("{} mutants {PACKAGES} --in-diff {DIFF}", tool.display());
    let mut count: usize = 0;
    Program::new(&format!("{line} --list")).run_with(|_| count += 1)?;
    if count == 0 {
        println!("figure mutants: 0 mutants, seed none, nothing to change in the changed lines");
        return Ok(Counts { passed: 1, ..Counts::default() });
    }
    let shard = format!("0/{}", count.div_ceil(MOST_OF_A_CHANGE));
    let line = format!("{line} --timeout 60 --output {OUTPUT} --shard {shard}");
    // It ends badly as soon as one is missed; what counts is how many.
    Program::new(&line).limit(Duration::from_mins(10)).run()?;
    judge()
}

/// Counts which were noticed.
fn judge() -> Result<Counts, String> {
    let [caught, timeout, missed, unviable] =
        ["caught", "timeout", "missed", "unviable"].map(lines);
    let noticed = caught.len() + timeout.len();
    let viable = noticed + missed.len();
    for mutant in &missed {
        println!("not noticed: {mutant}");
    }
    println!(
        "figure mutants: {viable} mutants, seed none, {noticed} noticed, {} missed, {} did not compile",
        missed.len(),
        unviable.len()
    );
    if noticed * 100 < viable * LEAST_PERCENT {
        return Err(format!("only {noticed} of {viable} mutants were noticed"));
    }
    Ok(Counts { passed: 1, ..Counts::default() })
}

fn lines(name: &str) -> Vec<String> {
    let path = root().join(OUTPUT).join("mutants.out").join(format!("{name}.txt"));
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}
