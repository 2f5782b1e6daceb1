//! Purging what was deleted: everything in it, then its guard, then the intent.

use super::Progress;
use super::retire::free_leftovers;
use crate::blob::content::free;
use crate::blob::keys::KeyRange;
use crate::blob::records::{Head, Record};
use crate::blob::site::Site;
use crate::directory::{Family, Place, keys, set_guard};
use crate::file::reclaim;
use crate::records::Guard;
use crate::service::blocking;
use crate::{Core, Error};
use zaffre_base::AccountName;
use zaffre_store::{Snapshot, Tx};

/// Heads looked at by one snapshot.
const HEADS: usize = 500;

/// Rows without extents deleted by one transaction.
const ROWS: usize = 400;

/// Something that was deleted and the intent that says so.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Doomed {
    pub(crate) account: AccountName,
    pub(crate) place: Place,
    /// The key of the intent in the account's directory.
    pub(crate) intent: Vec<u8>,
}

/// Tells the background about a deletion.
pub(crate) fn wake(core: &Core, doomed: Doomed) {
    core.pending().doom(doomed);
}

/// Removes what is left of something deleted, unless somebody still reads from it.
pub(super) async fn purge(core: &Core, doomed: &Doomed) -> Result<Progress, Error> {
    let place = &doomed.place;
    let guard = set_guard(core, place).await?;
    core.heads().forget(place);
    let emptied = match place.family {
        Family::Containers => empty_container(core, &Site::from(place.clone()), guard).await?,
        Family::Shares => reclaim::empty(core, &Site::from(place.clone()), guard).await?,
        Family::Queues | Family::Tables => empty_rows(core, place).await?,
    };
    // Whoever found it before its deletion must still find the guard.
    let held = !core.store().pins.may_free(guard.set, &place.placement, place.hold_id());
    if emptied == Progress::Blocked || held {
        return Ok(Progress::Blocked);
    }
    let key = keys::guard(place.incarnation);
    core.transact(&place.placement, move |tx| Ok(tx.delete(&key)?)).await?;
    let intent = doomed.intent.clone();
    core.transact(&keys::directory(&doomed.account), move |tx| Ok(tx.delete(&intent)?)).await?;
    Ok(Progress::Done)
}

async fn empty_container(core: &Core, site: &Site, guard: Guard) -> Result<Progress, Error> {
    if free_leftovers(core, site).await? == Progress::Blocked || is_read(core, site, guard).await? {
        return Ok(Progress::Blocked);
    }
    free::range(core, site, site.keys.all_but_guard()).await?;
    Ok(Progress::Done)
}

/// Deletes rows that name no extents; their readers hold snapshots, which keep what they see.
async fn empty_rows(core: &Core, place: &Place) -> Result<Progress, Error> {
    loop {
        let range = keys::all_but_guard(place.incarnation);
        let body = move |tx: &mut Tx<'_>| {
            let rows = tx.scan(&range.start, range.end.as_deref(), ROWS)?;
            for row in &rows {
                tx.delete(&row.key)?;
            }
            Ok(rows.len())
        };
        if core.transact(&place.placement, body).await? < ROWS {
            return Ok(Progress::Done);
        }
    }
}

/// Whether somebody still reads, or may start to read, what a head names.
async fn is_read(core: &Core, site: &Site, guard: Guard) -> Result<bool, Error> {
    let (current, past) = (site.keys.blobs(), site.keys.histories());
    Ok(any_read(core, site, guard, current.starting_with("")).await?
        || any_read(core, site, guard, past.starting_with("")).await?)
}

async fn any_read(core: &Core, site: &Site, guard: Guard, range: KeyRange) -> Result<bool, Error> {
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
        if site.keys.is_history(&row.key) {
            continue;
        }
        let content = Head::from_bytes(&row.value)?.content.id;
        if !core.store().pins.may_free(guard.set, &site.placement, content) {
            return Ok((true, None));
        }
    }
    let more = rows.len() == HEADS;
    Ok((false, rows.into_iter().next_back().filter(|_| more).map(|row| row.key)))
}
