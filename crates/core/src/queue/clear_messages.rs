//! Clear Messages: the queue begins a new life, the old one is purged in the background.
//!
//! One commit in the directory decides, however many messages there are. What was put before is
//! gone at once, and its receipts with it.

use super::op::ClearMessages;
use super::records::Queue;
use crate::background::purge::{Doomed, wake};
use crate::directory::keys::directory;
use crate::directory::{Family, Place, doom, set_guard};
use crate::records::Record;
use crate::service::detached;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::Incarnation;
use zaffre_domain::Refusal;
use zaffre_store::{Abort, Tx};

/// Deletes all messages of a queue.
pub async fn clear_messages(core: &Core, op: Authorized<ClearMessages>) -> Result<(), Error> {
    let (ClearMessages { at }, _) = op.into_parts();
    let core = core.clone();
    detached(async move {
        let name = at.queue.as_str().to_owned();
        let called = name.clone();
        let body = move |tx: &mut Tx<'_>| {
            let key = Family::Queues.row(&called);
            let mut queue = Queue::load(tx, &key)?.ok_or(Abort::Fail(Refusal::QueueNotFound))?;
            let old = queue.incarnation;
            queue.incarnation = Incarnation(tx.stamp().0);
            queue.store(tx, &key)?;
            let intent = doom(tx, Family::Queues, &called, old, None)?;
            Ok::<_, Abort<Refusal>>((old, intent))
        };
        let placement = directory(&at.account);
        let (old, intent) = core.store().meta.transact(&placement, body).await?;
        let place = Place::new(Family::Queues, &at.account, &name, old);
        core.heads().forget(&place);
        let guard = set_guard(&core, &place).await;
        // Also when the guard could not be set: the background tries again.
        wake(&core, Doomed { account: at.account, place, intent });
        guard.map(|_| ())
    })
    .await
}
