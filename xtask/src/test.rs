//! The one command that must be green before a change lands; CI runs the same.
//!
//! Must never call a step that did not run a success.

use crate::step::{Counts, Program};
use crate::{Outcome, fuzz, mutants, needs, proof, supply, tidy};
use std::time::{Duration, Instant};

/// Crates outside of the ban on clocks and files: the binary, test machinery, this tool.
const MAY_TOUCH_THE_WORLD: &str = "--exclude zaffre --exclude zaffre-testkit --exclude xtask";

/// A step: its name and how to run it.
type Step = (&'static str, fn() -> Result<Counts, String>);

const STEPS: [Step; 13] = [
    ("needs", || inside(needs::ensure)),
    ("format", || Program::new("cargo fmt --all --check").run()),
    ("tidy", || inside(check_tidy)),
    ("supply", || inside(supply::check)),
    ("clippy", clippy),
    ("bans", bans),
    ("tests", rust_tests),
    ("schedules", schedules),
    ("fuzz", fuzz::smoke),
    ("mutants", mutants::changed),
    ("build", || Program::new("cargo build --locked --release -p zaffre").run()),
    ("proof", || Ok(proof::step())),
    ("clients", clients),
];

/// `test [step...]`: runs every step (or those named), whatever the earlier ones said.
pub(crate) fn run(wanted: &[&str]) -> Outcome {
    if let Some(name) = wanted.iter().find(|name| !STEPS.iter().any(|step| step.0 == **name)) {
        let known = STEPS.map(|step| step.0).join(", ");
        return Err(format!("no step `{name}`; there are: {known}"));
    }
    let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let started = Instant::now();
    let mut total = Counts::default();
    let mut lines = Vec::new();
    for (name, step) in STEPS.iter().filter(|s| wanted.is_empty() || wanted.contains(&s.0)) {
        println!("\n==> {name}");
        let begun = Instant::now();
        let counts = match step() {
            Ok(counts) => verdict(counts, in_ci),
            Err(reason) => {
                println!("{name}: {reason}");
                Counts { failed: 1, ..Counts::default() }
            }
        };
        let word = if counts.failed == 0 { "ok" } else { "FAILED" };
        lines.push(format!(
            "{name:<9} {word:<7} {:>7.1} s  {} passed, {} failed, {} skipped",
            begun.elapsed().as_secs_f64(),
            counts.passed,
            counts.failed,
            counts.skipped
        ));
        println!("<== {}", lines[lines.len() - 1]);
        total.passed += counts.passed;
        total.failed += counts.failed;
    }
    println!("\n{}\n", lines.join("\n"));
    println!("{:.1} minutes in all", started.elapsed().as_secs_f64() / 60.0);
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(total.failed == 0)
}

/// In CI, what was skipped was not proven.
fn verdict(mut counts: Counts, in_ci: bool) -> Counts {
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

/// Random thread schedules. A build of its own, because the feature swaps the locks of the code
/// under test for ones that work only inside such a run.
fn schedules() -> Result<Counts, String> {
    proof::named("schedules")
}

/// Real SDKs and tools against the real binary; the suite installs what it needs, pinned.
fn clients() -> Result<Counts, String> {
    if !crate::root().join("tests/run.py").exists() {
        return Err("could not run: there is no tests/run.py".to_owned());
    }
    Program::new("python3 tests/run.py").limit(Duration::from_mins(35)).run()
}

#[cfg(test)]
mod tests {
    use super::{Counts, verdict};

    #[test]
    fn skipped_tests_fail_in_ci_only() {
        for (in_ci, failed) in [(false, 1), (true, 3)] {
            let counts = Counts { passed: 5, failed: 1, skipped: 2 };
            assert_eq!(verdict(counts, in_ci).failed, failed);
        }
    }
}
