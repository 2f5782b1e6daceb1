//! What became of a history: checked, counted, and kept if it is wrong.
//!
//! Must never count a history that did too little to prove anything.

use super::record::{CLIENTS, OPERATIONS};
use crate::linear::{Effect, Entry, Event, Model, Verdict, check, explain, write};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Possibilities that the checker looks at for one answer before it gives up.
pub(crate) const WORK: usize = 400_000;
/// The client that events are written under.
const NOBODY: u64 = 99;
/// Of a hundred operations, those that must have been answered.
const ANSWERED: u64 = 80;
/// Of a hundred operations, those that must have changed something.
const CHANGED: u64 = 15;

/// An event and its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Happened {
    pub(crate) call: u64,
    pub(crate) end: u64,
    pub(crate) event: Event,
}

/// A history that is complete.
#[derive(Debug)]
pub(crate) struct Recorded<M: Model> {
    pub(crate) name: &'static str,
    pub(crate) keys: Vec<(String, Vec<Entry<M>>)>,
}

/// How often something was seen.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Counts {
    pub(crate) histories: u64,
    pub(crate) operations: u64,
    pub(crate) changed: u64,
    pub(crate) read: u64,
    pub(crate) refused: u64,
    pub(crate) lost: u64,
    pub(crate) illegal: u64,
    pub(crate) unknown: u64,
    pub(crate) weak: u64,
}

impl Counts {
    /// Both together.
    pub(crate) fn add(&mut self, other: Self) {
        self.histories += other.histories;
        self.operations += other.operations;
        self.changed += other.changed;
        self.read += other.read;
        self.refused += other.refused;
        self.lost += other.lost;
        self.illegal += other.illegal;
        self.unknown += other.unknown;
        self.weak += other.weak;
    }

    /// Whether nothing was wrong.
    pub(crate) fn is_good(&self) -> bool {
        self.illegal + self.unknown + self.weak == 0
    }
}

/// By the name of the subject.
pub(crate) type ByName = BTreeMap<&'static str, Counts>;

impl<M: Model> Recorded<M> {
    /// Checks every key, with what happened to the server meanwhile.
    pub(crate) fn check(self, happened: &[Happened], seed: u64, said: &mut Vec<String>) -> Counts {
        let mut counts = Counts { histories: 1, ..Counts::default() };
        for (key, mut entries) in self.keys {
            counts.tally(&entries);
            entries.extend(happened.iter().filter_map(|at| {
                let (op, answer) = M::event(at.event)?;
                let (call, end, answer) = (at.call, Some(at.end), Some(answer));
                Some(Entry { client: NOBODY, call, end, op, answer })
            }));
            entries.sort_by_key(|entry| entry.call);
            let verdict = check(&entries, WORK);
            if verdict == Verdict::Legal {
                continue;
            }
            let kept = keep(self.name, &key, seed, &entries);
            if verdict == Verdict::Unknown {
                counts.unknown += 1;
                said.push(format!("{} {key}: too much work to check; {kept}", self.name));
            } else {
                counts.illegal += 1;
                let why = explain(&entries, WORK);
                said.push(format!("ILLEGAL {} {key}: {why}  {kept}", self.name));
            }
        }
        let planned = CLIENTS * OPERATIONS;
        let answered = counts.operations - counts.lost;
        if answered * 100 < planned * ANSWERED || counts.changed * 100 < planned * CHANGED {
            counts.weak = 1;
            said.push(format!("{}: too little was done: {counts:?}", self.name));
        }
        counts
    }
}

impl Counts {
    fn tally<M: Model>(&mut self, entries: &[Entry<M>]) {
        for entry in entries {
            self.operations += 1;
            let counted = match entry.answer.as_ref().map(|answer| M::effect(&entry.op, answer)) {
                None => &mut self.lost,
                Some(Effect::Changed) => &mut self.changed,
                Some(Effect::Read) => &mut self.read,
                Some(Effect::Refused) => &mut self.refused,
            };
            *counted += 1;
        }
    }
}

/// Writes a history to a file that `histories check` reads, and says where.
fn keep<M: Model>(name: &str, key: &str, seed: u64, entries: &[Entry<M>]) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/histories");
    let path = folder.join(format!("{seed}-{key}.txt"));
    let text = format!("# {name}\n{}", write(entries));
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, text));
    match written {
        Ok(()) => format!("check it again with: histories check {}", path.display()),
        Err(error) => format!("it could not be kept: {error}"),
    }
}
