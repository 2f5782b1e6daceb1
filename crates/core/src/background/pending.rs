//! Where work waits: containers with intents, deleted containers, accounts known to the registry.
//!
//! Must never be the only record of work: it is a hint, and the rows are the truth.

use super::purge::Doomed;
use crate::blob::site::Site;
use crate::directory::Place;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use zaffre_base::{AccountName, Timestamp};
use zaffre_domain::queue::NEVER;

/// What the background has been told about.
#[derive(Default)]
pub(crate) struct Pending {
    state: Mutex<State>,
    arrived: Notify,
    /// One pass at a time.
    pub(super) pass: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    sites: BTreeSet<Site>,
    doomed: BTreeSet<Doomed>,
    registered: HashSet<AccountName>,
    /// When the next message of each queue expires, or an instant before that.
    expiries: BTreeMap<Place, Timestamp>,
}

/// Work taken from the list.
pub(super) struct Taken {
    pub(super) sites: BTreeSet<Site>,
    pub(super) doomed: BTreeSet<Doomed>,
}

impl Pending {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A container has intents.
    pub(crate) fn mark(&self, site: &Site) {
        if self.state().sites.insert(site.clone()) {
            self.arrived.notify_one();
        }
    }

    /// A container is to be purged.
    pub(super) fn doom(&self, doomed: Doomed) {
        if self.state().doomed.insert(doomed) {
            self.arrived.notify_one();
        }
    }

    pub(super) fn take(&self) -> Taken {
        let mut state = self.state();
        Taken { sites: std::mem::take(&mut state.sites), doomed: std::mem::take(&mut state.doomed) }
    }

    /// Puts back what could not be finished, without waking anybody.
    pub(super) fn put_back(&self, taken: Taken) {
        let mut state = self.state();
        state.sites.extend(taken.sites);
        state.doomed.extend(taken.doomed);
    }

    pub(super) fn is_empty(&self) -> bool {
        let state = self.state();
        state.sites.is_empty() && state.doomed.is_empty()
    }

    /// Waits until something new is marked.
    pub(super) async fn wait(&self) {
        self.arrived.notified().await;
    }

    /// A queue has a message that expires at `at`.
    pub(crate) fn expires(&self, place: &Place, at: Timestamp) {
        if at == NEVER {
            return;
        }
        let mut state = self.state();
        match state.expiries.get_mut(place) {
            Some(known) => *known = at.min(*known),
            None => drop(state.expiries.insert(place.clone(), at)),
        }
    }

    /// Queues that have had a message expire; they are forgotten until told of again.
    pub(super) fn take_expired(&self, now: Timestamp) -> Vec<Place> {
        let mut state = self.state();
        let due = state.expiries.extract_if(.., |_, at| *at <= now);
        due.map(|(place, _)| place).collect()
    }

    /// Whether the account is known to be in the registry.
    pub(crate) fn is_registered(&self, account: &AccountName) -> bool {
        self.state().registered.contains(account)
    }

    pub(crate) fn registered(&self, account: &AccountName) {
        self.state().registered.insert(account.clone());
    }
}
