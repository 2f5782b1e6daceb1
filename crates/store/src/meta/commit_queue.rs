//! The queue before the commit thread: many producers, one consumer that takes all there is.
//!
//! Must never lose an item: what was pushed is either taken or handed back on close. Built on
//! `crate::sync` so that the schedule tests run this very code.

use crate::sync::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::PoisonError;
use std::time::Duration;

/// Why an item was not taken in; it is handed back.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused<T> {
    /// As many as allowed are waiting.
    Full(T),
    /// The queue is closed.
    Closed(T),
}

/// The queue.
#[derive(Debug)]
pub struct CommitQueue<T> {
    state: Mutex<State<T>>,
    arrived: Condvar,
    capacity: usize,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    closed: bool,
    /// How many items the consumer waits for, 0 if it does not. It is woken for no fewer: each time
    /// is a call of the system.
    wanted: usize,
}

impl<T> CommitQueue<T> {
    /// A queue that lets `capacity` items wait.
    pub fn new(capacity: usize) -> Self {
        let state = State { items: VecDeque::new(), closed: false, wanted: 0 };
        Self { state: Mutex::new(state), arrived: Condvar::new(), capacity }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an item at the end.
    pub fn push(&self, item: T) -> Result<(), Refused<T>> {
        let mut state = self.state();
        if state.closed {
            return Err(Refused::Closed(item));
        }
        if state.items.len() >= self.capacity {
            return Err(Refused::Full(item));
        }
        state.items.push_back(item);
        let wake = (1..=state.items.len()).contains(&state.wanted);
        if wake {
            state.wanted = 0;
        }
        drop(state);
        if wake {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items wait.
    pub fn len(&self) -> usize {
        self.state().items.len()
    }

    /// Waits until there is an item, or the queue is closed.
    pub fn wait(&self) {
        drop(self.filled());
    }

    /// Waits until there are `wanted` items, but not for longer than `patience`.
    pub fn gather(&self, wanted: usize, patience: Duration) {
        let mut state = self.state();
        if state.items.len() < wanted && !state.closed {
            state.wanted = wanted;
            let outcome = self.arrived.wait_timeout(state, patience);
            outcome.unwrap_or_else(PoisonError::into_inner).0.wanted = 0;
        }
    }

    /// Waits for items and takes up to `most`, oldest first. `None` once closed and empty.
    pub fn take(&self, most: usize) -> Option<Vec<T>> {
        self.filled().take(most)
    }

    fn filled(&self) -> MutexGuard<'_, State<T>> {
        let mut state = self.state();
        while state.items.is_empty() && !state.closed {
            state.wanted = 1;
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    /// Takes up to `most` of the items that are there now; `None` if there are none.
    pub fn take_now(&self, most: usize) -> Option<Vec<T>> {
        self.state().take(most)
    }

    /// Takes no more items; those waiting are still taken.
    pub fn close(&self) {
        self.state().closed = true;
        self.arrived.notify_all();
    }
}

impl<T> State<T> {
    fn take(&mut self, most: usize) -> Option<Vec<T>> {
        let count = self.items.len().min(most);
        (count > 0).then(|| self.items.drain(..count).collect())
    }
}
