//! Wing and Gong's search, memoised and breadth first: what is kept is the set of all that may be
//! the case, a state and which of the operations under way have happened in it.
//!
//! Must never call a history legal or illegal that it gave up on.

use super::{Effect, Entry, Model};
use std::collections::HashSet;

/// Operations that can be under way at once, those without an end included.
const SLOTS: usize = 64;

/// What a history is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// There is an order that explains every answer.
    Legal,
    /// There is none; the entry of this index is the first whose answer nothing explains.
    Illegal(usize),
    /// It would take more work than was allowed.
    Unknown,
}

/// What may be the case.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Possible<S> {
    state: S,
    /// The slots whose operation has happened and is not answered yet.
    happened: u64,
}

/// Checks a history, with at most `work` possibilities looked at for one answer.
pub(crate) fn check<M: Model>(history: &[Entry<M>], work: usize) -> Verdict {
    let mut slots: Vec<Option<usize>> = vec![None; SLOTS];
    let mut slot_of = vec![0; history.len()];
    let mut all = HashSet::from([Possible { state: M::start(), happened: 0 }]);
    for (index, is_end) in moments(history) {
        if !is_end {
            let Some(free) = slots.iter().position(Option::is_none) else {
                return Verdict::Unknown;
            };
            slots[free] = Some(index);
            slot_of[index] = free;
            continue;
        }
        let slot = slot_of[index];
        let Some(reached) = happen(history, &slots, &all, slot, work) else {
            return Verdict::Unknown;
        };
        let bit = 1 << slot;
        let never = all.into_iter().filter(|p| p.happened & bit == 0);
        let without: HashSet<_> = match history[index].answer {
            Some(_) => HashSet::new(),
            None => never.collect(),
        };
        all = reached;
        all.extend(without);
        slots[slot] = None;
        if all.is_empty() {
            return Verdict::Illegal(index);
        }
    }
    Verdict::Legal
}

/// Calls and ends in the order of time. A call at the very time of an end is taken to be before it:
/// what is not known to be apart may overlap.
fn moments<M: Model>(history: &[Entry<M>]) -> Vec<(usize, bool)> {
    let calls = history.iter().enumerate().map(|(index, entry)| (entry.call, false, index));
    let ends = history.iter().enumerate().filter_map(|(i, e)| e.end.map(|end| (end, true, i)));
    let mut moments: Vec<_> = calls.chain(ends).collect();
    moments.sort_unstable();
    moments.into_iter().map(|(_, is_end, index)| (index, is_end)).collect()
}

/// All that may be the case once the operation in `wanted` has happened, which is then forgotten.
/// What else is under way happens before it or later; `None` if that is too much work.
fn happen<M: Model>(
    history: &[Entry<M>],
    slots: &[Option<usize>],
    all: &HashSet<Possible<M::State>>,
    wanted: usize,
    work: usize,
) -> Option<HashSet<Possible<M::State>>> {
    let bit: u64 = 1 << wanted;
    let mut reached = HashSet::new();
    let mut seen: HashSet<_> =
        all.iter().map(|possible| settled(history, slots, possible.clone())).collect();
    let mut open: Vec<_> = seen.iter().cloned().collect();
    while let Some(possible) = open.pop() {
        if possible.happened & bit != 0 {
            let happened = possible.happened & !bit;
            reached.insert(Possible { happened, ..possible });
            continue;
        }
        for (slot, entry) in under_way(history, slots, possible.happened) {
            for state in M::step(&possible.state, &entry.op, entry.answer.as_ref()) {
                let next = Possible { state, happened: possible.happened | (1 << slot) };
                let next = settled(history, slots, next);
                if !seen.contains(&next) {
                    seen.insert(next.clone());
                    open.push(next);
                }
            }
        }
        if seen.len() > work {
            return None;
        }
    }
    Some(reached)
}

/// What is under way and has not happened.
fn under_way<'a, M: Model>(
    history: &'a [Entry<M>],
    slots: &'a [Option<usize>],
    happened: u64,
) -> impl Iterator<Item = (usize, &'a Entry<M>)> {
    let slots = slots.iter().enumerate().filter(move |(slot, _)| happened & (1 << slot) == 0);
    slots.filter_map(|(slot, index)| index.map(|index| (slot, &history[index])))
}

/// Lets every read and refusal happen that is answered rightly. To wait with it could only lose: it
/// stands in nobody's way. Not so a write that changes nothing here, which may be needed later.
fn settled<M: Model>(
    history: &[Entry<M>],
    slots: &[Option<usize>],
    mut possible: Possible<M::State>,
) -> Possible<M::State> {
    for (slot, entry) in under_way(history, slots, possible.happened) {
        let Some(answer) = entry.answer.as_ref() else { continue };
        if M::effect(&entry.op, answer) == Effect::Changed {
            continue;
        }
        let next = M::step(&possible.state, &entry.op, Some(answer));
        if matches!(next.as_slice(), [next] if *next == possible.state) {
            possible.happened |= 1 << slot;
        }
    }
    possible
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
