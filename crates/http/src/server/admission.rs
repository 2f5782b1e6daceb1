//! How many requests are worked on at once: the others wait a little, then are told to come again.
//!
//! Whoever waits costs nothing but its connection, and its body stays unread. So what is done is done
//! at full speed however many ask, and memory is bounded. Must never refuse while there is room.

use crate::error::ApiError;
use crate::limits;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;

/// Room for requests; listeners may share it.
#[derive(Debug)]
pub struct Admission {
    room: Semaphore,
    patience: Duration,
}

impl Default for Admission {
    fn default() -> Self {
        Self::new(limits::REQUESTS_IN_FLIGHT)
    }
}

impl Admission {
    /// Room for so many requests.
    pub fn new(requests: usize) -> Self {
        Self { room: Semaphore::new(requests), patience: limits::ADMISSION_WAIT }
    }

    /// A place, held for as long as the request is worked on; in the order of asking.
    pub(super) async fn enter(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        // Nearly always there is room, and then no timer is needed.
        if let Ok(place) = self.room.try_acquire() {
            return Ok(place);
        }
        match timeout(self.patience, self.room.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(ApiError::server_busy()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_finds_no_room_waits_and_then_comes_again() {
        let admission = Admission { room: Semaphore::new(1), patience: Duration::from_millis(20) };
        let place = admission.enter().await.expect("room");
        let busy = admission.enter().await.expect_err("no room");
        assert_eq!((busy.status.as_u16(), busy.code), (503, "ServerBusy"));
        drop(place);
        assert!(admission.enter().await.is_ok(), "room again");
    }

    #[tokio::test]
    async fn the_next_in_line_gets_the_room() {
        let admission = Admission { room: Semaphore::new(1), patience: Duration::from_mins(1) };
        let place = admission.enter().await.expect("room");
        let leaving = async {
            tokio::task::yield_now().await;
            drop(place);
        };
        let (entered, ()) = tokio::join!(admission.enter(), leaving);
        assert!(entered.is_ok());
    }
}
