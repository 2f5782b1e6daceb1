//! From the start of the process to its first answer, and its memory when nobody asks.
//!
//! Must never start on files that are still in the page cache: a cold start reads the disk.

use crate::client::Connection;
use crate::report::{Result, Samples};
use crate::request::Request;
use crate::servers::{Places, Server};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const MIB_TO_MB: f64 = 1.048_576;

/// Milliseconds to the first answer, and megabytes resident a second later.
pub(crate) async fn cold(places: &Places, folder: &Path, ask: &Request) -> Result<(f64, f64)> {
    forget(folder)?;
    let begun = Instant::now();
    let server = Server::ours(places, folder)?;
    Connection::open(server.address).await?.ask(ask).await?;
    let passed = begun.elapsed();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let memory = server.resident_mib()? * MIB_TO_MB;
    server.kill()?;
    Ok((passed.as_secs_f64() * 1e3, memory))
}

/// Starts on an empty folder, several times.
pub(crate) async fn empty(
    places: &Places,
    rounds: u32,
    ask: &Request,
) -> Result<(Samples, Samples)> {
    let (mut times, mut memory) = (Samples::default(), Samples::default());
    for round in 0..rounds {
        let folder = places.data.join(format!("empty-{round}"));
        let (ms, mb) = cold(places, &folder, ask).await?;
        times.push(ms);
        memory.push(mb);
        std::fs::remove_dir_all(folder)?;
    }
    Ok((times, memory))
}

/// Takes the folder's files out of the page cache.
fn forget(folder: &Path) -> Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            forget(&entry.path())?;
        } else {
            let input = format!("if={}", entry.path().display());
            let dropped = Command::new("dd")
                .args([&input, "iflag=nocache", "count=0"])
                .stderr(Stdio::null())
                .status()?;
            if !dropped.success() {
                return Err(format!("cannot drop {input} from the cache").into());
            }
        }
    }
    Ok(())
}
