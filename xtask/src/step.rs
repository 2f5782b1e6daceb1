//! One step of a run: a program with a time limit, its output passed on and its tests counted.
//!
//! Must never report success for a program that did not run to its end.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Tests counted in a step.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Tests that were there and did not run.
    pub(crate) skipped: u64,
}

/// Whether this is a run that nobody looks on at.
pub(crate) fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Processor time of all programs that this process ran and that have ended, with what they ran.
pub(crate) fn computed() -> Duration {
    // The 16th and 17th field, in hundredths of a second.
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// A program to run in the workspace.
pub(crate) struct Program {
    command: Command,
    shown: String,
    limit: Duration,
}

impl Program {
    /// A command line, split at spaces.
    pub(crate) fn new(line: &str) -> Self {
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).current_dir(crate::root());
        // The network may be away for a moment; cargo's own patience is three tries.
        command.env("CARGO_NET_RETRY", "10");
        if in_ci() && std::env::var_os("CARGO_INCREMENTAL").is_none() {
            // Nothing there is built twice, so notes for the next build are work for nothing.
            command.env("CARGO_INCREMENTAL", "0");
        }
        Self { command, shown: line.to_owned(), limit: Duration::from_mins(30) }
    }

    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        for arg in args {
            self.shown.push(' ');
            self.shown.push_str(arg);
        }
        self
    }

    /// After this long it is stopped and counts as failed.
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs it, passing its output on.
    pub(crate) fn run(self) -> Result<Counts, String> {
        self.run_with(|line| println!("{line}"))
    }

    /// Runs it, giving each line of its standard output to `each`.
    pub(crate) fn run_with(self, each: impl FnMut(&str)) -> Result<Counts, String> {
        println!("    $ {}", self.shown);
        self.follow(each)
    }

    /// The same without showing the command. An error says why there is no verdict: it could not be
    /// started or had to be stopped. A bad end counts as a failed test.
    pub(crate) fn follow(mut self, mut each: impl FnMut(&str)) -> Result<Counts, String> {
        let started = Instant::now();
        let mut child = self
            .command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot run `{}`: {error}", self.shown))?;
        let stdout = child.stdout.take().ok_or("the program has no output")?;
        let lines = read_lines(stdout);
        let mut tally = Tally::default();
        loop {
            match lines.recv_timeout(self.limit.saturating_sub(started.elapsed())) {
                Ok(line) => {
                    tally.read(&line);
                    each(&line);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    stop(&mut child);
                    return Err(format!("stopped after its limit of {} s", self.limit.as_secs()));
                }
            }
        }
        let status = child.wait().map_err(|error| format!("lost `{}`: {error}", self.shown))?;
        Ok(tally.finish(status.success()))
    }
}

fn read_lines(from: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Ends the program and what it started. It stays in our process group, so that Ctrl-C reaches all
/// of them; hence its descendants are looked up one by one.
fn stop(child: &mut Child) {
    let mut family = vec![child.id()];
    let mut known = 0;
    while known < family.len() {
        let parent = family[known];
        family.extend(children_of(parent));
        known += 1;
    }
    for id in family.iter().rev() {
        // It may have ended meanwhile; that is all we want.
        drop(Command::new("kill").args(["-KILL", &id.to_string()]).stderr(Stdio::null()).status());
    }
    drop(child.wait());
}

fn children_of(parent: u32) -> Vec<u32> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id| parent_of(*id) == Some(parent)).collect()
}

/// The fourth field of `/proc/<id>/stat`; the second is a name in brackets that may hold spaces.
fn parent_of(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Reads counts out of a program's output.
#[derive(Default)]
struct Tally {
    /// Sum over the `test result:` lines of Rust's test programs.
    rust: Counts,
    /// The last line `N passed, N failed`: a suite's own total.
    total: Option<Counts>,
}

impl Tally {
    fn read(&mut self, line: &str) {
        let found = Counts {
            passed: number_before(line, " passed").unwrap_or_default(),
            failed: number_before(line, " failed").unwrap_or_default(),
            skipped: number_before(line, " ignored")
                .or_else(|| number_before(line, " skipped"))
                .unwrap_or_default(),
        };
        if line.starts_with("test result:") {
            self.rust.passed += found.passed;
            self.rust.failed += found.failed;
            self.rust.skipped += found.skipped;
        } else if line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(" passed, ") {
            self.total = Some(found);
        }
    }

    /// A program without tests is one test; one that ends badly has at least one failure.
    fn finish(self, success: bool) -> Counts {
        let total = self.total.unwrap_or_default();
        let mut counts = Counts {
            passed: self.rust.passed + total.passed,
            failed: self.rust.failed + total.failed,
            skipped: self.rust.skipped + total.skipped,
        };
        if success && counts == Counts::default() {
            counts.passed = 1;
        }
        if !success && counts.failed == 0 {
            counts.failed = 1;
        }
        counts
    }
}

fn number_before(line: &str, word: &str) -> Option<u64> {
    let before = &line[..line.find(word)?];
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Counts, Program, Tally, computed};
    use std::time::{Duration, Instant};

    /// Lines, a good end, (passed, failed, skipped).
    type Case<'a> = (&'a [&'a str], bool, (u64, u64, u64));

    #[test]
    fn counts_are_read_from_output() {
        let rust = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out";
        let bad = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured";
        let cases: [Case; 7] = [
            (&[], true, (1, 0, 0)),
            (&[], false, (0, 1, 0)),
            (&[rust, "other", rust], true, (6, 0, 2)),
            (&[rust, bad], false, (6, 2, 1)),
            (&[rust], false, (3, 1, 1)),
            (&["5 passed, 0 failed", "9 passed, 1 failed, 2 skipped"], false, (9, 1, 2)),
            (&["0 passed, 0 failed"], true, (1, 0, 0)),
        ];
        for (lines, success, (passed, failed, skipped)) in cases {
            let mut tally = Tally::default();
            for line in lines {
                tally.read(line);
            }
            assert_eq!(tally.finish(success), Counts { passed, failed, skipped }, "{lines:?}");
        }
    }

    #[test]
    fn a_program_over_its_limit_is_stopped_with_its_children() {
        let started = Instant::now();
        let program = Program::new("sh -c").args(&["sleep 60 & sleep 60"]);
        let ended = program.limit(Duration::from_millis(300)).run_with(|_| {});
        assert!(ended.is_err());
        assert!(started.elapsed() < Duration::from_secs(30), "the sleepers were left to run");
    }

    #[test]
    fn processor_time_of_programs_is_seen() {
        let before = computed();
        let line = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
        let ended = Program::new("sh -c").args(&[line]).run_with(|_| {});
        assert!(ended.is_ok() && computed() > before);
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert!(Program::new("no-such-program-here").run_with(|_| {}).is_err());
    }
}
