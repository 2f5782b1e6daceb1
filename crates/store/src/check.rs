//! The scrub of a whole data directory: every checksum and every reference, both ways.
//!
//! Must never change the directory: whatever a repair would do happens in memory.

use crate::clock::Clock;
use crate::directory::{self, OpenError};
use crate::disk::{Disk, OpenMode, OverlayDisk, OverlayFile};
use crate::error::StoreError;
use crate::extents::check::{CheckReport, Scrub};
use crate::meta::{Placement, Tree};
use crate::poison::Poison;
use crate::store::{Store, StoreOptions};
use std::sync::Arc;

/// What a scrub found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Metadata rows whose checksums were verified.
    pub rows: u64,
    /// What was found in the segments and the rows that name their extents.
    pub extents: CheckReport,
    /// Everything wrong, in words.
    pub problems: Vec<String>,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }
}

/// What the scrub is at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Progress {
    /// Verifying the tree's pages.
    Tree,
    /// Verified so many rows.
    Rows(u64),
    /// Verified so many bytes of extents.
    Bytes(u64),
}

/// Scrubs the store on `disk`. `holds_runs` tells which rows name extents.
pub async fn check(
    disk: Arc<dyn Disk>,
    holds_runs: impl Fn(&Placement, &[u8]) -> bool,
    mut progress: impl FnMut(Progress),
) -> Result<Report, OpenError> {
    directory::require(&*disk)?;
    let cover: Arc<dyn Disk> = Arc::new(OverlayDisk::new(disk));
    let mut report = Report::default();
    progress(Progress::Tree);
    check_tree(&*cover, &mut report);
    let options = StoreOptions { clock: Some(Clock::default()), ..StoreOptions::default() };
    let store = match Store::open(cover, &options) {
        Ok(store) => store,
        Err(OpenError::Store(error)) => {
            report.problems.push(error.to_string());
            return Ok(report);
        }
        Err(OpenError::Damaged(what)) => {
            report.problems.push(what);
            return Ok(report);
        }
        Err(error) => return Err(error),
    };
    let mut scrub = Scrub::new(store.extents.clone(), store.meta.clone());
    let verified = scrub.segments(|so_far| progress(Progress::Bytes(so_far.bytes))).await;
    if let Err(error) = verified {
        report.problems.push(error.to_string());
    }
    check_rows(&store, holds_runs, &mut scrub, &mut report, &mut progress);
    report.extents = scrub.report().clone();
    report.problems.extend(report.extents.problems.iter().map(ToString::to_string));
    Ok(report)
}

/// Every page of the tree against its checksum. It works on a cover of its own: redb repairs.
fn check_tree(disk: &dyn Disk, report: &mut Report) {
    const CACHE: usize = 4 * 1024 * 1024;
    let verified = disk
        .open(directory::META, OpenMode::Existing)
        .map_err(|e| StoreError::io("opening the metadata", e))
        .and_then(|file| {
            OverlayFile::new(file).map_err(|e| StoreError::io("opening the metadata", e))
        })
        .and_then(|cover| Tree::open(Arc::new(cover), CACHE, Poison::new()))
        .and_then(|(mut tree, _)| tree.verify());
    match verified {
        Ok(true) => {}
        Ok(false) => report.problems.push("meta.redb: a page fails its checksum".to_owned()),
        Err(error) => report.problems.push(format!("meta.redb: {error}")),
    }
}

/// Every row against its checksum, and those that name extents against the extents.
fn check_rows(
    store: &Store,
    holds_runs: impl Fn(&Placement, &[u8]) -> bool,
    scrub: &mut Scrub,
    report: &mut Report,
    progress: &mut impl FnMut(Progress),
) {
    const STEP: u64 = 10_000;
    let walked = store.meta.for_each_row(|at, row| {
        report.rows += 1;
        if report.rows.is_multiple_of(STEP) {
            progress(Progress::Rows(report.rows));
        }
        if holds_runs(at, &row.key) { scrub.row(at, &row) } else { Ok(()) }
    });
    if let Err(error) = walked {
        report.problems.push(error.to_string());
    }
}
