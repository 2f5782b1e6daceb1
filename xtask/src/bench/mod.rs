//! Speed, as a ratio to a peer measured in the same run: absolute figures differ by machine.
//!
//! Must never write down a figure that this run did not measure.

mod blob;
mod store;

use crate::step::Program;
use crate::{Outcome, root};
use std::fs;
use std::time::Duration;

/// Where the results are kept.
const DOCUMENT: &str = "docs/benchmarks.md";

/// One comparison.
#[derive(Clone, PartialEq, Debug)]
struct Row {
    name: String,
    /// In operations (or bytes) per second, as the name says: more is better.
    ours: f64,
    peer: f64,
    /// The least ratio of ours to the peer's that we accept.
    bar: f64,
}

impl Row {
    fn ratio(&self) -> f64 {
        self.ours / self.peer
    }

    fn passes(&self) -> bool {
        self.ratio() >= self.bar
    }
}

/// A group of comparisons: its name, what it compares with, how to measure it.
struct Bench {
    name: &'static str,
    peer: &'static str,
    measure: fn() -> Result<Vec<Row>, String>,
}

const BENCHES: [Bench; 2] = [
    Bench { name: "store", peer: store::PEER, measure: store::measure },
    Bench { name: "blob", peer: blob::PEER, measure: blob::measure },
];

/// `bench [name]`.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let known = || BENCHES.map(|bench| bench.name).join(", ");
    let wanted = match words {
        [] => None,
        [name] if BENCHES.iter().any(|bench| bench.name == *name) => Some(*name),
        other => return Err(format!("no bench `{}`; there are: {}", other.join(" "), known())),
    };
    let mut clean = true;
    for bench in BENCHES.iter().filter(|bench| wanted.is_none_or(|name| name == bench.name)) {
        let rows = (bench.measure)()?;
        let table = table(&rows);
        println!("\n{} against {}\n\n{table}", bench.name, bench.peer);
        write_section(bench, &table)?;
        clean &= rows.iter().all(Row::passes);
    }
    Ok(clean)
}

/// Runs `cargo run --release -p <package> --example bench` and reads its rows: lines of
/// `row<TAB>name<TAB>ours<TAB>peer<TAB>bar`.
fn from_program(package: &str, example: &str) -> Result<Vec<Row>, String> {
    let source = format!("crates/{}/examples/{example}.rs", package.trim_start_matches("zaffre-"));
    if !root().join(&source).exists() {
        return Err(format!("this bench is not written yet: there is no {source}"));
    }
    let mut rows = Vec::new();
    let mut broken = Vec::new();
    let line = format!("cargo run --locked --release -p {package} --example {example}");
    let done = Program::new(&line).limit(Duration::from_hours(1)).run_with(|line| {
        match line.strip_prefix("row\t") {
            Some(cells) => match parse(cells) {
                Some(row) => rows.push(row),
                None => broken.push(line.to_owned()),
            },
            None => println!("{line}"),
        }
    })?;
    if done.failed > 0 || !broken.is_empty() || rows.is_empty() {
        return Err(format!("{source} did not finish with good rows {broken:?}"));
    }
    Ok(rows)
}

fn parse(cells: &str) -> Option<Row> {
    let [name, ours, peer, bar] = cells.split('\t').collect::<Vec<_>>()[..] else { return None };
    let number = |text: &str| text.parse::<f64>().ok().filter(|n| n.is_finite() && *n > 0.0);
    Some(Row { name: name.into(), ours: number(ours)?, peer: number(peer)?, bar: number(bar)? })
}

fn table(rows: &[Row]) -> String {
    let mut text =
        String::from("| what | ours | peer | ratio | bar | pass |\n|---|---|---|---|---|---|\n");
    for row in rows {
        let pass = if row.passes() { "yes" } else { "NO" };
        let Row { name, ours, peer, bar } = row;
        let ratio = row.ratio();
        let line = format!("| {name} | {ours:.0} | {peer:.0} | {ratio:.2} | {bar:.2} | {pass} |\n");
        text.push_str(&line);
    }
    text
}

/// Replaces the bench's section of the document, or adds it at the end.
fn write_section(bench: &Bench, table: &str) -> Result<(), String> {
    let path = root().join(DOCUMENT);
    let old = fs::read_to_string(&path).unwrap_or_else(|_| "# Benchmarks\n".to_owned());
    let body = format!("Peer: {}.\n\n{table}", bench.peer);
    let new = with_section(&old, bench.name, &body);
    fs::write(&path, new).map_err(|error| format!("cannot write {DOCUMENT}: {error}"))
}

fn with_section(document: &str, name: &str, body: &str) -> String {
    let begin = format!("<!-- bench:{name} -->\n");
    let end = format!("<!-- /bench:{name} -->\n");
    let section = format!("{begin}{body}{end}");
    match (document.split_once(&begin), document.split_once(&end)) {
        (Some((before, _)), Some((_, after))) => format!("{before}{section}{after}"),
        _ => format!("{document}\n## {name}\n\n{section}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Row, parse, table, with_section};

    #[test]
    fn rows_are_parsed_strictly() {
        let row = Row { name: "put 4 KiB".into(), ours: 10.0, peer: 20.5, bar: 0.5 };
        let cases = [
            ("put 4 KiB\t10\t20.5\t0.5", Some(row)),
            ("put\t10\t0\t0.5", None),
            ("put\t10\tfast\t0.5", None),
            ("put\t10\t20", None),
        ];
        for (cells, expected) in cases {
            assert_eq!(parse(cells), expected, "{cells}");
        }
    }

    #[test]
    fn the_table_shows_who_passes() {
        let row = |ours| Row { name: "get".into(), ours, peer: 100.0, bar: 0.5 };
        let text = table(&[row(50.0), row(49.0)]);
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            ["| get | 50 | 100 | 0.50 | 0.50 | yes |", "| get | 49 | 100 | 0.49 | 0.50 | NO |"]
        );
    }

    #[test]
    fn a_section_is_replaced_in_place() {
        let first = with_section("# B\n", "store", "one\n");
        let both = with_section(&first, "blob", "two\n");
        let again = with_section(&both, "store", "three\n");
        assert!(again.contains("three") && again.contains("two") && !again.contains("one"));
        assert_eq!(with_section(&again, "store", "three\n"), again);
    }
}
