//! The one clock: a persisted base plus monotonic time, freezable by tests and users.
//!
//! The only file that reads the machine's clocks. `now` never goes backwards, whatever the wall
//! clock does; `wall` is the real time, for the date-skew check of signatures alone.
#![allow(clippy::disallowed_methods, reason = "the one home of the clock")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use zaffre_base::{Stamp, Timestamp};

/// A shared clock.
#[derive(Clone, Debug)]
pub struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    started: Instant,
    state: Mutex<State>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// What `now` was when the monotonic time was `since`.
    base: Timestamp,
    since: Duration,
    frozen: bool,
}

impl State {
    fn now(&self, monotonic: Duration) -> Timestamp {
        if self.frozen { self.base } else { self.base.plus(monotonic.saturating_sub(self.since)) }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::starting_at(wall_clock())
    }
}

impl Clock {
    /// A clock that shows `base` now.
    pub fn starting_at(base: Timestamp) -> Self {
        let state = State { base, since: Duration::ZERO, frozen: false };
        Self(Arc::new(Inner { started: Instant::now(), state: Mutex::new(state) }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time since the clock was made; never steps.
    pub fn monotonic(&self) -> Duration {
        self.0.started.elapsed()
    }

    /// The service's time.
    pub fn now(&self) -> Timestamp {
        self.state().now(self.monotonic())
    }

    /// The machine's time.
    pub fn wall(&self) -> Timestamp {
        wall_clock()
    }

    /// Makes sure that `now` is not before `stamp`: what was committed is never in the future.
    pub fn raise_to(&self, stamp: Stamp) {
        self.change(|state, now| state.base = now.max(stamp.time()));
    }

    /// Whether the clock stands.
    pub fn is_frozen(&self) -> bool {
        self.state().frozen
    }

    /// Stops the clock where it is.
    pub fn freeze(&self) {
        self.change(|state, now| {
            state.base = now;
            state.frozen = true;
        });
    }

    /// Turns the clock forward, frozen or not.
    pub fn advance(&self, by: Duration) {
        self.change(|state, now| state.base = now.plus(by));
    }

    /// Lets a frozen clock go on from where it stands.
    pub fn resume(&self) {
        self.change(|state, now| {
            state.base = now;
            state.frozen = false;
        });
    }

    fn change(&self, change: impl FnOnce(&mut State, Timestamp)) {
        let monotonic = self.monotonic();
        let mut state = self.state();
        let now = state.now(monotonic);
        change(&mut state, now);
        state.since = monotonic;
    }
}

fn wall_clock() -> Timestamp {
    // A clock set before 1970 reads as 1970: stamps then rise by one tick per commit.
    Timestamp::from_unix(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_clock_stands_and_can_be_turned() {
        let clock = Clock::starting_at(Timestamp::from_unix_seconds(1_000));
        clock.freeze();
        let at = clock.now();
        assert_eq!(clock.now(), at);
        clock.advance(Duration::from_secs(15));
        assert_eq!(clock.now().since(at), Duration::from_secs(15));
        clock.resume();
        assert!(clock.now() >= at.plus(Duration::from_secs(15)));
    }

    #[test]
    fn it_is_raised_but_never_lowered() {
        let clock = Clock::starting_at(Timestamp::from_unix_seconds(1_000));
        clock.freeze();
        let later = Timestamp::from_unix_seconds(5_000);
        clock.raise_to(Stamp(later.0));
        assert_eq!(clock.now(), later);
        clock.raise_to(Stamp(1));
        assert_eq!(clock.now(), later);
    }
}
