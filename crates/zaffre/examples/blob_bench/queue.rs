//! Queues over HTTP: putting, and receiving with deleting, against Azurite.
//!
//! Must never count a message that was not put, or received and deleted, as its own. Must never ask
//! one server while another still works on what it was given.

use crate::client::Connection;
use crate::load::{self, Next, Until};
use crate::queue_sizes;
use crate::report::{self, Peer, Result, Samples, per_second};
use crate::request::Signer;
use crate::servers::{Places, Server};
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

const CLIENTS: u32 = 64;
/// What the text of each message has.
const TEXT_BYTES: usize = 1024;
/// The least that one queue must do, in messages per second.
const LEAST: f64 = 2_000.0;

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    rounds: u32,
    seconds: u32,
    /// Messages in the large queue.
    pub(crate) messages: u32,
}

pub(crate) const FULL: Plan = Plan { rounds: 11, seconds: 2, messages: 1_000_000 };
pub(crate) const QUICK: Plan = Plan { rounds: 3, seconds: 1, messages: 50_000 };

#[derive(Default)]
struct Rates {
    put: Samples,
    put_azurite: Samples,
    take: Samples,
    take_azurite: Samples,
}

pub(crate) async fn bench(places: &Places, plan: Plan) -> Result<()> {
    report::fact(crate::azurite(places)?);
    let ours = Server::our_queues(places, &places.data.join("ours"))?;
    let azurite = Server::azurite_queues(places, &places.data.join("azurite"))?;
    for server in [&ours, &azurite] {
        let create = Signer::new()?.queue("PUT", "/bench", Bytes::new(), 201)?;
        Connection::open(server.address).await?.ask(&create).await?;
    }
    // Not counted: the peer's compiler and caches get warm.
    round(&ours, &azurite, &mut Rates::default(), 2 * plan.seconds).await?;
    let mut rates = Rates::default();
    for number in 1..=plan.rounds {
        round(&ours, &azurite, &mut rates, plan.seconds).await?;
        println!("  round {number} of {} is over", plan.rounds);
    }
    let peer = |figure| Peer { name: "Azurite", figure };
    let put = "PUT 1 KiB, 64 clients, one queue";
    let take = "GET and DELETE 1 KiB, 64 clients, one queue";
    report::row(put, "/s", &rates.put, peer(&rates.put_azurite), 15.0);
    report::row(take, "/s", &rates.take, peer(&rates.take_azurite), 15.0);
    let bar: Samples = std::iter::repeat_n(LEAST, usize::try_from(plan.rounds)?).collect();
    let least = |figure| Peer { name: "the least", figure };
    report::row(put, "/s", &rates.put, least(&bar), 1.0);
    report::row(take, "/s", &rates.take, least(&bar), 1.0);
    drop((ours, azurite));
    queue_sizes::measure(places, plan).await?;
    std::fs::remove_dir_all(&places.data)?;
    Ok(())
}

async fn round(ours: &Server, azurite: &Server, rates: &mut Rates, seconds: u32) -> Result<()> {
    let time = Duration::from_secs(seconds.into());
    for (server, put, take) in [
        (ours, &mut rates.put, &mut rates.take),
        (azurite, &mut rates.put_azurite, &mut rates.take_azurite),
    ] {
        let written = load::run(server.address, CLIENTS, Until::Passed(time), puts()?).await?;
        put.push(written.per_second);
        let (taken, spent) = take_all(server.address, written.answers, time).await?;
        take.push(per_second(taken, spent));
        println!("  PUT {:.0}/s, GET and DELETE {:.0}/s", put.median(), take.median());
        let clear = Signer::new()?.queue("DELETE", "/bench/messages", Bytes::new(), 204)?;
        Connection::open(server.address).await?.ask(&clear).await?;
        server.rest().await?;
    }
    Ok(())
}

fn puts() -> Result<Next> {
    let text = "x".repeat(TEXT_BYTES);
    let body = format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>");
    let request = Signer::new()?.queue("POST", "/bench/messages", Bytes::from(body), 201)?;
    Ok(Arc::new(move |_| Ok(request.clone())))
}

/// Receives one message after another and deletes each, until `time` has passed or `most` are gone.
async fn take_all(address: SocketAddr, most: u32, time: Duration) -> Result<(u32, Duration)> {
    let left = Arc::new(AtomicU32::new(most));
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for _ in 0..CLIENTS {
        let connection = Connection::open(address).await?;
        tasks.spawn(take(connection, begun, time, Arc::clone(&left)));
    }
    let mut taken = 0;
    while let Some(done) = tasks.join_next().await {
        taken += done??;
    }
    Ok((taken, begun.elapsed()))
}

async fn take(
    mut connection: Connection,
    begun: Instant,
    time: Duration,
    left: Arc<AtomicU32>,
) -> Result<u32> {
    let signer = Signer::new()?;
    let get = signer.queue("GET", "/bench/messages?visibilitytimeout=600", Bytes::new(), 200)?;
    let mut taken = 0;
    while begun.elapsed() < time {
        let more = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        if more.is_err() {
            break;
        }
        let answer = connection.ask_whole(&get).await?;
        let answer = String::from_utf8(answer)?;
        let (id, receipt) = (element(&answer, "MessageId")?, element(&answer, "PopReceipt")?);
        let receipt = receipt.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
        let target = format!("/bench/messages/{id}?popreceipt={receipt}");
        let delete = signer.queue("DELETE", &target, Bytes::new(), 204)?;
        connection.ask(&delete).await?;
        taken += 1;
    }
    Ok(taken)
}

fn element<'a>(text: &'a str, name: &str) -> Result<&'a str> {
    let inside = text.split_once(&format!("<{name}>")).and_then(|(_, rest)| rest.split_once('<'));
    inside.map(|(text, _)| text).ok_or_else(|| format!("no {name} in `{text}`").into())
}
