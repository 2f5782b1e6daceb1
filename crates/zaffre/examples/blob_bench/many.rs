//! A store of very many blobs: the first page of a list, and starting on it after `kill -9`.
//!
//! Must never list a warmer container than the one it compares with.

use crate::client::Connection;
use crate::load::{self, Until};
use crate::report::{self, Peer, Result, Samples};
use crate::request::Signer;
use crate::servers::{Places, Server};
use crate::throughput::{fixed, put_numbered};
use crate::{Plan, start};
use std::net::SocketAddr;
use std::time::Instant;

const FEW: u32 = 10_000;
const PAGE: u32 = 5_000;
const LISTS: u32 = 40;
const BYTES: usize = 16;
const TAGGED: u32 = 100;

pub(crate) async fn measure(places: &Places, plan: &Plan) -> Result<()> {
    let folder = places.data.join("many");
    let server = Server::ours(places, &folder)?;
    for (container, count) in [("few", FEW), ("many", plan.blobs)] {
        let create = Signer::new()?.create_container(container)?;
        load::run(server.address, 1, Until::Done(1), fixed(vec![create])).await?;
        let done = put_numbered(server.address, &format!("{container}/blob"), count, BYTES).await?;
        println!("  {count} blobs were put at {:.0}/s", done.per_second);
    }
    let (mut few, mut many) = (Samples::default(), Samples::default());
    for _ in 0..LISTS {
        few.push(pages_per_second(server.address, "few").await?);
        many.push(pages_per_second(server.address, "many").await?);
    }
    let peer = Peer { name: "the page of 10000 blobs", figure: &few };
    let name = format!("first page of 5000 of {} blobs", plan.blobs);
    // The same within 30 % of the cost.
    report::row(&name, "/s", &many, peer, 1.0 / 1.3);
    tags(server.address, plan).await?;
    server.kill()?;

    let (mut times, mut memory) = (Samples::default(), Samples::default());
    for _ in 0..plan.starts {
        let ask = Signer::new()?.get_blob("many/blob-7", BYTES)?;
        let (ms, mb) = start::cold(places, &folder, &ask).await?;
        times.push(ms);
        memory.push(mb);
    }
    let name = format!("cold start with {} blobs, to the first answer", plan.blobs);
    report::limit(&name, "ms", times.median(), 1_000.0);
    report::figure(&name, "ms", &times);
    report::figure(&format!("idle memory with {} blobs", plan.blobs), "MB", &memory);
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// Finding a hundred blobs by a tag costs the same, however many others there are.
async fn tags(address: SocketAddr, plan: &Plan) -> Result<()> {
    let (mut few, mut many) = (Samples::default(), Samples::default());
    for container in ["few", "many"] {
        let signer = Signer::new()?;
        let tagged = (0..TAGGED).map(|n| signer.put_tagged(&format!("{container}/tagged-{n}")));
        let tagged = tagged.collect::<Result<Vec<_>>>()?;
        load::run(address, 1, Until::Done(TAGGED), fixed(tagged)).await?;
    }
    for _ in 0..LISTS {
        few.push(searches_per_second(address, "few").await?);
        many.push(searches_per_second(address, "many").await?);
    }
    let peer = Peer { name: "the search among 10000 blobs", figure: &few };
    let name = format!("find {TAGGED} of {} blobs by a tag", plan.blobs);
    // The same within 30 % of the cost.
    report::row(&name, "/s", &many, peer, 1.0 / 1.3);
    Ok(())
}

async fn searches_per_second(address: SocketAddr, container: &str) -> Result<f64> {
    let request = Signer::new()?.find(container)?;
    let mut connection = Connection::open(address).await?;
    let begun = Instant::now();
    let length = connection.ask(&request).await?;
    let passed = begun.elapsed();
    // Each entry takes more than a hundred bytes.
    if length < usize::try_from(TAGGED)? * 100 {
        return Err(format!("a search that found {length} bytes").into());
    }
    Ok(1.0 / passed.as_secs_f64())
}

async fn pages_per_second(address: SocketAddr, container: &str) -> Result<f64> {
    let request = Signer::new()?.list(container, PAGE)?;
    let mut connection = Connection::open(address).await?;
    let begun = Instant::now();
    let length = connection.ask(&request).await?;
    let passed = begun.elapsed();
    // Each entry takes more than a hundred bytes; less would be a page that is not full.
    if length < usize::try_from(PAGE)? * 100 {
        return Err(format!("a page of {length} bytes").into());
    }
    Ok(1.0 / passed.as_secs_f64())
}
