//! Mistakes that are planted for tests stay out of everything else: no manifest turns the feature on.
//!
//! Must never look at what a command line says: only a test's does.

use super::Report;
use super::tree::Tree;
use crate::report::Finding;
use crate::toml;

/// The feature, and the one manifest that may have it.
const FEATURE: &str = "planted";
const HOME: &str = "crates/base/Cargo.toml";

pub(super) fn check(tree: &Tree, report: &mut Report) {
    for manifest in &tree.manifests {
        for entry in toml::entries(&manifest.text) {
            let declares = entry.section == "features" && entry.key == FEATURE;
            let allowed = manifest.path == HOME && entry.value == "[]";
            if entry.value.contains(FEATURE) || (declares && !allowed) {
                let message = "turns on mistakes that are planted for tests; only a command may";
                report.faults.push(Finding::new(&manifest.path, entry.line, message));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Report;
    use super::super::tree::Tree;
    use super::{HOME, check};

    #[test]
    fn no_manifest_turns_it_on() {
        let home = "[features]\nplanted = []\n";
        for (path, text, faults) in [
            (HOME, home, 0),
            (HOME, "[features]\ndefault = [\"planted\"]\nplanted = []\n", 1),
            ("crates/store/Cargo.toml", home, 1),
            ("crates/store/Cargo.toml", "[features]\nx = [\"zaffre-base/planted\"]\n", 1),
            (
                "crates/zaffre/Cargo.toml",
                "[dependencies]\nzaffre-base = { path = \"x\", features = [\"planted\"] }\n",
                1,
            ),
        ] {
            let mut report = Report::default();
            check(&Tree::of(&[(path, text)]), &mut report);
            assert_eq!(report.faults.len(), faults, "{path}: {text}");
        }
    }
}
