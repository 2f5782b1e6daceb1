//! The one command that must be green before a change lands; CI runs the same.
//!
//! Must never call a step that did not run a success.

use crate::lanes::{self, Done, Lane};
use crate::step::{Counts, Program, computed, in_ci};
use crate::{Outcome, excerpt, fuzz, mutants, needs, proof, supply, tidy};
use std::time::{Duration, Instant};

/// Crates outside of the ban on clocks and files: the binary, test machinery, this tool.
const MAY_TOUCH_THE_WORLD: &str = "--exclude zaffre --exclude zaffre-testkit --exclude xtask";

/// A whole run on two cores may take so long; longer, and people stop to wait for it.
const MOST_MINUTES: f64 = 40.0;

/// When a step runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    /// Before all others: what they need, and what is known within seconds.
    First,
    /// Beside those that wait, and behind them: it computes.
    Computes,
    /// Beside those that compute: it mostly waits, for disks, clocks and clients.
    Waits,
    /// Beside both: it waits for the network.
    Fetches,
    /// After all of these, with the machine for itself: it measures.
    Alone,
}

/// A step: its name, when it runs among all others, and how to run it.
type Step = (&'static str, When, fn() -> Result<Counts, String>);

const STEPS: [Step; 16] = [
    ("needs", When::First, || inside(needs::ensure)),
    ("format", When::First, || Program::new("cargo fmt --all --check").run()),
    ("tidy", When::First, || inside(check_tidy)),
    ("supply", When::Computes, || inside(supply::check)),
    ("clippy", When::Computes, clippy),
    ("bans", When::Computes, bans),
    ("tests", When::Computes, rust_tests),
    ("schedules", When::Computes, schedules),
    ("fuzz", When::Computes, fuzz::smoke),
    ("mutants", When::Computes, mutants::changed),
    ("debug", When::Computes, debug_builds),
    ("prepare", When::Fetches, || clients("--prepare")),
    ("build", When::Waits, || Program::new("cargo build --locked --release -p zaffre").run()),
    ("clients", When::Waits, || clients("--beside")),
    ("proof", When::Alone, || Ok(proof::step())),
    ("alone", When::Alone, || clients("--alone")),
];

/// `test [step...]`: runs every step (or those named), whatever the earlier ones said.
pub(crate) fn run(wanted: &[&str]) -> Outcome {
    if let Some(name) = wanted.iter().find(|name| !STEPS.iter().any(|step| step.0 == **name)) {
        let known = STEPS.map(|step| step.0).join(", ");
        return Err(format!("no step `{name}`; there are: {known}"));
    }
    let started = Instant::now();
    if !wanted.is_empty() {
        let named = STEPS.iter().filter(|step| wanted.contains(&step.0));
        return Ok(close(&named.map(here).collect::<Vec<_>>(), started.elapsed()));
    }
    let lane = |when, niceness| {
        let steps = STEPS.iter().filter(|step| step.1 == when).map(|step| step.0).collect();
        Lane { niceness, steps }
    };
    let together = [lane(When::Waits, 0), lane(When::Fetches, 0), lane(When::Computes, 10)];
    let mut ended = Vec::new();
    for lanes in [&[lane(When::First, 0)][..], &together, &[lane(When::Alone, 0)]] {
        ended.extend(lanes::run(lanes, |done| println!("<== {}", row(done))));
    }
    for done in ended.iter().filter(|done| verdict(done).failed > 0) {
        println!("\n==> {} failed; of what it said:\n{}", done.name, excerpt::of(&done.said));
    }
    Ok(close(&ended, started.elapsed()))
}

/// `step <name>`: one of them, for the process that runs several at once.
pub(crate) fn run_apart(name: &str) -> Outcome {
    match STEPS.iter().find(|step| step.0 == name) {
        Some(step) => {
            lanes::step(name, step.2);
            Ok(true)
        }
        None => Err(format!("no step `{name}`")),
    }
}

/// Runs a step in this process.
fn here(step: &Step) -> Done {
    println!("\n==> {}", step.0);
    let (begun, before) = (Instant::now(), computed());
    let outcome = (step.2)();
    let computed = computed().saturating_sub(before);
    if let Err(reason) = &outcome {
        println!("{}: {reason}", step.0);
    }
    let done = Done { name: step.0, outcome, took: begun.elapsed(), computed, said: String::new() };
    println!("<== {}", row(&done));
    done
}

/// Says what all steps came to, and whether that is good.
fn close(ended: &[Done], took: Duration) -> bool {
    let rows: Vec<String> = ended.iter().map(row).collect();
    let counts: Vec<Counts> = ended.iter().map(verdict).collect();
    let passed: u64 = counts.iter().map(|counts| counts.passed).sum();
    let failed: u64 = counts.iter().map(|counts| counts.failed).sum();
    let minutes = took.as_secs_f64() / 60.0;
    println!("\n{}\n", rows.join("\n"));
    println!("{minutes:.1} minutes in all");
    if minutes > MOST_MINUTES {
        println!("WARNING: that is more than the {MOST_MINUTES} minutes that a whole run may take");
    }
    println!("{passed} passed, {failed} failed");
    failed == 0
}

/// One line for the table.
fn row(done: &Done) -> String {
    let counts = verdict(done);
    let word = if counts.failed == 0 { "ok" } else { "FAILED" };
    let reason = done.outcome.as_ref().err().and_then(|reason| reason.lines().next());
    format!(
        "{:<9} {word:<7} {:>7.1} s {:>7.1} s computed  {} passed, {} failed, {} skipped{}{}",
        done.name,
        done.took.as_secs_f64(),
        done.computed.as_secs_f64(),
        counts.passed,
        counts.failed,
        counts.skipped,
        if reason.is_some() { ": " } else { "" },
        reason.unwrap_or_default()
    )
}

/// What a step counts for: one that could not run has failed.
fn verdict(done: &Done) -> Counts {
    match &done.outcome {
        Ok(counts) => strict(*counts, in_ci()),
        Err(_) => Counts { failed: 1, ..Counts::default() },
    }
}

/// In CI, what was skipped was not proven.
fn strict(mut counts: Counts, in_ci: bool) -> Counts {
    if in_ci {
        counts.failed += counts.skipped;
    }
    counts
}

/// A check that runs in this process counts as one test.
fn inside(check: impl FnOnce() -> Result<(), String>) -> Result<Counts, String> {
    check()?;
    Ok(Counts { passed: 1, ..Counts::default() })
}

fn check_tidy() -> Result<(), String> {
    if tidy::run()? { Ok(()) } else { Err("the rules above are broken".to_owned()) }
}

fn clippy() -> Result<Counts, String> {
    Program::new("cargo clippy --locked --workspace --all-targets -- -D warnings").run()
}

fn bans() -> Result<Counts, String> {
    let line = format!(
        "cargo clippy --locked --workspace {MAY_TOUCH_THE_WORLD} --lib -- -D clippy::disallowed_methods"
    );
    Program::new(&line).run()
}

fn rust_tests() -> Result<Counts, String> {
    Program::new("cargo test --locked --workspace --no-fail-fast").run()
}

/// What `proof` and `alone` would otherwise build while nothing else has work. The binary without
/// mistakes comes last: it is the one that stays.
fn debug_builds() -> Result<Counts, String> {
    let mut counts = Counts::default();
    for what in [
        "-p zaffre-testkit --bin histories",
        "-p zaffre --features zaffre-base/planted",
        "-p zaffre",
    ] {
        let done = Program::new(&format!("cargo build --locked {what}")).run()?;
        counts.passed += done.passed;
        counts.failed += done.failed;
    }
    Ok(counts)
}

/// Random thread schedules. A build of its own, because the feature swaps the locks of the code
/// under test for ones that work only inside such a run.
fn schedules() -> Result<Counts, String> {
    proof::named("schedules")
}

/// Real SDKs and tools against the real binary; the suite installs what it needs, pinned.
fn clients(which: &str) -> Result<Counts, String> {
    if !crate::root().join("tests/run.py").exists() {
        return Err("could not run: there is no tests/run.py".to_owned());
    }
    Program::new("python3 tests/run.py").args(&[which]).limit(Duration::from_mins(35)).run()
}

#[cfg(test)]
mod tests {
    use super::{Counts, strict};

    #[test]
    fn skipped_tests_fail_in_ci_only() {
        for (in_ci, failed) in [(false, 1), (true, 3)] {
            let counts = Counts { passed: 5, failed: 1, skipped: 2 };
            assert_eq!(strict(counts, in_ci).failed, failed);
        }
    }
}
