//! How often an address may fail to log in.
//!
//! Must never lock out an account: only the address that guesses waits.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Failures that cost nothing: a mistyped key.
const FREE: u32 = 10;
/// How long failures are remembered after the last one.
const MEMORY: Duration = Duration::from_mins(1);
/// Addresses that are remembered.
const ADDRESSES: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    last: Duration,
}

/// The failures of each address.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    failures: Mutex<HashMap<IpAddr, Failures>>,
}

impl Throttle {
    /// Whether the address may try at `now`, on a clock that only rises.
    pub(crate) fn admits(&self, address: IpAddr, now: Duration) -> bool {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.get(&address).is_none_or(|failed| {
            let waited = now.saturating_sub(failed.last);
            waited >= MEMORY || waited >= pause(failed.count)
        })
    }

    /// Notes a failure.
    pub(crate) fn failed(&self, address: IpAddr, now: Duration) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.retain(|_, failed| now.saturating_sub(failed.last) < MEMORY);
        if failures.len() >= ADDRESSES && !failures.contains_key(&address) {
            // Whoever has this many addresses is not stopped by counting them.
            return;
        }
        let entry = failures.entry(address).or_insert(Failures { count: 0, last: now });
        entry.count = entry.count.saturating_add(1);
        entry.last = now;
    }

    /// Forgets what failed before.
    pub(crate) fn succeeded(&self, address: IpAddr) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(&address);
    }
}

/// How long to wait after so many failures.
fn pause(count: u32) -> Duration {
    let over = count.saturating_sub(FREE);
    if over == 0 { Duration::ZERO } else { Duration::from_millis(100 << over.min(9)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_get_slower_and_are_forgotten() {
        let throttle = Throttle::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let at = Duration::from_secs;
        for _ in 0..FREE {
            assert!(throttle.admits(one, at(1)));
            throttle.failed(one, at(1));
        }
        assert!(throttle.admits(one, at(1)));
        throttle.failed(one, at(1));
        assert!(!throttle.admits(one, at(1)));
        assert!(throttle.admits(one, at(2)));
        assert!(throttle.admits(other, at(1)));
        for _ in 0..20 {
            throttle.failed(one, at(3));
        }
        assert!(!throttle.admits(one, at(40)));
        assert!(throttle.admits(one, at(64)));
        throttle.failed(one, at(65));
        assert!(throttle.admits(one, at(65)), "old failures do not count");
        throttle.succeeded(one);
        assert!(throttle.admits(one, at(65)));
    }
}
