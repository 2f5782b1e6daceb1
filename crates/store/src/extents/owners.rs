//! Owners: asks the rows whether they name an extent, and makes them name its copy instead.
//!
//! Must never treat a row that it cannot read as one that names nothing.

use super::runs;
use super::walk::Found;
use super::{ExtentRef, Owner};
use crate::error::StoreError;
use crate::meta::{Abort, Meta, Placement, Row, Snapshot, TransactError};
use std::collections::HashMap;
use tokio::task::spawn_blocking;
use zaffre_base::key::successor;

/// Rows read at once. So many full rows of runs stay below what a transaction may write.
const PAGE: usize = 64;

/// What an owner's rows say about an extent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Named {
    /// A row names it.
    Yes,
    /// No row does.
    No,
    /// A row there holds no runs: nothing can be said.
    Unreadable,
}

/// Asks for each record, on snapshots taken now.
pub(crate) async fn ask(
    meta: &Meta,
    records: Vec<Found>,
) -> Result<Vec<(Found, Named)>, StoreError> {
    let mut snapshots: HashMap<Placement, Snapshot> = HashMap::new();
    for found in &records {
        let placement = &found.owner.placement;
        if !snapshots.contains_key(placement) {
            snapshots.insert(placement.clone(), meta.snapshot(placement).await?);
        }
    }
    let ask_all = move || {
        let mut answers = Vec::with_capacity(records.len());
        for found in records {
            let named = ask_one(&snapshots[&found.owner.placement], &found.owner, &found.at)?;
            answers.push((found, named));
        }
        Ok(answers)
    };
    spawn_blocking(ask_all).await.unwrap_or(Err(StoreError::Closed))
}

fn ask_one(rows: &Snapshot, owner: &Owner, at: &ExtentRef) -> Result<Named, StoreError> {
    let end = successor(&owner.key);
    let mut from = owner.key.clone();
    loop {
        let page = rows.scan(&from, end.as_deref(), PAGE)?;
        for row in &page {
            match runs::decode(&row.value) {
                Ok(runs) if runs.iter().any(|run| run.extent == *at) => return Ok(Named::Yes),
                Ok(_) => {}
                Err(_) => return Ok(Named::Unreadable),
            }
        }
        match next_page(&page) {
            Some(next) => from = next,
            None => return Ok(Named::No),
        }
    }
}

/// Where the page after this one starts; `None` if this was the last.
fn next_page(page: &[Row]) -> Option<Vec<u8>> {
    let last = page.last().filter(|_| page.len() == PAGE)?;
    let mut next = last.key.clone();
    next.push(0);
    Some(next)
}

/// How far a swap came.
#[derive(Debug)]
pub(crate) struct Swapped {
    /// Rows that now name the copy.
    pub(crate) rows: usize,
    /// What ended it early. `Unknown` and `Poisoned` may have changed rows that are not counted.
    pub(crate) failed: Option<StoreError>,
}

/// Makes every row of `owner` that names `old` name `new`, each row in one commit.
pub(crate) async fn swap(meta: &Meta, owner: &Owner, old: ExtentRef, new: ExtentRef) -> Swapped {
    let mut done = Swapped { rows: 0, failed: None };
    let mut from = Some(owner.key.clone());
    while let Some(start) = from {
        match swap_page(meta, owner, start, old, new).await {
            Ok((rows, next)) => {
                done.rows += rows;
                from = next;
            }
            Err(error) => {
                done.failed = Some(error);
                break;
            }
        }
    }
    done
}

async fn swap_page(
    meta: &Meta,
    owner: &Owner,
    start: Vec<u8>,
    old: ExtentRef,
    new: ExtentRef,
) -> Result<(usize, Option<Vec<u8>>), StoreError> {
    let end = successor(&owner.key);
    let body = move |tx: &mut crate::meta::Tx<'_>| {
        let page = tx.scan(&start, end.as_deref(), PAGE)?;
        let mut swapped = 0;
        for row in &page {
            let mut runs = runs::decode(&row.value).map_err(Abort::Fail)?;
            let mut touched = false;
            for run in runs.iter_mut().filter(|run| run.extent == old) {
                run.extent = new;
                touched = true;
            }
            if touched {
                tx.put(&row.key, &runs::encode(&runs))?;
                swapped += 1;
            }
        }
        Ok((swapped, next_page(&page)))
    };
    meta.transact(&owner.placement, body).await.map_err(|error| match error {
        TransactError::Body(error) | TransactError::Store(error) => error,
    })
}
