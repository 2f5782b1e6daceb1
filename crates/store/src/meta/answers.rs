//! Answers on their way from the commit thread to who waits for them.
//!
//! Waking a task of another runtime is a call of the system each time; so all that wait on one
//! runtime are woken by one task there. Must never be given an answer before its batch is durable.

use super::engine::Body;
use crate::error::StoreError;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

/// A transaction that has run, to be answered when its batch is durable.
pub(super) struct Ran {
    pub(super) answer: oneshot::Sender<Result<(), StoreError>>,
    /// Where it is waited for.
    pub(super) waiter: Option<Handle>,
    pub(super) outcome: Result<(), StoreError>,
    /// What it holds on to is let go when everybody sees what it did, and not before.
    pub(super) body: Body,
}

impl Ran {
    fn send(self) {
        let Self { answer, body, outcome, .. } = self;
        // First, so that nothing of it is in the way of who has the answer.
        drop(body);
        // The receiver may be gone with its client.
        drop(answer.send(outcome));
    }
}

/// Answers all of them.
pub(super) fn send(answers: Vec<Ran>) {
    let mut left = Vec::new();
    for ran in answers {
        if ran.waiter.as_ref().is_some_and(wakes_dearly) { left.push(ran) } else { ran.send() }
    }
    while let Some(there) = left.first().and_then(|ran| ran.waiter.clone()) {
        let is_there = |ran: &mut Ran| ran.waiter.as_ref().is_some_and(|at| at.id() == there.id());
        let together: Vec<Ran> = left.extract_if(.., is_there).collect();
        there.spawn(async move { together.into_iter().for_each(Ran::send) });
    }
}

/// Whether each task that is woken there from elsewhere is a call of the system. Threads of a larger
/// runtime that are awake look for more by themselves.
fn wakes_dearly(runtime: &Handle) -> bool {
    runtime.runtime_flavor() == RuntimeFlavor::CurrentThread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::engine::Verdict;

    #[test]
    fn everybody_is_answered_wherever_they_wait() {
        let one = || tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let many = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build();
        let (first, second, many) = (one(), one(), many.expect("a runtime"));
        let runtimes = [Some(first.handle()), None, Some(second.handle()), Some(many.handle())];
        let mut receivers = Vec::new();
        let mut answers = Vec::new();
        for waiter in runtimes.into_iter().cycle().take(40) {
            let (answer, receiver) = oneshot::channel();
            receivers.push(receiver);
            let body: Body = Box::new(|_| Verdict::Commit);
            answers.push(Ran { answer, waiter: waiter.cloned(), outcome: Ok(()), body });
        }
        send(answers);
        for (number, mut receiver) in receivers.into_iter().enumerate() {
            let answer = match number % 4 {
                0 => first.block_on(receiver).ok(),
                2 => second.block_on(receiver).ok(),
                _ => receiver.try_recv().ok(),
            };
            assert!(matches!(answer, Some(Ok(()))), "{number}");
        }
    }
}
