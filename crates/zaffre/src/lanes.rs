//! The threads of the lanes: one for each core, and where nobody else chooses, kept on it.
//!
//! Must never choose a core where there are more of them than lanes: several servers would choose
//! the same ones.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::runtime;
use tokio::sync::oneshot;
use zaffre_http::server::Lanes;

/// Threads that may block, of all lanes together and of one at least.
const BLOCKING_THREADS: usize = 512;
const LEAST_BLOCKING_THREADS: usize = 32;

/// The threads; dropping this ends them.
pub(crate) struct LaneThreads {
    lanes: Arc<Lanes>,
    ends: Vec<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl LaneThreads {
    /// Starts as many as there are cores for us.
    pub(crate) fn start() -> io::Result<Self> {
        let count = thread::available_parallelism()?.get();
        let cores = cores(count);
        let (mut handles, mut ends) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for number in 0..count {
            let runtime = runtime::Builder::new_current_thread()
                .enable_all()
                .max_blocking_threads((BLOCKING_THREADS / count).max(LEAST_BLOCKING_THREADS))
                .build()?;
            handles.push(runtime.handle().clone());
            let (end, ended) = oneshot::channel();
            let core = cores.get(number).copied();
            let work = move || {
                keep_on(core);
                let _ = runtime.block_on(ended);
            };
            ends.push((end, thread::Builder::new().name("zaffre-lane".to_owned()).spawn(work)?));
        }
        Ok(Self { lanes: Arc::new(Lanes::new(handles)), ends })
    }

    /// Where connections run.
    pub(crate) fn lanes(&self) -> Arc<Lanes> {
        Arc::clone(&self.lanes)
    }
}

impl Drop for LaneThreads {
    fn drop(&mut self) {
        for (end, thread) in self.ends.drain(..) {
            drop(end);
            // A panic on a lane was told when it happened.
            drop(thread.join());
        }
    }
}

/// The cores that we may use, if there are as many as lanes.
fn cores(lanes: usize) -> Vec<usize> {
    let allowed = sched_getaffinity(None);
    let allowed = |core: &usize| allowed.as_ref().is_ok_and(|set| set.is_set(*core));
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(allowed).collect();
    if cores.len() == lanes { cores } else { Vec::new() }
}

/// Keeps this thread on a core. Left to itself the system puts lanes that wake each other's clients
/// on one core for milliseconds, while the other has nothing to do.
fn keep_on(core: Option<usize>) {
    let Some(core) = core else { return };
    let mut only = CpuSet::new();
    only.set(core);
    if let Err(error) = sched_setaffinity(None, &only) {
        tracing::debug!(%error, "a lane is not kept on its core");
    }
}
