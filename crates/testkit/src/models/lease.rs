//! A blob with a lease, as the service's documents describe it.
//!
//! Must never know an instant: what counts is how much time is left, and only a test turns the clock.

use crate::linear::{Effect, Event, Model, worded};

worded! {
    enum Op {
        /// For so many seconds, or for ever.
        Acquire { id: u64, seconds: Option<u64> },
        Renew { id: u64 },
        Change { id: u64, to: u64 },
        Release { id: u64 },
        Break { seconds: Option<u64> },
        Write { id: Option<u64>, value: u64 },
        Read {},
        /// The server's clock is turned forward.
        Advance { ms: u64 },
    }
}

worded! {
    enum Answer {
        Done {},
        /// Broken, or will be after so many seconds.
        Breaks { seconds: u64 },
        Written {},
        Found { value: u64, lease: String },
        Refused { status: u64, code: String },
    }
}

/// A lease.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Lease {
    Available,
    /// Held; the seconds it was taken for and the milliseconds left, unless for ever.
    Leased {
        id: u64,
        time: Option<(u64, u64)>,
    },
    /// Held for so many milliseconds more.
    Breaking {
        id: u64,
        left: u64,
    },
    Broken {
        id: u64,
    },
    Expired {
        id: u64,
        seconds: u64,
    },
}

/// A refusal: its status and code.
type Refused = (u64, &'static str);

const PRESENT: Refused = (409, "LeaseAlreadyPresent");
const MISMATCH: Refused = (409, "LeaseIdMismatchWithLeaseOperation");
const NOT_PRESENT: Refused = (409, "LeaseNotPresentWithLeaseOperation");
const NOT_RENEWED: Refused = (409, "LeaseIsBrokenAndCannotBeRenewed");
const NOT_ACQUIRED: Refused = (409, "LeaseIsBreakingAndCannotBeAcquired");
const NOT_CHANGED: Refused = (409, "LeaseIsBreakingAndCannotBeChanged");

/// What a use of a thing with a lease is refused with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UseCodes {
    pub(crate) missing: &'static str,
    pub(crate) mismatch: &'static str,
    pub(crate) not_present: &'static str,
}

const BLOB: UseCodes = UseCodes {
    missing: "LeaseIdMissing",
    mismatch: "LeaseIdMismatchWithBlobOperation",
    not_present: "LeaseNotPresentWithBlobOperation",
};
const LOST: Refused = (412, "LeaseLost");

impl Lease {
    /// Does what a lease operation asks, or says why not. Gives the seconds that a break takes.
    pub(crate) fn act(&self, op: &Op) -> Result<(Self, Option<u64>), Refused> {
        let next = match (op, self) {
            (Op::Acquire { id, seconds }, lease) => match lease {
                Self::Leased { id: holder, .. } if holder != id => return Err(PRESENT),
                Self::Breaking { id: holder, .. } if holder == id => return Err(NOT_ACQUIRED),
                Self::Breaking { .. } => return Err(PRESENT),
                _ => held(*id, *seconds),
            },
            (Op::Renew { id }, lease) if lease.id() != Some(*id) => return Err(MISMATCH),
            (Op::Renew { id }, Self::Leased { time, .. }) => held(*id, time.map(|time| time.0)),
            (Op::Renew { id }, Self::Expired { seconds, .. }) => held(*id, Some(*seconds)),
            (Op::Renew { .. }, _) => return Err(NOT_RENEWED),
            (Op::Change { id, to }, Self::Leased { id: holder, time })
                if holder == id || holder == to =>
            {
                Self::Leased { id: *to, time: *time }
            }
            (Op::Change { id, .. }, Self::Breaking { id: holder, .. }) if id == holder => {
                return Err(NOT_CHANGED);
            }
            (Op::Change { .. }, Self::Leased { .. } | Self::Breaking { .. }) => {
                return Err(MISMATCH);
            }
            (Op::Change { .. }, _) => return Err(NOT_PRESENT),
            (Op::Release { id }, lease) if lease.id() == Some(*id) => Self::Available,
            (Op::Release { .. }, _) => return Err(MISMATCH),
            (Op::Break { seconds }, lease) => return lease.broken(*seconds),
            (Op::Write { .. } | Op::Read {} | Op::Advance { .. }, lease) => lease.clone(),
        };
        Ok((next, None))
    }

    fn broken(&self, asked: Option<u64>) -> Result<(Self, Option<u64>), Refused> {
        let asked = asked.map(|seconds| seconds * 1_000);
        let (id, left) = match self {
            Self::Available => return Err(NOT_PRESENT),
            Self::Leased { id, time: None } => (*id, asked.unwrap_or(0)),
            Self::Leased { id, time: Some((_, left)) } | Self::Breaking { id, left } => {
                (*id, asked.map_or(*left, |asked| asked.min(*left)))
            }
            Self::Broken { id } | Self::Expired { id, .. } => (*id, 0),
        };
        let next = if left == 0 { Self::Broken { id } } else { Self::Breaking { id, left } };
        Ok((next, Some(left.div_ceil(1_000))))
    }

    fn id(&self) -> Option<u64> {
        match self {
            Self::Available => None,
            Self::Leased { id, .. }
            | Self::Breaking { id, .. }
            | Self::Broken { id }
            | Self::Expired { id, .. } => Some(*id),
        }
    }

    /// Whether a write that presents this id may be done.
    pub(crate) fn admits(&self, id: Option<u64>, codes: UseCodes) -> Result<(), Refused> {
        match (self, id) {
            (Self::Leased { .. } | Self::Breaking { .. }, None) => Err((412, codes.missing)),
            (Self::Leased { .. } | Self::Breaking { .. }, Some(_)) if self.id() == id => Ok(()),
            (Self::Leased { .. } | Self::Breaking { .. }, Some(_)) => Err((412, codes.mismatch)),
            (_, None) => Ok(()),
            (Self::Available, Some(_)) => Err((412, codes.not_present)),
            (Self::Broken { .. } | Self::Expired { .. }, Some(_)) => Err(LOST),
        }
    }

    /// After so many milliseconds.
    pub(crate) fn after(&self, ms: u64) -> Self {
        match self {
            Self::Leased { id, time: Some((seconds, left)) } => match left.checked_sub(ms) {
                None | Some(0) => Self::Expired { id: *id, seconds: *seconds },
                Some(left) => Self::Leased { id: *id, time: Some((*seconds, left)) },
            },
            Self::Breaking { id, left } => match left.checked_sub(ms) {
                None | Some(0) => Self::Broken { id: *id },
                Some(left) => Self::Breaking { id: *id, left },
            },
            other => other.clone(),
        }
    }

    /// The word that a reader sees.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Leased { .. } => "leased",
            Self::Breaking { .. } => "breaking",
            Self::Broken { .. } => "broken",
            Self::Expired { .. } => "expired",
        }
    }
}

fn held(id: u64, seconds: Option<u64>) -> Lease {
    Lease::Leased { id, time: seconds.map(|seconds| (seconds, seconds * 1_000)) }
}

/// Whether an operation that went like this may be answered so; `None` was lost and may be.
pub(crate) fn fits(
    went: Result<Option<u64>, Refused>,
    done: &Answer,
    answer: Option<&Answer>,
) -> bool {
    let Some(answer) = answer else { return true };
    match went {
        Ok(None) => answer == done,
        Ok(Some(seconds)) => *answer == Answer::Breaks { seconds },
        Err((status, code)) => {
            matches!(answer, Answer::Refused { status: s, code: c } if (*s, c.as_str()) == (status, code))
        }
    }
}

/// A blob that is there, with value 0, and may be leased.
#[derive(Debug)]
pub(crate) struct LeasedBlob;

impl Model for LeasedBlob {
    type State = (u64, Lease);
    type Op = Op;
    type Answer = Answer;

    fn start() -> Self::State {
        (0, Lease::Available)
    }

    fn step(state: &Self::State, op: &Op, answer: Option<&Answer>) -> Vec<Self::State> {
        let (value, lease) = state;
        let (next, good) = match op {
            Op::Advance { ms } => ((*value, lease.after(*ms)), true),
            Op::Read {} => {
                let found = Answer::Found { value: *value, lease: lease.word().to_owned() };
                (state.clone(), answer.is_none_or(|answer| *answer == found))
            }
            Op::Write { id, value: new } => {
                let went = lease.admits(*id, BLOB);
                let good = fits(went.map(|()| None), &Answer::Written {}, answer);
                (if went.is_ok() { (*new, after_write(lease)) } else { state.clone() }, good)
            }
            Op::Acquire { .. }
            | Op::Renew { .. }
            | Op::Change { .. }
            | Op::Release { .. }
            | Op::Break { .. } => {
                let went = lease.act(op);
                let seconds = went.as_ref().map(|done| done.1).map_err(|refused| *refused);
                let next = went.map_or_else(|_| lease.clone(), |done| done.0);
                ((*value, next), fits(seconds, &Answer::Done {}, answer))
            }
        };
        if good { vec![next] } else { Vec::new() }
    }

    fn effect(_: &Op, answer: &Answer) -> Effect {
        effect(answer)
    }

    fn event(event: Event) -> Option<(Op, Answer)> {
        advanced(event)
    }
}

/// A write ends a lease that is over: its last holder cannot renew it any more.
fn after_write(lease: &Lease) -> Lease {
    match lease {
        Lease::Broken { .. } | Lease::Expired { .. } => Lease::Available,
        Lease::Available | Lease::Leased { .. } | Lease::Breaking { .. } => lease.clone(),
    }
}

pub(crate) fn effect(answer: &Answer) -> Effect {
    match answer {
        Answer::Done {} | Answer::Breaks { .. } | Answer::Written {} => Effect::Changed,
        Answer::Found { .. } => Effect::Read,
        Answer::Refused { .. } => Effect::Refused,
    }
}

pub(crate) fn advanced(event: Event) -> Option<(Op, Answer)> {
    match event {
        Event::Advanced(ms) => Some((Op::Advance { ms }, Answer::Done {})),
        Event::Restarted => None,
    }
}
