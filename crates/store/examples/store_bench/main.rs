//! The store against the bare disk: commits, extents, hot keys, reopening, memory.
//!
//! `cargo xtask bench store` runs it. Rounds of ours and of the peer's alternate, and the middle
//! round counts. Must never compare with a figure from another run or machine.

mod commits;
mod extents;
mod fio;
mod lives;
mod process;
mod report;

use commits::{Keys, Until};
use fio::Append;
use report::{Peer, Result, Samples};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use zaffre_store::Store;

const KIB: u32 = 1024;
const MIB: u32 = 1024 * KIB;

/// How much is done.
#[derive(Clone, Debug)]
struct Plan {
    folder: PathBuf,
    keys: u32,
    rounds: u32,
    seconds: u32,
    /// Commits in the life of the process whose memory is watched.
    writes: u32,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match (lives::child(&words), plan(&words)) {
        (Some(outcome), _) => outcome,
        (None, Some(plan)) => bench(&plan),
        (None, None) => Err("usage: store_bench <folder> [--quick]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn plan(words: &[&str]) -> Option<Plan> {
    let (folder, quick) = match *words {
        [folder] => (folder, false),
        [folder, "--quick"] => (folder, true),
        _ => return None,
    };
    let folder = Path::new(folder).join("store");
    Some(if quick {
        Plan { folder, keys: 100_000, rounds: 3, seconds: 1, writes: 100_000 }
    } else {
        Plan { folder, keys: 1_000_000, rounds: 11, seconds: 2, writes: 1_000_000 }
    })
}

fn bench(plan: &Plan) -> Result<()> {
    if plan.folder.exists() {
        std::fs::remove_dir_all(&plan.folder)?;
    }
    let data = plan.folder.join("data");
    std::fs::create_dir_all(&data)?;
    report::fact(format!("{} of Debian, {} keys of 64+400 bytes", fio::version()?, plan.keys));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let lost = runtime.block_on(async {
        let store = commits::open(&data)?;
        commits::load(&store, plan.keys).await?;
        throughput(&store, plan).await
    })?;
    drop(runtime);
    report::limit("updates of the hot key that were lost", "", lost, 0.0);

    let times = lives::reopen(&data, plan.keys, plan.rounds)?;
    report::limit("reopening after kill -9, to the first row", "ms", times.median(), 500.0);
    report::figure("reopening after kill -9", "ms", &times);
    let (most, growth) = lives::age(&data, plan.keys, plan.writes)?;
    report::limit("resident memory, most seen", "MiB", most, 128.0);
    let name = format!("growth of memory over {} writes", plan.writes);
    report::limit(&name, "MiB", growth, FLAT_MIB);
    std::fs::remove_dir_all(&plan.folder)?;
    Ok(())
}

/// Memory that grows by less than this from the first quarter of the writes to the last is flat:
/// less than 9 bytes per write, while a write is of 500.
const FLAT_MIB: f64 = 8.0;

/// What the rounds gave.
#[derive(Default)]
struct Rates {
    alone: Samples,
    sixteen: Samples,
    sixty_four: Samples,
    hot: Samples,
    small_extents: Samples,
    large_extents: Samples,
    disk_small: Samples,
    disk_large: Samples,
    disk_large_four: Samples,
}

/// All that alternates with fio; gives the number of lost updates.
async fn throughput(store: &Store, plan: &Plan) -> Result<f64> {
    let time = Duration::from_secs(plan.seconds.into());
    let spread = Keys::Spread(plan.keys);
    let disk = plan.folder.join("fio");
    let disk = |block, jobs| fio::append(&disk, Append { block, jobs, seconds: plan.seconds });
    let commit =
        async |clients, keys| commits::run(store, clients, keys, Until::Passed(time)).await;
    // Warms both sides up: neither counts the first touch of its files.
    commit(64, spread).await?;
    disk(4 * KIB, 4)?;
    let mut acknowledged = 0_u64;
    let mut rates = Rates::default();
    for round in 1..=plan.rounds {
        rates.sixty_four.push(commit(64, spread).await?.per_second);
        rates.disk_small.push(disk(4 * KIB, 4)?);
        rates.sixteen.push(commit(16, spread).await?.per_second);
        let hot = commit(16, Keys::Hot).await?;
        acknowledged += u64::from(hot.commits);
        rates.hot.push(hot.per_second);
        rates.alone.push(commit(1, spread).await?.per_second);
        rates.small_extents.push(extents::run(store, 64, 4 << 10, time).await?);
        rates.large_extents.push(extents::run(store, 4, 1 << 20, time).await?);
        rates.disk_large.push(disk(MIB, 1)?);
        rates.disk_large_four.push(disk(MIB, 4)?);
        println!("  round {round} of {} is over", plan.rounds);
    }
    print(&rates);
    let counted = hot_count(store).await?;
    let lost = acknowledged.saturating_sub(counted);
    Ok(f64::from(u32::try_from(lost)?))
}

fn print(rates: &Rates) {
    let small = Peer { name: "fio, 4 KiB append+fdatasync, 4 jobs", figure: &rates.disk_small };
    let large = Peer { name: "fio, 1 MiB append+fdatasync, 1 job", figure: &rates.disk_large };
    let spread = Peer { name: "16 clients, spread keys", figure: &rates.sixteen };
    report::row("commits, 64 clients", "/s", &rates.sixty_four, small, 1.0);
    report::row("extents of 1 MiB, 4 writers", "/s", &rates.large_extents, large, 0.7);
    report::row("commits, 16 clients on one hot key", "/s", &rates.hot, spread, 0.5);
    report::figure("commits, 16 clients", "/s", &rates.sixteen);
    report::figure("commits, 1 client", "/s", &rates.alone);
    report::figure("extents of 4 KiB, 64 writers", "/s", &rates.small_extents);
    report::figure("fio, 1 MiB append+fdatasync, 4 jobs", "/s", &rates.disk_large_four);
}

async fn hot_count(store: &Store) -> Result<u64> {
    let snapshot = store.meta.snapshot(&commits::placement()).await?;
    let value = snapshot.get(&commits::key(commits::HOT))?.ok_or("the hot key is gone")?;
    Ok(commits::count_of(&value))
}
