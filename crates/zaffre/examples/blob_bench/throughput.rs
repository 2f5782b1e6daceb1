//! Rates, in rounds in which ours and the peers alternate.
//!
//! Must never let two of them run at once.

use crate::client::Connection;
use crate::fio::{self, Append};
use crate::load::{self, Next, Outcome, Until};
use crate::report::{self, Peer, Result, Samples};
use crate::request::{Request, Signer, plain_get};
use crate::servers::{Places, Server};
use crate::table;
use crate::{KIB, MIB, Plan};
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const CLIENTS: u32 = 64;
/// Clients of requests that are large enough to keep the disk or the network busy.
const FEW_CLIENTS: u32 = 4;
/// Blobs that are read.
const SMALL: u32 = 2_000;
const LARGE: u32 = 16;
const LARGE_BYTES: usize = 8 << 20;
/// Uploads that are signed before their clock starts: more than any server takes in a round.
const SIGNED_AHEAD: u32 = 50_000;
/// Between what writes and what reads.
const SETTLE: Duration = Duration::from_secs(1);

/// What the rounds gave.
#[derive(Default)]
struct Rates {
    put: Samples,
    put_azurite: Samples,
    disk: Samples,
    put_mib: Samples,
    disk_mib: Samples,
    get: Samples,
    get_cpu: Samples,
    get_azurite: Samples,
    get_azurite_cpu: Samples,
    get_bare: Samples,
    get_bare_cpu: Samples,
    get_large: Samples,
    get_large_nginx: Samples,
    cpu: Samples,
    cpu_nginx: Samples,
}

/// All servers at once; idle ones cost nothing.
struct Field {
    ours: Server,
    azurite: Server,
    bare: Server,
    nginx: Server,
    /// Makes the names of each round's blobs new.
    named: AtomicU32,
}

pub(crate) async fn measure(places: &Places, plan: &Plan) -> Result<()> {
    let field = Field::start(places).await?;
    let disk = places.data.join("fio");
    let disk = |block, jobs| fio::append(&disk, Append { block, jobs, seconds: plan.seconds });
    // Not counted: the peers' compilers and caches get warm.
    field.round(&disk, &mut Rates::default(), 3 * plan.seconds).await?;
    let mut rates = Rates::default();
    for round in 1..=plan.rounds {
        field.round(&disk, &mut rates, plan.seconds).await?;
        println!("  round {round} of {} is over", plan.rounds);
    }
    print(&rates);
    Ok(())
}

fn print(rates: &Rates) {
    let fio = Peer { name: "fio, 4 KiB append+fdatasync, 4 jobs", figure: &rates.disk };
    let fio_mib = Peer { name: "fio, 1 MiB append+fdatasync, 1 job", figure: &rates.disk_mib };
    let azurite = |figure| Peer { name: "Azurite", figure };
    let bare = Peer { name: "bare hyper", figure: &rates.get_bare };
    let nginx = Peer { name: "nginx", figure: &rates.get_large_nginx };
    report::row("PUT 4 KiB, 64 clients", "/s", &rates.put, azurite(&rates.put_azurite), 15.0);
    report::row("PUT 4 KiB, 64 clients", "/s", &rates.put, fio, 0.5);
    report::row("PUT 1 MiB, 4 clients", "/s", &rates.put_mib, fio_mib, 0.6);
    report::row("GET 4 KiB, 64 clients", "/s", &rates.get, azurite(&rates.get_azurite), 15.0);
    report::row("GET 4 KiB, 64 clients", "/s", &rates.get, bare, 0.5);
    report::row("GET 8 MiB, 4 clients", "/s", &rates.get_large, nginx, 0.7);
    report::figure("CPU per GET of 4 KiB, ours", "µs", &rates.get_cpu);
    report::figure("CPU per GET of 4 KiB, bare hyper", "µs", &rates.get_bare_cpu);
    report::figure("CPU per GET of 4 KiB, Azurite", "µs", &rates.get_azurite_cpu);
    report::figure("CPU per GiB of 8 MiB GETs, ours", "s", &rates.cpu);
    report::figure("CPU per GiB of 8 MiB GETs, nginx", "s", &rates.cpu_nginx);
}

impl Field {
    async fn start(places: &Places) -> Result<Self> {
        let files = places.data.join("nginx");
        std::fs::create_dir_all(&files)?;
        for number in 0..LARGE {
            std::fs::write(files.join(format!("large-{number}")), vec![0x5A; LARGE_BYTES])?;
        }
        let field = Self {
            ours: Server::ours(places, &places.data.join("ours"))?,
            azurite: Server::azurite(places, &places.data.join("azurite"))?,
            bare: Server::bare(200, 4 << 10)?,
            nginx: Server::nginx(&files)?,
            named: AtomicU32::new(0),
        };
        for server in [&field.ours, &field.azurite] {
            let signer = Arc::new(Signer::new()?);
            let create = signer.create_container("bench")?;
            load::run(server.address, 1, Until::Done(1), fixed(vec![create])).await?;
            put_numbered(server.address, "bench/small", SMALL, 4 << 10).await?;
        }
        put_numbered(field.ours.address, "bench/large", LARGE, LARGE_BYTES).await?;
        Ok(field)
    }

    async fn round(
        &self,
        disk: &(impl Fn(u32, u32) -> Result<f64> + Sync),
        rates: &mut Rates,
        seconds: u32,
    ) -> Result<()> {
        let until = Until::Passed(Duration::from_secs(seconds.into()));
        let Rates { get, get_cpu, get_azurite, get_azurite_cpu, .. } = rates;
        tell("GET 4 KiB", get_small(&self.ours, until, get, get_cpu).await?);
        get_small(&self.azurite, until, get_azurite, get_azurite_cpu).await?;
        get_small(&self.bare, until, &mut rates.get_bare, &mut rates.get_bare_cpu).await?;
        let (rate, cpu) = get_large(&self.ours, until, ours_large()?).await?;
        rates.get_large.push(rate);
        rates.cpu.push(cpu);
        let (rate, cpu) = get_large(&self.nginx, until, nginx_large()).await?;
        rates.get_large_nginx.push(rate);
        rates.cpu_nginx.push(cpu);
        let small = self.put(&self.ours, CLIENTS, 4 << 10, until).await?;
        rates.put.push(tell("PUT 4 KiB", small));
        rates.put_azurite.push(self.put(&self.azurite, CLIENTS, 4 << 10, until).await?.per_second);
        self.azurite.rest().await?;
        rates.disk.push(disk(4 * KIB, 4)?);
        let large = self.put(&self.ours, FEW_CLIENTS, 1 << 20, until).await?;
        rates.put_mib.push(tell("PUT 1 MiB", large));
        rates.disk_mib.push(disk(MIB, 1)?);
        // The kernel still frees what fio removed; the next round must not pay for it.
        tokio::time::sleep(SETTLE).await;
        Ok(())
    }

    /// Puts new blobs.
    async fn put(&self, to: &Server, clients: u32, size: usize, until: Until) -> Result<Outcome> {
        let series = self.named.fetch_add(1, Ordering::Relaxed);
        put_new(to.address, clients, size, until, series).await
    }
}

async fn put_new(
    to: SocketAddr,
    clients: u32,
    size: usize,
    until: Until,
    series: u32,
) -> Result<Outcome> {
    let (signer, body) = (Signer::new()?, Bytes::from(vec![0x5A; size]));
    let put = move |number| signer.put_blob(&format!("bench/put-{series}-{number}"), body.clone());
    // As with reads: what the loader does meanwhile is as little as can be, for every server.
    let ready: Vec<Request> = (0..SIGNED_AHEAD).map(&put).collect::<Result<_>>()?;
    let next: Next = Arc::new(move |number| match ready.get(usize::try_from(number)?) {
        Some(request) => Ok(request.clone()),
        None => put(number),
    });
    load::run(to, clients, until, next).await
}

/// Loads a server that runs already and says what it reached; `get` reads what `put` has left.
pub(crate) async fn drive(address: SocketAddr, what: &str, requests: u32) -> Result<()> {
    let until = Until::Done(requests);
    let outcome = match what {
        "get" => load::run(address, CLIENTS, until, fixed(small_gets()?)).await?,
        "put" => {
            let create = Signer::new()?.create_container("bench")?;
            // Whoever drives twice finds the container there.
            let _ = Connection::open(address).await?.ask(&create).await;
            put_numbered(address, "bench/small", SMALL, 4 << 10).await?;
            put_new(address, CLIENTS, 4 << 10, until, std::process::id()).await?
        }
        "insert" | "batch" => table::drive(address, what == "batch", until).await?,
        other => return Err(format!("cannot drive `{other}`").into()),
    };
    tell(what, outcome);
    Ok(())
}

fn tell(what: &str, outcome: Outcome) -> f64 {
    let Outcome { per_second, median_ms, slowest_percent_ms, .. } = outcome;
    println!(
        "  {what}: {per_second:.0}/s, median {median_ms:.2} ms, p99 {slowest_percent_ms:.2} ms"
    );
    per_second
}

/// Puts the blobs `name-0`, `name-1`, …
pub(crate) async fn put_numbered(
    to: SocketAddr,
    name: &str,
    count: u32,
    size: usize,
) -> Result<Outcome> {
    let (signer, body) = (Signer::new()?, Bytes::from(vec![0x5A; size]));
    let name = name.to_owned();
    let next: Next =
        Arc::new(move |number| signer.put_blob(&format!("{name}-{number}"), body.clone()));
    load::run(to, CLIENTS.min(count), Until::Done(count), next).await
}

/// The same requests over and over.
pub(crate) fn fixed(requests: Vec<Request>) -> Next {
    Arc::new(move |number| {
        let at = usize::try_from(number)? % requests.len();
        Ok(requests[at].clone())
    })
}

/// Signed beforehand: the loader's own work is as small as can be.
fn small_gets() -> Result<Vec<Request>> {
    let signer = Signer::new()?;
    (0..SMALL).map(|n| signer.get_blob(&format!("bench/small-{n}"), 4 << 10)).collect()
}

/// Adds a rate and the server's CPU microseconds per answer.
async fn get_small(
    from: &Server,
    until: Until,
    rates: &mut Samples,
    cpu: &mut Samples,
) -> Result<Outcome> {
    let before = from.cpu_seconds()?;
    let outcome = load::run(from.address, CLIENTS, until, fixed(small_gets()?)).await?;
    cpu.push((from.cpu_seconds()? - before) * 1e6 / f64::from(outcome.answers));
    rates.push(outcome.per_second);
    Ok(outcome)
}

fn ours_large() -> Result<Vec<Request>> {
    let signer = Signer::new()?;
    (0..LARGE).map(|n| signer.get_blob(&format!("bench/large-{n}"), LARGE_BYTES)).collect()
}

fn nginx_large() -> Vec<Request> {
    (0..LARGE).map(|n| plain_get(&format!("/large-{n}"), LARGE_BYTES)).collect()
}

/// Answers per second, and CPU seconds of the server per GiB.
async fn get_large(from: &Server, until: Until, requests: Vec<Request>) -> Result<(f64, f64)> {
    const PER_GIB: f64 = 128.0;
    let before = from.cpu_seconds()?;
    let outcome = load::run(from.address, FEW_CLIENTS, until, fixed(requests)).await?;
    let spent = from.cpu_seconds()? - before;
    Ok((outcome.per_second, spent * PER_GIB / f64::from(outcome.answers)))
}
