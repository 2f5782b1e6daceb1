//! Update Message: text and visibility change together, and the receipt with them.

use super::inside::transact;
use super::op::UpdateMessage;
use super::records::Stored;
use super::reply::MessageView;
use super::rows;
use crate::records::Record;
use crate::{Core, Error};
use std::sync::Arc;
use zaffre_auth::Authorized;
use zaffre_base::Guid;
use zaffre_domain::Refusal;
use zaffre_store::{Abort, Tx};

/// No message has this id, so that looking for it finds none.
const NOBODY: Guid = Guid(0);

/// Updates a message for whoever has its newest receipt.
pub async fn update_message(
    core: &Core,
    op: Authorized<UpdateMessage>,
) -> Result<MessageView, Error> {
    let (UpdateMessage { at, id, receipt, delay, text }, _) = op.into_parts();
    let id = id.unwrap_or(NOBODY);
    let (receipt, text): (Arc<str>, Option<Arc<str>>) = (receipt.into(), text.map(Arc::from));
    let make = |_: &_| {
        let (receipt, text) = (Arc::clone(&receipt), text.clone());
        move |tx: &mut Tx<'_>, keys: super::keys::Keys| {
            let stored = Stored::load(tx, &keys.message(id))?;
            let stored = stored.ok_or(Abort::Fail(Refusal::MessageNotFound))?;
            let old = stored.message();
            let message = old.update(id, &receipt, tx.stamp(), delay).map_err(Abort::Fail)?;
            let length = match &text {
                None => stored.length,
                Some(text) => {
                    let length = rows::write_text(tx, keys, id, text)?;
                    rows::cut_text(tx, keys, id, stored.length, length)?;
                    length
                }
            };
            rows::leave_place(tx, keys, &old)?;
            rows::write_state(tx, keys, id, &message, length)?;
            Ok(message)
        }
    };
    let (message, _) = transact(core, &at, make).await?;
    Ok(MessageView { id, message, text: String::new() })
}
