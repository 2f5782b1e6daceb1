//! The window of message ids: which a client may still use, each once.
//!
//! Must never let an id be used twice: that is what makes a replayed message worthless.

use crate::limits::CREDITS;
use std::collections::VecDeque;

/// The ids from `low` on that were granted; `true` has been used.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    low: u64,
    used: VecDeque<bool>,
    free: u16,
}

/// The id was never granted, or was used before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OutOfWindow;

impl Window {
    /// A new connection has one credit.
    pub(crate) fn new() -> Self {
        Self::starting_at(0)
    }

    /// One credit, for this id.
    pub(crate) fn starting_at(low: u64) -> Self {
        Self { low, used: VecDeque::from([false]), free: 1 }
    }

    /// Uses `charge` ids from `first` on, all of them or none.
    pub(crate) fn take(&mut self, first: u64, charge: u16) -> Result<(), OutOfWindow> {
        let charge = charge.max(1);
        let start = first.checked_sub(self.low).ok_or(OutOfWindow)?;
        let start = usize::try_from(start).map_err(|_| OutOfWindow)?;
        let end = start.checked_add(usize::from(charge)).ok_or(OutOfWindow)?;
        if end > self.used.len() || self.used.range(start..end).any(|used| *used) {
            return Err(OutOfWindow);
        }
        self.used.range_mut(start..end).for_each(|used| *used = true);
        self.free -= charge;
        while self.used.front() == Some(&true) {
            self.used.pop_front();
            self.low += 1;
        }
        Ok(())
    }

    /// Grants what is asked, as far as the limits go; at least one while the window allows it.
    ///
    /// The window never spans more than twice the credits: a client that leaves an id out and goes
    /// on past it runs dry instead of making the server remember without end.
    pub(crate) fn grant(&mut self, asked: u16) -> u16 {
        let span = usize::from(CREDITS) * 2 - self.used.len();
        let room = (CREDITS - self.free).min(u16::try_from(span).unwrap_or(u16::MAX));
        let granted = asked.max(1).min(room);
        self.used.extend(std::iter::repeat_n(false, usize::from(granted)));
        self.free += granted;
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_once() {
        let mut window = Window::new();
        assert_eq!(window.take(1, 1), Err(OutOfWindow));
        assert_eq!(window.take(0, 1), Ok(()));
        assert_eq!(window.take(0, 1), Err(OutOfWindow));
        assert_eq!(window.grant(4), 4);
        assert_eq!(window.take(2, 2), Ok(()));
        assert_eq!(window.take(1, 2), Err(OutOfWindow));
        assert_eq!(window.take(3, 1), Err(OutOfWindow));
        assert_eq!(window.take(4, 2), Err(OutOfWindow));
        assert_eq!(window.take(1, 0), Ok(()));
        assert_eq!(window.take(4, 1), Ok(()));
        assert_eq!(window.take(u64::MAX, 1), Err(OutOfWindow));
    }

    #[test]
    fn grants_have_a_ceiling() {
        let mut window = Window::new();
        window.take(0, 1).expect("the first");
        assert_eq!(window.grant(u16::MAX), CREDITS);
        assert_eq!(window.grant(1), 0);
        window.take(1, 1).expect("granted");
        assert_eq!(window.grant(0), 1);
    }

    #[test]
    fn an_id_left_out_ends_the_window_at_last() {
        let mut window = Window::new();
        window.take(0, 1).expect("the first");
        window.grant(10);
        let mut used = 0;
        for id in 2.. {
            if window.take(id, 1).is_err() {
                break;
            }
            used += 1;
            window.grant(1);
        }
        assert!(used > usize::from(CREDITS) && used < usize::from(CREDITS) * 2, "{used}");
    }
}
