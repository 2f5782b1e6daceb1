//! The queue before the commit thread: many producers, one consumer that takes all there is.
//!
//! Must never lose an item: what was pushed is either taken or handed back on close. Built on
//! `crate::sync` so that the schedule tests run this very code.

use crate::sync::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::mem;
use std::sync::PoisonError;

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
    /// The consumer waits: only then is it woken, which is a call of the system.
    asleep: bool,
}

impl<T> CommitQueue<T> {
    /// A queue that lets `capacity` items wait.
    pub fn new(capacity: usize) -> Self {
        let state = State { items: VecDeque::new(), closed: false, asleep: false };
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
        let wake = mem::take(&mut state.asleep);
        drop(state);
        if wake {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Waits for items and takes up to `most`, oldest first. `None` once closed and empty.
    pub fn take(&self, most: usize) -> Option<Vec<T>> {
        let mut state = self.state();
        while state.items.is_empty() && !state.closed {
            state.asleep = true;
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.take(most)
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
