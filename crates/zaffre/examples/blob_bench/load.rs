//! The one loader: so many clients, each with a connection, each waiting for its last answer.
//!
//! Must never count an answer that was not the expected one: it ends the run.

use crate::client::Connection;
use crate::report::{Result, per_second};
use crate::request::Request;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// When clients stop.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    Passed(Duration),
    Done(u32),
}

/// What a load came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) answers: u32,
    pub(crate) per_second: f64,
    /// Of the time from request to answer, in milliseconds.
    pub(crate) median_ms: f64,
    pub(crate) slowest_percent_ms: f64,
}

/// The n-th request of all, from whichever client is next.
pub(crate) type Next = Arc<dyn Fn(u32) -> Result<Request> + Send + Sync>;

/// Lets clients ask until the time has come.
pub(crate) async fn run(
    address: SocketAddr,
    clients: u32,
    until: Until,
    next: Next,
) -> Result<Outcome> {
    let mut connections = Vec::new();
    for _ in 0..clients {
        connections.push(Connection::open(address).await?);
    }
    let asked = Arc::new(AtomicU32::new(0));
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for connection in connections {
        tasks.spawn(client(connection, begun, until, Arc::clone(&asked), Arc::clone(&next)));
    }
    let mut times = Vec::new();
    while let Some(done) = tasks.join_next().await {
        times.extend(done??);
    }
    let spent = begun.elapsed();
    times.sort_unstable();
    let at = |percent: usize| {
        let time = times.get((times.len() * percent / 100).min(times.len().saturating_sub(1)));
        f64::from(*time.unwrap_or(&0)) / 1e3
    };
    let answers = u32::try_from(times.len())?;
    Ok(Outcome {
        answers,
        per_second: per_second(answers, spent),
        median_ms: at(50),
        slowest_percent_ms: at(99),
    })
}

/// The microseconds that each request took.
async fn client(
    mut connection: Connection,
    begun: Instant,
    until: Until,
    asked: Arc<AtomicU32>,
    next: Next,
) -> Result<Vec<u32>> {
    let mut times = Vec::new();
    loop {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        let over = match until {
            Until::Passed(time) => begun.elapsed() >= time,
            Until::Done(wanted) => number >= wanted,
        };
        if over {
            return Ok(times);
        }
        let request = next(number)?;
        let sent = Instant::now();
        connection.ask(&request).await?;
        times.push(u32::try_from(sent.elapsed().as_micros())?);
    }
}
