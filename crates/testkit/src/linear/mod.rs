//! Linearizability: whether the answers that concurrent clients got could have been given by one
//! thing that does one operation at a time.
//!
//! Must never know where a history comes from: it is data, and can be kept and checked again.

mod check;
mod explain;
mod history;
mod words;

pub(crate) use check::{Verdict, check};
pub(crate) use explain::explain;
pub(crate) use history::{read, write};
pub(crate) use words::{Line, Word, worded};

use std::fmt::Debug;
use std::hash::Hash;

/// What an answer says about its operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// It changed something.
    Changed,
    /// It found something and changed nothing.
    Read,
    /// It was refused, or found nothing, and changed nothing.
    Refused,
}

/// What happens to a server as a whole and shows in every history of that time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// Its clock, which stands, was turned forward by so many milliseconds.
    Advanced(u64),
    /// It was killed and started again.
    Restarted,
}

/// A thing that does one operation at a time.
pub(crate) trait Model {
    /// All that its answers depend on.
    type State: Clone + Eq + Hash + Debug;
    /// What is asked.
    type Op: Line + Clone + Debug;
    /// What is answered.
    type Answer: Line + Clone + Debug;

    /// The state before the first operation.
    fn start() -> Self::State;

    /// The states that `op` may lead to if it is answered like this: none if it cannot be. An answer
    /// that was lost may have been any.
    fn step(state: &Self::State, op: &Self::Op, answer: Option<&Self::Answer>) -> Vec<Self::State>;

    /// What an answer says about its operation.
    fn effect(op: &Self::Op, answer: &Self::Answer) -> Effect;

    /// How an event shows in a history, if it does.
    fn event(event: Event) -> Option<(Self::Op, Self::Answer)>;
}

/// One operation of a history. Times are on one clock, of any unit.
#[derive(Debug)]
pub(crate) struct Entry<M: Model> {
    pub(crate) client: u64,
    pub(crate) call: u64,
    /// When it was answered; without an answer, the time after which it cannot happen any more.
    /// `None` if there is no such time.
    pub(crate) end: Option<u64>,
    pub(crate) op: M::Op,
    /// `None` if the answer was lost: then the operation may have happened or not.
    pub(crate) answer: Option<M::Answer>,
}

impl<M: Model> Clone for Entry<M> {
    fn clone(&self) -> Self {
        let Self { client, call, end, op, answer } = self;
        Self { client: *client, call: *call, end: *end, op: op.clone(), answer: answer.clone() }
    }
}
