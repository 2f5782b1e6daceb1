//! Opening a whole store: lock, format, clock, metadata, extents, in that order.
//!
//! In-memory mode is the same code on the in-memory disk.

use crate::clock::Clock;
use crate::directory::{self, OpenError};
use crate::disk::{Disk, MemDisk, OpenMode};
use crate::error::StoreError;
use crate::extents::{ExtentOptions, Extents};
use crate::meta::{self, Embedded, EmbeddedOptions, Meta, Strict, StrictOptions};
use crate::pins::Pins;
use crate::poison::Poison;
use std::sync::Arc;
use zaffre_base::measure::Histogram;

const MIB: usize = 1024 * 1024;
/// Upper bounds of the histogram of commit batches, in transactions.
const BATCHES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// Memory for cached metadata pages.
    pub cache_bytes: usize,
    /// Memory for rows that are not in the tree yet; a checkpoint follows when it is used up.
    pub memory_bytes: usize,
    /// How segments are laid out.
    pub extents: ExtentOptions,
    /// The clock to use; by default one that starts at the machine's time.
    pub clock: Option<Clock>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 16 * MIB,
            // redb holds changed pages in half of the cache, and rows of 4 KiB take pages of 8: with
            // more, a checkpoint would write pages early and read each of them again.
            memory_bytes: 4 * MIB,
            extents: ExtentOptions::default(),
            clock: None,
        }
    }
}

/// An open store. Clones share it; the directory's lock is held until the last one is gone, and the
/// last clone of its parts.
#[derive(Clone)]
pub struct Store {
    /// Metadata.
    pub meta: Meta,
    /// Bytes.
    pub extents: Extents,
    /// What readers hold.
    pub pins: Pins,
    /// The time.
    pub clock: Clock,
    batches: Arc<Histogram>,
    poison: Poison,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}

impl Store {
    /// Opens the store on `disk`, creating it if the disk is empty.
    pub fn open(disk: Arc<dyn Disk>, options: &StoreOptions) -> Result<Self, OpenError> {
        let lock = directory::lock(&*disk)?;
        let clock = options.clock.clone().unwrap_or_default();
        let poison = Poison::new();
        directory::prepare(&*disk, |name| create_meta(&*disk, name, &clock))?;
        let file = disk
            .open(directory::META, OpenMode::Existing)
            .map_err(|e| StoreError::io("opening the metadata", e))?;
        let batches = Arc::new(Histogram::new(BATCHES));
        let memory = EmbeddedOptions {
            cache_bytes: options.cache_bytes,
            memory_bytes: options.memory_bytes,
            batches: Arc::clone(&batches),
        };
        let (timer, fuse) = (clock.clone(), poison.clone());
        let engine = Embedded::open(&*disk, file, memory, timer, fuse, lock.clone())?;
        let extents = Extents::open_locked(disk, options.extents.clone(), poison.clone(), lock)?;
        let meta = Meta::new(Arc::new(engine));
        Ok(Self { meta, extents, pins: Pins::default(), clock, batches, poison })
    }

    /// A store that is gone when the process ends.
    pub fn in_memory() -> Result<Self, OpenError> {
        Self::open(Arc::new(MemDisk::new()), &StoreOptions::default())
    }

    /// A store for tests whose metadata engine is as hostile as a legal engine can be.
    pub fn strict(options: StrictOptions) -> Result<Self, OpenError> {
        let clock = Clock::default();
        let poison = Poison::new();
        let meta = Strict::meta(clock.clone(), options);
        let disk = Arc::new(MemDisk::new());
        let extents = Extents::open(disk, ExtentOptions::default(), poison.clone())?;
        let batches = Arc::new(Histogram::new(BATCHES));
        Ok(Self { meta, extents, pins: Pins::default(), clock, batches, poison })
    }

    /// How many transactions were committed together.
    pub fn batches(&self) -> &Histogram {
        &self.batches
    }

    /// Whether a sync failed: nothing is acknowledged any more and only a restart helps.
    pub fn is_poisoned(&self) -> bool {
        self.poison.is_set()
    }
}

fn create_meta(disk: &dyn Disk, name: &str, clock: &Clock) -> Result<(), OpenError> {
    let fail = |e| StoreError::io("creating the metadata", e);
    let file = disk.open(name, OpenMode::New).map_err(fail)?;
    meta::create(disk, Arc::clone(&file), clock)?;
    Ok(file.sync().map_err(fail)?)
}
