//! Calls that have one home each. `clippy.toml` bans the same ones by meaning; this check reads
//! text, so it also sees code that is compiled only elsewhere, and needs no build.
//!
//! Must never grow a home without a reason beside it.

use super::Report;
use super::tree::Tree;
use crate::report::Finding;

/// A call, the only files that may make it, and why nobody else may.
struct Ban {
    call: &'static str,
    /// Where another thing of the same name lives: allowed when imported from or written with it.
    but_not: &'static str,
    homes: &'static [&'static str],
    reason: &'static str,
}

const BANS: [Ban; 5] = [
    Ban {
        call: "SystemTime::now",
        but_not: "",
        homes: &["crates/store/src/clock.rs"],
        reason: "time comes from store::Clock, so that tests can freeze it and steps of the wall \
                 clock do no harm",
    },
    Ban {
        call: "Instant::now",
        but_not: "tokio::time::",
        homes: &["crates/store/src/clock.rs"],
        reason: "time comes from store::Clock; timeouts of the wire use tokio::time",
    },
    Ban {
        call: "std::fs",
        but_not: "",
        homes: &["crates/store/src/disk/real.rs"],
        reason: "the disk is behind store::disk, so that tests can make it fail and crash",
    },
    Ban {
        call: "tokio::fs",
        but_not: "",
        homes: &[],
        reason: "it runs on a hidden thread pool and cannot be made to fail; use store::disk",
    },
    Ban {
        call: "env::set_var",
        but_not: "",
        homes: &[],
        reason: "it races with every other thread that reads the environment",
    },
];

/// Folders in which the bans do not hold.
const EXEMPT: [(&str, &str); 3] = [
    ("crates/zaffre/", "the binary: the one place where the real world is wired in"),
    ("crates/testkit/", "test machinery, never shipped"),
    ("xtask/", "tooling, never shipped"),
];

pub(super) fn check(tree: &Tree, report: &mut Report) {
    for file in &tree.rust {
        if EXEMPT.iter().any(|(folder, _)| file.path.starts_with(folder)) {
            continue;
        }
        for (number, line) in file.shipped_lines() {
            for ban in BANS.iter().filter(|ban| !ban.homes.contains(&file.path.as_str())) {
                if uses(line, ban) && !imports_other(&file.source.code, ban) {
                    let message = format!("`{}` is banned here: {}", ban.call, ban.reason);
                    report.faults.push(Finding::new(&file.path, number, message));
                }
            }
        }
    }
}

fn uses(line: &str, ban: &Ban) -> bool {
    line.match_indices(ban.call).any(|(at, call)| {
        let (before, after) = (&line[..at], &line[at + call.len()..]);
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let excepted = !ban.but_not.is_empty() && before.ends_with(ban.but_not);
        !before.ends_with(word) && !after.starts_with(word) && !excepted
    })
}

/// Whether the file imports the type in question from where it is allowed.
fn imports_other(code: &str, ban: &Ban) -> bool {
    let name = ban.call.split("::").next().unwrap_or_default();
    let import = format!("use {}", ban.but_not);
    !ban.but_not.is_empty()
        && code.split(&import).skip(1).any(|rest| {
            let list = rest.split(';').next().unwrap_or_default();
            list.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
        })
}

#[cfg(test)]
mod tests {
    use super::super::Report;
    use super::super::tree::Tree;
    use super::{BANS, check};

    #[test]
    fn who_may_call_what() {
        let cases = [
            ("crates/store/src/clock.rs", "let t = Instant::now();", 0),
            ("crates/store/src/clock.rs", "let t = std::fs::read(p);", 1),
            ("crates/store/src/disk/real.rs", "use std::fs;", 0),
            ("crates/core/src/a.rs", "let t = std::time::Instant::now();", 1),
            ("crates/core/src/a.rs", "let t = SystemTime::now(); std::fs::read(p);", 2),
            ("crates/http/src/a.rs", "let t = tokio::time::Instant::now();", 0),
            ("crates/http/src/a.rs", "use tokio::time::{Instant, Sleep};\nInstant::now()", 0),
            ("crates/http/src/a.rs", "use tokio::time::Sleep;\nInstant::now()", 1),
            ("crates/http/src/a.rs", "let t = tokio::fs::read(p);", 1),
            ("crates/http/src/a.rs", "let t = MyInstant::now();", 0),
            ("crates/core/src/a.rs", "// Instant::now is banned\nlet s = \"std::fs\";", 0),
            ("crates/core/src/a.rs", "#[cfg(test)]\nmod tests { use std::fs; }", 0),
            ("crates/core/tests/a.rs", "use std::fs;", 0),
            ("crates/zaffre/src/main.rs", "use std::fs;", 0),
        ];
        for (path, text, expected) in cases {
            let mut report = Report::default();
            check(&Tree::of(&[(path, text)]), &mut report);
            assert_eq!(report.faults.len(), expected, "{path}: {text}");
        }
    }

    #[test]
    fn clippy_bans_the_same_calls() {
        let clippy = include_str!("../../../clippy.toml");
        for ban in BANS {
            // Clippy knows nothing of crates that a build does not contain.
            let known = clippy.contains(ban.call) || ban.call == "tokio::fs";
            assert!(known, "{} is not in clippy.toml", ban.call);
        }
    }
}
