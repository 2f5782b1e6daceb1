//! The crate edges: what each crate's `[dependencies]` say equals the table in ARCHITECTURE.md.
//!
//! Must never read dev-dependencies: tests may look anywhere.

use super::Report;
use super::tree::Tree;
use crate::report::Finding;
use crate::toml;
use std::collections::BTreeMap;

const DOCUMENT: &str = "ARCHITECTURE.md";
const BEGIN: &str = "<!-- crate-edges -->";
const END: &str = "<!-- /crate-edges -->";

/// A crate's internal dependencies, each with the line that names it.
type Edges = BTreeMap<String, usize>;

pub(super) fn check(tree: &Tree, report: &mut Report) {
    let Some(document) = tree.markdown.iter().find(|file| file.path == DOCUMENT) else {
        return report.faults.push(Finding::new(DOCUMENT, 0, "is missing"));
    };
    let mut table = documented(&document.text);
    for manifest in &tree.manifests {
        let Some(name) = crate_name(&manifest.path) else { continue };
        let actual = declared(&manifest.text);
        if !inherits_lints(&manifest.text) {
            let message = "must say `[lints]` `workspace = true`: one set of rules for all";
            report.faults.push(Finding::new(&manifest.path, 0, message));
        }
        let Some((row, expected)) = table.remove(name) else {
            let message = format!("crate `{name}` is not in the table of {DOCUMENT}");
            report.faults.push(Finding::new(&manifest.path, 0, message));
            continue;
        };
        for (edge, line) in actual.iter().filter(|(edge, _)| !expected.contains_key(*edge)) {
            let message = format!(
                "`{name}` may not depend on `{edge}`: {DOCUMENT}:{row} does not list that edge"
            );
            report.faults.push(Finding::new(&manifest.path, *line, message));
        }
        for edge in expected.keys().filter(|edge| !actual.contains_key(*edge)) {
            let message = format!("lists `{name}` -> `{edge}`, but {} does not", manifest.path);
            report.faults.push(Finding::new(DOCUMENT, row, message));
        }
    }
    for (name, (row, _)) in table {
        let message = format!("lists crate `{name}`, which does not exist");
        report.faults.push(Finding::new(DOCUMENT, row, message));
    }
}

/// `crates/<name>/Cargo.toml` -> name.
fn crate_name(path: &str) -> Option<&str> {
    let name = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
    (!name.contains('/')).then_some(name)
}

fn inherits_lints(manifest: &str) -> bool {
    let entries = toml::entries(manifest);
    entries.iter().any(|e| e.section == "lints" && e.key == "workspace" && e.value == "true")
}

fn declared(manifest: &str) -> Edges {
    let mut edges = Edges::new();
    for entry in toml::entries(manifest) {
        let target =
            entry.section.starts_with("target.") && entry.section.ends_with(".dependencies");
        let inline = entry.section == "dependencies" || target;
        let name = if inline {
            entry.key.split('.').next().unwrap_or_default()
        } else if let Some(name) = entry.section.strip_prefix("dependencies.") {
            name
        } else {
            continue;
        };
        if let Some(ours) = name.strip_prefix("zaffre-") {
            edges.entry(ours.to_owned()).or_insert(entry.line);
        }
    }
    edges
}

/// Rows `| crate | a, b |` between the markers: crate -> (line, edges).
fn documented(text: &str) -> BTreeMap<String, (usize, Edges)> {
    let mut rows = BTreeMap::new();
    let inside = text
        .lines()
        .enumerate()
        .skip_while(|(_, line)| line.trim() != BEGIN)
        .take_while(|(_, line)| line.trim() != END);
    for (index, line) in inside {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [name, edges, ..] = cells.as_slice() else { continue };
        let names = names_in(edges);
        let [name] = names_in(name)[..] else { continue };
        let line = index + 1;
        rows.insert(
            name.to_owned(),
            (line, names.iter().map(|n| ((*n).to_owned(), line)).collect()),
        );
    }
    rows
}

/// The names a cell holds in back-ticks.
fn names_in(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Report;
    use super::super::tree::Tree;
    use super::check;

    const TABLE: &str = "# x\n<!-- crate-edges -->\n| crate | depends on |\n|---|---|\n\
                         | `base` | nothing |\n| `domain` | `base` |\n<!-- /crate-edges -->\n";
    const LINTS: &str = "[lints]\nworkspace = true\n";

    fn faults(base: &str, domain: &str, table: &str) -> Vec<String> {
        let tree = Tree::of(&[
            ("ARCHITECTURE.md", table),
            ("crates/base/Cargo.toml", &format!("{LINTS}{base}")),
            ("crates/domain/Cargo.toml", &format!("{LINTS}{domain}")),
        ]);
        let mut report = Report::default();
        check(&tree, &mut report);
        report.faults.iter().map(|f| format!("{}:{}", f.path, f.line)).collect()
    }

    #[test]
    fn edges_equal_the_table() {
        let good = "[dependencies]\nzaffre-base.workspace = true\n";
        let cases: [(&str, &str, &str, &[&str]); 7] = [
            ("", good, TABLE, &[]),
            ("[dev-dependencies]\nzaffre-domain.workspace = true", good, TABLE, &[]),
            (
                "[dependencies.zaffre-domain]\npath = \"x\"",
                good,
                TABLE,
                &["crates/base/Cargo.toml:4"],
            ),
            (
                "[target.'cfg(unix)'.dependencies]\nzaffre-domain.workspace = true",
                good,
                TABLE,
                &["crates/base/Cargo.toml:4"],
            ),
            ("", "[dependencies]\nbytes = \"1\"", TABLE, &["ARCHITECTURE.md:6"]),
            ("", good, "", &["crates/base/Cargo.toml:0", "crates/domain/Cargo.toml:0"]),
            ("", good, &TABLE.replace("<!-- /", "| `ghost` | |\n<!-- /"), &["ARCHITECTURE.md:7"]),
        ];
        for (base, domain, table, expected) in cases {
            assert_eq!(faults(base, domain, table), expected, "{base} {domain}");
        }
    }
}
