//! Small writes to append and page blobs, and what a snapshot of a large page blob costs.
//!
//! Must never let ours and the peer run at once.

use crate::Plan;
use crate::client::Connection;
use crate::load::{self, Next, Outcome, Until};
use crate::report::{self, Peer, Result, Samples};
use crate::request::Signer;
use crate::servers::{Places, Server};
use crate::throughput::fixed;
use bytes::Bytes;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Writers, each with a blob of its own.
const WRITERS: u32 = 16;
/// Size of the page blobs that are written to.
const DISK: u64 = 64 << 20;
/// Size of the page blob whose snapshots are timed.
const LARGE: u64 = 1 << 30;
const WRITE: u64 = 4 << 20;
const SNAPSHOTS: u32 = 21;
/// The least that ours must be faster than the peer.
const BAR: f64 = 10.0;
/// The longest that a snapshot may take.
const SNAPSHOT_MS: f64 = 10.0;

#[derive(Clone, Copy)]
enum Write {
    Append,
    Page(u64),
}

/// Rates of one kind of write.
#[derive(Default)]
struct Pair {
    ours: Samples,
    azurite: Samples,
    cpu: Samples,
}

pub(crate) async fn measure(places: &Places, plan: &Plan) -> Result<()> {
    let ours = Server::ours(places, &places.data.join("kinds"))?;
    let azurite = Server::azurite(places, &places.data.join("kinds-azurite"))?;
    for server in [&ours, &azurite] {
        let create = Signer::new()?.create_container("kinds")?;
        load::run(server.address, 1, Until::Done(1), fixed(vec![create])).await?;
    }
    let writes = [
        ("append 4 KiB, 16 writers", Write::Append),
        ("page write 512 B, 16 writers", Write::Page(512)),
        ("page write 4 KiB, 16 writers", Write::Page(4 << 10)),
    ];
    let mut pairs: [Pair; 3] = Default::default();
    let until = Until::Passed(Duration::from_secs(plan.seconds.into()));
    // The first round warms the peers' compilers and is not counted.
    for round in 0..=plan.rounds {
        for ((name, write), pair) in writes.iter().zip(&mut pairs) {
            let before = ours.cpu_seconds()?;
            let outcome = run(&ours, *write, round, until).await?;
            let cpu = (ours.cpu_seconds()? - before) * 1e6 / f64::from(outcome.answers);
            let peer = run(&azurite, *write, round, until).await?;
            if round > 0 {
                println!("  {name}: {:.0}/s", outcome.per_second);
                pair.ours.push(outcome.per_second);
                pair.azurite.push(peer.per_second);
                pair.cpu.push(cpu);
            }
        }
    }
    for ((name, _), pair) in writes.iter().zip(&pairs) {
        report::row(name, "/s", &pair.ours, Peer { name: "Azurite", figure: &pair.azurite }, BAR);
        report::figure(&format!("CPU per {name}, ours"), "µs", &pair.cpu);
    }
    azurite.kill()?;
    ours.kill()?;
    snapshots(places).await
}

/// Writes to new blobs, one for each writer.
async fn run(to: &Server, write: Write, round: u32, until: Until) -> Result<Outcome> {
    let signer = Signer::new()?;
    let name = |n: u32| match write {
        Write::Append => format!("kinds/log-{round}-{n}"),
        Write::Page(size) => format!("kinds/disk-{size}-{round}-{n}"),
    };
    let mut connection = Connection::open(to.address).await?;
    for n in 0..WRITERS {
        let create = match write {
            Write::Append => signer.create_append_blob(&name(n))?,
            Write::Page(_) => signer.create_page_blob(&name(n), DISK)?,
        };
        connection.ask(&create).await?;
    }
    let body = Bytes::from(vec![0x5A; 4 << 10]);
    let next: Next = Arc::new(move |number| {
        let blob = match write {
            Write::Append => format!("kinds/log-{round}-{}", number % WRITERS),
            Write::Page(size) => format!("kinds/disk-{size}-{round}-{}", number % WRITERS),
        };
        match write {
            Write::Append => signer.append(&blob, body.clone()),
            Write::Page(size) => {
                // Anywhere in the blob, the same for ours and the peer.
                let at = u64::from(number).wrapping_mul(0x9E37_79B9) % (DISK / size) * size;
                signer.put_page(&blob, at, body.slice(..usize::try_from(size)?))
            }
        }
    });
    load::run(to.address, WRITERS, until, next).await
}

/// Times snapshots of a full page blob, and shows that none of them copies its bytes.
async fn snapshots(places: &Places) -> Result<()> {
    let folder = places.data.join("snapshots");
    let server = Server::ours(places, &folder)?;
    let signer = Signer::new()?;
    let mut connection = Connection::open(server.address).await?;
    connection.ask(&signer.create_container("kinds")?).await?;
    connection.ask(&signer.create_page_blob("kinds/large", LARGE)?).await?;
    let body = Bytes::from(vec![0x5A; usize::try_from(WRITE)?]);
    for at in 0..LARGE / WRITE {
        connection.ask(&signer.put_page("kinds/large", at * WRITE, body.clone())?).await?;
    }
    let before = bytes_in(&folder)?;
    let mut times = Samples::default();
    for n in 0..SNAPSHOTS {
        let begun = Instant::now();
        connection.ask(&signer.snapshot("kinds/large")?).await?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        // So that each shows something else.
        let at = u64::from(n) * WRITE;
        connection.ask(&signer.put_page("kinds/large", at, body.slice(..512))?).await?;
    }
    let grown = bytes_in(&folder)?.saturating_sub(before);
    report::limit("snapshot of a 1 GiB page blob", "ms", times.median(), SNAPSHOT_MS);
    report::figure("snapshot of a 1 GiB page blob", "ms", &times);
    let mib = f64::from(u32::try_from(grown >> 10)?) / 1024.0;
    report::limit("growth of the folder by 21 snapshots and writes", "MiB", mib, 64.0);
    server.kill()
}

fn bytes_in(folder: &Path) -> Result<u64> {
    let mut all = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        all += if meta.is_dir() { bytes_in(&entry.path())? } else { meta.len() };
    }
    Ok(all)
}
