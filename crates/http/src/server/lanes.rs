//! Lanes: runtimes of one thread each, among which connections are shared out.
//!
//! A runtime of many threads waits for all its sockets in one of them; while that one waits for a
//! core, the others find nothing to do. A lane waits for its own sockets alone, and what its
//! connections share stays in the caches of one core. Must never be given work that blocks: it
//! would hold up every connection of the lane.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::runtime::Handle;

/// The lanes of a server; none of them means that connections run where they are accepted.
#[derive(Debug, Default)]
pub struct Lanes {
    lanes: Vec<Lane>,
    /// Where the next look begins, so that equals take turns.
    turn: AtomicUsize,
}

#[derive(Debug)]
struct Lane {
    runtime: Handle,
    connections: AtomicUsize,
}

impl Lanes {
    /// A lane on each of these runtimes.
    pub fn new(runtimes: impl IntoIterator<Item = Handle>) -> Self {
        let lane = |runtime| Lane { runtime, connections: AtomicUsize::new(0) };
        Self { lanes: runtimes.into_iter().map(lane).collect(), turn: AtomicUsize::new(0) }
    }

    /// A place on the lane that has the fewest connections.
    pub(super) fn enter(self: &Arc<Self>) -> Option<Seat> {
        let count = self.lanes.len();
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let connections = |at: &usize| self.lanes[*at].connections.load(Ordering::Relaxed);
        let at = (0..count).map(|step| turn.wrapping_add(step) % count).min_by_key(connections)?;
        self.lanes[at].connections.fetch_add(1, Ordering::Relaxed);
        Some(Seat { lanes: Arc::clone(self), at })
    }
}

/// A connection's place on a lane, until it is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    lanes: Arc<Lanes>,
    at: usize,
}

impl Seat {
    pub(super) fn runtime(&self) -> Handle {
        self.lanes.lanes[self.at].runtime.clone()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.lanes.lanes[self.at].connections.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_are_shared_out() {
        let lanes = Arc::new(Lanes::new([Handle::current(), Handle::current(), Handle::current()]));
        let enter = || lanes.enter().expect("there are lanes");
        let mut seats: Vec<Seat> = (0..7).map(|_| enter()).collect();
        let on = |seats: &[Seat], lane| seats.iter().filter(|seat| seat.at == lane).count();
        let mut counts = [0, 1, 2].map(|lane| on(&seats, lane));
        counts.sort_unstable();
        assert_eq!(counts, [2, 2, 3]);
        // Whoever leaves makes room for the next.
        let left = seats.remove(3).at;
        seats.push(enter());
        let most = [0, 1, 2].map(|lane| on(&seats, lane)).into_iter().max();
        assert!(most <= Some(3) && on(&seats, left) >= 2);
    }

    #[test]
    fn without_lanes_there_is_no_place() {
        assert!(Arc::new(Lanes::default()).enter().is_none());
    }
}
