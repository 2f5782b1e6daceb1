//! `zaffre check DIR`: verifies every checksum and every reference of a data directory.
//!
//! Must never change the directory, nor run beside a server that uses it: both take its lock.

use crate::failure::Failure;
use crate::sealed;
use crate::terminal::say;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use tokio::runtime;
use zaffre_core::blob::names_extents;
use zaffre_store::check::{Progress, Report, check};
use zaffre_store::disk::RealDisk;

/// How many bytes are verified between two lines about it.
const REPORT_EVERY: u64 = 1 << 30;

/// Checks `dir` and says what was found; `Ok(true)` if nothing is wrong.
pub(crate) fn run(dir: &Path, key_file: Option<&Path>) -> Result<bool, Failure> {
    let key = sealed::key(key_file)?;
    let failed = |reason: String| Failure::Data { path: dir.to_owned(), reason };
    let disk = RealDisk::existing(dir).map_err(|error| failed(error.to_string()))?;
    let disk = sealed::cover(Arc::new(disk), key).map_err(|error| failed(error.to_string()))?;
    let starting = |error| Failure::System { doing: "starting threads", error };
    let runtime = runtime::Builder::new_multi_thread().enable_all().build().map_err(starting)?;
    let checked = runtime.block_on(check(disk, names_extents, progress()));
    let report = checked.map_err(|error| failed(error.to_string()))?;
    tell(dir, &report);
    Ok(report.is_clean())
}

fn tell(dir: &Path, report: &Report) {
    for problem in &report.problems {
        say(problem);
    }
    let Report { rows, extents, problems } = report;
    let (records, bytes) = (extents.records, extents.bytes);
    say(&format!(
        "{}: {rows} rows, {records} extents and {bytes} bytes verified, problems: {}",
        dir.display(),
        problems.len()
    ));
}

/// Says where it is, to people only.
fn progress() -> impl FnMut(Progress) {
    let watched = std::io::stderr().is_terminal();
    let mut next = REPORT_EVERY;
    move |at| match at {
        Progress::Bytes(bytes) if watched && bytes >= next => {
            next = bytes + REPORT_EVERY;
            eprintln!("{} GiB verified", bytes >> 30);
        }
        _ => {}
    }
}
