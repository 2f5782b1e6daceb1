//! Purging a deleted container: everything in it, then its guard, then the intent.

use super::Progress;
use super::retire::free_leftovers;
use crate::blob::content::free;
use crate::blob::keys;
use crate::blob::records::{Guard, Head, Record};
use crate::blob::site::Site;
use crate::service::blocking;
use crate::{Core, Error};
use zaffre_base::AccountName;
use zaffre_store::Snapshot;

/// Heads looked at by one snapshot.
const HEADS: usize = 500;

/// A deleted container and the intent that says so.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Doomed {
    pub(crate) account: AccountName,
    pub(crate) site: Site,
    /// The key of the intent in the account's directory.
    pub(crate) intent: Vec<u8>,
}

/// Tells the background about a deletion.
pub(crate) fn wake(core: &Core, doomed: Doomed) {
    core.pending().doom(doomed);
}

/// Removes what is left of a deleted container, unless somebody still reads from it.
pub(super) async fn purge(core: &Core, doomed: &Doomed) -> Result<Progress, Error> {
    let site = &doomed.site;
    let guard = crate::blob::set_guard(core, site).await?;
    if free_leftovers(core, site).await? == Progress::Blocked || is_read(core, site, guard).await? {
        return Ok(Progress::Blocked);
    }
    free::range(core, site, site.keys.all_but_guard()).await?;
    // Whoever found the container before its deletion must still find the guard.
    if !core.store().pins.may_free(guard.set, &site.placement, site.hold_id()) {
        return Ok(Progress::Blocked);
    }
    free::single(core, site, vec![site.keys.guard()]).await?;
    let intent = doomed.intent.clone();
    core.transact(&keys::directory(&doomed.account), move |tx| Ok(tx.delete(&intent)?)).await?;
    Ok(Progress::Done)
}

/// Whether somebody still reads, or may start to read, what a head names.
async fn is_read(core: &Core, site: &Site, guard: Guard) -> Result<bool, Error> {
    let range = site.keys.blobs().starting_with("");
    let mut start = range.start;
    loop {
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let (watch, end, from) = (core.clone(), range.end.clone(), start.clone());
        let at = site.clone();
        let (pinned, last) =
            blocking(move || look(&watch, &at, &inside, guard, &from, end.as_deref())).await?;
        match last {
            _ if pinned => return Ok(true),
            Some(last) => start = [last.as_slice(), &[0]].concat(),
            None => return Ok(false),
        }
    }
}

/// Whether a head of this batch is pinned, and the last key if there may be more.
fn look(
    core: &Core,
    site: &Site,
    inside: &Snapshot,
    guard: Guard,
    from: &[u8],
    end: Option<&[u8]>,
) -> Result<(bool, Option<Vec<u8>>), Error> {
    let rows = inside.scan(from, end, HEADS)?;
    for row in &rows {
        let content = Head::from_bytes(&row.value)?.content.id;
        if !core.store().pins.may_free(guard.set, &site.placement, content) {
            return Ok((true, None));
        }
    }
    let more = rows.len() == HEADS;
    Ok((false, rows.into_iter().next_back().filter(|_| more).map(|row| row.key)))
}
