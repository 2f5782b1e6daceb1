//! The whole server over HTTP against Azurite, nginx, a bare hyper server and the bare disk.
//!
//! `cargo xtask bench blob` runs it, and `cargo xtask bench queue`, `table`, `file` and `smb` with that
//! word. One loader for all; rounds of ours and of the peers' alternate, and the middle round counts. Must never compare with a figure from another run or machine.
//!
//! `drive <address> get|put|insert|batch <requests>` only loads a server that runs already, for a
//! profiler.

mod bare;
mod client;
mod file;
#[path = "../../../store/examples/store_bench/fio.rs"]
mod fio;
mod kinds;
mod load;
mod many;
#[path = "../../../store/examples/store_bench/process.rs"]
mod process;
mod queue;
mod queue_sizes;
#[path = "../../../store/examples/store_bench/report.rs"]
mod report;
mod request;
mod servers;
mod smb;
mod start;
mod table;
mod table_sizes;
mod throughput;
mod upload;

use report::Result;
use request::Signer;
use servers::Places;
use std::path::Path;
use std::process::ExitCode;

const KIB: u32 = 1024;
const MIB: u32 = 1024 * KIB;

/// How much is done.
#[derive(Clone, Copy, Debug)]
struct Plan {
    rounds: u32,
    seconds: u32,
    /// Blobs in the large container.
    blobs: u32,
    /// Cold starts.
    starts: u32,
    upload_mib: u32,
}

const FULL: Plan = Plan { rounds: 11, seconds: 2, blobs: 1_000_000, starts: 7, upload_mib: 4_096 };
const QUICK: Plan = Plan { rounds: 3, seconds: 1, blobs: 100_000, starts: 3, upload_mib: 512 };

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("blob_bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    let runtime = runtime(words)?;
    let (data, server, environment, plan) = match *words {
        ["drive", address, what, requests] => {
            let drive = throughput::drive(address.parse()?, what, requests.parse()?);
            return runtime.block_on(drive);
        }
        ["child-bare", status, length] => {
            return runtime.block_on(bare::serve(status.parse()?, length.parse()?));
        }
        [data, server, environment, "queue"] => {
            let places = prepared(data, "queue", server, environment)?;
            return runtime.block_on(queue::bench(&places, queue::FULL));
        }
        [data, server, environment, "queue", "--quick"] => {
            let places = prepared(data, "queue", server, environment)?;
            return runtime.block_on(queue::bench(&places, queue::QUICK));
        }
        [data, server, environment, "table"] => {
            let places = prepared(data, "table", server, environment)?;
            return runtime.block_on(table::bench(&places, table::FULL));
        }
        [data, server, environment, "table", "--quick"] => {
            let places = prepared(data, "table", server, environment)?;
            return runtime.block_on(table::bench(&places, table::QUICK));
        }
        [data, server, environment, "file"] => {
            let places = prepared(data, "file", server, environment)?;
            return runtime.block_on(file::bench(&places, file::FULL));
        }
        [data, server, environment, "file", "--quick"] => {
            let places = prepared(data, "file", server, environment)?;
            return runtime.block_on(file::bench(&places, file::QUICK));
        }
        [data, server, environment, "smb"] => {
            let places = prepared(data, "smb", server, environment)?;
            return runtime.block_on(smb::bench(&places, smb::FULL));
        }
        [data, server, environment, "smb", "--quick"] => {
            let places = prepared(data, "smb", server, environment)?;
            return runtime.block_on(smb::bench(&places, smb::QUICK));
        }
        [data, server, environment] => (data, server, environment, FULL),
        [data, server, environment, "--quick"] => (data, server, environment, QUICK),
        _ => return Err("usage: blob_bench <data> <server> <environment> [--quick]".into()),
    };
    let places = prepared(data, "blob", server, environment)?;
    runtime.block_on(bench(&places, plan))?;
    std::fs::remove_dir_all(&places.data)?;
    Ok(())
}

/// The loader's threads. One is enough for tables, whatever the server, and leaves it more of the
/// machine; a bare server that reads blobs keeps two of them busy.
fn runtime(words: &[&str]) -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if words.iter().any(|word| matches!(*word, "table" | "insert" | "batch")) {
        builder.worker_threads(1);
    }
    Ok(builder.enable_all().build()?)
}

/// An empty folder of its own.
fn prepared(data: &str, name: &str, server: &str, environment: &str) -> Result<Places> {
    let places = Places {
        data: Path::new(data).join(name),
        server: Path::new(server).to_owned(),
        environment: Path::new(environment).to_owned(),
    };
    if places.data.exists() {
        std::fs::remove_dir_all(&places.data)?;
    }
    std::fs::create_dir_all(&places.data)?;
    Ok(places)
}

async fn bench(places: &Places, plan: Plan) -> Result<()> {
    report::fact(format!("{} and nginx of Debian; {}", fio::version()?, azurite(places)?));
    // No such container is an answer too; that it has 404 shows that the store was asked.
    let mut ask = Signer::new()?.get_blob("none/none", 0)?;
    (ask.status, ask.length) = (404, None);
    let (times, memory) = start::empty(places, plan.starts, &ask).await?;
    report::limit("cold start on an empty store, to the first answer", "ms", times.median(), 100.0);
    report::figure("cold start on an empty store", "ms", &times);
    report::limit("idle memory of an empty server", "MB", memory.worst_high(), 30.0);
    throughput::measure(places, &plan).await?;
    kinds::measure(places, &plan).await?;
    upload::measure(places, plan.upload_mib).await?;
    many::measure(places, &plan).await
}

/// What the peer's package says of itself.
fn azurite(places: &Places) -> Result<String> {
    let manifest = places.environment.join("node_modules/azurite/package.json");
    let text = std::fs::read_to_string(manifest)?;
    let version = text.lines().find_map(|line| line.trim().strip_prefix("\"version\": \""));
    let version = version.and_then(|rest| rest.split('"').next()).unwrap_or("of unknown version");
    Ok(format!("Azurite {version} on Node 22"))
}
