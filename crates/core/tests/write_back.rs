//! Writes over SMB that wait, beside REST on the same file, against a plain array of bytes; and power
//! loss at random points: what was flushed is there, and what was not is a state that was.

mod support;

use bytes::Bytes;
use std::sync::Arc;
use support::files::{Files, SHARE, path};
use support::model::options;
use support::{World, must, strict};
use zaffre_auth::Accounts;
use zaffre_auth::accounts::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY};
use zaffre_auth::ntlm::{Acceptor, KeyHolder, Step};
use zaffre_base::ShareName;
use zaffre_core::Error;
use zaffre_core::blob::names_extents;
use zaffre_core::file::mount::{KeptTimes, Mount, NewNode};
use zaffre_core::file::write_back;
use zaffre_domain::fs::{Attributes, FileId};
use zaffre_store::check::check;
use zaffre_store::disk::{CrashDisk, FailDisk, Fault, FaultPlan, MemDisk, Survival};
use zaffre_store::extents::ExtentOptions;
use zaffre_store::{Store, StoreOptions};
use zaffre_testkit::{Random, ntlm};

const SEEDS: u64 = 24;
const STEPS: usize = 120;
const CRASHES: u64 = 60;
/// The longest that the file gets: over the edges of two chunks.
const MOST: usize = 2_200_000;

/// Somebody who has proven to hold the account's key, as every SMB client has to.
fn holder() -> KeyHolder {
    let accounts = Accounts::development();
    let mut dialogue = Acceptor::new("TEST");
    let Ok(Step::Continue(challenge)) = dialogue.step(&accounts, &ntlm::negotiate(), [7; 8], 1)
    else {
        panic!("no challenge");
    };
    let (answer, _) = must(ntlm::authenticate(&challenge, DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY));
    match must(dialogue.step(&accounts, &answer, [8; 8], 2)) {
        Step::Done(accepted) => accepted.holder,
        Step::Continue(_) => panic!("not done"),
    }
}

async fn mount(files: &Files) -> Mount {
    let share = must(ShareName::parse(SHARE));
    must(Mount::open(files.core(), &holder(), &share, None).await)
}

async fn make(mount: &Mount) -> Result<FileId, Error> {
    let new = NewNode { directory: false, attributes: Attributes::default(), descriptor: None };
    Ok(mount.make(&path("f"), new).await?.id)
}

struct Run {
    files: Files,
    /// Two clients, who share what waits.
    mounts: [Mount; 2],
    file: FileId,
    random: Random,
    /// What the file holds, as everybody has to see it.
    now: Vec<u8>,
    /// What it held after each write since it was last durable, the oldest first.
    since: Vec<Vec<u8>>,
    number: u8,
    looked: usize,
    /// Whether the background works in between; without power it would not come to an end.
    sweeps: bool,
}

fn long(number: usize) -> u64 {
    u64::try_from(number).expect("small")
}

impl Run {
    async fn new(files: Files, seed: u64) -> Result<Self, Error> {
        let one = mount(&files).await;
        let file = make(&one).await?;
        let mounts = [one.clone(), one];
        let (now, since) = (Vec::new(), vec![Vec::new()]);
        let random = Random(seed);
        Ok(Self { files, mounts, file, random, now, since, number: 0, looked: 0, sweeps: true })
    }

    fn range(&mut self) -> (usize, usize) {
        let length = match self.random.below(4) {
            0 => 1 + self.random.index(100),
            1 => 4_096,
            2 => 1 + self.random.index(20_000),
            _ => 1 + self.random.index(500_000),
        };
        // Often at the end, as programs write.
        let at = match self.random.below(3) {
            0 => self.now.len(),
            _ => self.random.index(MOST),
        };
        (at.min(MOST - length), length)
    }

    /// What the file holds from now on, if the operation comes to its end; it may in any case.
    fn becomes(&mut self, next: Vec<u8>) {
        self.since.push(next.clone());
        self.now = next;
    }

    /// Everything until now is durable.
    fn settled(&mut self) {
        self.since = vec![self.now.clone()];
    }

    async fn step(&mut self) -> Result<(), Error> {
        self.number = self.number.wrapping_add(1).max(1);
        let mount = self.mounts[self.random.index(2)].clone();
        match self.random.below(20) {
            0..=8 => self.write(&mount).await,
            9..=11 => self.read(&mount).await,
            12 => {
                let flushed = mount.flush(self.file, None).await;
                flushed.map(|()| self.settled())
            }
            13 => self.resize(&mount).await,
            14 => self.clear(&mount).await,
            15 => self.rest_write().await,
            16 => {
                assert_eq!(self.files.content("f", None).await?, self.now, "over REST");
                self.settled();
                self.looked += 1;
                Ok(())
            }
            17 => {
                let taken = self.files.take_snapshot().await?;
                self.settled();
                assert_eq!(self.files.content("f", Some(taken)).await?, self.now, "snapshot");
                self.files.forget_snapshot(taken).await
            }
            18 => {
                write_back::commit_all(self.files.core()).await?;
                self.settled();
                Ok(())
            }
            _ => {
                if self.sweeps {
                    self.files.world.sweep().await;
                }
                Ok(())
            }
        }
    }

    async fn write(&mut self, mount: &Mount) -> Result<(), Error> {
        let (at, length) = self.range();
        let mut next = self.now.clone();
        next.resize(next.len().max(at + length), 0);
        next[at..at + length].fill(self.number);
        self.becomes(next);
        let bytes = Bytes::from(vec![self.number; length]);
        mount.write(self.file, long(at), bytes).await
    }

    async fn read(&mut self, mount: &Mount) -> Result<(), Error> {
        let (at, length) = self.range();
        let seen = mount.read(self.file, long(at), long(length)).await?;
        let end = (at + length).min(self.now.len());
        let want = if at < end { &self.now[at..end] } else { &[] };
        assert!(seen == want, "bytes {at}..{end}");
        let facts = mount.facts(self.file).await?;
        assert_eq!(facts.size, long(self.now.len()));
        self.looked += 1;
        Ok(())
    }

    async fn resize(&mut self, mount: &Mount) -> Result<(), Error> {
        let length = self.random.index(MOST);
        let mut next = self.now.clone();
        next.resize(length, 0);
        self.becomes(next);
        mount.set_size(self.file, long(length), KeptTimes::default()).await?;
        self.settled();
        Ok(())
    }

    async fn clear(&mut self, mount: &Mount) -> Result<(), Error> {
        let (at, length) = self.range();
        let end = (at + length).min(self.now.len());
        let mut next = self.now.clone();
        if at < end {
            next[at..end].fill(0);
        }
        self.becomes(next);
        mount.clear(self.file, long(at), long(at + length), KeptTimes::default()).await?;
        self.settled();
        Ok(())
    }

    async fn rest_write(&mut self) -> Result<(), Error> {
        let (at, length) = self.range();
        if at + length > self.now.len() {
            return Ok(());
        }
        let mut next = self.now.clone();
        next[at..at + length].fill(self.number);
        self.becomes(next);
        self.files.write("f", long(at), &vec![self.number; length]).await?;
        self.settled();
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_a_plain_array_would_have_it() {
    let seeds = zaffre_testkit::seeds(SEEDS);
    let (count, mut looked) = (seeds.end - seeds.start, 0);
    for seed in seeds {
        println!("seed {seed}; replay it with ZAFFRE_SEED={seed}");
        let store = if seed % 2 == 0 { Store::in_memory() } else { Store::strict(strict(seed)) };
        let files = Files { world: World::with(must(store), options()) };
        must(files.make_share().await);
        let mut run = must(Run::new(files, seed).await);
        for _ in 0..STEPS {
            must(run.step().await);
        }
        must(run.mounts[0].flush(run.file, None).await);
        assert_eq!(must(run.files.content("f", None).await), run.now, "seed {seed}");
        looked += run.looked;
    }
    assert!(count < SEEDS || looked > 300, "did too little: {looked}");
}

fn open(disk: &CrashDisk) -> Option<Files> {
    let extents = ExtentOptions { segment_bytes: 4 * 1024 * 1024, writers: 1, open_files: 8 };
    let options = StoreOptions { extents, ..StoreOptions::default() };
    let store = Store::open(Arc::new(disk.clone()), &options).ok()?;
    Some(Files { world: World::with(store, support::model::options()) })
}

async fn until_the_power_goes(disk: &CrashDisk, seed: u64) -> Option<(Run, usize)> {
    let files = open(disk)?;
    files.make_share().await.ok()?;
    let mut run = Run::new(files, seed).await.ok()?;
    run.sweeps = false;
    let mut steps = 0;
    while steps < STEPS && run.step().await.is_ok() {
        steps += 1;
    }
    disk.power_off();
    Some((run, steps))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn power_loss_leaves_a_state_that_was() {
    let seeds = zaffre_testkit::seeds(CRASHES);
    let (count, mut all, mut lost) = (seeds.end - seeds.start, 0, 0);
    for seed in seeds {
        println!("seed {seed}; replay it with ZAFFRE_SEED={seed}");
        let mut random = Random(seed);
        let disk = CrashDisk::new();
        disk.power_off_at(20 + random.below(300));
        let survival = Survival::ALL[random.index(Survival::ALL.len())];
        let Some((run, steps)) = until_the_power_goes(&disk, seed).await else { continue };
        all += steps;
        let disk = disk.reboot(survival, seed);
        let files = open(&disk).unwrap_or_else(|| panic!("seed {seed}: does not open"));
        let found = must(files.content("f", None).await);
        let state = run.since.iter().rposition(|state| *state == found);
        let state = state.unwrap_or_else(|| panic!("seed {seed}: a state that never was"));
        lost += run.since.len() - 1 - state;
        files.world.sweep().await;
        assert!(must(files.content("f", None).await) == found, "seed {seed}: after folding");
        drop((files, run));
        let report = must(check(Arc::new(disk), names_extents, |_| {}).await);
        assert!(report.is_clean(), "seed {seed}: {report:?}");
    }
    println!("{all} steps, {lost} writes that were not flushed are gone");
    assert!(count < CRASHES || (all > 600 && lost > 0), "did too little: {all}, {lost}");
}

/// More than may wait at once: it goes to the disk while the client goes on, and nothing is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_of_writes_is_bounded() {
    const WRITES: usize = 40;
    let files = Files { world: World::with(must(Store::in_memory()), options()) };
    must(files.make_share().await);
    let mount = mount(&files).await;
    let file = must(make(&mount).await);
    let piece = |n: usize| vec![u8::try_from(n).expect("small"); 1 << 20];
    for n in 0..WRITES {
        must(mount.write(file, long(n) << 20, Bytes::from(piece(n))).await);
        let held = write_back::held(files.core());
        assert!(held <= 2 * zaffre_domain::fs::write_back::BATCH_BYTES, "{held}");
        assert_eq!(must(mount.facts(file).await).size, long(n + 1) << 20);
        let back = n / 2;
        assert!(must(mount.read(file, long(back) << 20, 1 << 20).await) == piece(back), "{n}");
    }
    must(mount.flush(file, None).await);
    assert_eq!(write_back::held(files.core()), 0);
    let all: Vec<u8> = (0..WRITES).flat_map(piece).collect();
    assert!(must(files.content("f", None).await) == all);
}

/// A sync that fails is told, and from then on nothing is taken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_sync_is_told() {
    let disk = Arc::new(FailDisk::new(Arc::new(MemDisk::new())));
    let store = must(Store::open(disk.clone(), &StoreOptions::default()));
    let files = Files { world: World::with(store, options()) };
    must(files.make_share().await);
    let mount = mount(&files).await;
    let file = must(make(&mount).await);
    must(mount.write(file, 0, Bytes::from_static(b"durable")).await);
    must(mount.flush(file, None).await);
    must(mount.write(file, 0, Bytes::from_static(b"waiting")).await);
    let (fault, from) = (Fault::FailedSync, disk.calls());
    disk.set_plan(Some(FaultPlan { fault, from, count: u64::MAX }));
    assert!(mount.flush(file, None).await.is_err(), "a flush that is not");
    assert!(mount.flush(file, None).await.is_err(), "nor when it is asked for again");
    assert!(mount.write(file, 0, Bytes::from_static(b"refused")).await.is_err());
}

/// What the rules refuse at the commit is told to whoever flushes, and does not keep REST away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_gone_is_forgotten() {
    let files = Files { world: World::with(must(Store::in_memory()), options()) };
    must(files.make_share().await);
    let mount = mount(&files).await;
    let file = must(make(&mount).await);
    must(mount.write(file, 0, Bytes::from_static(b"some")).await);
    must(mount.remove(file).await);
    assert_eq!(write_back::held(files.core()), 0, "what waited is forgotten with its file");
    let again = must(make(&mount).await);
    must(mount.write(again, 0, Bytes::from_static(b"other")).await);
    must(files.delete_share().await);
    assert!(mount.flush(again, None).await.is_err(), "its share is gone");
    assert_eq!(write_back::held(files.core()), 0);
}
