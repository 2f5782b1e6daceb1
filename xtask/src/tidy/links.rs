//! Relative links in the documents lead to files that exist.
//!
//! Must never reach for the network: a link to elsewhere is not its business.

use super::Report;
use super::tree::Tree;
use crate::report::Finding;

pub(super) fn check(tree: &Tree, report: &mut Report) {
    for file in &tree.markdown {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut fenced = false;
        for (index, line) in file.text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            if fenced {
                continue;
            }
            for target in targets(line) {
                let path = target.split('#').next().unwrap_or_default();
                let Some(full) = resolve(folder, path) else { continue };
                if !full.is_empty() && tree.paths.binary_search(&full).is_err() {
                    let message = format!("links to `{target}`, but there is no {full}");
                    report.faults.push(Finding::new(&file.path, index + 1, message));
                }
            }
        }
    }
}

/// Targets of the `[text](target)` links in a line, outside of `code`.
fn targets(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("");
    let mut found = Vec::new();
    for (at, _) in prose.match_indices("](") {
        if let Some(end) = prose[at + 2..].find(')') {
            let target = prose[at + 2..at + 2 + end].split_whitespace().next().unwrap_or_default();
            found.push(target.to_owned());
        }
    }
    found
}

/// The path from the workspace; `None` for addresses elsewhere. Empty for the file itself.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let scheme = target.split('/').next().is_some_and(|first| first.contains(':'));
    if scheme {
        return None;
    }
    if target.is_empty() {
        return Some(String::new());
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::super::Report;
    use super::super::tree::Tree;
    use super::check;

    #[test]
    fn links_lead_somewhere() {
        let cases = [
            ("[a](b.md)", 0),
            ("[a](./b.md#part), [x](../top.md \"title\")", 0),
            ("[a](none.md) and [b](none/)", 2),
            ("[a](https://example.org/none.md) [m](mailto:a@b.c)", 0),
            ("[a](#here)", 0),
            ("`[a](none.md)`", 0),
            ("```\n[a](none.md)\n```\n[a](none.md)", 1),
        ];
        for (text, expected) in cases {
            let tree = Tree::of(&[("docs/a.md", text), ("docs/b.md", ""), ("top.md", "")]);
            let mut report = Report::default();
            check(&tree, &mut report);
            assert_eq!(report.faults.len(), expected, "{text}");
        }
    }
}
