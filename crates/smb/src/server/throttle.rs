//! How often an address may fail to log in.
//!
//! Must never lock out an account: only the address that guesses waits, and not for long.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Failures that cost nothing: mistyped keys, and programs that try all they know.
const FREE: u32 = 64;
/// After those, one more is free again each time so much has passed.
const PAUSE: Duration = Duration::from_millis(100);
/// Addresses that are remembered.
const ADDRESSES: usize = 4096;

/// When each address will have paid for its failures.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    paid: Mutex<HashMap<IpAddr, Duration>>,
}

impl Throttle {
    /// Whether the address may try at `now`, on a clock that only rises.
    pub(crate) fn admits(&self, address: IpAddr, now: Duration) -> bool {
        let paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        paid.get(&address).is_none_or(|at| at.saturating_sub(now) <= PAUSE * (FREE - 1))
    }

    /// Notes a failure.
    pub(crate) fn failed(&self, address: IpAddr, now: Duration) {
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        if paid.len() >= ADDRESSES {
            paid.retain(|_, at| *at > now);
        }
        if paid.len() >= ADDRESSES && !paid.contains_key(&address) {
            // Whoever has this many addresses is not stopped by counting them.
            return;
        }
        let at = paid.entry(address).or_insert(now);
        *at = (*at).max(now) + PAUSE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_get_slower_and_are_forgotten() {
        let throttle = Throttle::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let mut now = Duration::from_secs(1);
        for _ in 0..FREE {
            assert!(throttle.admits(one, now));
            throttle.failed(one, now);
        }
        assert!(!throttle.admits(one, now));
        assert!(throttle.admits(other, now));
        let mut tried = 0;
        for _ in 0..1000 {
            now += Duration::from_millis(10);
            if throttle.admits(one, now) {
                tried += 1;
                throttle.failed(one, now);
            }
        }
        assert_eq!(tried, 100, "ten a second");
        assert!(throttle.admits(one, now + PAUSE * 2));
        now += Duration::from_mins(1);
        for _ in 0..FREE {
            assert!(throttle.admits(one, now), "old failures do not count");
            throttle.failed(one, now);
        }
    }
}
