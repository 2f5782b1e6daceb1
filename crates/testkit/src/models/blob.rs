//! One value under a name, written and deleted under conditions: a blob, or an entity of a table.
//!
//! Must never let one ETag name two states: a condition would then mean nothing.

use super::{Etag, When};
use crate::linear::{Effect, Event, Model, worded};

worded! {
    enum Op {
        /// Writes, whatever is there.
        Put { value: u64, when: When },
        /// Writes what must not be there yet, as tables do it.
        Insert { value: u64 },
        Get {},
        Delete { when: When },
    }
}

worded! {
    enum Answer {
        Written { etag: String },
        Found { etag: String, value: u64 },
        Deleted {},
        Missing {},
        Exists {},
        Unmet {},
        /// What none of these operations may be answered with.
        Strange { status: u64, code: String },
    }
}

/// A value under conditions.
#[derive(Debug)]
pub(crate) struct Cell;

impl Model for Cell {
    /// What is there.
    type State = Option<(Etag, u64)>;
    type Op = Op;
    type Answer = Answer;

    fn start() -> Self::State {
        None
    }

    fn step(state: &Self::State, op: &Op, answer: Option<&Answer>) -> Vec<Self::State> {
        let there = state.as_ref().map(|(etag, _)| etag);
        match op {
            Op::Get {} => get(state, answer),
            Op::Put { value, when } if when.is_met(there) => written(state, *value, answer),
            Op::Insert { value } if there.is_none() => written(state, *value, answer),
            // A condition that asks for absence has a refusal of its own.
            Op::Insert { .. } | Op::Put { when: When::Absent, .. } => {
                refused(state, answer, &Answer::Exists {})
            }
            // Blobs say that the condition is not met, entities that there is none.
            Op::Put { .. } if there.is_none() && answer == Some(&Answer::Missing {}) => {
                vec![state.clone()]
            }
            Op::Delete { .. } if there.is_none() => refused(state, answer, &Answer::Missing {}),
            Op::Delete { when } if when.is_met(there) => match answer {
                None | Some(Answer::Deleted {}) => vec![None],
                Some(_) => Vec::new(),
            },
            Op::Put { .. } | Op::Delete { .. } => refused(state, answer, &Answer::Unmet {}),
        }
    }

    fn effect(_: &Op, answer: &Answer) -> Effect {
        match answer {
            Answer::Written { .. } | Answer::Deleted {} => Effect::Changed,
            Answer::Found { .. } => Effect::Read,
            Answer::Missing {} | Answer::Exists {} | Answer::Unmet {} | Answer::Strange { .. } => {
                Effect::Refused
            }
        }
    }

    fn event(_: Event) -> Option<(Op, Answer)> {
        None
    }
}

type State = Option<(Etag, u64)>;

fn get(state: &State, answer: Option<&Answer>) -> Vec<State> {
    match (state, answer) {
        (_, None) => vec![state.clone()],
        (None, Some(Answer::Missing {})) => vec![None],
        (Some((known, value)), Some(Answer::Found { etag, value: seen })) if value == seen => {
            let fits = known.as_ref().is_none_or(|known| known == etag);
            if fits { vec![Some((Some(etag.clone()), *value))] } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

fn written(state: &State, value: u64, answer: Option<&Answer>) -> Vec<State> {
    match answer {
        None => vec![Some((None, value))],
        // A write that leaves the ETag as it was hides itself from every condition.
        Some(Answer::Written { etag })
            if state.as_ref().is_some_and(|(old, _)| old.as_ref() == Some(etag)) =>
        {
            Vec::new()
        }
        Some(Answer::Written { etag }) => vec![Some((Some(etag.clone()), value))],
        Some(_) => Vec::new(),
    }
}

fn refused(state: &State, answer: Option<&Answer>, right: &Answer) -> Vec<State> {
    if answer.is_none_or(|answer| answer == right) { vec![state.clone()] } else { Vec::new() }
}
