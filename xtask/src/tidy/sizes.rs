//! Files and functions that a reader can hold in view.
//!
//! Must never measure what is not written by hand (nothing here is generated).

use super::Report;
use super::tree::Tree;
use crate::report::Finding;

/// The house number is where we start to look for a seam; the hard limit fails the run.
struct Size {
    house: usize,
    hard: usize,
}

const FILE: Size = Size { house: 500, hard: 800 };
/// Tests are tables: they are read row by row.
const TEST_FILE: Size = Size { house: 800, hard: 1000 };
const FUNCTION: Size = Size { house: 70, hard: 120 };

pub(super) fn check(tree: &Tree, report: &mut Report) {
    for file in &tree.rust {
        let size = if file.test { TEST_FILE } else { FILE };
        measure(report, &file.path, 0, "the file", file.text.lines().count(), &size);
        for function in file.source.functions() {
            let name = format!("fn {}", function.name);
            measure(report, &file.path, function.line, &name, function.lines, &FUNCTION);
        }
    }
}

fn measure(report: &mut Report, path: &str, line: usize, what: &str, lines: usize, size: &Size) {
    let message = |limit| format!("{what} has {lines} lines, more than {limit}");
    if lines > size.hard {
        report.faults.push(Finding::new(path, line, message(size.hard)));
    } else if lines > size.house {
        report.notes.push(Finding::new(path, line, message(size.house)).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::super::Report;
    use super::super::tree::Tree;
    use super::check;

    #[test]
    fn limits() {
        let lines = |count: usize| "// a\n".repeat(count);
        let function = |count: usize| format!("fn f() {{\n{}}}\n", "x;\n".repeat(count - 2));
        let cases = [
            ("crates/a/src/a.rs", lines(500), (0, 0)),
            ("crates/a/src/a.rs", lines(501), (0, 1)),
            ("crates/a/src/a.rs", lines(801), (1, 0)),
            ("crates/a/tests/a.rs", lines(801), (0, 1)),
            ("crates/a/tests/a.rs", lines(1001), (1, 0)),
            ("crates/a/src/a.rs", function(70), (0, 0)),
            ("crates/a/src/a.rs", function(71), (0, 1)),
            ("crates/a/src/a.rs", function(121), (1, 0)),
        ];
        for (path, text, (faults, notes)) in cases {
            let mut report = Report::default();
            check(&Tree::of(&[(path, &text)]), &mut report);
            assert_eq!((report.faults.len(), report.notes.len()), (faults, notes), "{path}");
        }
    }
}
