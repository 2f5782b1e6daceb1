//! Delete Message.

use super::inside::transact;
use super::keys::Keys;
use super::op::DeleteMessage;
use super::records::Stored;
use super::rows;
use crate::records::Record;
use crate::{Core, Error};
use std::sync::Arc;
use zaffre_auth::Authorized;
use zaffre_domain::Refusal;
use zaffre_store::{Abort, Tx};

/// Deletes a message for whoever has its newest receipt.
pub async fn delete_message(core: &Core, op: Authorized<DeleteMessage>) -> Result<(), Error> {
    let (DeleteMessage { at, id, receipt }, _) = op.into_parts();
    let receipt: Arc<str> = receipt.into();
    let make = |_: &_| {
        let receipt = Arc::clone(&receipt);
        move |tx: &mut Tx<'_>, keys: Keys| {
            let id = id.ok_or(Abort::Fail(Refusal::MessageNotFound))?;
            let stored = Stored::load(tx, &keys.message(id))?;
            let stored = stored.ok_or(Abort::Fail(Refusal::MessageNotFound))?;
            let now = tx.stamp().time();
            stored.message().admit(id, &receipt, now).map_err(Abort::Fail)?;
            rows::remove(tx, keys, id, &stored)?;
            Ok(rows::count(tx, keys, 0, 1)?)
        }
    };
    transact(core, &at, make).await.map(|_| ())
}
