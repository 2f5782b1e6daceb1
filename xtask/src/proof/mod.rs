//! `cargo xtask proof`: runs the figures and shows what each came to.
//!
//! Must never call a figure good without the line in which it says what it did.

mod figures;

use crate::step::{Counts, Program};
use crate::{Outcome, number_after};
pub(crate) use figures::{FIGURES, Figure, When};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The longest that one run of a short form may take.
const LIMIT: Duration = Duration::from_hours(24);
/// The seed of a short form, unless another is asked for: CI always runs the same.
const SEED: u64 = 1;

/// What a figure came to.
pub(crate) struct Shown {
    pub(crate) good: bool,
    /// Its last line of the kind `figure …`, or why there is none.
    pub(crate) line: String,
    /// What it counted, in all of its lines.
    pub(crate) count: u64,
    pub(crate) seconds: u64,
}

/// `proof [name...] [--seed N]`: the short forms.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let seed = number_after(words, "--seed")?.unwrap_or(SEED);
    let mut good = true;
    let mut table = Vec::new();
    for figure in chosen(words)? {
        println!("\n==> {}", figure.name);
        let shown = show(figure, figure.short, seed, LIMIT);
        good &= shown.good;
        table.push(row(&shown));
    }
    println!("\n{}", table.join("\n"));
    Ok(good)
}

/// The step of `cargo xtask test`: the short forms that no other step runs.
pub(crate) fn step() -> Counts {
    count(FIGURES.iter().filter(|figure| figure.when == When::Proof))
}

/// The short form of one figure, for the step that runs it.
pub(crate) fn named(name: &str) -> Result<Counts, String> {
    Ok(count(chosen(&[name])?.into_iter()))
}

fn count(figures: impl Iterator<Item = &'static Figure>) -> Counts {
    let mut counts = Counts::default();
    let mut table = Vec::new();
    for figure in figures {
        println!("\n--> {}", figure.name);
        let shown = show(figure, figure.short, SEED, LIMIT);
        if shown.good {
            counts.passed += 1;
        } else {
            counts.failed += 1;
        }
        table.push(row(&shown));
    }
    println!("\n{}", table.join("\n"));
    counts
}

/// The figures that are named; all if none is.
pub(crate) fn chosen(words: &[&str]) -> Result<Vec<&'static Figure>, String> {
    let mut named = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word.starts_with("--") {
            words.next();
        } else {
            named.push(*word);
        }
    }
    let unknown = named.iter().find(|name| !FIGURES.iter().any(|figure| figure.name == **name));
    if let Some(name) = unknown {
        let known: Vec<_> = FIGURES.iter().map(|figure| figure.name).collect();
        return Err(format!("no figure `{name}`; there are: {}", known.join(", ")));
    }
    Ok(FIGURES.iter().filter(|f| named.is_empty() || named.contains(&f.name)).collect())
}

/// One line for a table.
pub(crate) fn row(shown: &Shown) -> String {
    let word = if shown.good { "ok" } else { "FAILED" };
    format!("{word:<7} {:>6} s  {}", shown.seconds, shown.line)
}

/// Runs a form of a figure once, for so long at most.
pub(crate) fn show(figure: &Figure, command: &str, seed: u64, limit: Duration) -> Shown {
    let floor = figure.floor;
    let started = Instant::now();
    let today = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let day = today.as_secs() / (24 * 60 * 60);
    let command = command.replace("{seed}", &seed.to_string()).replace("{day}", &day.to_string());
    let mut said = Vec::new();
    let done = Program::new(&command).limit(limit).run_with(|line| {
        println!("{line}");
        said.extend(Line::read(figure.name, line));
    });
    let seconds = started.elapsed().as_secs();
    let count = said.iter().map(|line| line.count).sum();
    let least = said.iter().map(|line| line.count).min();
    let text = said.pop().map(|line| line.text);
    let name = figure.name;
    let (good, line) = match (done, least, text) {
        (Err(reason), _, _) => (false, format!("{name}: {reason}")),
        (Ok(_), None, _) | (Ok(_), _, None) => (false, format!("{name}: did not say what it did")),
        (Ok(counts), Some(least), Some(line)) => {
            let weak = if least < floor { format!(" (fewer than {floor})") } else { String::new() };
            (counts.failed == 0 && weak.is_empty(), line + &weak)
        }
    };
    Shown { good, line, count, seconds }
}

/// A line in which a figure says what it did.
#[derive(PartialEq, Eq, Debug)]
struct Line {
    count: u64,
    text: String,
}

impl Line {
    fn read(name: &str, line: &str) -> Option<Self> {
        // A test's own name may stand before it on the same line.
        let at = line.find("figure ")?;
        let text = &line[at + "figure ".len()..];
        let said = text.strip_prefix(name)?.strip_prefix(": ")?;
        let count = said.split(' ').next()?.parse().ok()?;
        said.contains(", seed ").then(|| Self { count, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::{FIGURES, Line, chosen};

    #[test]
    fn lines_say_what_was_done() {
        let good = "figure crash: 5000 seeds, seed 1, 0 lost";
        let cases = [
            (good, Some(5_000)),
            ("test x ... figure crash: 7 seeds, seed none", Some(7)),
            ("figure crash: many seeds, seed 1", None),
            ("figure crash: 5 seeds", None),
            ("figure other: 5 seeds, seed 1", None),
            ("crash: 5 seeds, seed 1", None),
        ];
        for (line, count) in cases {
            assert_eq!(Line::read("crash", line).map(|line| line.count), count, "{line}");
        }
    }

    #[test]
    fn figures_are_chosen_by_name() {
        assert_eq!(chosen(&[]).map(|all| all.len()), Ok(FIGURES.len()));
        assert_eq!(chosen(&["--seed", "7", "histories"]).map(|all| all.len()), Ok(1));
        assert!(chosen(&["no-such"]).is_err());
    }

    #[test]
    fn every_figure_is_documented_once() {
        let text = std::fs::read_to_string(crate::root().join("docs/reliability.md"));
        let text = text.expect("docs/reliability.md");
        for figure in FIGURES {
            let rows =
                text.lines().filter(|line| line.starts_with(&format!("| `{}` |", figure.name)));
            assert_eq!(rows.count(), 1, "rows of {}", figure.name);
        }
    }
}
