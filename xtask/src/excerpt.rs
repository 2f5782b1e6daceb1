//! What of a long output is worth reading again: where it went wrong, and its end.
//!
//! Must never be the only copy: the whole is in the step's log.

/// Lines after a sign of failure that belong to it.
const AFTER: usize = 12;
/// The last lines, whatever they say.
const END: usize = 15;
/// All lines that are shown.
const MOST: usize = 100;
/// A line is shown up to here.
const WIDTH: usize = 200;

/// Whether to show a line while the step still runs: its counts and figures, and what failed.
pub(crate) fn is_news(line: &str) -> bool {
    let said = line.trim_start();
    let counts = said.contains(" passed ") && said.contains(" failed ");
    counts || line.contains("figure ") || is_failure(line)
}

/// Whether a failure begins here. Not every panic is one: tests make some on purpose.
fn is_failure(line: &str) -> bool {
    let said = line.trim_start();
    said.starts_with("FAILED")
        || said.starts_with("test result: FAILED")
        || said.starts_with("error")
        || line.ends_with("... FAILED")
        || (line.starts_with("---- ") && line.ends_with(" ----"))
}

/// The lines around what failed, and the last ones; `…` stands for what was left out.
pub(crate) fn of(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    let mut wanted = vec![false; lines.len()];
    let end = lines.len().saturating_sub(END);
    wanted[end..].fill(true);
    let mut left = MOST - (lines.len() - end);
    for (at, line) in lines.iter().enumerate() {
        if is_failure(line) {
            for one in wanted.iter_mut().skip(at).take(AFTER).filter(|one| !**one).take(left) {
                *one = true;
                left -= 1;
            }
        }
    }
    let mut shown = String::new();
    let mut skipped = false;
    for (line, wanted) in lines.iter().zip(wanted) {
        if wanted {
            if skipped {
                shown.push_str("    …\n");
            }
            shown.extend("    ".chars().chain(line.chars().take(WIDTH)).chain(['\n']));
        }
        skipped = !wanted;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{END, MOST, is_news, of};

    #[test]
    fn what_failed_is_shown_with_its_reason_and_the_end() {
        let noise = "thread 'x' panicked at a place where it should\n".repeat(300);
        let failure = "---- rules::hold stdout ----\nleft: 1\nright: 2\n";
        let text = format!("{noise}{failure}{noise}the end\n");
        let shown = of(&text);
        for part in ["---- rules::hold stdout ----", "right: 2", "the end", "…"] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert!(shown.lines().count() < 40, "{shown}");
    }

    #[test]
    fn it_is_never_long() {
        let cases =
            [String::new(), "error\n".repeat(5_000), format!("error {}", "x".repeat(1 << 20))];
        for text in cases {
            let shown = of(&text);
            assert!(shown.lines().count() <= MOST + END + 1 && shown.len() < 1 << 16);
        }
    }

    #[test]
    fn news_is_told_from_noise() {
        let cases = [
            ("python        209 passed   0 failed   40.1 s", true),
            ("    FAILED test_lease_expires", true),
            ("figure crash: 5 seeds, seed 1", true),
            ("test a::b ... FAILED", true),
            ("error[E0308]: mismatched types", true),
            ("test a::b ... ok", false),
            ("test result: ok. 3 passed; 0 failed; 1 ignored", false),
            ("thread 'a_write_without_a_guard' panicked at x.rs:218:5:", false),
            ("   Compiling zaffre-base v0.1.0", false),
        ];
        for (line, news) in cases {
            assert_eq!(is_news(line), news, "{line}");
        }
    }
}
