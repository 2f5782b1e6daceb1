//! The checkpoint thread: writes frozen rows to the tree, and opens the tree anew after an error.
//!
//! Must never give up: until it succeeds the journal keeps the rows and memory stays bounded.

use super::embedded::{Shared, Turn};
use super::layers::Layers;
use super::tree::{Checkpoint, Tree, TreeView};
use crate::error::StoreError;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a failed checkpoint waits before it is tried again.
const RETRY: Duration = Duration::from_millis(50);

/// What the checkpoint thread does next.
enum Task {
    Write(Checkpoint),
    Reopen,
    Stop,
}

impl Shared {
    fn next_task(&self) -> Task {
        let mut turn = self.turn();
        loop {
            match turn.frozen {
                // A failure while closing is final: the journal still has the rows.
                Some(_) if turn.closing && turn.failure.is_some() => return Task::Stop,
                Some(checkpoint) => {
                    turn.tries += 1;
                    return Task::Write(checkpoint);
                }
                None if turn.closing => return Task::Stop,
                None if turn.broken => return Task::Reopen,
                None => turn = self.turned.wait(turn).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn checkpointed(&self, tree: TreeView) {
        let tree = Arc::new(tree);
        self.change_layers(|layers| Layers {
            active: Arc::clone(&layers.active),
            frozen: None,
            tree,
        });
        // Under one lock: closing may begin at any moment, and must not be forgotten.
        let mut turn = self.turn();
        *turn = Turn { closing: turn.closing, ..Turn::default() };
        self.turned.notify_all();
    }

    /// Readers of a failed instance get errors; gives them the reopened one, or waits a little.
    fn recover(&self, tree: &mut Tree, failure: Option<StoreError>) {
        tree.close();
        let reopened = tree.read();
        let broken = reopened.is_err();
        if let Ok(view) = reopened {
            let tree = Arc::new(view);
            self.change_layers(|layers| Layers { tree, ..layers.clone() });
        }
        let mut turn = self.turn();
        turn.broken = broken;
        turn.failed = if failure.is_some() { turn.tries } else { turn.failed };
        turn.failure = failure;
        if self.poison.is_set() {
            self.wait_for_the_end(turn);
        } else if broken || turn.failure.is_some() {
            self.turned.notify_all();
            drop(self.turned.wait_timeout(turn, RETRY));
        } else {
            self.turned.notify_all();
        }
    }

    /// After a failed sync no try can succeed any more; nobody may wait for one.
    fn wait_for_the_end(&self, mut turn: MutexGuard<'_, Turn>) {
        turn.failed = u64::MAX;
        turn.failure.get_or_insert(StoreError::Poisoned);
        self.turned.notify_all();
        while !turn.closing {
            turn = self.turned.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

pub(super) fn checkpoint_loop(shared: &Shared, mut tree: Tree) {
    loop {
        match shared.next_task() {
            Task::Stop => return,
            Task::Reopen => shared.recover(&mut tree, None),
            Task::Write(checkpoint) => {
                let frozen = shared.layers().frozen.clone();
                match tree.write(frozen.as_deref(), checkpoint) {
                    Ok(view) => shared.checkpointed(view),
                    Err(error) => {
                        tracing::error!(%error, "a checkpoint failed; it is tried again, unless a sync failed");
                        shared.recover(&mut tree, Some(error));
                    }
                }
            }
        }
    }
}
