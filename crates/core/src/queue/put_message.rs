//! Put Message: all rows of a message in one commit.

use super::inside::transact;
use super::op::PutMessage;
use super::reply::MessageView;
use super::rows;
use crate::service::fresh_id;
use crate::{Core, Error};
use std::sync::Arc;
use zaffre_auth::Authorized;
use zaffre_base::Guid;
use zaffre_domain::queue::{Message, check_insertion};
use zaffre_store::Tx;

/// Puts a message at the end of a queue.
pub async fn put_message(core: &Core, op: Authorized<PutMessage>) -> Result<MessageView, Error> {
    let (PutMessage { at, text, lifetime, delay }, _) = op.into_parts();
    check_insertion(lifetime, delay.as_secs())?;
    let id = Guid::from_random(fresh_id(&core.store().clock)?.0.to_be_bytes());
    let text: Arc<str> = text.into();
    let make = |_: &_| {
        let text = Arc::clone(&text);
        move |tx: &mut Tx<'_>, keys| {
            let message = Message::insert(tx.stamp(), lifetime, delay);
            let length = rows::write_text(tx, keys, id, &text)?;
            rows::write_state(tx, keys, id, &message, length)?;
            rows::write_expiry(tx, keys, id, &message)?;
            rows::count(tx, keys, 1, 0)?;
            Ok(message)
        }
    };
    let (message, place) = transact(core, &at, make).await?;
    core.pending().expires(&place, message.expires);
    Ok(MessageView { id, message, text: String::new() })
}
