//! A file that SMB opens with share modes and REST reads and writes.
//!
//! Must never let a handle outlive the process that gave it.

use crate::linear::{Effect, Event, Model, worded};

/// Access and share are sums of these.
pub(crate) const READ: u64 = 1;
pub(crate) const WRITE: u64 = 2;

worded! {
    enum Op {
        /// Opens by SMB, unless this client has the file open.
        Open { client: u64, access: u64, share: u64 },
        Close { client: u64 },
        /// Writes by REST.
        Put { value: u64 },
        /// Reads by REST.
        Get {},
        Restart {},
    }
}

worded! {
    enum Answer {
        Done {},
        Found { value: u64 },
        /// Somebody who has it open does not share that.
        Violation {},
        /// The client has it open, or has not, and did not ask.
        Idle {},
        Strange { status: u64, code: String },
    }
}

/// What a client has open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Handle {
    client: u64,
    access: u64,
    share: u64,
}

/// A file that holds 0 and is not open.
#[derive(Debug)]
pub(crate) struct SharedFile;

impl Model for SharedFile {
    /// The value, and the handles in the order of clients.
    type State = (u64, Vec<Handle>);
    type Op = Op;
    type Answer = Answer;

    fn start() -> Self::State {
        (0, Vec::new())
    }

    fn step(state: &Self::State, op: &Op, answer: Option<&Answer>) -> Vec<Self::State> {
        let (mut value, mut handles) = state.clone();
        // Who is there must share what comes, and who comes must share what is there.
        let admits = |access: u64, share: u64| {
            state.1.iter().all(|h| h.share & access == access && share & h.access == h.access)
        };
        let mine = |client: &u64| state.1.iter().position(|handle| handle.client == *client);
        let right = match op {
            Op::Open { client, .. } if mine(client).is_some() => Answer::Idle {},
            Op::Open { access, share, .. } if !admits(*access, *share) => Answer::Violation {},
            // REST has the file open while it reads or writes, and may be about to: whoever does not
            // share both can be refused for that.
            Op::Open { share, .. }
                if *share != READ | WRITE && answer == Some(&Answer::Violation {}) =>
            {
                Answer::Violation {}
            }
            Op::Open { client, access, share } => {
                handles.push(Handle { client: *client, access: *access, share: *share });
                handles.sort_unstable();
                Answer::Done {}
            }
            Op::Close { client } => match mine(client) {
                Some(index) => {
                    handles.remove(index);
                    Answer::Done {}
                }
                None => Answer::Idle {},
            },
            // REST shares everything and stays for a moment.
            Op::Put { .. } if !admits(WRITE, READ | WRITE) => Answer::Violation {},
            Op::Put { value: new } => {
                value = *new;
                Answer::Done {}
            }
            Op::Get {} if !admits(READ, READ | WRITE) => Answer::Violation {},
            Op::Get {} => Answer::Found { value },
            Op::Restart {} => {
                handles.clear();
                Answer::Done {}
            }
        };
        let fits = answer.is_none_or(|answer| *answer == right);
        if fits { vec![(value, handles)] } else { Vec::new() }
    }

    fn effect(_: &Op, answer: &Answer) -> Effect {
        match answer {
            Answer::Done {} => Effect::Changed,
            Answer::Found { .. } => Effect::Read,
            Answer::Violation {} | Answer::Idle {} | Answer::Strange { .. } => Effect::Refused,
        }
    }

    fn event(event: Event) -> Option<(Op, Answer)> {
        match event {
            Event::Advanced(_) => None,
            Event::Restarted => Some((Op::Restart {}, Answer::Done {})),
        }
    }
}
