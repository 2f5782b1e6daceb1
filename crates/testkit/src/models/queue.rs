//! A queue: who may have which message when, and which receipt is good.
//!
//! Must never promise an order: any message that can be received may be the next one.

use crate::linear::{Effect, Event, Model, worded};
use std::hash::{DefaultHasher, Hash, Hasher};

worded! {
    enum Op {
        Put { value: u64 },
        /// Takes a message for so many seconds.
        Get { hold: u64 },
        Peek {},
        /// Gives the message another value and hides it for so many seconds.
        Update { id: String, receipt: String, value: u64, hold: u64 },
        Delete { id: String, receipt: String },
        Advance { ms: u64 },
    }
}

worded! {
    enum Answer {
        Put { id: String, receipt: String },
        Got { id: String, receipt: String, value: u64, dequeues: u64 },
        Peeked { id: String, value: u64, dequeues: u64 },
        Nothing {},
        Updated { receipt: String },
        Deleted {},
        Gone {},
        Advanced {},
        Strange { status: u64, code: String },
    }
}

/// Milliseconds that no test turns the clock by. What is hidden for longer stays so; if its time ran,
/// every turn beside another operation would leave two possibilities that nothing ever tells apart.
const EVER: u64 = 3_600_000;

/// An id or a receipt: a hash, since states are copied and compared all the time.
type Name = u64;

fn name(text: &str) -> Name {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// A message. What the server chose is `None` while no answer has named it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Message {
    value: u64,
    id: Option<Name>,
    receipt: Option<Name>,
    dequeues: u64,
    /// Milliseconds until it can be received.
    hidden: u64,
}

impl Message {
    fn is(&self, id: &str, value: u64) -> bool {
        self.hidden == 0 && self.value == value && self.id.is_none_or(|known| known == name(id))
    }
}

/// A queue that is there and was empty.
#[derive(Debug)]
pub(crate) struct Queue;

type State = Vec<Message>;

impl Model for Queue {
    /// Sorted: the order says nothing.
    type State = State;
    type Op = Op;
    type Answer = Answer;

    fn start() -> State {
        Vec::new()
    }

    fn step(state: &State, op: &Op, answer: Option<&Answer>) -> Vec<State> {
        match op {
            Op::Put { value } => put(state, *value, answer),
            Op::Get { hold } => get(state, *hold, answer),
            Op::Peek {} => peek(state, answer),
            Op::Update { id, receipt, value, hold } => {
                let change = |message: &Message, new: Option<&str>| Message {
                    value: *value,
                    hidden: hold * 1_000,
                    receipt: new.map(name),
                    ..message.clone()
                };
                with_receipt(state, id, receipt, answer, |message, answer| match answer {
                    None => Some(Some(change(message, None))),
                    Some(Answer::Updated { receipt }) => Some(Some(change(message, Some(receipt)))),
                    Some(_) => None,
                })
            }
            Op::Delete { id, receipt } => {
                with_receipt(state, id, receipt, answer, |_, answer| match answer {
                    None | Some(Answer::Deleted {}) => Some(None),
                    Some(_) => None,
                })
            }
            Op::Advance { ms } => {
                let later = |m: &Message| {
                    let passed = if m.hidden < EVER { *ms } else { 0 };
                    Message { hidden: m.hidden.saturating_sub(passed), ..m.clone() }
                };
                vec![sorted(state.iter().map(later).collect())]
            }
        }
    }

    fn effect(_: &Op, answer: &Answer) -> Effect {
        match answer {
            Answer::Put { .. }
            | Answer::Got { .. }
            | Answer::Updated { .. }
            | Answer::Deleted {}
            | Answer::Advanced {} => Effect::Changed,
            Answer::Peeked { .. } => Effect::Read,
            Answer::Nothing {} | Answer::Gone {} | Answer::Strange { .. } => Effect::Refused,
        }
    }

    fn event(event: Event) -> Option<(Op, Answer)> {
        match event {
            Event::Advanced(ms) => Some((Op::Advance { ms }, Answer::Advanced {})),
            Event::Restarted => None,
        }
    }
}

fn sorted(mut state: State) -> State {
    state.sort_unstable();
    state
}

/// The state with one message replaced, or without it.
fn replaced(state: &State, index: usize, by: Option<Message>) -> State {
    let mut next = state.clone();
    match by {
        Some(message) => next[index] = message,
        None => drop(next.remove(index)),
    }
    sorted(next)
}

fn put(state: &State, value: u64, answer: Option<&Answer>) -> Vec<State> {
    let (id, receipt) = match answer {
        None => (None, None),
        Some(Answer::Put { id, receipt }) => (Some(name(id)), Some(name(receipt))),
        Some(_) => return Vec::new(),
    };
    let mut next = state.clone();
    next.push(Message { value, id, receipt, dequeues: 0, hidden: 0 });
    vec![sorted(next)]
}

fn get(state: &State, hold: u64, answer: Option<&Answer>) -> Vec<State> {
    let ready = state.iter().enumerate().filter(|(_, message)| message.hidden == 0);
    let take = |index: usize, message: &Message, named: Option<(&str, &str)>| {
        let taken = Message {
            id: named.map(|n| name(n.0)).or(message.id),
            receipt: named.map(|n| name(n.1)),
            dequeues: message.dequeues + 1,
            hidden: hold * 1_000,
            value: message.value,
        };
        replaced(state, index, Some(taken))
    };
    match answer {
        None => ready.map(|(index, message)| take(index, message, None)).collect(),
        Some(Answer::Nothing {}) if ready.count() == 0 => vec![state.clone()],
        Some(Answer::Got { id, receipt, value, dequeues }) => state
            .iter()
            .enumerate()
            .filter(|(_, m)| m.is(id, *value) && m.dequeues + 1 == *dequeues)
            .map(|(index, message)| take(index, message, Some((id, receipt))))
            .collect(),
        Some(_) => Vec::new(),
    }
}

fn peek(state: &State, answer: Option<&Answer>) -> Vec<State> {
    let right = match answer {
        None => true,
        Some(Answer::Nothing {}) => state.iter().all(|message| message.hidden > 0),
        Some(Answer::Peeked { id, value, dequeues }) => {
            state.iter().any(|m| m.is(id, *value) && m.dequeues == *dequeues)
        }
        Some(_) => false,
    };
    if right { vec![state.clone()] } else { Vec::new() }
}

/// What becomes of the message that this receipt is good for; if there is none, it is gone.
fn with_receipt(
    state: &State,
    id: &str,
    receipt: &str,
    answer: Option<&Answer>,
    become_of: impl Fn(&Message, Option<&Answer>) -> Option<Option<Message>>,
) -> Vec<State> {
    let good = |m: &Message| m.id == Some(name(id)) && m.receipt == Some(name(receipt));
    match state.iter().position(good) {
        Some(index) => {
            let after = become_of(&state[index], answer);
            after.map(|by| replaced(state, index, by)).into_iter().collect()
        }
        None if matches!(answer, None | Some(Answer::Gone {})) => vec![state.clone()],
        None => Vec::new(),
    }
}
