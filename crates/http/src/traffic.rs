//! What the services were asked and how they answered, counted for whoever watches.
//!
//! Must never hold a request up: counting is two lookups and a few atomic additions. Names come
//! from the code alone, so what is kept is bounded.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use zaffre_base::measure::{Histogram, Register};

/// Upper bounds of the latency histogram, in microseconds.
const MICROSECONDS: &[u64] = &[
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];
/// Kinds of answers: operations of all services, times the statuses each can have.
const ANSWERS: usize = 4_096;
/// Services.
const SERVICES: usize = 8;
/// Operations of all services.
const OPERATIONS: usize = 512;
/// Error codes of all services.
const CODES: usize = 1_024;
/// Requests that are remembered to know those that are sent again.
const REMEMBERED: usize = 8_192;
/// Stands for an operation that was never found out.
pub const UNKNOWN: &str = "Unknown";

/// One answer, as it is counted.
#[derive(Clone, Copy, Debug)]
pub struct Answered {
    /// `Blob`, `Queue`, …
    pub service: &'static str,
    /// The operation, if the request got that far.
    pub operation: Option<&'static str>,
    /// The status.
    pub status: u16,
    /// The error's code.
    pub code: Option<&'static str>,
    /// From the end of the request's head to the beginning of the answer.
    pub took: Duration,
}

/// Counts since the start.
#[derive(Debug)]
pub struct Traffic {
    answers: Register<(&'static str, &'static str, u16), AtomicU64>,
    times: Register<(&'static str, &'static str), Histogram>,
    codes: Register<(&'static str, &'static str, u16), AtomicU64>,
    retries: Register<&'static str, AtomicU64>,
    /// What requests with an id looked like, each in the place that its hash says.
    remembered: Box<[AtomicU64]>,
    /// Connections open now.
    connections: AtomicU64,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            answers: Register::new(ANSWERS),
            times: Register::new(OPERATIONS),
            codes: Register::new(CODES),
            retries: Register::new(SERVICES),
            remembered: (0..REMEMBERED).map(|_| AtomicU64::new(0)).collect(),
            connections: AtomicU64::new(0),
        }
    }
}

impl Traffic {
    /// Counts one answer.
    pub fn count(&self, answer: &Answered) {
        let Answered { service, operation, status, code, took } = *answer;
        let operation = operation.unwrap_or(UNKNOWN);
        raise(self.answers.of((service, operation, status), AtomicU64::default));
        let times = self.times.of((service, operation), || Histogram::new(MICROSECONDS));
        if let Some(times) = times {
            times.add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        }
        if let Some(code) = code {
            raise(self.codes.of((service, code, status), AtomicU64::default));
        }
    }

    /// Counts a request that its client has sent before: clients give a request a new id
    /// (`x-ms-client-request-id`), and send it again with the same one. Of many requests in between
    /// some repetitions are missed, and none is made up but by a collision of 64-bit hashes.
    pub(crate) fn notice(&self, service: &'static str, request: impl Hash) {
        let mut hasher = DefaultHasher::new();
        request.hash(&mut hasher);
        let hash = hasher.finish() | 1;
        let place = usize::try_from(hash >> 32).unwrap_or(0) % REMEMBERED;
        if self.remembered[place].swap(hash, Ordering::Relaxed) == hash {
            raise(self.retries.of(service, AtomicU64::default));
        }
    }

    /// Requests that were sent again, by service.
    pub fn retries(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.retries.iter().map(|(service, n)| (*service, n.load(Ordering::Relaxed)))
    }

    /// Answers by service, operation and status.
    pub fn answers(&self) -> impl Iterator<Item = (&'static str, &'static str, u16, u64)> {
        self.answers.iter().map(|((s, o, status), n)| (*s, *o, *status, n.load(Ordering::Relaxed)))
    }

    /// Latencies in microseconds, by service and operation.
    pub fn times(&self) -> impl Iterator<Item = (&'static str, &'static str, &Histogram)> {
        self.times.iter().map(|((service, operation), times)| (*service, *operation, times))
    }

    /// Errors by service, code and status.
    pub fn codes(&self) -> impl Iterator<Item = (&'static str, &'static str, u16, u64)> {
        self.codes.iter().map(|((s, c, status), n)| (*s, *c, *status, n.load(Ordering::Relaxed)))
    }

    /// Connections open now.
    pub fn connections(&self) -> u64 {
        self.connections.load(Ordering::Relaxed)
    }

    /// Counts a connection for as long as what is returned lives.
    pub(crate) fn connected(&self) -> Connected<'_> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        Connected(self)
    }
}

/// A connection that is counted.
pub(crate) struct Connected<'a>(&'a Traffic);

impl Drop for Connected<'_> {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

fn raise(count: Option<&AtomicU64>) {
    if let Some(count) = count {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_by_what_they_are() {
        let traffic = Traffic::default();
        for (operation, status, code) in [
            (Some("PutBlob"), 201, None),
            (Some("PutBlob"), 201, None),
            (Some("PutBlob"), 412, Some("ConditionNotMet")),
            (None, 400, Some("InvalidUri")),
        ] {
            let took = Duration::from_millis(3);
            traffic.count(&Answered { service: "Blob", operation, status, code, took });
        }
        let mut answers: Vec<_> = traffic.answers().collect();
        answers.sort_unstable();
        assert_eq!(
            answers,
            [("Blob", "PutBlob", 201, 2), ("Blob", "PutBlob", 412, 1), ("Blob", UNKNOWN, 400, 1)]
        );
        let times: u64 = traffic.times().map(|(_, _, times)| times.read().count).sum();
        assert_eq!((times, traffic.codes().count()), (4, 2));
    }

    #[test]
    fn a_request_that_is_sent_again_is_counted() {
        let traffic = Traffic::default();
        for request in [("1", "PUT /a"), ("2", "PUT /a"), ("1", "PUT /a"), ("1", "GET /a")] {
            traffic.notice("Blob", request);
        }
        assert_eq!(traffic.retries().collect::<Vec<_>>(), [("Blob", 1)]);
    }

    #[test]
    fn connections_are_counted_while_they_live() {
        let traffic = Traffic::default();
        let open = traffic.connected();
        assert_eq!(traffic.connections(), 1);
        drop(open);
        assert_eq!(traffic.connections(), 0);
    }
}
