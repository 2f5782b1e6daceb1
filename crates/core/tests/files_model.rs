//! Random sequences of operations on a share against a small model, on both engines, with snapshots,
//! the background and long downloads in between; and power loss at random points.

mod support;

use std::sync::Arc;
use support::files::{Files, pairs};
use support::files_model::{File, Node, Taken, Tree, UNIT, unit};
use support::model::options;
use support::{World, must, read, strict};
use zaffre_base::Stamp;
use zaffre_core::Error;
use zaffre_core::blob::{ByteStream, names_extents};
use zaffre_core::file::op::Kind;
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;
use zaffre_store::check::check;
use zaffre_store::disk::{CrashDisk, Survival};
use zaffre_store::extents::ExtentOptions;
use zaffre_store::meta::StrictOptions;
use zaffre_store::{Store, StoreOptions};
use zaffre_testkit::Random;

const SEEDS: u64 = 40;
const STEPS: usize = 120;
const CRASHES: u64 = 150;

struct Run {
    files: Files,
    random: Random,
    tree: Tree,
    snapshots: Vec<Taken>,
    held: Vec<(Vec<u8>, ByteStream)>,
    /// The last write, or file, that was numbered.
    last: u32,
    done: usize,
}

/// What was asked, and what the model says of it.
type Asked<T> = (Result<T, Error>, Result<(), FileRefusal>);

impl Run {
    fn new(files: Files, seed: u64) -> Self {
        let (tree, snapshots, held) = (Tree::default(), Vec::new(), Vec::new());
        Self { files, random: Random(seed), tree, snapshots, held, last: 0, done: 0 }
    }

    fn number(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    fn path(&mut self) -> String {
        let names = ["a", "B", "c", "é"];
        let depth = 1 + self.random.index(3);
        let mut path: Vec<String> = Vec::new();
        for _ in 0..depth {
            let name = names[self.random.index(names.len())];
            path.push(if self.random.below(2) == 0 {
                name.to_uppercase()
            } else {
                name.to_owned()
            });
        }
        path.join("/")
    }

    /// Mostly one that is there.
    fn some_file(&mut self) -> String {
        let files = self.tree.files();
        if files.is_empty() || self.random.below(8) == 0 {
            return self.path();
        }
        files[self.random.index(files.len())].clone()
    }

    fn some_directory(&mut self) -> String {
        let all = self.tree.directories();
        if all.is_empty() || self.random.below(8) == 0 {
            return self.path();
        }
        all[self.random.index(all.len())].clone()
    }

    fn size(&mut self) -> usize {
        match self.random.below(8) {
            0 => 0,
            1..=4 => self.random.index(200),
            5..=6 => self.random.index(6_000),
            _ => 65_000 + self.random.index(2_000),
        }
    }

    /// Does one thing and compares; an error of the store is given back with the model unchanged and
    /// what it may have become.
    async fn step(&mut self) -> Result<(), Box<Tree>> {
        let mut after = self.tree.clone();
        let asked = match self.random.below(24) {
            0..=2 => self.make_directory(&mut after).await,
            3..=6 => self.make_file(&mut after).await,
            7..=11 => self.write(&mut after).await,
            12 => self.wipe(&mut after).await,
            13 => self.resize(&mut after).await,
            14 => self.delete(&mut after, Kind::File).await,
            15 => self.delete(&mut after, Kind::Directory).await,
            16..=17 => self.rename(&mut after, Kind::File).await,
            18..=19 => self.rename(&mut after, Kind::Directory).await,
            _ => return self.rest().await.map_err(|_| Box::new(self.tree.clone())),
        };
        match asked {
            (Ok(()), Ok(())) => {
                self.tree = after;
                self.done += 1;
                Ok(())
            }
            (Err(Error::Refused(Refusal::File(got))), Err(want)) => {
                assert_eq!(got, want);
                Ok(())
            }
            (Err(Error::Store(_)), _) => Err(Box::new(after)),
            (got, want) => panic!("{got:?} and not {want:?}"),
        }
    }

    async fn make_directory(&mut self, after: &mut Tree) -> Asked<()> {
        let path = self.path();
        let got = self.files.make_directory(&path).await.map(drop);
        (got, after.make_directory(&path))
    }

    async fn make_file(&mut self, after: &mut Tree) -> Asked<()> {
        let (path, size, generation) = (self.path(), self.size(), self.number());
        let got = self.files.make_file(&path, bytes(size)).await.map(drop);
        (got, after.make_file(&path, File { units: vec![0; size], generation }))
    }

    /// A file and a part of it; nothing if it is empty.
    fn part(&mut self) -> (String, usize, usize) {
        let path = self.some_file();
        let size = self.tree.file(&path).map_or(10, |file| file.units.len());
        if size == 0 {
            return (path, 0, 0);
        }
        let from = self.random.index(size);
        let most = if self.random.below(6) == 0 { 60_000 } else { 300 };
        (path, from, 1 + self.random.index((size - from).min(most)))
    }

    async fn write(&mut self, after: &mut Tree) -> Asked<()> {
        let (path, from, count) = self.part();
        if count == 0 {
            return (Ok(()), Ok(()));
        }
        let write = self.number();
        let data: Vec<u8> = (from..from + count).flat_map(|index| unit(write, index)).collect();
        let got = self.files.write(&path, bytes(from), &data).await.map(drop);
        (got, after.file_mut(&path).map(|file| file.write(from, count, write)))
    }

    async fn wipe(&mut self, after: &mut Tree) -> Asked<()> {
        let (path, from, count) = self.part();
        if count == 0 {
            return (Ok(()), Ok(()));
        }
        let got = self.files.wipe(&path, bytes(from), bytes(from + count)).await.map(drop);
        (got, after.file_mut(&path).map(|file| file.write(from, count, 0)))
    }

    async fn resize(&mut self, after: &mut Tree) -> Asked<()> {
        let (path, size) = (self.some_file(), self.size());
        let got = self.files.resize(&path, bytes(size)).await.map(drop);
        (got, after.file_mut(&path).map(|file| file.units.resize(size, 0)))
    }

    async fn delete(&mut self, after: &mut Tree, kind: Kind) -> Asked<()> {
        let (path, got) = match kind {
            Kind::File => {
                let path = self.some_file();
                (path.clone(), self.files.delete_file(&path).await)
            }
            Kind::Directory => {
                let path = self.some_directory();
                (path.clone(), self.files.delete_directory(&path).await)
            }
        };
        (got, after.delete(&path, kind))
    }

    async fn rename(&mut self, after: &mut Tree, kind: Kind) -> Asked<()> {
        let from = match kind {
            Kind::File => self.some_file(),
            Kind::Directory => self.some_directory(),
        };
        let to = if self.random.below(4) == 0 {
            let directory = self.some_directory();
            format!("{directory}/{}", ["a", "b"][self.random.index(2)])
        } else {
            self.path()
        };
        let replace = self.random.below(2) == 0;
        let got = self.files.rename(&from, &to, kind, replace).await.map(drop);
        (got, after.rename(&from, &to, kind, replace))
    }

    /// What changes nothing of the tree.
    async fn rest(&mut self) -> Result<(), Error> {
        match self.random.below(8) {
            0..=1 if self.snapshots.len() < 5 => {
                let at = self.files.take_snapshot().await?;
                self.snapshots.push(Taken { at, tree: self.tree.clone() });
            }
            2 if !self.snapshots.is_empty() => {
                let index = self.random.index(self.snapshots.len());
                let taken = self.snapshots.remove(index);
                self.files.forget_snapshot(taken.at).await?;
            }
            3 => drop(self.files.core().run_background_once().await),
            4 if self.held.len() < 3 => {
                let path = self.some_file();
                if let Ok(file) = self.tree.file(&path) {
                    self.held.push((file.bytes(), self.files.open(&path, None).await?));
                }
            }
            5 if !self.held.is_empty() => self.finish_download().await,
            6 => self.compare_ranges().await?,
            _ => {
                let index = self.random.index(self.snapshots.len() + 1);
                match self.snapshots.get(index) {
                    Some(taken) => self.compare(Some(taken)).await?,
                    None => self.compare(None).await?,
                }
            }
        }
        Ok(())
    }

    async fn finish_download(&mut self) {
        let (want, body) = self.held.remove(0);
        assert!(must(read(body).await) == want, "a download mixed two states");
    }

    async fn compare(&self, taken: Option<&Taken>) -> Result<(), Error> {
        let (tree, at) = match taken {
            Some(taken) => (&taken.tree, Some(taken.at)),
            None => (&self.tree, None),
        };
        let differs = self.difference(tree, at).await?;
        assert_eq!(differs, None, "as of {at:?}");
        Ok(())
    }

    /// Finds out whether a step happened of which that is not known: all of it, or nothing.
    async fn settle(&mut self, after: Tree) {
        if must(self.difference(&after, None).await).is_none() {
            self.tree = after;
        }
        must(self.compare(None).await);
    }

    /// The first path at which a tree is not what is there.
    async fn difference(&self, tree: &Tree, at: Option<Stamp>) -> Result<Option<String>, Error> {
        for path in std::iter::once(String::new()).chain(tree.directories()) {
            match self.files.names(&path, at).await {
                Ok(names) if names == tree.children(&path) => {}
                Ok(_) | Err(Error::Refused(_)) => return Ok(Some(path)),
                Err(error) => return Err(error),
            }
        }
        for (path, (_, node)) in &tree.0 {
            let Node::File(file) = node else { continue };
            match self.files.content(path, at).await {
                Ok(content) if content == file.bytes() => {}
                Ok(_) | Err(Error::Refused(_)) => return Ok(Some(path.clone())),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    async fn compare_ranges(&mut self) -> Result<(), Error> {
        let path = self.some_file();
        let Ok(file) = self.tree.file(&path) else { return Ok(()) };
        let found = self.files.ranges(&path, None, None).await?;
        assert_eq!(pairs(&found.ranges), file.ranges(None), "{path}");
        for taken in &self.snapshots {
            let found = self.files.ranges(&path, None, Some(taken.at)).await;
            match (found, taken.tree.file(&path)) {
                (Ok(found), Ok(old)) => {
                    assert_eq!(old.generation, file.generation, "{path}");
                    assert_eq!(pairs(&found.ranges), file.ranges(Some(old)), "{path}");
                }
                (Err(Error::Refused(Refusal::File(refusal))), old) => {
                    let other = old.is_ok_and(|old| old.generation != file.generation);
                    let want = if other { FileRefusal::FileGenerationMismatch } else { refusal };
                    assert_eq!(refusal, want);
                    assert!(other || old.is_err(), "{path}: {refusal:?}");
                }
                (found, old) => panic!("{path}: {found:?} {old:?}"),
            }
        }
        Ok(())
    }

    /// Everything goes, in one way or the other, and nothing is left.
    async fn end(mut self, seed: u64) {
        while !self.held.is_empty() {
            self.finish_download().await;
        }
        if seed.is_multiple_of(2) {
            must(self.files.delete_share().await);
            self.files.world.sweep().await;
            assert_eq!(self.files.share_rows().await, 0, "rows are left");
        } else {
            for taken in std::mem::take(&mut self.snapshots) {
                must(self.files.forget_snapshot(taken.at).await);
            }
            for path in self.tree.files() {
                must(self.files.delete_file(&path).await);
            }
            for path in self.tree.directories().iter().rev() {
                must(self.files.delete_directory(path).await);
            }
            self.files.world.sweep().await;
            let mut left = self.files.share_row_tags().await;
            // The root stays, with the state and the descriptors.
            left.retain(|tag| !matches!(tag, b'A' | b'P'));
            assert!(left.is_empty() || left == [b'I'], "rows are left: {left:?}");
        }
        self.files.world.free_orphans().await;
        assert_eq!(self.files.world.live_extents().await, 0, "extents are left");
    }
}

fn bytes(units: usize) -> u64 {
    u64::try_from(units * UNIT).unwrap_or(0)
}

async fn run(store: Store, seed: u64) -> usize {
    let files = Files { world: World::with(store, options()) };
    must(files.make_share().await);
    let mut run = Run::new(files, seed);
    for _ in 0..STEPS {
        must(run.step().await);
    }
    must(run.compare(None).await);
    for taken in &run.snapshots {
        must(run.compare(Some(taken)).await);
    }
    let done = run.done;
    run.end(seed).await;
    done
}

async fn run_all(open: impl Fn(u64) -> Store) {
    let seeds = zaffre_testkit::seeds(SEEDS);
    let count = seeds.end - seeds.start;
    let mut done = 0;
    for seed in seeds {
        println!("seed {seed}; replay with ZAFFRE_SEED={seed}");
        done += run(open(seed), seed).await;
    }
    println!("{done} changes agreed with the model");
    assert!(count < SEEDS || done > 1_500, "did too little: {done}");
}

#[tokio::test]
async fn sequences_on_the_embedded_engine() {
    run_all(|_| must(Store::in_memory())).await;
}

#[tokio::test]
async fn sequences_on_the_strict_engine() {
    run_all(|seed| must(Store::strict(strict(seed)))).await;
}

/// An engine that sometimes cannot say whether a commit happened.
async fn run_with_unknown_outcomes(seed: u64) -> usize {
    let options = StrictOptions { unknown_one_in: 12, ..strict(seed) };
    let files = Files { world: World::with(must(Store::strict(options)), self::options()) };
    let made = |result| match result {
        Ok(()) | Err(Error::Refused(_)) => true,
        Err(_) => false,
    };
    while !made(files.make_share().await) {}
    let mut run = Run::new(files, seed);
    for _ in 0..STEPS {
        if let Err(after) = run.step().await {
            run.settle(*after).await;
        }
    }
    must(run.compare(None).await);
    while !run.held.is_empty() {
        run.finish_download().await;
    }
    while !made(run.files.delete_share().await) {}
    let mut passes = 0;
    while !run.files.core().run_background_once().await.is_ok_and(|swept| swept.blocked == 0) {
        passes += 1;
        assert!(passes < 1_000, "the background does not come to an end");
    }
    assert_eq!(run.files.share_rows().await, 0, "rows are left");
    run.files.world.free_orphans().await;
    assert_eq!(run.files.world.live_extents().await, 0, "extents are left");
    run.done
}

#[tokio::test]
async fn sequences_with_unknown_outcomes() {
    let seeds = zaffre_testkit::seeds(SEEDS);
    let count = seeds.end - seeds.start;
    let mut done = 0;
    for seed in seeds {
        println!("seed {seed}; replay with ZAFFRE_SEED={seed}");
        done += run_with_unknown_outcomes(seed).await;
    }
    assert!(count < SEEDS || done > 1_000, "did too little: {done}");
}

// Power loss

fn open(disk: &CrashDisk) -> Option<Files> {
    let extents = ExtentOptions { segment_bytes: 256 * 1024, writers: 1, open_files: 8 };
    let options = StoreOptions { extents, ..StoreOptions::default() };
    let store = Store::open(Arc::new(disk.clone()), &options).ok()?;
    Some(Files { world: World::with(store, support::model::options()) })
}

/// Works until the power goes; gives what was acknowledged, and what the last step may have done.
async fn work(disk: &CrashDisk, seed: u64) -> Option<(Run, Option<Tree>)> {
    let files = open(disk)?;
    files.make_share().await.ok()?;
    let mut run = Run::new(files, seed);
    let mut perhaps = None;
    for _ in 0..STEPS {
        if let Err(after) = run.step().await {
            perhaps = Some(*after);
            break;
        }
    }
    run.held.clear();
    disk.power_off();
    Some((run, perhaps))
}

async fn come_back(disk: &CrashDisk, before: Run, perhaps: Option<Tree>, seed: u64) {
    let files = open(disk).unwrap_or_else(|| panic!("seed {seed}: does not open"));
    let mut run = Run { files, ..before };
    // A snapshot may have been taken, or not forgotten, that the model does not know of.
    let unsure = perhaps.as_ref() == Some(&run.tree);
    if let Some(after) = perhaps {
        run.settle(after).await;
    }
    must(run.compare(None).await);
    for taken in &run.snapshots {
        must(run.compare(Some(taken)).await);
    }
    run.files.world.sweep().await;
    must(run.compare(None).await);
    run.end(u64::from(!unsure)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_a_share_refers_to_is_there() {
    let mut runs = 0;
    for seed in 1..=12 {
        let disk = CrashDisk::new();
        let files = open(&disk).expect("opens");
        must(files.make_share().await);
        let mut run = Run::new(files, seed);
        for _ in 0..STEPS {
            must(run.step().await);
        }
        run.held.clear();
        drop(run);
        let report = must(check(Arc::new(disk), names_extents, |_| {}).await);
        assert!(report.is_clean(), "seed {seed}: {:?}", report.problems);
        runs += report.extents.runs;
    }
    assert!(runs > 20, "did too little: {runs}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn power_goes_at_random_points() {
    let seeds = zaffre_testkit::seeds(CRASHES);
    let count = seeds.end - seeds.start;
    let (mut done, mut crashes) = (0, 0);
    for seed in seeds {
        println!("seed {seed}; replay with ZAFFRE_SEED={seed}");
        let mut random = Random(seed);
        let disk = CrashDisk::new();
        disk.power_off_at(20 + random.below(250));
        let survival = Survival::ALL[random.index(Survival::ALL.len())];
        if let Some((run, perhaps)) = work(&disk, seed).await {
            done += run.done;
            crashes += 1;
            come_back(&disk.reboot(survival, seed), run, perhaps, seed).await;
        }
    }
    println!("{done} changes kept over {crashes} power losses");
    assert!(count < CRASHES || done > 1_500, "did too little: {done}");
}
