//! Delete Queue: its row goes, the guard comes, its messages are purged in the background.

use super::op::DeleteQueue;
use super::records::Queue;
use crate::{Core, Error, directory};
use zaffre_auth::Authorized;

/// Deletes a queue and everything in it.
pub async fn delete_queue(core: &Core, op: Authorized<DeleteQueue>) -> Result<(), Error> {
    let (DeleteQueue { at }, _) = op.into_parts();
    directory::delete(core, &at.account, at.queue.as_str(), |_: &Queue, _| Ok(())).await
}
