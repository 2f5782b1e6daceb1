//! The house rules that a machine can check: `cargo xtask tidy`.
//!
//! Must never change a file; it says where a rule is broken and what the rule is.

mod bans;
mod edges;
mod leftovers;
mod links;
mod planted;
mod sizes;
mod tree;
mod unwraps;

use crate::Outcome;
use crate::report::Finding;
use tree::Tree;

/// What the checks say: faults fail the run, notes are only shown.
#[derive(Default)]
struct Report {
    faults: Vec<Finding>,
    notes: Vec<String>,
}

/// Checks the whole working tree and prints what it finds.
pub(crate) fn run() -> Outcome {
    let report = examine()?;
    for note in &report.notes {
        println!("note: {note}");
    }
    for fault in &report.faults {
        println!("{fault}");
    }
    let count = report.faults.len();
    println!("tidy: {}", if count == 0 { "clean".to_owned() } else { format!("{count} faults") });
    Ok(count == 0)
}

fn examine() -> Result<Report, String> {
    let tree = Tree::read(&crate::root())?;
    let mut report = Report::default();
    edges::check(&tree, &mut report);
    bans::check(&tree, &mut report);
    leftovers::check(&tree, &mut report);
    sizes::check(&tree, &mut report);
    unwraps::check(&tree, &mut report);
    links::check(&tree, &mut report);
    planted::check(&tree, &mut report);
    report.faults.sort();
    Ok(report)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tree_is_tidy() {
        let report = super::examine().unwrap_or_else(|error| panic!("{error}"));
        let faults: Vec<String> = report.faults.iter().map(ToString::to_string).collect();
        assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    }
}
