//! Work that outlives requests: freeing replaced content, purging what was deleted, dropping
//! expired staged blocks and messages.
//!
//! Must never hold a request up, and never rely on memory: every piece of work is a row that is
//! found again after a restart, and doing it twice is harmless.

pub(crate) mod accesses;
mod ended;
mod expire;
mod full;
mod pending;
pub(crate) mod purge;
mod retire;
mod shared;
mod upkeep;

pub(crate) use pending::Pending;

use crate::blob::copy;
use crate::file::keys::is_share;
use crate::file::reclaim;
use crate::{Core, Error, sparse};
use pending::Taken;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::task::JoinSet;

/// How long blocked work rests before it is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// How long the background lets work gather after the first piece has come.
const GATHER: Duration = Duration::from_millis(50);

/// Whether a piece of work is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Progress {
    Done,
    /// A reader or a writer still needs it.
    Blocked,
}

/// What one pass came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Swept {
    /// Containers whose leftovers are all freed.
    pub clean: usize,
    /// Containers that still have some, because a reader or writer needs them or the store failed.
    pub blocked: usize,
}

/// The running background; stops when dropped.
#[derive(Debug)]
pub struct Background(JoinSet<()>);

impl Background {
    /// Stops and waits until nothing of it runs any more, so that the store can be closed.
    pub async fn stop(mut self) {
        self.0.shutdown().await;
    }
}

impl Core {
    /// Starts the background. It stops when what is returned is dropped; what it was doing then is
    /// taken up again by the next start.
    pub fn spawn_background(&self) -> Background {
        let mut tasks = JoinSet::new();
        let core = self.clone();
        tasks.spawn(async move { run(&core).await });
        let core = self.clone();
        tasks.spawn(async move { upkeep::run(&core).await });
        let core = self.clone();
        tasks.spawn(async move { expire::run(&core).await });
        let core = self.clone();
        tasks.spawn(async move { accesses::run(&core).await });
        let core = self.clone();
        tasks.spawn(async move { copy::run(&core).await });
        let core = self.clone();
        tasks.spawn(async move { crate::analytics::run(&core).await });
        Background(tasks)
    }

    /// One whole pass: looks through everything and does what can be done now.
    pub async fn run_background_once(&self) -> Result<Swept, Error> {
        accesses::write_down(self).await;
        full::look(self).await?;
        expire::work(self).await?;
        copy::work_off(self).await;
        Ok(work(self).await)
    }
}

async fn run(core: &Core) {
    let mut next_look = tokio::time::Instant::now();
    loop {
        if tokio::time::Instant::now() >= next_look {
            next_look = tokio::time::Instant::now() + core.options().full_sweep_every;
            if let Err(error) = full::look(core).await {
                tracing::warn!(%error, "the background could not look through the store");
            }
        }
        work(core).await;
        let idle = core.pending().is_empty() && core.folding().is_empty();
        let rest = if idle { core.options().full_sweep_every } else { RETRY };
        let until = next_look.min(tokio::time::Instant::now() + rest);
        tokio::select! {
            // What arrives together is worked off together.
            () = core.pending().wait() => tokio::time::sleep(GATHER).await,
            () = tokio::time::sleep_until(until) => {}
        }
    }
}

/// Works off what is marked; what is blocked or fails is marked again.
async fn work(core: &Core) -> Swept {
    let _alone = core.pending().pass.lock().await;
    let taken = core.pending().take();
    let mut left = Taken { sites: BTreeSet::new(), doomed: BTreeSet::new() };
    let mut swept = Swept::default();
    for site in taken.sites {
        let freed = if is_share(&site.placement) {
            reclaim::work(core, &site).await
        } else {
            retire::free_leftovers(core, &site).await
        };
        if is_done(freed) {
            swept.clean += 1;
        } else {
            left.sites.insert(site);
        }
    }
    for doomed in taken.doomed {
        if is_done(purge::purge(core, &doomed).await) {
            swept.clean += 1;
        } else {
            left.doomed.insert(doomed);
        }
    }
    sparse::work(core).await;
    let folding = usize::from(!core.folding().is_empty());
    swept.blocked = left.sites.len() + left.doomed.len() + folding;
    core.pending().put_back(left);
    swept
}

fn is_done(result: Result<Progress, Error>) -> bool {
    match result {
        Ok(progress) => progress == Progress::Done,
        Err(error) => {
            tracing::warn!(%error, "background work failed and will be tried again");
            false
        }
    }
}
