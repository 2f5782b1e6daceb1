//! Copies that go on after their answer, and those that a crash has left behind.
//!
//! Must never be the only record of a copy: the queue is a hint, and rows are found by [`look`].

use super::TOGETHER;
use super::end::{complete, discard, fail};
use super::make::{Making, Stopped};
use crate::blob::records::{CopyFrom, Head, PendingCopy, Record};
use crate::blob::site::Site;
use crate::{Core, Error};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use zaffre_base::{BlobName, Guid};
use zaffre_domain::Refusal;
use zaffre_domain::blob::copy::{CopyFailure, has_taken_too_long};
use zaffre_store::{Row, StoreError, Tx};

/// How long a copy rests that could not go on.
const RETRY: Duration = Duration::from_secs(1);

/// Rows looked at by one snapshot.
const BATCH: usize = 256;

/// A copy that a head waits for.
type Waiting = (Site, String, Guid);

/// Copies that wait for somebody to go on with them.
#[derive(Default)]
pub(crate) struct Copies {
    state: Mutex<State>,
    arrived: Notify,
}

#[derive(Default)]
struct State {
    waiting: BTreeSet<(Site, String, u128)>,
    busy: BTreeSet<(Site, String, u128)>,
}

impl Copies {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy is to be gone on with.
    pub(crate) fn mark(&self, site: &Site, name: &BlobName, id: Guid) {
        let waiting = (site.clone(), name.as_str().to_owned(), id.0);
        let mut state = self.state();
        if !state.busy.contains(&waiting) && state.waiting.insert(waiting) {
            drop(state);
            self.arrived.notify_one();
        }
    }

    fn take(&self) -> Option<Waiting> {
        let mut state = self.state();
        let (site, name, id) = state.waiting.pop_first()?;
        state.busy.insert((site.clone(), name.clone(), id));
        Some((site, name, Guid(id)))
    }

    fn done(&self, (site, name, id): &Waiting, again: bool) {
        let waiting = (site.clone(), name.clone(), id.0);
        let mut state = self.state();
        state.busy.remove(&waiting);
        if again {
            state.waiting.insert(waiting);
        }
    }
}

/// Lets a copy go that its worker did not finish, also if the worker is stopped.
struct Busy<'a> {
    copies: &'a Copies,
    waiting: Waiting,
    again: bool,
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.copies.done(&self.waiting, self.again);
    }
}

/// Goes on with copies for as long as it runs.
pub(crate) async fn run(core: &Core) {
    let mut tasks = JoinSet::new();
    loop {
        while tasks.len() < TOGETHER
            && let Some(waiting) = core.copies().take()
        {
            let core = core.clone();
            tasks.spawn(async move {
                if !one(&core, waiting).await {
                    tokio::time::sleep(RETRY).await;
                    core.copies().arrived.notify_one();
                }
            });
        }
        tokio::select! {
            () = core.copies().arrived.notified() => {}
            Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
        }
    }
}

/// Goes on with everything that waits now, one after the other.
pub(crate) async fn work_off(core: &Core) {
    let mut left = core.copies().state().waiting.len();
    while left > 0
        && let Some(waiting) = core.copies().take()
    {
        one(core, waiting).await;
        left -= 1;
    }
}

/// Whether it came to an end.
async fn one(core: &Core, waiting: Waiting) -> bool {
    let (site, name, id) = waiting.clone();
    let mut busy = Busy { copies: core.copies(), waiting, again: true };
    let ended = match BlobName::parse(&name) {
        Ok(name) => go_on(core, &site, &name, id).await,
        Err(_) => Ok(()),
    };
    match ended {
        Ok(()) | Err(Error::Refused(Refusal::ContainerNotFound)) => busy.again = false,
        Err(error) => tracing::warn!(%error, "a copy cannot go on and will be tried again"),
    }
    !busy.again
}

async fn go_on(core: &Core, site: &Site, name: &BlobName, id: Guid) -> Result<(), Error> {
    let inside = core.store().meta.snapshot(&site.placement).await?;
    let Some(row) = PendingCopy::peek(&inside, &site.keys.copy(name, id))? else { return Ok(()) };
    let Some(head) = Head::peek(&inside, &site.keys.blob(name))? else { return Ok(()) };
    let late = has_taken_too_long(row.started, core.now(&inside));
    drop(inside);
    let mut making = Making::new(core, site, name, id, head.kind(), row, true);
    let source = match &making.row.from {
        CopyFrom::Here(origin) => super::source::reopen(core, origin).await?.ok(),
        CopyFrom::There(_) => None,
    };
    let shown = source.map(|here| here.head.content.id);
    let made = if late { Err(Stopped::Failed(CopyFailure::TooLong)) } else { making.go_on().await };
    let ended = match made {
        Ok(batch) => complete(&making, batch, shown).await,
        Err(Stopped::Failed(failure)) => {
            tracing::info!(%failure, "a copy failed");
            fail(&making, failure).await
        }
        Err(other) => Err(other),
    };
    match ended {
        Ok(()) | Err(Stopped::Ended | Stopped::Failed(_)) => Ok(()),
        // Damage does not heal: who waits is told.
        Err(Stopped::Error(Error::Store(StoreError::Corrupt { what }))) => {
            tracing::error!(%what, "the source of a copy is damaged");
            match fail(&making, CopyFailure::SourceUnreadable).await {
                Ok(()) | Err(Stopped::Ended | Stopped::Failed(_)) => Ok(()),
                Err(Stopped::Error(error)) => Err(error),
            }
        }
        Err(Stopped::Error(error)) => Err(error),
    }
}

/// Finds the copies under way in a container.
pub(crate) async fn look(core: &Core, site: &Site) -> Result<(), Error> {
    let mut range = site.keys.copies();
    loop {
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let rows = inside.scan(&range.start, range.end.as_deref(), BATCH)?;
        drop(inside);
        for row in &rows {
            look_at(core, site, row).await?;
        }
        match rows.last() {
            Some(last) if rows.len() == BATCH => range.start = [&last.key[..], &[0]].concat(),
            _ => return Ok(()),
        }
    }
}

async fn look_at(core: &Core, site: &Site, row: &Row) -> Result<(), Error> {
    let named = site.keys.copy_of(&row.key);
    let (name, id) = named.ok_or_else(|| StoreError::corrupt("the key of a copy"))?;
    let copy = PendingCopy::from_bytes(&row.value)?;
    if copy.attached {
        core.copies().mark(site, &name, id);
        return Ok(());
    }
    // Its request is gone, unless it holds what it makes.
    let seen = core.store().meta.last_stamp();
    if core.store().pins.may_free(seen, &site.placement, copy.content.id) {
        let keys = site.keys;
        let body = move |tx: &mut Tx<'_>| Ok(((), discard(tx, keys, &name, id)?));
        core.commit(site, body).await?;
    }
    Ok(())
}
