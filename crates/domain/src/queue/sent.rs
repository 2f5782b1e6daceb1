//! What a request may say about a new message's life.
//!
//! Must never know how these are spelled in a request.

use crate::Refusal;

/// How long a message lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lifetime {
    /// It never expires.
    Forever,
    /// So many seconds.
    Seconds(u64),
}

/// Whether a message that lives so long may stay invisible for `delay` seconds at first: it must be
/// visible some time before it expires.
pub fn check_insertion(lifetime: Lifetime, delay: u64) -> Result<(), Refusal> {
    match lifetime {
        Lifetime::Seconds(seconds) if delay >= seconds => {
            Err(Refusal::InvisibleForLife { seconds: delay })
        }
        Lifetime::Forever | Lifetime::Seconds(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays() {
        for (lifetime, delay, fits) in [
            (Lifetime::Forever, 604_800, true),
            (Lifetime::Seconds(10), 9, true),
            (Lifetime::Seconds(10), 10, false),
            (Lifetime::Seconds(1), 0, true),
        ] {
            assert_eq!(check_insertion(lifetime, delay).is_ok(), fits, "{lifetime:?} {delay}");
        }
    }
}
