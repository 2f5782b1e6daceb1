//! What the kernel says about a process, and children that do not outlive their bench.
//!
//! Must never end a process that it did not start.

use crate::report::Result;
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// A child whose output is read line by line; killed when dropped.
#[derive(Debug)]
pub(crate) struct Started {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Started {
    pub(crate) fn new(command: &mut Command) -> Result<Self> {
        let shown = format!("{command:?}");
        let mut child = command
            // Never written to; it closes however we end, and some servers end with it.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run {shown}: {error}"))?;
        let stdout = child.stdout.take().ok_or("a child without output")?;
        Ok(Self { child, lines: BufReader::new(stdout).lines() })
    }

    /// This program again, in another mode.
    pub(crate) fn myself(words: &[&str]) -> Result<Self> {
        Self::new(Command::new(std::env::current_exe()?).args(words))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line it prints.
    pub(crate) fn line(&mut self) -> Result<String> {
        match self.lines.next() {
            Some(line) => Ok(line?),
            None => Err("a child ended early".into()),
        }
    }

    /// Reads lines until `wanted` finds what it looks for.
    pub(crate) fn wait_for<T>(&mut self, wanted: impl Fn(&str) -> Option<T>) -> Result<T> {
        loop {
            if let Some(found) = wanted(&self.line()?) {
                return Ok(found);
            }
        }
    }

    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until it has ended by itself, but not longer than `patience`.
    pub(crate) fn wait_for_end(&mut self, patience: Duration) {
        let begun = Instant::now();
        while self.is_running() && begun.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends it as a power cut would: it gets no chance to tidy up.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Resident memory of a process in MiB.
pub(crate) fn resident_mib(id: u32) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok());
    kib.map(|kib| kib / 1024.0).ok_or_else(|| format!("process {id} has no VmRSS").into())
}
