//! Hours of the same figures with ever new seeds.
//!
//! Must never repeat a seed it has passed: each round starts where the last one ended. Never goes on
//! after its time: what was not done then is said, and done by the next soak.

use crate::proof::{self, Figure, Shown};
use crate::{Outcome, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Seeds between two runs of a figure: more than any run uses.
const APART: u64 = 1_000_000;

/// `soak --hours N [figure...]`: the long form of each figure, over and over, in its share of the
/// time; N may be a fraction. Figures that are farthest from their goals come first.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let length = hours(words)?;
    let mut figures = proof::chosen(words)?;
    let mut books = Books::read();
    figures.sort_by_key(|figure| books.parts_done(figure));
    let started = Instant::now();
    let mut table = Vec::new();
    let (mut good, mut finished) = (true, 0);
    for (index, figure) in figures.iter().enumerate() {
        let left = length.saturating_sub(started.elapsed());
        let among = u32::try_from(figures.len() - index).unwrap_or(u32::MAX);
        if left.is_zero() {
            table.push(format!("not run        {}; {}", figure.name, books.so_far(figure)));
            continue;
        }
        let (shown, runs, cut) = repeat(figure, left / among, left, &mut books);
        good &= shown.good || cut;
        finished += u64::from(!cut);
        let row = if cut { shown.line } else { proof::row(&shown) };
        table.push(format!("{row}; {runs} runs, {}", books.so_far(figure)));
    }
    println!("\n{}\n", table.join("\n"));
    println!("{} minutes in all", started.elapsed().as_secs() / 60);
    if finished == 0 {
        println!("nothing came to its end: the time was too short");
    }
    Ok(good && finished > 0)
}

fn hours(words: &[&str]) -> Result<Duration, String> {
    let at = words.iter().position(|word| *word == "--hours");
    let text = at.and_then(|at| words.get(at + 1)).ok_or("say how long: soak --hours N")?;
    let hours: f64 = text.parse().map_err(|_| format!("`{text}` is no number of hours"))?;
    Duration::try_from_secs_f64(hours * 3600.0).map_err(|error| error.to_string())
}

/// Runs a figure until its share is over or it fails; what is shown is the last run, with the time of
/// all. A run that the end of the soak cuts off says nothing.
fn repeat(
    figure: &Figure,
    share: Duration,
    left: Duration,
    books: &mut Books,
) -> (Shown, u64, bool) {
    let started = Instant::now();
    let mut runs = 0;
    loop {
        runs += 1;
        let (seed, minute) = (books.next, started.elapsed().as_secs() / 60);
        println!("\n==> {}, run {runs}, seed {seed}, minute {minute}", figure.name);
        let limit = left.saturating_sub(started.elapsed());
        let mut shown = proof::show(figure, figure.long, seed, limit);
        let cut = !shown.good && started.elapsed() >= left;
        if cut {
            shown.line = format!("cut off        {}, by the end of the time", figure.name);
        }
        books.note(figure, if shown.good { shown.count } else { 0 });
        // Another run of the same length must fit in.
        let spent = started.elapsed();
        let next = spent / u32::try_from(runs).unwrap_or(u32::MAX);
        if !shown.good || spent + next > share {
            shown.seconds = spent.as_secs();
            return (shown, runs, cut);
        }
    }
}

/// What soaks have done so far, kept in a file between them.
struct Books {
    /// The next seed.
    next: u64,
    counts: BTreeMap<String, u64>,
}

impl Books {
    fn file() -> PathBuf {
        root().join("target/soak-books")
    }

    fn read() -> Self {
        Self::parse(&fs::read_to_string(Self::file()).unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let rows = text.lines().filter_map(|line| line.split_once(' '));
        let rows = rows.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
        let mut counts: BTreeMap<String, u64> = rows.collect();
        Self { next: counts.remove("next-seed").unwrap_or(APART), counts }
    }

    fn text(&self) -> String {
        let rows = self.counts.iter().map(|(name, count)| format!("{name} {count}\n"));
        format!("next-seed {}\n{}", self.next, rows.collect::<Vec<_>>().concat())
    }

    /// Only a convenience: without the file the next soak starts over.
    fn note(&mut self, figure: &Figure, count: u64) {
        self.next += APART;
        *self.counts.entry(figure.name.to_owned()).or_default() += count;
        if let Err(error) = fs::write(Self::file(), self.text()) {
            println!("note: cannot remember where to go on: {error}");
        }
    }

    fn count(&self, figure: &Figure) -> u64 {
        self.counts.get(figure.name).copied().unwrap_or(0)
    }

    /// How far a figure is, in thousandths of its goal.
    fn parts_done(&self, figure: &Figure) -> u64 {
        self.count(figure).saturating_mul(1_000) / figure.goal.max(1)
    }

    fn so_far(&self, figure: &Figure) -> String {
        format!("{} of {} in all soaks", self.count(figure), figure.goal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::FIGURES;

    #[test]
    fn lengths_of_soaks() {
        assert_eq!(hours(&["--hours", "2"]), Ok(Duration::from_hours(2)));
        assert_eq!(hours(&["crash", "--hours", "0.25"]), Ok(Duration::from_mins(15)));
        for wrong in [&["--hours"][..], &["crash"], &["--hours", "-1"], &["--hours", "soon"]] {
            assert!(hours(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn books_are_read_as_they_were_written() {
        let books = Books::parse("next-seed 7000000\ncrash 400000\nnonsense\n");
        assert_eq!(books.text(), "next-seed 7000000\ncrash 400000\n");
        assert_eq!(Books::parse("").next, APART);
        let crash = FIGURES.iter().find(|figure| figure.name == "crash").expect("a figure");
        assert_eq!((books.count(crash), books.parts_done(crash)), (400_000, 400));
    }

    #[test]
    fn goals_are_not_below_the_short_forms() {
        for figure in FIGURES {
            assert!(figure.goal >= figure.floor, "{}", figure.name);
        }
    }
}
