//! Lives of a store in processes of their own: killed while writing, opened again, grown old.
//!
//! Must never share a process with the measuring side: memory and start are a whole process's.

use crate::commits::{self, Keys, Until, key, placement};
use crate::process::{Started, resident_mib};
use crate::report::{self, Result, Samples};
use std::path::Path;
use std::time::{Duration, Instant};

const CLIENTS: u32 = 64;
/// How often memory is looked at while a child writes.
const LOOKS: u32 = 40;
/// How long a child writes before it is killed.
const WRITING: Duration = Duration::from_millis(700);

/// How long a child may take to close its store.
const PATIENCE: Duration = Duration::from_secs(20);

/// The modes this program runs itself in.
pub(crate) fn child(words: &[&str]) -> Option<Result<()>> {
    let mode = match *words {
        ["child-write", folder, keys] => write_for_ever(folder, keys),
        ["child-open", folder] => open_and_read(folder),
        ["child-age", folder, keys, writes] => grow_old(folder, keys, writes),
        _ => return None,
    };
    Some(mode)
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

fn write_for_ever(folder: &str, keys: &str) -> Result<()> {
    let keys = keys.parse()?;
    runtime()?.block_on(async {
        let store = commits::open(Path::new(folder))?;
        commits::run(&store, CLIENTS, Keys::Spread(keys), Until::Done(CLIENTS)).await?;
        println!("writing");
        commits::run(&store, CLIENTS, Keys::Spread(keys), Until::Done(u32::MAX)).await?;
        Ok(())
    })
}

/// Says how many milliseconds passed until the first row was read.
fn open_and_read(folder: &str) -> Result<()> {
    let begun = Instant::now();
    runtime()?.block_on(async {
        let store = commits::open(Path::new(folder))?;
        let row = store.meta.snapshot(&placement()).await?.get(&key(1))?;
        let passed = begun.elapsed();
        row.ok_or("a loaded row is gone")?;
        println!("{}", passed.as_secs_f64() * 1e3);
        Ok(())
    })
}

/// Asks to be looked at before each part of the writes.
fn grow_old(folder: &str, keys: &str, writes: &str) -> Result<()> {
    let (keys, writes): (u32, u32) = (keys.parse()?, writes.parse()?);
    runtime()?.block_on(async {
        let store = commits::open(Path::new(folder))?;
        // Until caches and buffers have their size; flatness is asked for from then on.
        commits::run(&store, CLIENTS, Keys::Spread(keys), Until::Done(writes / 10)).await?;
        for _ in 0..LOOKS {
            println!("look");
            commits::run(&store, CLIENTS, Keys::Spread(keys), Until::Done(writes / LOOKS)).await?;
        }
        Ok(())
    })
}

/// Kills a writing child and times the next opening, several times.
pub(crate) fn reopen(folder: &Path, keys: u32, rounds: u32) -> Result<Samples> {
    let folder = folder.display().to_string();
    let mut times = Samples::default();
    for _ in 0..rounds {
        let mut writer = Started::myself(&["child-write", &folder, &keys.to_string()])?;
        writer.wait_for(|line| (line == "writing").then_some(()))?;
        std::thread::sleep(WRITING);
        writer.kill()?;
        let mut opener = Started::myself(&["child-open", &folder])?;
        times.push(opener.line()?.parse()?);
        // It closes the store in order; the next writer needs the lock.
        opener.wait_for_end(PATIENCE);
    }
    Ok(times)
}

/// Memory of a child over `writes` commits: the most it had, and by how much it grew.
pub(crate) fn age(folder: &Path, keys: u32, writes: u32) -> Result<(f64, f64)> {
    let folder = folder.display().to_string();
    let mut child =
        Started::myself(&["child-age", &folder, &keys.to_string(), &writes.to_string()])?;
    let mut looks = Vec::new();
    for _ in 0..LOOKS {
        child.line()?;
        looks.push(resident_mib(child.id())?);
    }
    let quarter = looks.len() / 4;
    let first: Samples = looks[..quarter].iter().copied().collect();
    let last: Samples = looks[looks.len() - quarter..].iter().copied().collect();
    let all: Samples = looks.into_iter().collect();
    report::figure("memory while writing, middle", "MiB", &all);
    Ok((all.worst_high(), last.median() - first.median()))
}
