//! File descriptors: as many as the system lets us have, and the share of them for connections.
//!
//! Must never let connections have all: what is accepted must still be able to open a file.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use zaffre_http::limits::CONNECTIONS;

/// Raises the limit as far as we may; says how many connections there can be at once.
pub(crate) fn connections() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let limit = if raised.is_ok() { maximum } else { current };
    share(limit)
}

/// Three quarters, and no more than the named limit.
fn share(descriptors: Option<u64>) -> usize {
    let all = descriptors.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    (all / 4).saturating_mul(3).clamp(1, CONNECTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        for (descriptors, connections) in
            [(Some(0), 1), (Some(1024), 768), (Some(1_000_000), CONNECTIONS), (None, CONNECTIONS)]
        {
            assert_eq!(share(descriptors), connections, "{descriptors:?}");
        }
    }
}
