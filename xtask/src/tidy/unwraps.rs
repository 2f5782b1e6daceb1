//! How often shipped code claims that something cannot fail.
//!
//! Must never count tests: there a panic is the report.

use super::Report;
use super::tree::Tree;
use crate::report::Finding;
use std::collections::BTreeMap;

/// Most `unwrap`s and `expect`s per thousand lines of a crate's shipped code.
const MOST_PER_THOUSAND: usize = 5;
const CLAIMS: [&str; 3] = [".unwrap()", ".expect(", ".unwrap_err()"];

pub(super) fn check(tree: &Tree, report: &mut Report) {
    // crate -> (claims, lines)
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for file in &tree.rust {
        let Some(name) = file.path.strip_prefix("crates/").and_then(|p| p.split('/').next()) else {
            continue;
        };
        let (claims, lines) = counts.entry(name).or_default();
        for (_, line) in file.shipped_lines() {
            *lines += usize::from(!line.trim().is_empty());
            *claims += CLAIMS.iter().map(|claim| line.matches(claim).count()).sum::<usize>();
        }
    }
    let (all, lines) = counts.values().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
    let rate = per_thousand(all, lines);
    report.notes.push(format!("{all} unwrap/expect in {lines} shipped lines, {rate} per thousand"));
    for (name, (claims, lines)) in counts.into_iter().filter(|(name, _)| *name != "testkit") {
        // A small crate may have one or two good reasons.
        if claims > 2 && claims * 1000 > lines * MOST_PER_THOUSAND {
            let rate = per_thousand(claims, lines);
            let message = format!(
                "{claims} unwrap/expect in {lines} lines ({rate} per thousand, at most \
                 {MOST_PER_THOUSAND}): return an error instead"
            );
            report.faults.push(Finding::new(&format!("crates/{name}"), 0, message));
        }
    }
}

/// With one decimal.
fn per_thousand(count: usize, lines: usize) -> String {
    let tenths = count * 10_000 / lines.max(1);
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::super::Report;
    use super::super::tree::Tree;
    use super::{check, per_thousand};

    #[test]
    fn the_bar() {
        let code = |claims: usize, lines: usize| {
            format!("{}{}", "a.expect(\"x\");\n".repeat(claims), "b;\n".repeat(lines - claims))
        };
        let cases = [
            ("crates/a/src/a.rs", code(2, 10), 0),
            ("crates/a/src/a.rs", code(3, 10), 1),
            ("crates/a/src/a.rs", code(5, 1000), 0),
            ("crates/a/src/a.rs", code(6, 1000), 1),
            ("crates/a/tests/a.rs", code(6, 10), 0),
            ("crates/testkit/src/a.rs", code(6, 10), 0),
            ("xtask/src/a.rs", code(6, 10), 0),
        ];
        for (path, text, expected) in cases {
            let mut report = Report::default();
            check(&Tree::of(&[(path, &text)]), &mut report);
            assert_eq!(report.faults.len(), expected, "{path} {}", text.len());
        }
    }

    #[test]
    fn rates() {
        for (count, lines, expected) in [(0, 0, "0.0"), (1, 300, "3.3"), (2, 1000, "2.0")] {
            assert_eq!(per_thousand(count, lines), expected);
        }
    }
}
