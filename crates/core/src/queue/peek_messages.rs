//! Peek Messages: looks at the first ready messages and changes nothing.

use super::keys::Keys;
use super::op::PeekMessages;
use super::records::{Queue, Stored, Waiting};
use super::reply::MessageView;
use super::rows;
use crate::directory;
use crate::records::Record;
use crate::service::blocking;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::Timestamp;
use zaffre_store::{Snapshot, StoreError};

/// Rows looked at at once.
const BATCH: usize = 256;

/// Looks at messages that could be received.
pub async fn peek_messages(
    core: &Core,
    op: Authorized<PeekMessages>,
) -> Result<Vec<MessageView>, Error> {
    let (PeekMessages { at, count }, _) = op.into_parts();
    let found = directory::find::<Queue>(core, &at.account, at.queue.as_str()).await?;
    let inside = core.store().meta.snapshot(&found.place.placement).await?;
    let (keys, now) = (Keys(found.place.incarnation), core.now(&inside));
    let head = core.heads().get(&found.place);
    blocking(move || Ok(look(&inside, keys, head, now, count)?)).await
}

fn look(
    inside: &Snapshot,
    keys: Keys,
    mut from: Vec<u8>,
    now: Timestamp,
    count: usize,
) -> Result<Vec<MessageView>, StoreError> {
    let end = keys.visible_end(now);
    let mut messages = Vec::new();
    loop {
        let rows = inside.scan(&from, Some(&end), BATCH)?;
        for row in &rows {
            let Waiting { id, expires } = Waiting::from_bytes(&row.value)?;
            if expires <= now {
                continue;
            }
            let stored = Stored::peek(inside, &keys.message(id))?
                .ok_or_else(|| StoreError::corrupt("a waiting message that is not there"))?;
            let text = rows::peek_text(inside, keys, id, stored.length)?;
            messages.push(MessageView { id, message: stored.message(), text });
            if messages.len() == count {
                return Ok(messages);
            }
        }
        match rows.last() {
            Some(last) if rows.len() == BATCH => from = [last.key.as_slice(), &[0]].concat(),
            _ => return Ok(messages),
        }
    }
}
