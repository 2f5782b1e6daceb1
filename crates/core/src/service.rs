//! `Core`: the store, the options and the list of places where background work waits.
//!
//! Must never start anything by itself: `spawn_background` does, when it is called.

use crate::Error;
use crate::analytics::Buffer;
use crate::background::Pending;
use crate::background::accesses::Accesses;
use crate::blob::content::buffers::Buffers;
use crate::blob::content::hashing::Hashing;
use crate::blob::copy::{Copies, Remote};
use crate::blob::replace::LeftOver;
use crate::blob::site::Site;
pub(crate) use crate::detached::detached;
use crate::file::opens::Opens;
use crate::file::share::InProgress;
use crate::file::write_back::WriteBack;
pub(crate) use crate::fresh_id::fresh_id;
use crate::leases::Leases;
use crate::queue::heads::Heads;
use crate::service_properties::Cache;
use crate::settings::Settings;
use crate::sparse;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use zaffre_base::Timestamp;
use zaffre_domain::Refusal;
use zaffre_store::extents::MAX_EXTENT;
use zaffre_store::meta::limits;
use zaffre_store::{Abort, Placement, Snapshot, Store, StoreError, TransactError, Tx};

/// The services on one store. Clones share it.
#[derive(Clone)]
pub struct Core(Arc<Inner>);

struct Inner {
    store: Store,
    options: CoreOptions,
    pending: Pending,
    properties: Cache,
    settings: Settings,
    accesses: Accesses,
    heads: Heads,
    hashing: Hashing,
    buffers: Arc<Buffers>,
    folding: sparse::Queue,
    readers: sparse::Readers,
    logs: Buffer,
    snapshotting: InProgress,
    opens: Opens,
    leases: Leases,
    write_back: WriteBack,
    copies: Copies,
    remote: OnceLock<Arc<dyn Remote>>,
}

/// What an operator may choose.
#[derive(Clone, Debug)]
pub struct CoreOptions {
    /// How long the name of a deleted container stays blocked.
    pub container_delete_delay: Duration,
    /// How often the background looks through everything, for staged blocks that have expired and
    /// work that no running request has announced.
    pub full_sweep_every: Duration,
    /// How blobs are copied.
    pub copies: CopyOptions,
    /// How content is laid out; what is stored keeps the layout it was written with.
    pub layout: Layout,
}

/// How blobs are copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyOptions {
    /// A source on this server of at most so many bytes is copied before the answer. The service
    /// answers `success` at once for what it can copy without waiting, which is nearly everything
    /// within one account.
    pub at_once_bytes: u64,
    /// Bytes copied between two commits that say how far a copy is.
    pub step_bytes: u64,
    /// How fast a copy goes on after its answer, at most.
    pub bytes_per_second: Option<u64>,
}

impl Default for CopyOptions {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self { at_once_bytes: 8 * MIB, step_bytes: 8 * MIB, bytes_per_second: None }
    }
}

/// How new content is cut up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Content of at most so many bytes is kept in the metadata: one sync instead of two.
    pub inline_bytes: usize,
    /// Bytes in every extent of a content but the last, at most 4 MiB. Each upload buffers one, and
    /// two more are on their way to the disk.
    pub piece_bytes: u32,
    /// Extent rows that a deciding transaction writes itself; more are written before it.
    pub pieces_per_commit: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self { inline_bytes: 8 * 1024, piece_bytes: 1024 * 1024, pieces_per_commit: 256 }
    }
}

impl Default for CoreOptions {
    fn default() -> Self {
        Self {
            container_delete_delay: Duration::from_secs(30),
            full_sweep_every: Duration::from_hours(1),
            copies: CopyOptions::default(),
            layout: Layout::default(),
        }
    }
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("options", &self.0.options).finish_non_exhaustive()
    }
}

impl Core {
    /// The services on `store`; starts nothing.
    pub fn new(store: Store, mut options: CoreOptions) -> Self {
        let layout = &mut options.layout;
        let largest = u32::try_from(MAX_EXTENT).unwrap_or(u32::MAX);
        layout.piece_bytes = layout.piece_bytes.clamp(1, largest);
        layout.inline_bytes = layout.inline_bytes.min(limits::VALUE_BYTES / 2);
        layout.pieces_per_commit = layout.pieces_per_commit.clamp(1, limits::WRITES / 2);
        let piece = usize::try_from(layout.piece_bytes).unwrap_or(usize::MAX);
        let opens = Opens::new(store.clock.clone());
        Self(Arc::new(Inner {
            opens,
            store,
            options,
            pending: Pending::default(),
            properties: Cache::default(),
            settings: Settings::default(),
            accesses: Accesses::default(),
            heads: Heads::default(),
            hashing: Hashing::default(),
            buffers: Buffers::new(piece),
            folding: sparse::Queue::default(),
            readers: sparse::Readers::default(),
            logs: Buffer::default(),
            snapshotting: InProgress::default(),
            leases: Leases::default(),
            write_back: WriteBack::default(),
            copies: Copies::default(),
            remote: OnceLock::new(),
        }))
    }

    /// The store beneath.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// The options it was made with.
    pub fn options(&self) -> &CoreOptions {
        &self.0.options
    }

    /// Who has which file open.
    pub fn opens(&self) -> &Opens {
        &self.0.opens
    }

    /// Which leases are held.
    pub fn leases(&self) -> &Leases {
        &self.0.leases
    }

    /// Writes to files that wait to be committed.
    pub(crate) fn write_back(&self) -> &WriteBack {
        &self.0.write_back
    }

    /// Who hashes bodies.
    pub(crate) fn hashing(&self) -> &Hashing {
        &self.0.hashing
    }

    /// Memory for pieces of bodies.
    pub(crate) fn buffers(&self) -> &Arc<Buffers> {
        &self.0.buffers
    }

    /// Chunks of sparse contents that wait to be folded.
    pub(crate) fn folding(&self) -> &sparse::Queue {
        &self.0.folding
    }

    /// Who reads sparse contents.
    pub(crate) fn readers(&self) -> &sparse::Readers {
        &self.0.readers
    }

    pub(crate) fn pending(&self) -> &Pending {
        &self.0.pending
    }

    /// Copies that go on after their answer.
    pub(crate) fn copies(&self) -> &Copies {
        &self.0.copies
    }

    /// Lets copies come from other servers. Only the first call counts.
    pub fn reach(&self, remote: Arc<dyn Remote>) {
        let _ = self.0.remote.set(remote);
    }

    pub(crate) fn remote(&self) -> Option<Arc<dyn Remote>> {
        self.0.remote.get().cloned()
    }

    pub(crate) fn logs(&self) -> &Buffer {
        &self.0.logs
    }

    /// Shares of which a snapshot is being taken.
    pub(crate) fn snapshotting(&self) -> &InProgress {
        &self.0.snapshotting
    }

    pub(crate) fn properties(&self) -> &Cache {
        &self.0.properties
    }

    pub(crate) fn all_settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Reads that are not written down yet.
    pub(crate) fn accesses(&self) -> &Accesses {
        &self.0.accesses
    }

    pub(crate) fn heads(&self) -> &Heads {
        &self.0.heads
    }

    /// The instant a read happens: what it sees is all that was committed until then.
    #[expect(clippy::unused_self, reason = "who has a core asks it for the time")]
    pub(crate) fn now(&self, seen: &Snapshot) -> Timestamp {
        seen.now()
    }

    /// Runs a body to its end even if the caller goes away meanwhile, so that what depends on its
    /// outcome is always done.
    pub(crate) async fn transact<T, B>(&self, at: &Placement, body: B) -> Result<T, Error>
    where
        T: Send + 'static,
        B: FnMut(&mut Tx<'_>) -> Result<T, Abort<Refusal>> + Send + 'static,
    {
        let (meta, at) = (self.store().meta.clone(), at.clone());
        detached(async move { meta.transact(&at, body).await.map_err(Error::from) }).await
    }

    /// [`Core::transact`] inside a container; what the commit leaves behind is announced.
    pub(crate) async fn commit<T, B>(&self, site: &Site, body: B) -> Result<T, Error>
    where
        T: Send + 'static,
        B: FnMut(&mut Tx<'_>) -> Result<(T, LeftOver), Abort<Refusal>> + Send + 'static,
    {
        let (core, site) = (self.clone(), site.clone());
        detached(async move {
            let (value, left) = core.store().meta.transact(&site.placement, body).await?;
            core.announce(&site, left);
            Ok(value)
        })
        .await
    }

    /// Tells the background what a commit left behind.
    pub(crate) fn announce(&self, site: &Site, left: LeftOver) {
        if left == LeftOver::Work {
            self.pending().mark(site);
        }
    }
}

/// Runs `work` on a thread where it may block.
pub(crate) async fn blocking<T, F>(work: F) -> Result<T, Error>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, Error> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(stopped) => match stopped.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::Store(StoreError::Closed)),
        },
    }
}

/// Whether a failed transaction surely wrote nothing.
pub(crate) fn surely_nothing_written<E>(error: &TransactError<E>) -> bool {
    match error {
        TransactError::Body(_) => true,
        TransactError::Store(error) => {
            !matches!(error, StoreError::Unknown | StoreError::Poisoned | StoreError::Closed)
        }
    }
}
