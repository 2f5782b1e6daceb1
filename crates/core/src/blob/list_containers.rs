//! List Containers: one page from one snapshot of the account's directory.

use super::marker::{self, Listing, Place};
use super::op::ListContainers;
use super::records::{Container, Record};
use super::reply::{ContainerPage, ContainerView};
use super::{keys, view};
use crate::service::blocking;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::limits::LIST_PAGE_BYTES;
use zaffre_base::{ContainerName, Timestamp};
use zaffre_store::{Snapshot, StoreError};

/// Rows read at once.
const BATCH: usize = 500;

/// Containers that the service keeps for itself.
const SYSTEM: [&str; 2] = ["$logs", "$blobchangefeed"];

/// Lists the containers of an account.
pub async fn list_containers(
    core: &Core,
    op: Authorized<ListContainers>,
) -> Result<ContainerPage, Error> {
    let (op, _) = op.into_parts();
    let from = op.marker.as_deref().filter(|marker| !marker.is_empty());
    let from = from.map(|text| marker::read(Listing::Containers, text)).transpose()?;
    let directory = core.store().meta.snapshot(&keys::directory(&op.account)).await?;
    let now = core.now(&directory);
    blocking(move || page(&op, from.as_ref(), &directory, now)).await
}

fn page(
    op: &ListContainers,
    from: Option<&Place>,
    directory: &Snapshot,
    now: Timestamp,
) -> Result<ContainerPage, Error> {
    let range = keys::containers(&op.prefix);
    let mut start =
        from.map_or(Vec::new(), |place| keys::containers_from(&place.name)).max(range.start);
    let size = usize::try_from(op.max_results).unwrap_or(usize::MAX);
    let mut containers = Vec::new();
    let mut bytes = 0;
    loop {
        let limit = BATCH.min(size.saturating_sub(containers.len()).saturating_add(1));
        let rows = directory.scan(&start, range.end.as_deref(), limit)?;
        for row in &rows {
            let name = keys::container_of(&row.key)
                .ok_or_else(|| StoreError::corrupt("the key of a container"))?;
            if SYSTEM.contains(&name.as_str()) && !op.include_system {
                continue;
            }
            if containers.len() == size || bytes >= LIST_PAGE_BYTES {
                let place = Place::blob(name.to_string());
                let next = Some(marker::make(Listing::Containers, &place));
                return Ok(ContainerPage { containers, next });
            }
            let view = shown(op, name, &Container::from_bytes(&row.value)?, now);
            bytes +=
                view.metadata.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
            containers.push(view);
        }
        match rows.last() {
            Some(last) if rows.len() == limit => start = [last.key.as_slice(), &[0]].concat(),
            _ => return Ok(ContainerPage { containers, next: None }),
        }
    }
}

fn shown(
    op: &ListContainers,
    name: ContainerName,
    record: &Container,
    now: Timestamp,
) -> ContainerView {
    let mut shown = view::container(name, record, now);
    if !op.include_metadata {
        shown.metadata.clear();
    }
    shown
}
