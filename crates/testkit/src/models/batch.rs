//! A partition of a table that is written by batches: all of a batch is done, or nothing.
//!
//! Must never look at a row alone: a torn batch shows only in the whole.

use crate::linear::{Effect, Event, Model, Word, worded};

/// Rows of the partition.
pub(crate) const ROWS: usize = 3;

/// One operation of a batch.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Write {
    /// Insert or replace.
    Put(usize, u64),
    /// The row must not be there.
    Insert(usize, u64),
    /// The row must be there.
    Delete(usize),
}

impl Word for Write {
    fn to_word(&self) -> String {
        match self {
            Self::Put(row, value) => format!("put:{row}:{value}"),
            Self::Insert(row, value) => format!("insert:{row}:{value}"),
            Self::Delete(row) => format!("delete:{row}"),
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        let parts: Vec<&str> = word.split(':').collect();
        let row = parts.get(1)?.parse().ok().filter(|row| *row < ROWS)?;
        match parts.as_slice() {
            ["put", _, value] => Some(Self::Put(row, value.parse().ok()?)),
            ["insert", _, value] => Some(Self::Insert(row, value.parse().ok()?)),
            ["delete", _] => Some(Self::Delete(row)),
            _ => None,
        }
    }
}

worded! {
    enum Op {
        Batch { writes: Vec<Write> },
        /// Reads the whole partition.
        Query {},
    }
}

worded! {
    enum Answer {
        Done {},
        /// The value of each row.
        Found { rows: Vec<Option<u64>> },
        Exists {},
        Missing {},
        Strange { status: u64, code: String },
    }
}

/// A partition that was empty.
#[derive(Debug)]
pub(crate) struct Partition;

type State = [Option<u64>; ROWS];

impl Model for Partition {
    type State = State;
    type Op = Op;
    type Answer = Answer;

    fn start() -> State {
        [None; ROWS]
    }

    fn step(state: &State, op: &Op, answer: Option<&Answer>) -> Vec<State> {
        let (next, right) = match op {
            Op::Query {} => (*state, Answer::Found { rows: state.to_vec() }),
            Op::Batch { writes } => match performed(*state, writes) {
                Ok(next) => (next, Answer::Done {}),
                Err(refused) => (*state, refused),
            },
        };
        if answer.is_none_or(|answer| *answer == right) { vec![next] } else { Vec::new() }
    }

    fn effect(_: &Op, answer: &Answer) -> Effect {
        match answer {
            Answer::Done {} => Effect::Changed,
            Answer::Found { .. } => Effect::Read,
            Answer::Exists {} | Answer::Missing {} | Answer::Strange { .. } => Effect::Refused,
        }
    }

    fn event(_: Event) -> Option<(Op, Answer)> {
        None
    }
}

fn performed(mut rows: State, writes: &[Write]) -> Result<State, Answer> {
    for write in writes {
        match *write {
            Write::Insert(row, _) if rows[row].is_some() => return Err(Answer::Exists {}),
            Write::Put(row, value) | Write::Insert(row, value) => rows[row] = Some(value),
            Write::Delete(row) if rows[row].is_none() => return Err(Answer::Missing {}),
            Write::Delete(row) => rows[row] = None,
        }
    }
    Ok(rows)
}
