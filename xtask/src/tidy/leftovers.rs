//! Every Rust file says what it is for, and nothing unfinished is left in it.
//!
//! Must never excuse test code: a skipped test is a hole in the proof.

use super::Report;
use super::tree::Tree;
use crate::report::Finding;

/// Not allowed in code.
const CALLS: [(&str, &str); 4] = [
    ("todo!", "finish it, or leave the operation out"),
    ("unimplemented!", "finish it, or answer with an honest error"),
    ("dbg!", "remove it, or log with tracing"),
    ("#[ignore", "a test runs or is removed; long forms take their length from ZAFFRE_SEEDS"),
];

/// Not allowed in comments. Written in two pieces so that this file passes its own check.
const REMINDERS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

pub(super) fn check(tree: &Tree, report: &mut Report) {
    for file in &tree.rust {
        let mut fault = |line, message: String| {
            report.faults.push(Finding::new(&file.path, line, message));
        };
        if !file.text.starts_with("//!") {
            fault(1, "must open with `//!`: what it is for, and what it must never do".into());
        }
        for (index, line) in file.source.code.lines().enumerate() {
            for (call, advice) in CALLS {
                if has_word(line, call) {
                    fault(index + 1, format!("`{call}` is left: {advice}"));
                }
            }
        }
        for (index, line) in file.source.comments.lines().enumerate() {
            for word in REMINDERS {
                if has_word(line, word) {
                    fault(index + 1, format!("`{word}` is left: do it now or open an issue"));
                }
            }
        }
    }
}

/// Whether `word` stands in the line on its own.
fn has_word(line: &str, word: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(letter) && !line[at + word.len()..].starts_with(letter)
    })
}

#[cfg(test)]
mod tests {
    use super::super::Report;
    use super::super::tree::Tree;
    use super::check;

    #[test]
    fn what_is_left_behind() {
        let reminder = format!("//! x\n// {}: later", super::REMINDERS[1]);
        let cases = [
            ("//! x\nfn a() {}", 0),
            ("fn a() {}", 1),
            ("", 1),
            ("//! x\nfn a() { todo!() }", 1),
            ("//! x\nfn a() { my_todo!() }", 0),
            ("//! x\n#[test]\n#[ignore = \"slow\"]\nfn a() {}", 1),
            ("//! x\nfn a() { f(\"todo!\") } // dbg! is banned", 0),
            (reminder.as_str(), 1),
        ];
        for (text, expected) in cases {
            let mut report = Report::default();
            check(&Tree::of(&[("crates/a/src/a.rs", text)]), &mut report);
            assert_eq!(report.faults.len(), expected, "{text}");
        }
    }
}
