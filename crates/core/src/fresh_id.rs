//! New ids for contents and staging areas.
//!
//! Must never be used for what has to be secret: a thread draws its random bytes ahead.

use std::cell::RefCell;
use std::io;
use zaffre_base::ContentId;
use zaffre_store::{Clock, StoreError};

/// The rest of an id is the time.
const RANDOM_BITS: u32 = 80;
const RANDOM_BYTES: usize = 10;
/// Ids that one call of the system is enough for.
const AHEAD: usize = 51;

/// Random bytes; those of which nothing is left to use are at the front.
struct Drawn {
    bytes: [u8; RANDOM_BYTES * AHEAD],
    used: usize,
}

thread_local! {
    static DRAWN: RefCell<Drawn> =
        const { RefCell::new(Drawn { bytes: [0; RANDOM_BYTES * AHEAD], used: RANDOM_BYTES * AHEAD }) };
}

/// A new id for a content or a staging area. Drawn before a transaction: bodies are deterministic.
///
/// It begins with the time, in steps of 6.5 ms, so that rows of contents made one after the other
/// stand side by side in the tree; 80 random bits keep it from ever being drawn again.
pub(crate) fn fresh_id(clock: &Clock) -> Result<ContentId, StoreError> {
    const TICK_BITS: u32 = 64 - (128 - RANDOM_BITS);
    let random = DRAWN.with_borrow_mut(Drawn::next)?;
    let time = u128::from(clock.now().0 >> TICK_BITS) << RANDOM_BITS;
    Ok(ContentId(time | random))
}

impl Drawn {
    fn next(&mut self) -> Result<u128, StoreError> {
        if self.used == self.bytes.len() {
            getrandom::fill(&mut self.bytes)
                .map_err(|error| StoreError::io("drawing an id", io::Error::other(error)))?;
            self.used = 0;
        }
        let next = &self.bytes[self.used..][..RANDOM_BYTES];
        self.used += RANDOM_BYTES;
        Ok(next.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_bytes_are_used_twice() {
        let mut drawn = Drawn { bytes: [0; RANDOM_BYTES * AHEAD], used: RANDOM_BYTES * AHEAD };
        let ids: HashSet<u128> = (0..10 * AHEAD).filter_map(|_| drawn.next().ok()).collect();
        assert_eq!(ids.len(), 10 * AHEAD);
        assert!(ids.iter().all(|id| *id >> RANDOM_BITS == 0));
    }
}
