//! The bare disk: what fio reaches in the same folder.
//!
//! Must never reuse a file: an append that finds its blocks allocated is not an append.

use crate::report::Result;
use std::path::Path;
use std::process::Command;

/// How fio appends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Append {
    /// Bytes per write; a sync follows each.
    pub(crate) block: u32,
    pub(crate) jobs: u32,
    pub(crate) seconds: u32,
}

/// Synced appends per second in `folder`, each job with a file of its own.
pub(crate) fn append(folder: &Path, how: Append) -> Result<f64> {
    std::fs::create_dir_all(folder)?;
    let Append { block, jobs, seconds } = how;
    // Without `create_on_open` and `fallocate=none` fio would give the file its final size first.
    let line = format!(
        "--name=append --rw=write --bs={block} --fdatasync=1 --numjobs={jobs} --ioengine=psync \
         --size=16g --time_based --runtime={seconds} --create_on_open=1 --fallocate=none \
         --unlink=1 --group_reporting --output-format=terse --terse-version=3"
    );
    let output = Command::new("fio")
        .args(line.split_whitespace())
        .arg(format!("--directory={}", folder.display()))
        .output()
        .map_err(|error| format!("cannot run fio: {error}"))?;
    if !output.status.success() {
        return Err(format!("fio failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    written_per_second(&text).ok_or_else(|| format!("fio said: {text}").into())
}

/// What it calls itself.
pub(crate) fn version() -> Result<String> {
    let output = Command::new("fio").arg("--version").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The write IOPS of a terse report: field 49 of version 3.
fn written_per_second(report: &str) -> Option<f64> {
    const VERSION: usize = 0;
    const WRITE_IOPS: usize = 48;
    let line = report.lines().find(|line| line.starts_with("3;"))?;
    let fields: Vec<&str> = line.split(';').collect();
    let rate: f64 = fields.get(WRITE_IOPS)?.parse().ok()?;
    (fields.get(VERSION) == Some(&"3") && rate > 0.0).then_some(rate)
}
