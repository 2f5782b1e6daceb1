//! How much memory a large upload takes: as one body, and as blocks sent in parallel.
//!
//! Must never hold the upload itself in memory.

use crate::client::Connection;
use crate::load::{self, Next, Until};
use crate::process::resident_mib;
use crate::report::{self, Result};
use crate::request::{Request, Signer};
use crate::servers::{Places, Server};
use crate::throughput::fixed;
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PIECE: usize = 1 << 20;
const BLOCK_MIB: u32 = 8;
const CLIENTS: u32 = 8;
/// Most that an upload may add to the server's memory.
const MOST_MIB: f64 = 64.0;

pub(crate) async fn measure(places: &Places, mib: u32) -> Result<()> {
    let folder = places.data.join("upload");
    let server = Server::ours(places, &folder)?;
    let create = Signer::new()?.create_container("bench")?;
    load::run(server.address, 1, Until::Done(1), fixed(vec![create])).await?;
    for (name, blocks) in [("as one body", false), ("in blocks, 8 at once", true)] {
        let before = server.resident_mib()?;
        let watch = Watch::start(server.id());
        let begun = Instant::now();
        if blocks {
            in_blocks(&server, mib).await?;
        } else {
            as_one_body(&server, mib).await?;
        }
        let rate = f64::from(mib) / begun.elapsed().as_secs_f64();
        let most = watch.stop()?;
        println!("  {mib} MiB {name}: {rate:.0} MiB/s, memory {before:.1} to {most:.1} MiB");
        let what = format!("memory added by an upload of {mib} MiB {name}");
        report::limit(&what, "MiB", most - before, MOST_MIB);
    }
    drop(server);
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

async fn as_one_body(server: &Server, mib: u32) -> Result<()> {
    let length = u64::from(mib) << 20;
    let more = [("x-ms-blob-type", "BlockBlob")];
    let head = Signer::new()?.head("PUT", "/bench/one", length, &more)?;
    let request = Request { head, body: Bytes::new(), status: 201, length: None };
    let mut connection = Connection::open(server.address).await?;
    connection.send(&request.head).await?;
    let piece = vec![0x5A; PIECE];
    for _ in 0..mib {
        connection.send(&piece).await?;
    }
    connection.answer(&request).await?;
    Ok(())
}

async fn in_blocks(server: &Server, mib: u32) -> Result<()> {
    let (signer, blocks) = (Signer::new()?, mib / BLOCK_MIB);
    let body = Bytes::from(vec![0x5A; PIECE * usize::try_from(BLOCK_MIB)?]);
    let next: Next = Arc::new(move |number| {
        let target = format!("/bench/many?comp=block&blockid={}", block_id(number));
        let head = signer.head("PUT", &target, u64::try_from(body.len())?, &[])?;
        Ok(Request { head, body: body.clone(), status: 201, length: None })
    });
    load::run(server.address, CLIENTS, Until::Done(blocks), next).await?;
    let ids = (0..blocks).map(|number| format!("<Latest>{}</Latest>", block_id(number)));
    let text: String = ids.collect();
    let list = Bytes::from(format!("<BlockList>{text}</BlockList>"));
    let length = u64::try_from(list.len())?;
    let head = Signer::new()?.head("PUT", "/bench/many?comp=blocklist", length, &[])?;
    let commit = Request { head, body: list, status: 201, length: None };
    load::run(server.address, 1, Until::Done(1), fixed(vec![commit])).await?;
    Ok(())
}

/// Eight digits are the Base64 of six bytes, and need no escape.
fn block_id(number: u32) -> String {
    format!("{number:08}")
}

/// Looks at a process's memory until told to stop.
struct Watch {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Result<f64>>,
}

impl Watch {
    fn start(id: u32) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut most = 0.0_f64;
            while !stop.load(Ordering::Relaxed) {
                most = most.max(resident_mib(id)?);
                std::thread::sleep(Duration::from_millis(10));
            }
            Ok(most)
        });
        Self { over, thread }
    }

    /// The most that was seen.
    fn stop(self) -> Result<f64> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "the watch panicked")?
    }
}
