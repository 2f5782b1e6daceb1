//! An append blob: pieces in the order they were taken, each at the place its answer names.
//!
//! Must never forget an order: two readers that see different ones have caught a mistake.

use crate::linear::{Effect, Event, Model, worded};

worded! {
    enum Op {
        /// Appends a piece; if `at` is given, only there. Places are counted in pieces.
        Append { piece: u64, at: Option<u64> },
        Get {},
    }
}

worded! {
    enum Answer {
        Appended { at: u64 },
        Misplaced {},
        Found { pieces: Vec<u64> },
        Strange { status: u64, code: String },
    }
}

/// An append blob that is there and was empty.
#[derive(Debug)]
pub(crate) struct Appended;

impl Model for Appended {
    type State = Vec<u64>;
    type Op = Op;
    type Answer = Answer;

    fn start() -> Vec<u64> {
        Vec::new()
    }

    fn step(state: &Vec<u64>, op: &Op, answer: Option<&Answer>) -> Vec<Vec<u64>> {
        let end = u64::try_from(state.len()).unwrap_or(u64::MAX);
        let longer = |piece: u64| {
            let mut next = state.clone();
            next.push(piece);
            vec![next]
        };
        let same = || vec![state.clone()];
        match (op, answer) {
            (Op::Append { at: Some(at), .. }, answer) if *at != end => match answer {
                None | Some(Answer::Misplaced {}) => same(),
                Some(_) => Vec::new(),
            },
            (Op::Append { piece, .. }, None) => longer(*piece),
            (Op::Append { piece, .. }, Some(Answer::Appended { at })) if *at == end => {
                longer(*piece)
            }
            (Op::Get {}, None) => same(),
            (Op::Get {}, Some(Answer::Found { pieces })) if pieces == state => same(),
            (Op::Append { .. } | Op::Get {}, Some(_)) => Vec::new(),
        }
    }

    fn effect(_: &Op, answer: &Answer) -> Effect {
        match answer {
            Answer::Appended { .. } => Effect::Changed,
            Answer::Found { .. } => Effect::Read,
            Answer::Misplaced {} | Answer::Strange { .. } => Effect::Refused,
        }
    }

    fn event(_: Event) -> Option<(Op, Answer)> {
        None
    }
}
