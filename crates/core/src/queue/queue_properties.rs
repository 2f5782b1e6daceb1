//! Get and set the metadata and ACL of a queue.

use super::keys::Keys;
use super::op::{GetQueueAcl, GetQueueMetadata, QueuePath, SetQueueAcl, SetQueueMetadata};
use super::records::{Count, Queue};
use super::reply::QueueProperties;
use crate::directory::keys::directory;
use crate::directory::{Family, Place};
use crate::records::{Policy, Record};
use crate::{Core, Error};
use zaffre_auth::{Authorized, ContainerAccess};
use zaffre_domain::Refusal;
use zaffre_domain::blob::AccessPolicy;
use zaffre_store::{Abort, Tx};

/// Expired messages that are not reclaimed yet and are not counted; more of them are.
const UNCOUNTED: usize = 1_000;

async fn row(core: &Core, at: &QueuePath) -> Result<Option<Queue>, Error> {
    let inside = core.store().meta.snapshot(&directory(&at.account)).await?;
    Ok(Queue::peek(&inside, &Family::Queues.row(at.queue.as_str()))?)
}

/// What authorization needs to know of a queue; `None` = there is none.
pub async fn queue_access(core: &Core, at: &QueuePath) -> Result<Option<ContainerAccess>, Error> {
    let policies = |queue: Queue| queue.policies.iter().map(Policy::shown).collect();
    Ok(row(core, at).await?.map(|queue| ContainerAccess::of_policies(policies(queue))))
}

/// Get Queue Metadata.
pub async fn get_queue_metadata(
    core: &Core,
    op: Authorized<GetQueueMetadata>,
) -> Result<QueueProperties, Error> {
    let (GetQueueMetadata { at }, _) = op.into_parts();
    let queue = row(core, &at).await?.ok_or(Refusal::QueueNotFound)?;
    let place = Place::new(Family::Queues, &at.account, at.queue.as_str(), queue.incarnation);
    let keys = Keys(queue.incarnation);
    let inside = core.store().meta.snapshot(&place.placement).await?;
    let counted = Count::peek(&inside, &keys.count())?.unwrap_or_default().messages;
    let range = keys.expired(core.now(&inside));
    let gone = inside.scan(&range.start, range.end.as_deref(), UNCOUNTED)?.len();
    let messages = counted.saturating_sub(u64::try_from(gone).unwrap_or(u64::MAX));
    Ok(QueueProperties { metadata: queue.metadata, messages })
}

/// Set Queue Metadata: replaces all of it.
pub async fn set_queue_metadata(
    core: &Core,
    op: Authorized<SetQueueMetadata>,
) -> Result<(), Error> {
    let (SetQueueMetadata { at, metadata }, _) = op.into_parts();
    change(core, at, move |queue| queue.metadata.clone_from(&metadata)).await
}

/// Get Queue ACL.
pub async fn get_queue_acl(
    core: &Core,
    op: Authorized<GetQueueAcl>,
) -> Result<Vec<AccessPolicy>, Error> {
    let (GetQueueAcl { at }, _) = op.into_parts();
    let queue = row(core, &at).await?.ok_or(Refusal::QueueNotFound)?;
    Ok(queue.policies.iter().map(Policy::shown).collect())
}

/// Set Queue ACL: replaces all policies.
pub async fn set_queue_acl(core: &Core, op: Authorized<SetQueueAcl>) -> Result<(), Error> {
    let (SetQueueAcl { at, policies }, _) = op.into_parts();
    change(core, at, move |queue| queue.policies = policies.iter().map(Policy::from).collect())
        .await
}

async fn change(
    core: &Core,
    at: QueuePath,
    mut apply: impl FnMut(&mut Queue) + Send + 'static,
) -> Result<(), Error> {
    let placement = directory(&at.account);
    let body = move |tx: &mut Tx<'_>| {
        let key = Family::Queues.row(at.queue.as_str());
        let mut queue = Queue::load(tx, &key)?.ok_or(Abort::Fail(Refusal::QueueNotFound))?;
        apply(&mut queue);
        Ok(queue.store(tx, &key)?)
    };
    core.transact(&placement, body).await
}
