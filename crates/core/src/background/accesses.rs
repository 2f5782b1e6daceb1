//! When blobs were last read: noted in memory by reads, written down in the background.
//!
//! Must never make a read wait, and never be exact beyond a day: a read within a day of the last
//! one that is known says nothing new.

use crate::blob::keys::Keys;
use crate::blob::records::{Head, Record};
use crate::blob::site::Site;
use crate::{Core, Error};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use zaffre_base::{BlobName, Timestamp};
use zaffre_store::{Interrupt, Tx};

/// What is known is good for so long.
const DAY: Duration = Duration::from_hours(24);
/// How often what was noted is written down.
const EVERY: Duration = Duration::from_secs(2);
/// Blobs noted at once; of more than these some reads go unnoticed until the next.
const NOTED: usize = 10_000;
/// Blobs written down by one transaction.
const TOGETHER: usize = 128;

/// Reads that are not written down yet.
#[derive(Default)]
pub(crate) struct Accesses(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    count: usize,
    of: BTreeMap<Site, BTreeMap<String, Timestamp>>,
}

impl Accesses {
    /// A blob, of which `known` is the last read that is known, was read.
    pub(crate) fn note(
        &self,
        site: &Site,
        name: &BlobName,
        known: Option<Timestamp>,
        now: Timestamp,
    ) {
        if known.is_some_and(|known| now < known.plus(DAY)) {
            return;
        }
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.count >= NOTED {
            return;
        }
        let names = noted.of.entry(site.clone()).or_default();
        if names.insert(name.as_str().to_owned(), now).is_none() {
            noted.count += 1;
        }
    }

    fn take(&self) -> BTreeMap<Site, BTreeMap<String, Timestamp>> {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *noted).of
    }
}

pub(super) async fn run(core: &Core) {
    loop {
        tokio::time::sleep(EVERY).await;
        write_down(core).await;
    }
}

/// Writes down what was noted. What fails is forgotten: the next read notes it again.
pub(super) async fn write_down(core: &Core) {
    for (site, names) in core.accesses().take() {
        let names: Vec<(String, Timestamp)> = names.into_iter().collect();
        for some in names.chunks(TOGETHER) {
            if let Err(error) = write_some(core, &site, some.to_vec()).await {
                tracing::warn!(%error, "the last access to some blobs was not written down");
            }
        }
    }
}

async fn write_some(
    core: &Core,
    site: &Site,
    names: Vec<(String, Timestamp)>,
) -> Result<(), Error> {
    let keys = site.keys;
    let body = move |tx: &mut Tx<'_>| {
        for (name, at) in &names {
            touch(tx, keys, name, *at)?;
        }
        Ok(())
    };
    core.transact(&site.placement, body).await
}

fn touch(tx: &mut Tx<'_>, keys: Keys, name: &str, at: Timestamp) -> Result<(), Interrupt> {
    let Ok(name) = BlobName::parse(name) else { return Ok(()) };
    let key = keys.blob(&name);
    match Head::load(tx, &key)? {
        // What was written since then was accessed since then.
        Some(mut head) if head.last_access.is_none_or(|known| known < at) => {
            head.last_access = Some(at);
            head.store(tx, &key)
        }
        _ => Ok(()),
    }
}
