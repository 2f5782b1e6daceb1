//! Ranges of a file that SMB locks and both protocols write.
//!
//! Must never let a lock outlive the process that gave it.

use crate::linear::{Effect, Event, Model, worded};

/// Ranges of the file.
pub(crate) const RANGES: usize = 2;

worded! {
    enum Op {
        /// Takes an exclusive lock, or fails at once.
        Lock { client: u64, range: u64 },
        Unlock { client: u64, range: u64 },
        /// Writes by SMB.
        Write { client: u64, range: u64, value: u64 },
        /// Writes by REST.
        Put { range: u64, value: u64 },
        /// Reads by REST.
        Get { range: u64 },
        Restart {},
    }
}

worded! {
    enum Answer {
        Done {},
        Found { value: u64 },
        /// A lock is in the way.
        Conflict {},
        NotLocked {},
        Strange { status: u64, code: String },
    }
}

/// What is in a range, and who has locked it.
type Range = (u64, Option<u64>);

/// A file whose ranges hold zeros.
#[derive(Debug)]
pub(crate) struct LockedFile;

impl Model for LockedFile {
    type State = [Range; RANGES];
    type Op = Op;
    type Answer = Answer;

    fn start() -> Self::State {
        [(0, None); RANGES]
    }

    fn step(state: &Self::State, op: &Op, answer: Option<&Answer>) -> Vec<Self::State> {
        let mut next = *state;
        let at = |range: &u64| usize::try_from(*range).unwrap_or(0);
        let right = match op {
            Op::Lock { client, range } => match &mut next[at(range)].1 {
                // Not even beside one's own.
                Some(_) => Answer::Conflict {},
                free => {
                    *free = Some(*client);
                    Answer::Done {}
                }
            },
            Op::Unlock { client, range } => match &mut next[at(range)].1 {
                held if *held == Some(*client) => {
                    *held = None;
                    Answer::Done {}
                }
                _ => Answer::NotLocked {},
            },
            Op::Write { client, range, value } => {
                write(&mut next[at(range)], Some(*client), *value)
            }
            // A lock anywhere in the file keeps REST from writing, not from reading beside it.
            Op::Put { .. } if state.iter().any(|range| range.1.is_some()) => Answer::Conflict {},
            Op::Put { range, value } => write(&mut next[at(range)], None, *value),
            Op::Get { range } => match next[at(range)] {
                (_, Some(_)) => Answer::Conflict {},
                (value, None) => Answer::Found { value },
            },
            Op::Restart {} => {
                next = next.map(|(value, _)| (value, None));
                Answer::Done {}
            }
        };
        if answer.is_none_or(|answer| *answer == right) { vec![next] } else { Vec::new() }
    }

    fn effect(_: &Op, answer: &Answer) -> Effect {
        match answer {
            Answer::Done {} => Effect::Changed,
            Answer::Found { .. } => Effect::Read,
            Answer::Conflict {} | Answer::NotLocked {} | Answer::Strange { .. } => Effect::Refused,
        }
    }

    fn event(event: Event) -> Option<(Op, Answer)> {
        match event {
            Event::Advanced(_) => None,
            Event::Restarted => Some((Op::Restart {}, Answer::Done {})),
        }
    }
}

fn write(range: &mut Range, by: Option<u64>, value: u64) -> Answer {
    if range.1.is_some() && range.1 != by {
        return Answer::Conflict {};
    }
    range.0 = value;
    Answer::Done {}
}
