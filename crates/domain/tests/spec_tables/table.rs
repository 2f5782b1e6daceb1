//! Reads a table of `spec/` (the format is in `spec/README.md`) and runs its rows.

use std::collections::BTreeMap;
use zaffre_base::ApiVersion;
use zaffre_domain::{LeaseOn, Refusal};

/// One row: cells by the name of their column.
pub(crate) struct Row(BTreeMap<String, String>);

impl Row {
    /// A cell as written.
    pub(crate) fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    /// A cell that may be `-`.
    pub(crate) fn optional(&self, column: &str) -> Option<&str> {
        Some(self.text(column)).filter(|text| *text != "-")
    }

    /// A whole number that may be `-`.
    pub(crate) fn number(&self, column: &str) -> Option<u64> {
        self.optional(column).map(|text| text.parse().expect("a number"))
    }

    /// A version or `latest`.
    pub(crate) fn version(&self) -> ApiVersion {
        match self.text("version") {
            "latest" => ApiVersion::LATEST,
            text => ApiVersion::parse(text).expect("a version"),
        }
    }

    /// What the row expects.
    pub(crate) fn expected(&self) -> Answer {
        Answer { status: self.text("status").to_owned(), code: self.text("outcome").to_owned() }
    }
}

/// The rows of a table.
pub(crate) fn rows(csv: &str) -> Vec<Row> {
    let cells = |line: &str| line.split(',').map(|c| c.trim().to_owned()).collect::<Vec<_>>();
    let mut lines = csv.lines().filter(|line| !line.starts_with('#'));
    let head = cells(lines.next().expect("a header row"));
    lines
        .map(|line| {
            let cells = cells(line);
            assert_eq!(cells.len(), head.len(), "{line}");
            Row(head.iter().cloned().zip(cells).collect())
        })
        .collect()
}

/// Runs `check`, which returns how many cells it ran, on every row, and reports all that fail.
pub(crate) fn run(
    name: &str,
    csv: &str,
    floor: usize,
    check: impl Fn(&Row) -> Result<usize, String>,
) {
    let mut ran = 0;
    let mut failures = Vec::new();
    for row in rows(csv) {
        match check(&row) {
            Ok(cells) => ran += cells,
            Err(failure) => failures.push(format!("{failure}\n  {:?}", row.0)),
        }
    }
    println!("{name}: {ran} cells ran, {} failed", failures.len());
    assert!(failures.is_empty(), "{name}:\n{}", failures.join("\n"));
    assert!(ran >= floor, "{name}: only {ran} cells ran, {floor} are there");
}

/// Compares one cell.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    got: &T,
    want: &T,
) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what}: got {got:?}, want {want:?}")) }
}

/// Status and code as a table has them.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Answer {
    pub(crate) status: String,
    pub(crate) code: String,
}

impl Answer {
    /// A success, with the status it has in the table at hand.
    pub(crate) fn ok(status: &str) -> Self {
        Self { status: status.to_owned(), code: "ok".to_owned() }
    }

    /// What the protocol makes of a refusal.
    pub(crate) fn refused(refusal: &Refusal) -> Self {
        let noun = |on: &LeaseOn| match on {
            LeaseOn::Blob => "Blob",
            LeaseOn::Container | LeaseOn::Share => "Container",
            LeaseOn::File => "File",
        };
        let debug = format!("{refusal:?}");
        let plain = debug.split(['(', ' ']).next().unwrap_or_default().to_owned();
        let (status, code) = match refusal {
            Refusal::LeaseIdMismatch(on) => {
                (412, format!("LeaseIdMismatchWith{}Operation", noun(on)))
            }
            Refusal::LeaseNotPresent(on) => {
                (412, format!("LeaseNotPresentWith{}Operation", noun(on)))
            }
            Refusal::LeaseIdMissing(_) | Refusal::LeaseLost(_) | Refusal::ConditionNotMet => {
                (412, plain)
            }
            Refusal::NotModified => (304, "ConditionNotMet".to_owned()),
            Refusal::UnsatisfiableCondition | Refusal::MultipleConditionHeadersNotSupported => {
                (400, plain)
            }
            Refusal::BlobNotFound => (404, plain),
            Refusal::InvalidRange { .. } => (416, plain),
            _ => (409, plain),
        };
        Self { status: status.to_string(), code }
    }
}
