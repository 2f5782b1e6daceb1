//! The document in which the last run of each bench is kept, with the machine it ran on.
//!
//! Must never keep figures of two runs in one table.

use crate::root;
use std::fs;
use std::process::Command;

/// Where the results are kept.
const DOCUMENT: &str = "docs/benchmarks.md";

const HEAD: &str = "\
# Benchmarks

Written by `cargo xtask bench`. Absolute figures differ by machine, so every bar on speed is a ratio to a peer
measured in the same run: rounds of ours and of the peer's alternate, and the middle ratio counts.
";

/// Replaces the section of the bench, or adds it at the end.
pub(super) fn write(name: &str, table: &str) -> Result<(), String> {
    let path = root().join(DOCUMENT);
    let old = fs::read_to_string(&path).unwrap_or_else(|_| HEAD.to_owned());
    let body = format!("{}{table}", machine());
    fs::write(&path, with_section(&old, name, &body))
        .map_err(|error| format!("cannot write {DOCUMENT}: {error}"))
}

/// When and where it ran.
fn machine() -> String {
    let cores = said(&["nproc"]);
    let model = first_of("/proc/cpuinfo", "model name");
    let memory = first_of("/proc/meminfo", "MemTotal");
    let kernel = said(&["uname", "-sr"]);
    let target = root().join("target").display().to_string();
    let disk = said(&["findmnt", "-n", "-o", "FSTYPE,SOURCE", "-T", &target]);
    let date = said(&["date", "-u", "+%Y-%m-%d %H:%M UTC"]);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    format!(
        "- {date}, load at the end {load}\n- {cores} cores of {model}, {memory}, {kernel}, {disk}\n"
    )
}

/// What a command says, in one line of single spaces.
fn said(words: &[&str]) -> String {
    let Some((program, args)) = words.split_first() else { return String::new() };
    let output = Command::new(program).args(args).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The value of the first line `name : value` of a file.
fn first_of(path: &str, name: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let found = text.lines().filter_map(|line| line.split_once(':')).find(|l| l.0.trim() == name);
    found
        .map(|(_, value)| value.split_whitespace().collect::<Vec<_>>().join(" "))
        .unwrap_or_default()
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
    use super::with_section;

    #[test]
    fn a_section_is_replaced_in_place() {
        let first = with_section("# B\n", "store", "one\n");
        let both = with_section(&first, "blob", "two\n");
        let again = with_section(&both, "store", "three\n");
        assert!(again.contains("three") && again.contains("two") && !again.contains("one"));
        assert_eq!(with_section(&again, "store", "three\n"), again);
    }
}
