//! The handle everyone uses, over whichever engine; typed results over untyped bodies.
//!
//! An engine sees a body only as something that may be run any number of times and then says
//! whether its writes are to be kept.

use super::placement::Placement;
use super::tx::{Abort, TransactError, Tx, View};
use super::{Row, limits};
use crate::error::StoreError;
use bytes::Bytes;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use zaffre_base::{Stamp, Timestamp};

/// What a run of a body came to.
pub(crate) enum Verdict {
    /// Keep the writes.
    Commit,
    /// Drop them: the body has its reason.
    Refuse,
    /// The run could not finish.
    Interrupted(StoreError),
}

/// A body without its types.
pub(crate) type Body = Box<dyn FnMut(&mut Tx<'_>) -> Verdict + Send>;

/// How a submitted body ended: its verdict is final and, if it was `Commit`, durable.
pub(crate) type Submitted<'a> = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send + 'a>>;

/// An engine: where rows are kept and in which order bodies take effect.
pub(crate) trait Engine: Send + Sync {
    fn snapshot(&self) -> Result<Arc<dyn SnapshotView>, StoreError>;
    fn submit<'a>(&'a self, at: &Placement, body: Body) -> Submitted<'a>;
    fn settle(&self) -> Submitted<'_>;
    fn last_stamp(&self) -> Stamp;
}

/// A consistent state of all rows.
pub(crate) trait SnapshotView: View + Send + Sync {
    fn stamp(&self) -> Stamp;
    /// The time of this state: every commit up to it is in here.
    fn now(&self) -> Timestamp;
}

/// The metadata of a store. Clones share it.
#[derive(Clone)]
pub struct Meta(Arc<dyn Engine>);

impl std::fmt::Debug for Meta {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meta")
    }
}

impl Meta {
    pub(crate) fn new(engine: Arc<dyn Engine>) -> Self {
        Self(engine)
    }

    /// A consistent view of one placement. It neither blocks writers nor is blocked by them; keep
    /// it for less than five seconds.
    #[expect(clippy::unused_async, reason = "a networked engine asks its server here")]
    pub async fn snapshot(&self, at: &Placement) -> Result<Snapshot, StoreError> {
        Ok(Snapshot { view: self.0.snapshot()?, at: at.clone() })
    }

    /// Returns when every commit that began before has ended. A snapshot that is taken from then on
    /// is at least of the time that the clock shows now.
    pub async fn settle(&self) -> Result<(), StoreError> {
        self.0.settle().await
    }

    /// Calls `each` with rows of all placements, in order, from one state; for checkers, which may
    /// hold it for long.
    pub(crate) fn for_each_row(
        &self,
        mut each: impl FnMut(&Placement, Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        const AT_ONCE: usize = 256;
        const END: &[u8] = &[0xFF; 4];
        let view = self.0.snapshot()?;
        let mut from = Vec::new();
        loop {
            let rows = view.scan(&from, END, AT_ONCE)?;
            let Some(last) = rows.last() else { return Ok(()) };
            from.clone_from(&last.key);
            from.push(0);
            for row in rows {
                let (at, key) = Placement::split(&row.key)
                    .ok_or_else(|| StoreError::corrupt("a row outside every placement"))?;
                each(&at, Row { key: key.to_vec(), value: row.value })?;
            }
        }
    }

    /// The stamp of the newest commit.
    pub fn last_stamp(&self) -> Stamp {
        self.0.last_stamp()
    }

    /// Runs `body` on current state and commits its writes atomically and durably, or not at all.
    /// The body may run more than once and must then do the same.
    pub async fn transact<T, E, B>(&self, at: &Placement, body: B) -> Result<T, TransactError<E>>
    where
        T: Send + 'static,
        E: Send + 'static,
        B: FnMut(&mut Tx<'_>) -> Result<T, Abort<E>> + Send + 'static,
    {
        let slot = Arc::new(Mutex::new(None));
        let body = erase(body, Arc::clone(&slot));
        self.0.submit(at, body).await?;
        let outcome = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        match outcome {
            Some(outcome) => outcome.map_err(TransactError::Body),
            // An engine that answers without having run the body is broken.
            None => Err(TransactError::Store(StoreError::Closed)),
        }
    }
}

type Slot<T, E> = Arc<Mutex<Option<Result<T, E>>>>;

fn erase<T, E, B>(mut body: B, slot: Slot<T, E>) -> Body
where
    T: Send + 'static,
    E: Send + 'static,
    B: FnMut(&mut Tx<'_>) -> Result<T, Abort<E>> + Send + 'static,
{
    Box::new(move |tx| {
        let (outcome, verdict) = match body(tx) {
            Ok(value) => (Some(Ok(value)), Verdict::Commit),
            Err(Abort::Fail(error)) => (Some(Err(error)), Verdict::Refuse),
            Err(Abort::Interrupt(cause)) => (None, Verdict::Interrupted(cause.0)),
        };
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
        verdict
    })
}

/// A consistent view of one placement.
#[derive(Clone)]
pub struct Snapshot {
    view: Arc<dyn SnapshotView>,
    at: Placement,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot({:?})", self.at)
    }
}

impl Snapshot {
    /// The newest commit it sees.
    pub fn stamp(&self) -> Stamp {
        self.view.stamp()
    }

    /// The instant at which this state is read: every commit up to it is seen, and none after it.
    /// The clock may be ahead, while commits of an earlier time are on their way to the disk.
    pub fn now(&self) -> Timestamp {
        self.view.now()
    }

    /// The value under `key`.
    pub fn get(&self, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        if key.len() > limits::KEY_BYTES {
            return Err(StoreError::Limit("key longer than 2,560 bytes"));
        }
        self.at.with_full_key(key, |full| self.view.get(full))
    }

    /// Rows with `start <= key < end` (to the placement's end without `end`), in order, at most
    /// `limit`.
    pub fn scan(
        &self,
        start: &[u8],
        end: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let from = self.at.full_key(start);
        let to = end.map_or_else(|| self.at.end(), |end| self.at.full_key(end));
        if from >= to {
            return Ok(Vec::new());
        }
        let prefix = self.at.prefix_len();
        let mut rows = self.view.scan(&from, &to, limit)?;
        for row in &mut rows {
            row.key.drain(..prefix);
        }
        Ok(rows)
    }
}
