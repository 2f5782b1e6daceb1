//! Files over HTTP against blobs of the same server, and pages of directories of different sizes.
//!
//! Must never let the two run at once: each has a process and a folder of its own, and rounds
//! alternate.

use crate::client::Connection;
use crate::load::{self, Next, Until};
use crate::report::{self, Peer, Result, Samples, per_second};
use crate::request::Signer;
use crate::servers::{Places, Server};
use crate::throughput::fixed;
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Writers, each with a file or blob of its own.
const WRITERS: u32 = 16;
/// Size of what is written to in small pieces.
const DISK: u64 = 64 << 20;
const SMALL: u64 = 4 << 10;
/// Size of a range, and of a block.
const PART: u64 = 4 << 20;
const PARTS: u32 = 2;
/// Size of what is written and read from one end to the other.
const WHOLE: u64 = 8 << 20;
const READERS: u32 = 4;
/// Entries of the smaller directory.
const FEW: u32 = 5_000;
const PAGE: u32 = 1_000;
const PAGES: u32 = 40;
/// How much of a page write's rate a range's must have.
const SMALL_BAR: f64 = 0.8;
/// The same within 20 % of the cost.
const WHOLE_BAR: f64 = 1.0 / 1.2;
/// The same within 30 % of the cost.
const PAGE_BAR: f64 = 1.0 / 1.3;

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    rounds: u32,
    seconds: u32,
    /// Entries of the larger directory.
    entries: u32,
}

pub(crate) const FULL: Plan = Plan { rounds: 11, seconds: 2, entries: 100_000 };
pub(crate) const QUICK: Plan = Plan { rounds: 3, seconds: 1, entries: 20_000 };

#[derive(Default)]
struct Rates {
    small: Samples,
    write: Samples,
    read: Samples,
}

/// What a request is about: files, or the blobs that they are compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Blob,
}

pub(crate) async fn bench(places: &Places, plan: Plan) -> Result<()> {
    report::fact("files and blobs of the same server, each in a process of its own");
    let files = Server::our_files(places, &places.data.join("files"))?;
    let blobs = Server::ours(places, &places.data.join("blobs"))?;
    prepare(files.address, Kind::File).await?;
    prepare(blobs.address, Kind::Blob).await?;
    let (mut file, mut blob) = (Rates::default(), Rates::default());
    for round in 1..=plan.rounds {
        measure(files.address, Kind::File, round, plan.seconds, &mut file).await?;
        measure(blobs.address, Kind::Blob, round, plan.seconds, &mut blob).await?;
        println!("  round {round} of {} is over", plan.rounds);
    }
    let peer = |name, figure| Peer { name, figure };
    let small = "put range 4 KiB, 16 writers";
    report::row(small, "/s", &file.small, peer("page writes", &blob.small), SMALL_BAR);
    let blocks = peer("block blobs", &blob.write);
    report::row(
        "write 8 MiB files in ranges of 4 MiB, one writer",
        "/s",
        &file.write,
        blocks,
        WHOLE_BAR,
    );
    let blocks = peer("block blobs", &blob.read);
    report::row("read 8 MiB files, 4 readers", "/s", &file.read, blocks, WHOLE_BAR);
    drop((files, blobs));
    listings(places, plan).await?;
    std::fs::remove_dir_all(&places.data)?;
    Ok(())
}

/// What is read in every round.
async fn prepare(address: SocketAddr, kind: Kind) -> Result<()> {
    let signer = Signer::new()?;
    let mut connection = Connection::open(address).await?;
    match kind {
        Kind::File => connection.ask(&signer.create_share("bench")?).await?,
        Kind::Blob => connection.ask(&signer.create_container("bench")?).await?,
    };
    for step in 0..=PARTS {
        connection.ask(&whole(&signer, kind, "bench/read", step)?).await?;
    }
    Ok(())
}

async fn measure(
    address: SocketAddr,
    kind: Kind,
    round: u32,
    seconds: u32,
    rates: &mut Rates,
) -> Result<()> {
    let time = Until::Passed(Duration::from_secs(seconds.into()));
    let small = load::run(address, WRITERS, time, small(address, kind, round).await?).await?;
    rates.small.push(small.per_second);
    let signer = Signer::new()?;
    // One writer, so that the parts of a file come one after the other.
    let next: Next = Arc::new(move |number| {
        let name = format!("bench/whole-{round}-{}", number / (PARTS + 1));
        whole(&signer, kind, &name, number % (PARTS + 1))
    });
    let written = load::run(address, 1, time, next).await?;
    rates.write.push(written.per_second / f64::from(PARTS + 1));
    let read = Signer::new()?.get_blob("bench/read", usize::try_from(WHOLE)?)?;
    let read = load::run(address, READERS, time, fixed(vec![read])).await?;
    rates.read.push(read.per_second);
    println!("  small {:.0}/s, read {:.0}/s", small.per_second, read.per_second);
    Ok(())
}

/// Small writes anywhere in things that are new.
async fn small(address: SocketAddr, kind: Kind, round: u32) -> Result<Next> {
    let signer = Signer::new()?;
    let mut connection = Connection::open(address).await?;
    for n in 0..WRITERS {
        let name = format!("bench/disk-{round}-{n}");
        let create = match kind {
            Kind::File => signer.create_file(&name, DISK)?,
            Kind::Blob => signer.create_page_blob(&name, DISK)?,
        };
        connection.ask(&create).await?;
    }
    let body = Bytes::from(vec![0x5A; usize::try_from(SMALL)?]);
    Ok(Arc::new(move |number| {
        let name = format!("bench/disk-{round}-{}", number % WRITERS);
        // Anywhere, the same for both.
        let at = u64::from(number).wrapping_mul(0x9E37_79B9) % (DISK / SMALL) * SMALL;
        match kind {
            Kind::File => signer.put_range(&name, at, body.clone()),
            Kind::Blob => signer.put_page(&name, at, body.clone()),
        }
    }))
}

/// One step of writing something whole: a file is made and then its ranges, a blob's blocks and then
/// their list.
fn whole(signer: &Signer, kind: Kind, name: &str, step: u32) -> Result<crate::request::Request> {
    let body =
        || Ok::<_, std::num::TryFromIntError>(Bytes::from(vec![0x5A; usize::try_from(PART)?]));
    match (kind, step) {
        (Kind::File, 0) => signer.create_file(name, WHOLE),
        (Kind::File, part) => signer.put_range(name, u64::from(part - 1) * PART, body()?),
        (Kind::Blob, part) if part < PARTS => signer.put_block(name, part, body()?),
        (Kind::Blob, _) => signer.put_block_list(name, PARTS),
    }
}

/// Pages in the middle of a small and of a large directory.
async fn listings(places: &Places, plan: Plan) -> Result<()> {
    let server = Server::our_files(places, &places.data.join("lists"))?;
    let address = server.address;
    for (share, count) in [("few", FEW), ("many", plan.entries)] {
        let signer = Signer::new()?;
        Connection::open(address).await?.ask(&signer.create_share(share)?).await?;
        let next: Next = Arc::new(move |n| signer.create_file(&format!("{share}/f{n:07}"), 0));
        load::run(address, WRITERS, Until::Done(count), next).await?;
        println!("  a directory of {count} entries is filled");
    }
    let (mut few, mut many) = (Samples::default(), Samples::default());
    for number in 0..=PAGES {
        for (share, count, samples) in [("few", FEW, &mut few), ("many", plan.entries, &mut many)] {
            // The thousand that lies in the middle.
            let prefix = format!("f{:04}", count / 2 / PAGE);
            let page = Signer::new()?.list_files(share, &prefix, PAGE)?;
            let mut connection = Connection::open(address).await?;
            let begun = Instant::now();
            connection.ask(&page).await?;
            // The first of each is not counted.
            if number > 0 {
                samples.push(per_second(1, begun.elapsed()));
            }
        }
    }
    let name = format!("page of {PAGE} of {} entries", plan.entries);
    let peer = Peer { name: "the page of 5000 entries", figure: &few };
    report::row(&name, "/s", &many, peer, PAGE_BAR);
    Ok(())
}
