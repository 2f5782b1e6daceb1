//! A disk that loses power: what was not synced is dropped, torn or reordered.
//!
//! It is stricter than most real disks: a name is durable only after `sync_dir`, and any subset of
//! the unsynced sectors of any unsynced write may survive.

use super::mem::{Sparse, names_in, not_found, take_lock};
use super::{Disk, File, OpenMode};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a disk writes atomically.
const SECTOR: usize = 512;

/// What survives of the writes that were not synced when the power went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Survival {
    /// Nothing.
    None,
    /// Everything.
    All,
    /// The first of them, in order; the last of those torn.
    Prefix,
    /// Any subset, each torn by sector with some chance.
    Random,
}

/// All four, for exhaustive tests.
impl Survival {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::None, Self::All, Self::Prefix, Self::Random];
}

#[derive(Clone, Debug)]
enum Change {
    Write { offset: u64, data: Vec<u8> },
    SetLen(u64),
    Extend(u64),
    Punch { offset: u64, len: u64 },
}

impl Change {
    fn apply(&self, to: &mut Sparse) {
        match self {
            Self::Write { offset, data } => to.write(*offset, data),
            Self::SetLen(len) => to.set_len(*len),
            Self::Extend(end) => to.extend_to(*end),
            Self::Punch { offset, len } => {
                let end = offset.saturating_add(*len).min(to.len());
                to.punch((*offset).min(end), end.saturating_sub(*offset));
            }
        }
    }

    fn apply_torn(&self, to: &mut Sparse, random: &mut Random) {
        let Self::Write { offset, data } = self else {
            return self.apply(to);
        };
        let mut at = 0;
        while at < data.len() {
            // Tear at the disk's sector boundaries, wherever the write starts.
            let into = usize::try_from((offset + at as u64) % SECTOR as u64).unwrap_or(0);
            let step = (SECTOR - into).min(data.len() - at);
            if random.chance(2) {
                to.write(offset + at as u64, &data[at..at + step]);
            }
            at += step;
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Inode {
    current: Sparse,
    durable: Sparse,
    unsynced: Vec<Change>,
}

impl Inode {
    fn change(&mut self, change: Change) {
        change.apply(&mut self.current);
        self.unsynced.push(change);
    }

    fn sync(&mut self) {
        for change in self.unsynced.drain(..) {
            change.apply(&mut self.durable);
        }
    }

    fn after_crash(&self, survival: Survival, random: &mut Random) -> Self {
        let mut bytes = self.durable.clone();
        match survival {
            Survival::None => {}
            Survival::All => bytes = self.current.clone(),
            Survival::Prefix => {
                let kept = random.below(self.unsynced.len() as u64 + 1);
                let kept = usize::try_from(kept).unwrap_or(0);
                for change in &self.unsynced[..kept] {
                    change.apply(&mut bytes);
                }
                if let Some(torn) = self.unsynced.get(kept) {
                    torn.apply_torn(&mut bytes, random);
                }
            }
            Survival::Random => {
                for change in &self.unsynced {
                    match random.below(5) {
                        0 | 1 => {}
                        2 => change.apply_torn(&mut bytes, random),
                        _ => change.apply(&mut bytes),
                    }
                }
            }
        }
        Self { current: bytes.clone(), durable: bytes, unsynced: Vec::new() }
    }
}

type Names = BTreeMap<String, usize>;

/// A change of names that happens whole or not at all, as journaling file systems do it.
#[derive(Clone, Debug)]
struct NameChange {
    gone: Option<String>,
    new: Option<(String, usize)>,
}

impl NameChange {
    fn apply(&self, names: &mut Names) {
        if let Some(gone) = &self.gone {
            names.remove(gone);
        }
        if let Some((name, inode)) = &self.new {
            names.insert(name.clone(), *inode);
        }
    }

    fn is_in(&self, dir: &str) -> bool {
        let name = self.gone.as_ref().or(self.new.as_ref().map(|(name, _)| name));
        name.is_some_and(|name| name.rsplit_once('/').map_or("", |(parent, _)| parent) == dir)
    }
}

#[derive(Clone, Debug, Default)]
struct State {
    inodes: Vec<Inode>,
    names: Names,
    durable_names: Names,
    unsynced_names: Vec<NameChange>,
    calls: u64,
    power_off_at: Option<u64>,
    off: bool,
}

impl State {
    /// Counts a changing call. The call at which power goes still reaches the disk's cache, then
    /// fails, as do all after it.
    fn tick(&mut self) -> io::Result<()> {
        if self.off {
            return Err(powered_off());
        }
        if self.power_off_at == Some(self.calls) {
            self.off = true;
        }
        self.calls += 1;
        Ok(())
    }

    fn rename(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.unsynced_names.push(change);
    }

    fn finish(&self) -> io::Result<()> {
        if self.off { Err(powered_off()) } else { Ok(()) }
    }
}

fn powered_off() -> io::Error {
    io::Error::other("the power is off")
}

/// The crashing disk. Clones share the same state.
#[derive(Clone, Debug, Default)]
pub struct CrashDisk {
    state: Arc<Mutex<State>>,
    locked: Arc<Mutex<bool>>,
}

impl CrashDisk {
    /// An empty disk with the power on.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changing calls made so far.
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// Cuts the power at the given changing call (counted from 0 since creation).
    pub fn power_off_at(&self, call: u64) {
        self.state().power_off_at = Some(call);
    }

    /// Cuts the power now: every later call fails.
    pub fn power_off(&self) {
        self.state().off = true;
    }

    /// What a failed sync does on some systems: everything not synced so far can still be read but
    /// will never reach the disk, also if a later sync succeeds.
    pub fn forget_unsynced(&self) {
        for inode in &mut self.state().inodes {
            inode.unsynced.clear();
        }
    }

    /// Another disk in the same state, with what is synced and what is not.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { state: Arc::new(Mutex::new(self.state().clone())), locked: Arc::default() }
    }

    /// The disk as it comes up again, on a new object; the old one stays without power.
    #[must_use]
    pub fn reboot(&self, survival: Survival, seed: u64) -> Self {
        let mut old = self.state();
        old.off = true;
        let mut random = Random(seed | 1);
        let names = match survival {
            Survival::None => old.durable_names.clone(),
            Survival::All => old.names.clone(),
            Survival::Prefix | Survival::Random => {
                let mut names = old.durable_names.clone();
                for change in &old.unsynced_names {
                    if random.chance(2) {
                        change.apply(&mut names);
                    }
                }
                names
            }
        };
        let inodes =
            old.inodes.iter().map(|inode| inode.after_crash(survival, &mut random)).collect();
        let state =
            State { inodes, names: names.clone(), durable_names: names, ..State::default() };
        Self { state: Arc::new(Mutex::new(state)), locked: Arc::default() }
    }

    /// Flips bits of one byte of a file, current and durable, for corruption tests.
    pub fn flip(&self, name: &str, offset: u64, mask: u8) {
        let mut state = self.state();
        if let Some(index) = state.names.get(name).copied() {
            let inode = &mut state.inodes[index];
            for bytes in [&mut inode.current, &mut inode.durable] {
                let mut byte = [0];
                if bytes.read(offset, &mut byte).is_ok() {
                    bytes.write(offset, &[byte[0] ^ mask]);
                }
            }
        }
    }

    /// Every file with its length.
    pub fn files(&self) -> Vec<(String, u64)> {
        let state = self.state();
        state.names.iter().map(|(n, i)| (n.clone(), state.inodes[*i].current.len())).collect()
    }
}

impl Disk for CrashDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut state = self.state();
        state.finish()?;
        let inode = match (state.names.get(name).copied(), mode) {
            (Some(_), OpenMode::New) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Some(inode), _) => inode,
            (None, OpenMode::Existing) => return Err(not_found(name)),
            (None, _) => {
                state.tick()?;
                let inode = state.inodes.len();
                state.inodes.push(Inode::default());
                state.rename(NameChange { gone: None, new: Some((name.to_owned(), inode)) });
                state.finish()?;
                inode
            }
        };
        Ok(Arc::new(CrashFile { disk: self.clone(), inode }))
    }

    fn create_dir(&self, _name: &str) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let state = self.state();
        state.finish()?;
        Ok(names_in(state.names.keys(), dir))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state();
        state.tick()?;
        let inode = state.names.get(from).copied().ok_or_else(|| not_found(from))?;
        let (gone, new) = (Some(from.to_owned()), Some((to.to_owned(), inode)));
        state.rename(NameChange { gone, new });
        state.finish()
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state();
        state.tick()?;
        if !state.names.contains_key(name) {
            return Err(not_found(name));
        }
        state.rename(NameChange { gone: Some(name.to_owned()), new: None });
        state.finish()
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        let mut state = self.state();
        state.tick()?;
        // Power lost during a sync: it did not happen.
        state.finish()?;
        let State { unsynced_names, durable_names, .. } = &mut *state;
        unsynced_names.retain(|change| {
            let synced = change.is_in(dir);
            if synced {
                change.apply(durable_names);
            }
            !synced
        });
        Ok(())
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        take_lock(&self.locked)
    }
}

#[derive(Debug)]
struct CrashFile {
    disk: CrashDisk,
    inode: usize,
}

impl CrashFile {
    fn change(&self, change: Change) -> io::Result<()> {
        let mut state = self.disk.state();
        state.tick()?;
        state.inodes[self.inode].change(change);
        state.finish()
    }
}

impl File for CrashFile {
    fn len(&self) -> io::Result<u64> {
        let state = self.disk.state();
        state.finish()?;
        Ok(state.inodes[self.inode].current.len())
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.disk.state();
        state.finish()?;
        state.inodes[self.inode].current.read(offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(Change::Write { offset, data: data.to_vec() })
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(Change::SetLen(len))
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.change(Change::Extend(offset.saturating_add(len)))
    }

    fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        self.change(Change::Punch { offset, len })
    }

    fn allocated(&self) -> io::Result<u64> {
        Ok(self.disk.state().inodes[self.inode].current.allocated())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.tick()?;
        state.finish()?;
        state.inodes[self.inode].sync();
        Ok(())
    }
}

/// A small deterministic generator: what a seed decides, it always decides the same way.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound.max(1)
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}
