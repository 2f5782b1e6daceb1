//! List Queues: one page from one snapshot of the account's directory.

use super::op::ListQueues;
use super::records::Queue;
use super::reply::{QueuePage, QueueView};
use crate::blob::marker::{self, Listing, Place};
use crate::directory::Family;
use crate::directory::keys::directory;
use crate::records::Record;
use crate::service::blocking;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::QueueName;
use zaffre_base::limits::LIST_PAGE_BYTES;
use zaffre_store::{Snapshot, StoreError};

/// Rows read at once.
const BATCH: usize = 500;

/// Lists the queues of an account.
pub async fn list_queues(core: &Core, op: Authorized<ListQueues>) -> Result<QueuePage, Error> {
    let (op, _) = op.into_parts();
    let from = op.marker.as_deref().filter(|marker| !marker.is_empty());
    let from = from.map(|text| marker::read(Listing::Queues, text)).transpose()?;
    let from = from.map(|place| place.name);
    let inside = core.store().meta.snapshot(&directory(&op.account)).await?;
    blocking(move || page(&op, from.as_deref(), &inside)).await
}

fn page(op: &ListQueues, from: Option<&str>, inside: &Snapshot) -> Result<QueuePage, Error> {
    let range = Family::Queues.rows(&op.prefix);
    let mut start = from.map_or(Vec::new(), |name| Family::Queues.row(name)).max(range.start);
    let size = usize::try_from(op.max_results).unwrap_or(usize::MAX);
    let mut queues = Vec::new();
    let mut bytes = 0;
    loop {
        let limit = BATCH.min(size.saturating_sub(queues.len()).saturating_add(1));
        let rows = inside.scan(&start, range.end.as_deref(), limit)?;
        for row in &rows {
            let name = Family::Queues.name_of(&row.key).and_then(|n| QueueName::parse(&n).ok());
            let name = name.ok_or_else(|| StoreError::corrupt("the key of a queue"))?;
            if queues.len() == size || bytes >= LIST_PAGE_BYTES {
                let next = Some(marker::make(Listing::Queues, &Place::blob(name.to_string())));
                return Ok(QueuePage { queues, next });
            }
            let mut metadata = Queue::from_bytes(&row.value)?.metadata;
            if !op.include_metadata {
                metadata.clear();
            }
            bytes += metadata.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
            queues.push(QueueView { name, metadata });
        }
        match rows.last() {
            Some(last) if rows.len() == limit => start = [last.key.as_slice(), &[0]].concat(),
            _ => return Ok(QueuePage { queues, next: None }),
        }
    }
}
