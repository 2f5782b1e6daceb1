//! A container with a lease, which guards nothing but its end.
//!
//! Must never let a lease outlive its container: the next one of that name is free.

use super::lease::{Answer, Lease, Op, UseCodes, advanced, effect, fits};
use crate::linear::{Effect, Event, Model};

const CODES: UseCodes = UseCodes {
    missing: "LeaseIdMissing",
    mismatch: "LeaseIdMismatchWithContainerOperation",
    not_present: "LeaseNotPresentWithContainerOperation",
};
const GONE: (u64, &str) = (404, "ContainerNotFound");
const EXISTS: (u64, &str) = (409, "ContainerAlreadyExists");
/// The value of a write that makes the container; every other one deletes it.
pub(crate) const CREATE: u64 = 1;

/// A container, there or not. Of a blob's operations a write is Create Container if its value is
/// [`CREATE`] and Delete Container otherwise.
#[derive(Debug)]
pub(crate) struct LeasedContainer;

impl Model for LeasedContainer {
    type State = Option<Lease>;
    type Op = Op;
    type Answer = Answer;

    fn start() -> Self::State {
        Some(Lease::Available)
    }

    fn step(state: &Self::State, op: &Op, answer: Option<&Answer>) -> Vec<Self::State> {
        let went = perform(state.as_ref(), op);
        let good = match (&went, op) {
            (Ok((Some(lease), _)), Op::Read {}) => {
                let found = Answer::Found { value: 0, lease: lease.word().to_owned() };
                answer.is_none_or(|answer| *answer == found)
            }
            (Ok((_, seconds)), Op::Write { .. }) => fits(Ok(*seconds), &Answer::Written {}, answer),
            (Ok((_, seconds)), _) => fits(Ok(*seconds), &Answer::Done {}, answer),
            (Err(refused), _) => fits(Err(*refused), &Answer::Done {}, answer),
        };
        let next = went.map_or_else(|_| state.clone(), |done| done.0);
        if good { vec![next] } else { Vec::new() }
    }

    fn effect(_: &Op, answer: &Answer) -> Effect {
        effect(answer)
    }

    fn event(event: Event) -> Option<(Op, Answer)> {
        advanced(event)
    }
}

type Went = Result<(Option<Lease>, Option<u64>), (u64, &'static str)>;

fn perform(there: Option<&Lease>, op: &Op) -> Went {
    match (op, there) {
        (Op::Advance { ms }, lease) => Ok((lease.map(|lease| lease.after(*ms)), None)),
        (Op::Write { value: CREATE, .. }, None) => Ok((Some(Lease::Available), None)),
        (Op::Write { value: CREATE, .. }, Some(_)) => Err(EXISTS),
        (_, None) => Err(GONE),
        (Op::Write { id, .. }, Some(lease)) => lease.admits(*id, CODES).map(|()| (None, None)),
        (Op::Read {}, Some(lease)) => Ok((Some(lease.clone()), None)),
        (_, Some(lease)) => lease.act(op).map(|(lease, seconds)| (Some(lease), seconds)),
    }
}
