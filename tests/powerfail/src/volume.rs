//! Files and names as the disk's cache shows them and as the disk keeps them.
//!
//! Stricter than most real disks: data is durable only after a sync of its file, a name only after
//! a sync of its directory, and any subset of the unsynced sectors may survive. Must never let
//! anything through while the power is off.

use crate::sparse::{PAGE, Sparse};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// The directory that is always there.
pub const ROOT: u64 = 1;
/// What a disk writes atomically.
const SECTOR: usize = 512;

/// Why a call fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The power is off.
    Off,
    /// There is no such file or name.
    Missing,
    /// There is one already.
    Exists,
    /// It is not empty.
    NotEmpty,
    /// No space is left.
    Full,
}

/// What survives of what was not synced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Survival {
    /// Nothing.
    None,
    /// Everything.
    All,
    /// The first of it, in order; the last of those torn.
    Prefix,
    /// Any subset, each torn by sector with some chance.
    Random,
}

impl FromStr for Survival {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "none" => Ok(Self::None),
            "all" => Ok(Self::All),
            "prefix" => Ok(Self::Prefix),
            "random" => Ok(Self::Random),
            _ => Err(()),
        }
    }
}

/// A change of one file's bytes.
#[derive(Clone, Debug)]
pub enum Change {
    /// Bytes at an offset.
    Write { offset: u64, data: Vec<u8> },
    /// A new length.
    SetLen(u64),
    /// Space for a range.
    Reserve { offset: u64, len: u64, keep_size: bool },
    /// A range that becomes zeros.
    Punch { offset: u64, len: u64 },
}

impl Change {
    fn apply(&self, to: &mut Sparse) {
        match self {
            Self::Write { offset, data } => to.write(*offset, data),
            Self::SetLen(len) => to.set_len(*len),
            Self::Reserve { offset, len, keep_size } => to.reserve(*offset, *len, *keep_size),
            Self::Punch { offset, len } => to.punch(*offset, *len),
        }
    }

    /// Pages it would add.
    fn cost(&self, to: &Sparse) -> u64 {
        match self {
            Self::Write { offset, data } => to.missing(*offset, data.len() as u64),
            Self::Reserve { offset, len, .. } => to.missing(*offset, *len),
            Self::SetLen(_) | Self::Punch { .. } => 0,
        }
    }

    fn apply_torn(&self, to: &mut Sparse, random: &mut Random) {
        let Self::Write { offset, data } = self else {
            return self.apply(to);
        };
        let mut at = 0;
        while at < data.len() {
            // Sectors are the disk's, wherever the write starts.
            let into = usize::try_from((offset + at as u64) % SECTOR as u64).unwrap_or(0);
            let step = (SECTOR - into).min(data.len() - at);
            if random.below(2) == 0 {
                to.write(offset + at as u64, &data[at..at + step]);
            }
            at += step;
        }
    }
}

/// What a power loss did to what was not synced.
#[derive(Clone, Copy, Default, Debug)]
pub struct Loss {
    /// Changes of bytes that were kept, torn, dropped.
    pub changes: [u64; 3],
    /// Changes of names that were kept, dropped.
    pub names: [u64; 2],
}

#[derive(Clone, Debug, Default)]
struct Node {
    directory: bool,
    current: Sparse,
    durable: Sparse,
    unsynced: Vec<Change>,
    opens: u64,
}

impl Node {
    fn cut(&mut self, survival: Survival, random: &mut Random, loss: &mut Loss) {
        let unsynced = std::mem::take(&mut self.unsynced);
        let mut bytes = std::mem::take(&mut self.durable);
        let whole = random.below(unsynced.len() as u64 + 1);
        for (index, change) in unsynced.iter().enumerate() {
            let fate = match survival {
                Survival::None => 2,
                Survival::All => 0,
                Survival::Prefix => match (index as u64).cmp(&whole) {
                    std::cmp::Ordering::Less => 0,
                    std::cmp::Ordering::Equal => 1,
                    std::cmp::Ordering::Greater => 2,
                },
                Survival::Random => [0, 0, 1, 2, 2][random.index(5)],
            };
            match fate {
                0 => change.apply(&mut bytes),
                1 => change.apply_torn(&mut bytes, random),
                _ => {}
            }
            loss.changes[fate] += 1;
        }
        self.current = bytes.clone();
        self.durable = bytes;
    }
}

/// A name in a directory.
type Name = (u64, String);
type Names = BTreeMap<Name, u64>;

/// A change of names that happens whole or not at all, as journaling file systems do it.
#[derive(Clone, Debug)]
struct NameChange {
    gone: Option<Name>,
    new: Option<(Name, u64)>,
}

impl NameChange {
    fn apply(&self, names: &mut Names) {
        if let Some(gone) = &self.gone {
            names.remove(gone);
        }
        if let Some((name, node)) = &self.new {
            names.insert(name.clone(), *node);
        }
    }

    fn is_in(&self, directory: u64) -> bool {
        let gone = self.gone.iter().map(|name| name.0);
        gone.chain(self.new.iter().map(|(name, _)| name.0)).any(|parent| parent == directory)
    }
}

/// What the kernel wants to know of a file.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Whether it is a directory.
    pub directory: bool,
    /// Its length.
    pub len: u64,
    /// The bytes it takes.
    pub taken: u64,
}

/// The whole disk.
#[derive(Debug)]
pub struct Volume {
    nodes: BTreeMap<u64, Node>,
    names: Names,
    durable_names: Names,
    unsynced_names: Vec<NameChange>,
    next: u64,
    off: bool,
    limit: Option<u64>,
    used: u64,
    syncs: u64,
    lies: bool,
    calls: u64,
    planned: Option<(u64, Plan)>,
}

/// What happens at a changing call that was named before.
#[derive(Clone, Copy, Debug)]
pub enum Plan {
    /// The power goes; the call still reaches the cache, unless it is a sync.
    Cut(Survival, u64),
    /// The call fails and does nothing.
    Fail,
}

impl Default for Volume {
    fn default() -> Self {
        let root = Node { directory: true, ..Node::default() };
        Self {
            nodes: BTreeMap::from([(ROOT, root)]),
            names: Names::new(),
            durable_names: Names::new(),
            unsynced_names: Vec::new(),
            next: ROOT + 1,
            off: false,
            limit: None,
            used: 0,
            syncs: 0,
            lies: false,
            calls: 0,
            planned: None,
        }
    }
}

impl Volume {
    fn node(&mut self, node: u64) -> Result<&mut Node, Fault> {
        if self.off {
            return Err(Fault::Off);
        }
        self.nodes.get_mut(&node).ok_or(Fault::Missing)
    }

    /// Counts a changing call; says whether the power goes at this one.
    fn tick(&mut self) -> Result<bool, Fault> {
        if self.off {
            return Err(Fault::Off);
        }
        self.calls += 1;
        match self.planned {
            Some((call, Plan::Fail)) if call < self.calls => {
                self.planned = None;
                Err(Fault::Off)
            }
            Some((call, Plan::Cut(..))) if call < self.calls => Ok(true),
            _ => Ok(false),
        }
    }

    /// Ends a changing call: with the power, if it was to go now.
    fn tock(&mut self, last: bool) -> Result<(), Fault> {
        match self.planned {
            Some((_, Plan::Cut(survival, seed))) if last => {
                self.planned = None;
                self.cut(survival, seed);
                Err(Fault::Off)
            }
            _ => Ok(()),
        }
    }

    /// Lets something happen at the changing call after so many more.
    pub fn plan(&mut self, after: u64, plan: Plan) {
        self.planned = Some((self.calls + after, plan));
    }

    /// Changing calls so far, and whether a plan is still to come.
    pub fn calls(&self) -> (u64, bool) {
        (self.calls, self.planned.is_some())
    }

    /// What a name in a directory means.
    pub fn find(&mut self, parent: u64, name: &str) -> Result<u64, Fault> {
        self.node(parent)?;
        self.names.get(&(parent, name.to_owned())).copied().ok_or(Fault::Missing)
    }

    /// What there is to say of a file.
    pub fn about(&mut self, node: u64) -> Result<About, Fault> {
        let node = self.node(node)?;
        let taken = node.current.pages() * PAGE;
        Ok(About { directory: node.directory, len: node.current.len(), taken })
    }

    /// The names in a directory with what they mean.
    pub fn list(&mut self, directory: u64) -> Result<Vec<(String, u64, bool)>, Fault> {
        self.node(directory)?;
        let range = (directory, String::new())..(directory + 1, String::new());
        let entries = self.names.range(range).map(|((_, name), node)| {
            (name.clone(), *node, self.nodes.get(node).is_some_and(|node| node.directory))
        });
        Ok(entries.collect())
    }

    /// Makes an empty file or directory.
    pub fn make(&mut self, parent: u64, name: &str, directory: bool) -> Result<u64, Fault> {
        match self.find(parent, name) {
            Ok(_) => return Err(Fault::Exists),
            Err(Fault::Missing) => {}
            Err(fault) => return Err(fault),
        }
        let last = self.tick()?;
        let node = self.next;
        self.next += 1;
        self.nodes.insert(node, Node { directory, ..Node::default() });
        self.rename_by(NameChange { gone: None, new: Some(((parent, name.to_owned()), node)) });
        self.tock(last)?;
        Ok(node)
    }

    /// Takes a name away.
    pub fn remove(&mut self, parent: u64, name: &str) -> Result<(), Fault> {
        let node = self.find(parent, name)?;
        if !self.list(node)?.is_empty() {
            return Err(Fault::NotEmpty);
        }
        let last = self.tick()?;
        self.rename_by(NameChange { gone: Some((parent, name.to_owned())), new: None });
        self.recount();
        self.tock(last)
    }

    /// Gives a file another name; what had it before is gone.
    pub fn rename(&mut self, from: (u64, &str), to: (u64, &str)) -> Result<(), Fault> {
        let node = self.find(from.0, from.1)?;
        self.node(to.0)?;
        let last = self.tick()?;
        let gone = Some((from.0, from.1.to_owned()));
        self.rename_by(NameChange { gone, new: Some(((to.0, to.1.to_owned()), node)) });
        self.recount();
        self.tock(last)
    }

    fn rename_by(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.unsynced_names.push(change);
    }

    /// Counts an open file: without a name it still takes space until it is closed.
    pub fn open(&mut self, node: u64) -> Result<(), Fault> {
        self.node(node)?.opens += 1;
        Ok(())
    }

    /// Counts a closed one; works without power, as the kernel closes files then too.
    pub fn close(&mut self, node: u64) {
        if let Some(node) = self.nodes.get_mut(&node) {
            node.opens = node.opens.saturating_sub(1);
        }
        self.recount();
    }

    /// Some of a file's bytes.
    pub fn read(&mut self, node: u64, offset: u64, len: u64) -> Result<Vec<u8>, Fault> {
        Ok(self.node(node)?.current.read(offset, len))
    }

    /// Changes a file's bytes in the cache.
    pub fn change(&mut self, target: u64, change: Change) -> Result<(), Fault> {
        let (limit, used) = (self.limit, self.used);
        let node = self.node(target)?;
        let cost = change.cost(&node.current) * PAGE;
        if cost > 0 && limit.is_some_and(|limit| used + cost > limit) {
            return Err(Fault::Full);
        }
        let last = self.tick()?;
        let node = self.node(target)?;
        let before = node.current.pages();
        change.apply(&mut node.current);
        let after = node.current.pages();
        node.unsynced.push(change);
        self.used = (self.used + after * PAGE).saturating_sub(before * PAGE);
        self.tock(last)
    }

    /// Makes a file's bytes durable.
    pub fn sync(&mut self, node: u64) -> Result<(), Fault> {
        self.node(node)?;
        // Power lost during a sync: it did not happen.
        let last = self.tick()?;
        self.tock(last)?;
        let lies = self.lies;
        let node = self.node(node)?;
        if !lies {
            for change in node.unsynced.drain(..) {
                change.apply(&mut node.durable);
            }
        }
        self.syncs += 1;
        Ok(())
    }

    /// Makes a directory's names durable.
    pub fn sync_names(&mut self, directory: u64) -> Result<(), Fault> {
        self.node(directory)?;
        let last = self.tick()?;
        self.tock(last)?;
        let Self { unsynced_names, durable_names, .. } = self;
        unsynced_names.retain(|change| {
            let synced = change.is_in(directory);
            if synced {
                change.apply(durable_names);
            }
            !synced
        });
        self.syncs += 1;
        Ok(())
    }

    /// The power goes: what was not synced is dropped or torn, and nothing works any more.
    pub fn cut(&mut self, survival: Survival, seed: u64) -> Loss {
        let mut random = Random::new(seed);
        let mut loss = Loss::default();
        let mut names = std::mem::take(&mut self.durable_names);
        for change in std::mem::take(&mut self.unsynced_names) {
            let kept = match survival {
                Survival::None => false,
                Survival::All => true,
                Survival::Prefix | Survival::Random => random.below(2) == 0,
            };
            if kept {
                change.apply(&mut names);
            }
            loss.names[usize::from(!kept)] += 1;
        }
        for node in self.nodes.values_mut() {
            node.cut(survival, &mut random, &mut loss);
        }
        self.names = names.clone();
        self.durable_names = names;
        self.off = true;
        loss
    }

    /// The power is back, on what survived.
    pub fn power_on(&mut self) {
        self.off = false;
        self.planned = None;
        self.recount();
    }

    /// From now on syncs of files succeed and do nothing: what tests must notice.
    pub fn lie(&mut self) {
        self.lies = true;
    }

    /// Bytes that files may take; `None` is no limit.
    pub fn limit(&mut self, bytes: Option<u64>) {
        self.limit = bytes;
    }

    /// The limit, bytes in use, syncs so far.
    pub fn state(&self) -> (Option<u64>, u64, u64) {
        (self.limit, self.used, self.syncs)
    }

    /// Forgets files that nobody can reach, and counts the space anew.
    fn recount(&mut self) {
        if self.off {
            return;
        }
        let named: BTreeSet<u64> = self
            .names
            .values()
            .chain(self.durable_names.values())
            .chain(self.unsynced_names.iter().filter_map(|c| c.new.as_ref().map(|(_, n)| n)))
            .copied()
            .collect();
        self.nodes
            .retain(|number, node| *number == ROOT || node.opens > 0 || named.contains(number));
        let shown: BTreeSet<u64> = self.names.values().copied().collect();
        let counted = self.nodes.iter().filter(|(n, node)| shown.contains(n) || node.opens > 0);
        self.used = counted.map(|(_, node)| node.current.pages() * PAGE).sum();
    }
}

/// A small deterministic generator: what a seed decides, it always decides the same way.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound.max(1)
    }

    fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap_or(0)
    }
}
