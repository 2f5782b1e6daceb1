//! Reclaiming expired messages, soon after they have expired.
//!
//! Must never be needed for a message to be gone: that follows from the time alone.

use crate::queue::reclaim::reclaim;
use crate::{Core, Error};
use std::time::Duration;

/// How long it rests between two looks at the time.
const REST: Duration = Duration::from_secs(1);

/// Reclaims for as long as it runs.
pub(super) async fn run(core: &Core) {
    loop {
        if let Err(error) = work(core).await {
            tracing::warn!(%error, "expired messages could not be reclaimed; trying again");
        }
        tokio::time::sleep(REST).await;
    }
}

/// Reclaims what has expired by now.
pub(super) async fn work(core: &Core) -> Result<(), Error> {
    let now = core.store().clock.now();
    for place in core.pending().take_expired(now) {
        match reclaim(core, &place).await {
            Ok(Some(next)) => core.pending().expires(&place, next),
            Ok(None) => {}
            Err(error) => {
                core.pending().expires(&place, now);
                return Err(error);
            }
        }
    }
    Ok(())
}
