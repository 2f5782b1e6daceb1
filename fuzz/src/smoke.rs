//! Every target on its corpus and on a bounded number of generated inputs, the same every time.
//!
//! `smoke [--runs N] [--seed S] [target]`; ends with the line `N passed, M failed`.

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use zaffre_fuzz::mutate::{Random, corpus, input};
use zaffre_fuzz::{TARGETS, Target};

/// An input that takes longer is a fault of its own.
const SLOW: Duration = Duration::from_secs(1);

struct Options {
    runs: u64,
    seed: u64,
    target: Option<String>,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}; usage: smoke [--runs N] [--seed S] [target]");
            return ExitCode::FAILURE;
        }
    };
    // What a panic says is printed once, by the report below.
    panic::set_hook(Box::new(|_| {}));
    let wanted = |name: &str| options.target.as_deref().is_none_or(|target| target == name);
    let (mut passed, mut failed) = (0, 0);
    for (name, target) in TARGETS.iter().filter(|(name, _)| wanted(name)) {
        match run(name, *target, options.runs, options.seed) {
            Ok(ran) => {
                println!("{name}: {ran} inputs, seed {}", options.seed);
                passed += 1;
            }
            Err(fault) => {
                println!("{name}: {fault}");
                failed += 1;
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { runs: 100_000, seed: 1, target: None };
    while let Some(word) = words.next() {
        let mut number = || {
            let text = words.next().unwrap_or_default();
            text.parse().map_err(|_| format!("`{text}` is no number"))
        };
        match word.as_str() {
            "--runs" => options.runs = number()?,
            "--seed" => options.seed = number()?,
            name if TARGETS.iter().any(|(known, _)| *known == name) => {
                options.target = Some(word);
            }
            other => return Err(format!("there is no target `{other}`")),
        }
    }
    Ok(options)
}

fn run(name: &str, target: Target, runs: u64, seed: u64) -> Result<u64, String> {
    let seeds = corpus(name);
    if seeds.is_empty() {
        return Err("has no corpus".to_owned());
    }
    let mut ran = 0;
    for seed in &seeds {
        try_one(target, seed)?;
        ran += 1;
    }
    let mut random = Random::new(seed);
    for _ in 0..runs {
        try_one(target, &input(&seeds, &mut random))?;
        ran += 1;
    }
    Ok(ran)
}

fn try_one(target: Target, input: &[u8]) -> Result<(), String> {
    let started = Instant::now();
    let shown = || input.escape_ascii().to_string();
    match panic::catch_unwind(AssertUnwindSafe(|| target(input))) {
        Ok(()) if started.elapsed() < SLOW => Ok(()),
        Ok(()) => Err(format!("took {:?} for \"{}\"", started.elapsed(), shown())),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            Err(format!("{text} for \"{}\"", shown()))
        }
    }
}
