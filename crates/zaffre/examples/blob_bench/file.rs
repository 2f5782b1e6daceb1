//! Files over HTTP against blobs of the same server, and pages of directories of different sizes.
//!
//! Must never let the two run at once: each has a process and a folder of its own, and rounds
//! alternate.

use crate::client::Connection;
use crate::load::{self, Next, Until};
use crate::report::{self, Peer, Result, Samples, per_second};
use crate::request::{Request, Signer};
use crate::servers::{Places, Server};
use crate::throughput::fixed;
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zaffre_base::base64;
use zaffre_base::checksum::Md5;

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
/// How often a large directory is listed from end to end.
const WALKS: u32 = 15;
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
    /// Of blobs only: what a file in two ranges is to be compared with besides.
    single: Samples,
    checked: Samples,
    read: Samples,
}

/// How 8 MiB are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// In parts: a file is made and written in ranges, a blob gets blocks and their list.
    Parts,
    /// The same, and every part is sent with its MD5, so that the server compares it.
    CheckedParts,
    /// In one request, which only a blob can.
    Single,
}

impl Way {
    fn steps(self) -> u32 {
        if self == Self::Single { 1 } else { PARTS + 1 }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Parts => "whole",
            Self::CheckedParts => "checked",
            Self::Single => "single",
        }
    }
}

/// What a request is about: files, or the blobs that they are compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Blob,
}

pub(crate) async fn bench(places: &Places, plan: Plan) -> Result<()> {
    report::fact("files and blobs of the same server, each in a process of its own");
    report::fact(
        "8 MiB are written as the SDKs do: a file is made and written in two ranges of 4 MiB, which is the most a \
         range may have; a blob is put in one request. The service's answers to both have the MD5 of the bytes, so \
         ours have. That to a block has not: beside two blocks and their list a file costs its MD5 more",
    );
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
    let write = "write 8 MiB files in ranges of 4 MiB, one writer";
    let single = peer("block blobs, Put Blob", &blob.single);
    report::row(write, "/s", &file.write, single, WHOLE_BAR);
    let blocks = peer("block blobs, two blocks and their list, no MD5", &blob.write);
    report::row(write, "/s", &file.write, blocks, 0.0);
    let blocks = peer("block blobs, two blocks and their list", &blob.checked);
    report::row(
        "the same, each range and each block with its Content-MD5",
        "/s",
        &file.checked,
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
    let part = bytes(PART)?;
    for step in 0..=PARTS {
        connection.ask(&whole(&signer, kind, "bench/read", step, &part, None)?).await?;
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
    rates.write.push(wholes(address, kind, round, time, Way::Parts).await?);
    if kind == Kind::Blob {
        rates.single.push(wholes(address, kind, round, time, Way::Single).await?);
    }
    rates.checked.push(wholes(address, kind, round, time, Way::CheckedParts).await?);
    let read = Signer::new()?.get_blob("bench/read", usize::try_from(WHOLE)?)?;
    let read = load::run(address, READERS, time, fixed(vec![read])).await?;
    rates.read.push(read.per_second);
    println!("  small {:.0}/s, read {:.0}/s", small.per_second, read.per_second);
    Ok(())
}

/// How many things are written whole in a second, by one writer.
async fn wholes(address: SocketAddr, kind: Kind, round: u32, time: Until, way: Way) -> Result<f64> {
    let signer = Signer::new()?;
    let body = bytes(if way == Way::Single { WHOLE } else { PART })?;
    let mut md5 = Md5::default();
    md5.update(&body);
    let md5 = (way == Way::CheckedParts).then(|| base64::encode(&md5.finish()));
    // One writer, so that the parts of a file come one after the other.
    let next: Next = Arc::new(move |number| {
        let name = format!("bench/{}-{round}-{}", way.name(), number / way.steps());
        match way {
            Way::Single => signer.put_blob(&name, body.clone()),
            Way::Parts | Way::CheckedParts => {
                whole(&signer, kind, &name, number % way.steps(), &body, md5.as_deref())
            }
        }
    });
    let written = load::run(address, 1, time, next).await?;
    Ok(written.per_second / f64::from(way.steps()))
}

fn bytes(length: u64) -> Result<Bytes> {
    Ok(Bytes::from(vec![0x5A; usize::try_from(length)?]))
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
    let body = bytes(SMALL)?;
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
fn whole(
    signer: &Signer,
    kind: Kind,
    name: &str,
    step: u32,
    part: &Bytes,
    md5: Option<&str>,
) -> Result<Request> {
    let more = md5.map(|md5| ("Content-MD5", md5));
    let (part, more) = (part.clone(), more.as_slice());
    match (kind, step) {
        (Kind::File, 0) => signer.create_file(name, WHOLE),
        (Kind::File, n) => signer.put_range_with(name, u64::from(n - 1) * PART, part, more),
        (Kind::Blob, n) if n < PARTS => signer.put_block(name, n, part, more),
        (Kind::Blob, _) => signer.put_block_list(name, PARTS),
    }
}

/// Pages of small and of large directories: from the middle, and on the way from end to end.
async fn listings(places: &Places, plan: Plan) -> Result<()> {
    let server = Server::our_files(places, &places.data.join("lists"))?;
    let address = server.address;
    for (share, count) in [("page", PAGE), ("few", FEW), ("many", plan.entries)] {
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
            let prefix = format!("prefix=f{:04}", count / 2 / PAGE);
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
    ends(address, plan.entries).await
}

/// The first and the last page of a directory, and the only page of one that has no more.
async fn ends(address: SocketAddr, entries: u32) -> Result<()> {
    let (mut only, mut first, mut last) =
        (Samples::default(), Samples::default(), Samples::default());
    for number in 0..=WALKS {
        let single = walk(address, "page").await?;
        let pages = walk(address, "many").await?;
        if pages.len() != usize::try_from(entries / PAGE)? || single.len() != 1 {
            return Err(format!("{} pages of {entries} entries", pages.len()).into());
        }
        // The first of each is not counted.
        if let ([single], [begin, .., end], true) = (&single[..], &pages[..], number > 0) {
            only.push(per_second(1, *single));
            first.push(per_second(1, *begin));
            last.push(per_second(1, *end));
        }
    }
    let name = format!("first page of {PAGE} of {entries} entries");
    let peer = Peer { name: "a directory of 1000 entries", figure: &only };
    report::row(&name, "/s", &first, peer, PAGE_BAR);
    let name = format!("last page of {PAGE} of {entries} entries");
    report::row(&name, "/s", &last, Peer { name: "its first page", figure: &first }, PAGE_BAR);
    Ok(())
}

/// Lists a directory from end to end; the time of each page.
async fn walk(address: SocketAddr, share: &str) -> Result<Vec<Duration>> {
    let signer = Signer::new()?;
    let mut connection = Connection::open(address).await?;
    let (mut times, mut marker) = (Vec::new(), String::new());
    loop {
        let page = signer.list_files(share, &format!("marker={marker}"), PAGE)?;
        let begun = Instant::now();
        let body = connection.ask_whole(&page).await?;
        times.push(begun.elapsed());
        let text = String::from_utf8_lossy(&body);
        let next = text.split_once("<NextMarker>").and_then(|(_, rest)| rest.split_once("</"));
        match next {
            Some((next, _)) if !next.is_empty() => {
                marker = next.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
            }
            _ => return Ok(times),
        }
    }
}
