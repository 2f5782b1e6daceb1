//! Power loss under writers of all services at once: blobs, pages, messages, pairs of entities that
//! one batch changes, and files. What was acknowledged is there, the rest whole or not at all.

mod support;

use futures_util::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use support::files::Files;
use support::{World, model, must, pattern};
use zaffre_core::Error;
use zaffre_core::queue::reply::MessageView;
use zaffre_domain::Refusal;
use zaffre_domain::queue::Lifetime;
use zaffre_domain::table::{EntityKey, IfMatch, Properties, Value, Write};
use zaffre_store::disk::{CrashDisk, Survival};
use zaffre_store::extents::ExtentOptions;
use zaffre_store::{Store, StoreOptions};
use zaffre_testkit::{Random, in_parallel, seeds};

const SEEDS: u64 = 5_000;
const USERS: usize = 3;
const STEPS: usize = 12;
const PAGE_BYTES: u64 = 4_096;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Blob,
    Blocks,
    Pages,
    Message,
    Pair,
    File,
}

const KINDS: [Kind; 6] =
    [Kind::Blob, Kind::Blocks, Kind::Pages, Kind::Message, Kind::Pair, Kind::File];

/// What a thing holds; `None`: it is not there.
type State = Option<Vec<u8>>;

/// One thing, written by one user alone.
struct Slot {
    kind: Kind,
    name: String,
    sure: State,
    perhaps: Option<State>,
    message: Option<MessageView>,
}

impl Slot {
    fn new(kind: Kind, user: usize) -> Self {
        let name = format!("{kind:?}{user}").to_lowercase();
        Self { kind, name, sure: None, perhaps: None, message: None }
    }

    fn at(&self) -> String {
        format!("photos/{}", self.name)
    }

    fn keys(&self) -> [EntityKey; 2] {
        ["1", "2"].map(|row| must(EntityKey::new(&self.name, row)))
    }

    /// One write; the state it leads to is noted before, and taken for sure after its answer.
    async fn step(&mut self, world: &World, random: &mut Random) -> Result<(), Error> {
        let size = [1, 700, 5_000, 70_000][random.index(4)];
        let fresh = pattern(size, random.byte(250));
        let deletes = self.sure.is_some() && random.below(4) == 0;
        let next = if deletes { None } else { Some(fresh) };
        let next = match self.kind {
            Kind::Pages => Some(self.next_pages(random)),
            Kind::Message => next.map(|_| {
                format!("{} {} {}", self.name, random.draw(), "z".repeat(random.index(9_000)))
                    .into_bytes()
            }),
            _ => next,
        };
        // A message cannot be replaced, only taken away and put anew.
        let next = if self.kind == Kind::Message && self.sure.is_some() { None } else { next };
        self.perhaps = Some(next.clone());
        self.write(world, next.as_deref(), random).await?;
        self.sure = next;
        self.perhaps = None;
        Ok(())
    }

    fn next_pages(&self, random: &mut Random) -> Vec<u8> {
        let Some(mut bytes) = self.sure.clone() else {
            return vec![0; usize::try_from(PAGE_BYTES).expect("small")];
        };
        let (from, value) = (512 * random.index(7), random.byte(250));
        bytes[from..from + 512].fill(value);
        bytes
    }

    async fn write(
        &mut self,
        world: &World,
        next: Option<&[u8]>,
        random: &mut Random,
    ) -> Result<(), Error> {
        let at = self.at();
        let files = Files { world: world.clone() };
        match (self.kind, next) {
            (Kind::Blob | Kind::Blocks, None) => world.delete(&at).await,
            (Kind::Blob, Some(bytes)) => world.put(&at, bytes.to_vec()).await.map(drop),
            (Kind::Blocks, Some(bytes)) => {
                let middle = random.index(bytes.len());
                world.stage(&at, "aaaa", bytes[..middle.max(1)].to_vec()).await?;
                let mut list = vec![(zaffre_domain::blob::BlockSource::Latest, "aaaa")];
                if middle.max(1) < bytes.len() {
                    world.stage(&at, "bbbb", bytes[middle.max(1)..].to_vec()).await?;
                    list.push((zaffre_domain::blob::BlockSource::Latest, "bbbb"));
                }
                world.commit(&at, &list).await.map(drop)
            }
            (Kind::Pages, bytes) => {
                let bytes = bytes.unwrap_or_default();
                let Some(old) = &self.sure else {
                    return world.create_pages(&at, PAGE_BYTES).await.map(drop);
                };
                let from = old.iter().zip(bytes).position(|(a, b)| a != b).unwrap_or(0) / 512 * 512;
                let (start, page) =
                    (u64::try_from(from).expect("small"), bytes[from..from + 512].to_vec());
                world.put_page(support::pages::write(&at, start..start + 512), page).await.map(drop)
            }
            (Kind::Message, Some(text)) => {
                let text = String::from_utf8_lossy(text);
                let view = world.put_message(&text, Lifetime::Forever, 0).await?;
                self.message = Some(view);
                Ok(())
            }
            (Kind::Message, None) => match self.message.take() {
                None => Ok(()),
                Some(view) => world.delete_message(view.id, &view.receipt()).await,
            },
            (Kind::Pair, None) => {
                let ops = self.keys().map(|key| (key, Write::Delete(IfMatch::Any)));
                batch(world, ops.into()).await
            }
            (Kind::Pair, Some(bytes)) => {
                let value = || Value::Binary(bytes[..bytes.len().min(20_000)].to_vec());
                let properties = || must(Properties::new(vec![("v".to_owned(), value())]));
                let ops = self.keys().map(|key| (key, Write::InsertOrReplace(properties())));
                batch(world, ops.into()).await
            }
            (Kind::File, None) => files.delete_file(&self.name).await,
            (Kind::File, Some(bytes)) => {
                // Made at full length first: the model of a file is its bytes once written.
                let length = u64::try_from(bytes.len()).expect("small");
                let zeros = vec![0; bytes.len()];
                self.perhaps = Some(Some(zeros.clone()));
                files.make_file(&self.name, length).await?;
                (self.sure, self.perhaps) = (Some(zeros), Some(Some(bytes.to_vec())));
                files.write(&self.name, 0, bytes).await.map(drop)
            }
        }
    }

    async fn see(&self, world: &World) -> State {
        match self.kind {
            Kind::Blob | Kind::Blocks | Kind::Pages => absent(world.get(&self.at()).await),
            Kind::File => absent(Files { world: world.clone() }.content(&self.name, None).await),
            Kind::Message => {
                let seen = must(world.peek(32).await);
                let own = seen.into_iter().filter(|view| view.text.starts_with(&self.name));
                let own: Vec<MessageView> = own.collect();
                assert!(own.len() <= 1, "{}: {} messages", self.name, own.len());
                own.into_iter().next().map(|view| view.text.into_bytes())
            }
            Kind::Pair => {
                let [one, two] = self.keys();
                let (one, two) = (value(world, one).await, value(world, two).await);
                assert_eq!(one, two, "{}: half a batch", self.name);
                one
            }
        }
    }

    /// What the thing should hold, as `see` shows it.
    fn shown(&self, state: &State) -> State {
        match self.kind {
            Kind::Pair => state.as_ref().map(|bytes| bytes[..bytes.len().min(20_000)].to_vec()),
            _ => state.clone(),
        }
    }

    async fn verify(&self, world: &World, seed: u64) {
        let found = self.see(world).await;
        let perhaps = self.perhaps.as_ref().map(|state| self.shown(state));
        let good = found == self.shown(&self.sure) || perhaps.as_ref() == Some(&found);
        let sizes = |state: &State| state.as_ref().map(Vec::len);
        assert!(
            good,
            "seed {seed}: {}: {:?} bytes, neither the {:?} acknowledged nor the {:?} under way",
            self.name,
            sizes(&found),
            sizes(&self.sure),
            perhaps.as_ref().map(sizes),
        );
    }
}

async fn batch(world: &World, ops: Vec<(EntityKey, Write)>) -> Result<(), Error> {
    world.write_batch(ops).await.map(drop)
}

async fn value(world: &World, key: EntityKey) -> State {
    match world.entity(key).await {
        Ok(entity) => match entity.properties.get("v") {
            Some(Value::Binary(bytes)) => Some(bytes.clone()),
            other => panic!("not what was written: {other:?}"),
        },
        Err(Error::Refused(_)) => None,
        Err(error) => panic!("{error:?}"),
    }
}

fn absent(result: Result<Vec<u8>, Error>) -> State {
    match result {
        Ok(bytes) => Some(bytes),
        Err(Error::Refused(Refusal::BlobNotFound | Refusal::File(_))) => None,
        Err(error) => panic!("{error:?}"),
    }
}

fn open(disk: &CrashDisk) -> Option<World> {
    let extents = ExtentOptions { segment_bytes: 256 * 1024, writers: 1, open_files: 8 };
    let options = StoreOptions { extents, ..StoreOptions::default() };
    let store = Store::open(Arc::new(disk.clone()), &options).ok()?;
    Some(World::with(store, model::options()))
}

async fn furnish(world: &World) -> Result<(), Error> {
    world.create("photos").await?;
    world.create_queue().await?;
    world.create_table().await?;
    Files { world: world.clone() }.make_share().await
}

/// Works until the power goes; how many writes were acknowledged.
async fn use_up(world: World, slots: &mut [Slot], seed: u64) -> u64 {
    let (mut random, mut acknowledged) = (Random(seed), 0);
    for _ in 0..STEPS {
        let slot = &mut slots[random.index(KINDS.len())];
        match slot.step(&world, &mut random).await {
            Ok(()) => acknowledged += 1,
            Err(Error::Store(_)) => break,
            Err(error) => panic!("seed {seed}: {}: {error:?}", slot.name),
        }
    }
    acknowledged
}

async fn crash(seed: u64) -> u64 {
    let mut random = Random(seed);
    let disk = CrashDisk::new();
    disk.power_off_at(20 + random.below(260));
    let Some(world) = open(&disk) else { return 0 };
    if furnish(&world).await.is_err() {
        return 0;
    }
    let mut users: Vec<Vec<Slot>> =
        (0..USERS).map(|user| KINDS.map(|kind| Slot::new(kind, user)).into()).collect();
    let work = users.iter_mut().zip(1..).map(|(slots, user)| {
        use_up(world.clone(), slots, seed.wrapping_mul(31).wrapping_add(user))
    });
    let acknowledged = join_all(work).await.into_iter().sum();
    disk.power_off();
    drop(world);
    let rebooted = disk.reboot(Survival::ALL[random.index(4)], seed);
    let world = open(&rebooted).unwrap_or_else(|| panic!("seed {seed}: does not open"));
    for slot in users.iter().flatten() {
        slot.verify(&world, seed).await;
    }
    acknowledged
}

#[test]
fn power_goes_under_all_services() {
    let seeds = seeds(SEEDS);
    let runtime =
        must(tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build());
    let acknowledged = AtomicU64::new(0);
    in_parallel(seeds.clone(), |seed| {
        acknowledged.fetch_add(runtime.block_on(crash(seed)), Ordering::Relaxed);
    });
    let (acknowledged, count) = (acknowledged.into_inner(), seeds.end - seeds.start);
    println!(
        "figure crash: {count} power losses, seed {}, {acknowledged} acknowledged writes of all \
         services, 0 lost, 0 ghosts",
        seeds.start
    );
    assert!(count < SEEDS || acknowledged > 50_000, "did too little: {acknowledged}");
}
