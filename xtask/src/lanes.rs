//! Steps side by side: what computes beside what mostly waits, each in a process of its own.
//!
//! Must never lose what a step said, nor call a step good that did not say its counts.

use crate::step::{Counts, Program, computed};
use crate::{excerpt, root};
use std::fs::{self, File};
use std::io::Write as _;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// What they say, as they say it.
const LOGS: &str = "target/test-steps";
/// The longest that one step may take.
const LIMIT: Duration = Duration::from_hours(2);

/// A step that ended.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) name: &'static str,
    pub(crate) outcome: Result<Counts, String>,
    pub(crate) took: Duration,
    /// Processor time: what it takes even where others compute too.
    pub(crate) computed: Duration,
    /// All that it said.
    pub(crate) said: String,
}

/// Steps that run one after the other.
pub(crate) struct Lane {
    /// How much it yields to the others; 0 is not at all.
    pub(crate) niceness: u8,
    pub(crate) steps: Vec<&'static str>,
}

/// Runs all lanes at once. Of what the steps say, only the news is shown; all of it is in their logs.
pub(crate) fn run(lanes: &[Lane], show: impl Fn(&Done) + Sync) -> Vec<Done> {
    let ended = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for lane in lanes {
            scope.spawn(|| {
                for name in &lane.steps {
                    println!("... {name} has begun: {LOGS}/{name}.log");
                    let begun = Instant::now();
                    let (verdict, said) = apart(name, lane.niceness);
                    let Verdict { outcome, computed } = verdict;
                    let done = Done { name, outcome, took: begun.elapsed(), computed, said };
                    show(&done);
                    ended.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(done);
                }
            });
        }
    });
    ended.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What a step says of itself at its end.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Verdict {
    outcome: Result<Counts, String>,
    computed: Duration,
}

/// Runs a step in a process of its own: what it came to, and all that it said.
fn apart(name: &str, niceness: u8) -> (Verdict, String) {
    let mut said = String::new();
    let mut verdict = None;
    let mut log = open_log(name);
    // Not by its name: building the tests replaces the file.
    let ours = std::process::id();
    let line = format!("exec nice -n {niceness} /proc/{ours}/exe step {name} 2>&1");
    let program = Program::new("sh -c").args(&[&line]).limit(LIMIT);
    let ended = program.follow(|line| {
        if let Some(log) = &mut log {
            // The log is for whoever looks on; what counts is kept here.
            drop(writeln!(log, "{line}"));
        }
        if let Some(read) = Verdict::read(name, line) {
            verdict = Some(read);
            return;
        }
        if excerpt::is_news(line) {
            println!("{name:<9} | {line}");
        }
        said.push_str(line);
        said.push('\n');
    });
    let failed = |reason| Verdict { outcome: Err(reason), computed: Duration::ZERO };
    let verdict = match (ended, verdict) {
        (Err(reason), _) => failed(reason),
        (Ok(_), None) => failed("it ended without saying what it came to".to_owned()),
        (Ok(_), Some(verdict)) => verdict,
    };
    (verdict, said)
}

fn open_log(name: &str) -> Option<File> {
    let folder = root().join(LOGS);
    fs::create_dir_all(&folder).ok()?;
    File::create(folder.join(format!("{name}.log"))).ok()
}

/// The other side of [`apart`]: runs the step and says what it came to.
pub(crate) fn step(name: &str, run: fn() -> Result<Counts, String>) {
    let outcome = run();
    println!("{}", Verdict { outcome, computed: computed() }.write(name));
}

impl Verdict {
    fn write(&self, name: &str) -> String {
        let millis = self.computed.as_millis();
        match &self.outcome {
            Ok(Counts { passed, failed, skipped }) => {
                format!("step {name}: {millis} {passed} {failed} {skipped}")
            }
            Err(reason) => format!("step {name}: {millis} none {}", reason.replace('\n', " ")),
        }
    }

    fn read(name: &str, line: &str) -> Option<Self> {
        let said = line.strip_prefix("step ")?.strip_prefix(name)?.strip_prefix(": ")?;
        let (millis, said) = said.split_once(' ')?;
        let computed = Duration::from_millis(millis.parse().ok()?);
        if let Some(reason) = said.strip_prefix("none ") {
            return Some(Self { outcome: Err(reason.to_owned()), computed });
        }
        let mut numbers = said.split(' ').map(str::parse);
        let mut next = || numbers.next()?.ok();
        let counts = Counts { passed: next()?, failed: next()?, skipped: next()? };
        Some(Self { outcome: Ok(counts), computed })
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Verdict};
    use std::time::Duration;

    #[test]
    fn verdicts_are_read_as_they_were_written() {
        let counts = Counts { passed: 7, failed: 0, skipped: 2 };
        for outcome in [Ok(counts), Err("there is no tests/run.py".to_owned())] {
            let verdict = Verdict { outcome, computed: Duration::from_secs(5) };
            let line = verdict.write("clients");
            assert_eq!(Verdict::read("clients", &line), Some(verdict));
            assert_eq!(Verdict::read("tests", &line), None);
        }
        for line in ["step clients: 1 2 3", "step clients: 1 one 2 3", "clients: 0 1 2 3"] {
            assert_eq!(Verdict::read("clients", line), None, "{line}");
        }
    }
}
