//! Copies under random operations and power loss: every blob holds what one acknowledged operation
//! gave it, copies end by themselves, and nothing is left behind.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use support::copies::{copy, options};
use support::model::Random;
use support::{World, must, path, pattern};
use zaffre_core::Error;
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlockSource::Latest;
use zaffre_domain::blob::copy::{CopyRefusal, CopyStatus};
use zaffre_store::disk::{CrashDisk, Survival};
use zaffre_store::extents::ExtentOptions;
use zaffre_store::{Store, StoreOptions};

const SEEDS: u64 = 120;
const STEPS: usize = 40;
const NAMES: [&str; 4] = ["photos/a", "photos/b", "photos/c", "photos/d"];

/// What a name may hold: absent, or one of these contents once no copy is under way.
type Model = BTreeMap<&'static str, Option<Vec<u8>>>;

struct Run {
    world: World,
    random: Random,
    model: Model,
    /// Copies that were acknowledged as under way, with what they end in unless their source
    /// changes.
    pending: BTreeMap<&'static str, (&'static str, Vec<u8>)>,
    ids: u128,
    copies: usize,
}

impl Run {
    fn new(world: World, seed: u64) -> Self {
        let model = NAMES.iter().map(|name| (*name, None)).collect();
        Self { world, random: Random(seed), model, pending: BTreeMap::new(), ids: 0, copies: 0 }
    }

    /// One operation; if nobody knows what came of it, the name it was about.
    async fn step(&mut self) -> Result<(), &'static str> {
        let name = self.random.pick(&NAMES);
        let other = self.random.pick(&NAMES);
        let busy = self.pending.contains_key(name);
        let done = match self.random.below(10) {
            0..3 => {
                let bytes = pattern(self.random.below(40_000), 7);
                let put = self.world.put(name, bytes.clone()).await;
                self.check(name, busy, put.map(|_| Some(bytes)))
            }
            3 => {
                let (one, two) = (pattern(9_000, 1), pattern(self.random.below(20_000) + 1, 2));
                let put = self.blocks(name, &one, &two).await;
                self.check(name, busy, put.map(|()| Some([one, two].concat())))
            }
            4 => {
                let gone = self.world.delete(name).await;
                self.check(name, busy, gone.map(|()| None))
            }
            5 if busy => {
                let Ok(view) = self.world.properties(name).await else { return Err(name) };
                let id = view.copy.map_or(0, |copy| copy.id.0);
                match self.world.abort(name, id).await {
                    Ok(()) => {
                        self.pending.remove(name);
                        self.model.insert(name, Some(Vec::new()));
                        Ok(())
                    }
                    Err(Error::Refused(refusal)) => panic!("{refusal:?}"),
                    Err(Error::Store(_)) => Err(()),
                }
            }
            6 => {
                self.settle().await;
                Ok(())
            }
            _ => self.start(other, name).await,
        };
        done.map_err(|()| name)
    }

    async fn blocks(&self, name: &str, one: &[u8], two: &[u8]) -> Result<(), Error> {
        self.world.stage(name, "b1", one.to_vec()).await?;
        self.world.stage(name, "b2", two.to_vec()).await?;
        self.world.commit(name, &[(Latest, "b1"), (Latest, "b2")]).await?;
        Ok(())
    }

    fn check(
        &mut self,
        name: &'static str,
        busy: bool,
        got: Result<Option<Vec<u8>>, Error>,
    ) -> Result<(), ()> {
        match got {
            Ok(state) => {
                assert!(!busy, "{name}: changed while it was copied to");
                self.model.insert(name, state);
                Ok(())
            }
            Err(Error::Refused(Refusal::Copy(CopyRefusal::PendingCopyOperation))) => {
                assert!(busy, "{name}: nobody copies to it");
                Ok(())
            }
            Err(Error::Refused(Refusal::BlobNotFound)) => {
                assert_eq!(self.model.get(name), Some(&None), "{name}");
                Ok(())
            }
            Err(Error::Refused(refusal)) => panic!("{name}: {refusal:?}"),
            Err(Error::Store(_)) => Err(()),
        }
    }

    async fn start(&mut self, from: &'static str, to: &'static str) -> Result<(), ()> {
        self.ids += 1;
        let busy = self.pending.contains_key(from) || self.pending.contains_key(to);
        match self.world.copy_with(path(from), copy(to, self.ids)).await {
            Ok(reply) => {
                assert!(!busy, "{from} to {to}");
                self.copies += 1;
                let bytes = self.model[from].clone().expect("there was something to copy");
                if reply.status == CopyStatus::Pending {
                    self.model.insert(to, Some(Vec::new()));
                    self.pending.insert(to, (from, bytes));
                } else {
                    self.model.insert(to, Some(bytes));
                }
                Ok(())
            }
            Err(Error::Refused(Refusal::Copy(CopyRefusal::PendingCopyOperation))) => {
                assert!(busy, "{from} to {to}");
                Ok(())
            }
            Err(Error::Refused(Refusal::BlobNotFound)) => Ok(()),
            Err(Error::Refused(refusal)) => panic!("{refusal:?}"),
            Err(Error::Store(_)) => Err(()),
        }
    }

    /// Lets the background go on; copies may have ended, each whole or failed.
    async fn settle(&mut self) {
        let _ = self.world.core.run_background_once().await;
        for (to, (_, bytes)) in self.pending.clone() {
            let Ok(view) = self.world.properties(to).await else { return };
            match view.copy.expect("it was copied to").status {
                CopyStatus::Pending => continue,
                CopyStatus::Success => self.model.insert(to, Some(bytes)),
                CopyStatus::Failed => self.model.insert(to, Some(Vec::new())),
                CopyStatus::Aborted => panic!("{to}: nobody aborted it"),
            };
            self.pending.remove(to);
        }
    }
}

fn open(disk: &CrashDisk) -> Option<World> {
    let extents = ExtentOptions { segment_bytes: 256 * 1024, writers: 1, open_files: 8 };
    let options_of_store = StoreOptions { extents, ..StoreOptions::default() };
    let store = Store::open(Arc::new(disk.clone()), &options_of_store).ok()?;
    Some(World::with(store, options()))
}

/// Looks at everything after all copies have ended. `unsure`: what the last operation, of which
/// nobody knows whether it happened, was about.
async fn look(run: &mut Run, unsure: Option<&str>, seed: u64) {
    run.pending.retain(|name, _| unsure != Some(*name));
    run.world.sweep().await;
    run.settle().await;
    assert!(run.pending.is_empty(), "seed {seed}: copies do not end");
    for (name, want) in &run.model {
        if unsure == Some(*name) {
            continue;
        }
        match (run.world.get(name).await, want) {
            (Ok(got), Some(want)) => assert!(&got == want, "seed {seed}: {name} differs"),
            (Err(Error::Refused(Refusal::BlobNotFound)), None) => {}
            (got, _) => panic!("seed {seed}: {name} is {:?}", got.map(|bytes| bytes.len())),
        }
    }
    must(run.world.delete_container("photos").await);
    run.world.sweep().await;
    assert!(run.world.rows("photos").await.is_empty(), "seed {seed}: rows are left");
    run.world.free_orphans().await;
    assert_eq!(run.world.live_extents().await, 0, "seed {seed}: extents are left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_survive_power_loss() {
    let seeds = zaffre_testkit::seeds(SEEDS);
    let count = seeds.end - seeds.start;
    println!("replay one with ZAFFRE_SEED=n");
    let mut copies = 0;
    for seed in seeds {
        println!("seed {seed}");
        let mut random = Random(seed ^ 0x9E37);
        let disk = CrashDisk::new();
        disk.power_off_at(30 + u64::try_from(random.below(400)).unwrap_or(0));
        let survival = random.pick(&Survival::ALL);
        let Some(world) = open(&disk) else { continue };
        if world.create("photos").await.is_err() {
            continue;
        }
        let mut run = Run::new(world, seed);
        let mut unsure = None;
        for _ in 0..STEPS {
            if let Err(name) = run.step().await {
                unsure = Some(name);
                break;
            }
        }
        copies += run.copies;
        disk.power_off();
        let disk = disk.reboot(survival, seed);
        let world = open(&disk).unwrap_or_else(|| panic!("seed {seed}: does not open"));
        let Run { model, pending, random, ids, .. } = run;
        let mut back = Run { world, random, model, pending, ids, copies: 0 };
        look(&mut back, unsure, seed).await;
    }
    println!("{copies} copies");
    assert!(count < SEEDS || copies > 200, "did too little: {copies}");
}
