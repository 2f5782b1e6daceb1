//! Create Container.

use super::keys;
use super::op::CreateContainer;
use super::records::{Container, HeldName, Record};
use super::reply::Written;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::AccountName;
use zaffre_domain::Refusal;
use zaffre_store::{Abort, Tx};

/// Creates a container.
pub async fn create_container(
    core: &Core,
    op: Authorized<CreateContainer>,
) -> Result<Written, Error> {
    let (op, _) = op.into_parts();
    register(core, &op.at.account).await?;
    let directory = keys::directory(&op.at.account);
    let body = move |tx: &mut Tx<'_>| {
        let key = keys::container(&op.at.container);
        if tx.get(&key)?.is_some() {
            return Err(Abort::Fail(Refusal::ContainerAlreadyExists));
        }
        let stamp = tx.stamp();
        let held_key = keys::held_name(&op.at.container);
        if let Some(held) = HeldName::load(tx, &held_key)? {
            if stamp.time() < held.until {
                return Err(Abort::Fail(Refusal::ContainerBeingDeleted));
            }
            tx.delete(&held_key)?;
        }
        let mut container = Container::new(stamp);
        container.metadata = op.metadata.clone();
        container.set_access(op.access);
        container.store(tx, &key)?;
        Ok(Written { stamp })
    };
    core.transact(&directory, body).await
}

/// Makes sure that the background finds the account after a restart.
async fn register(core: &Core, account: &AccountName) -> Result<(), Error> {
    if core.pending().is_registered(account) {
        return Ok(());
    }
    let registry = keys::registry();
    let key = keys::registered_account(account);
    if core.store().meta.snapshot(&registry).await?.get(&key)?.is_none() {
        core.transact(&registry, move |tx| Ok(tx.put(&key, &[1])?)).await?;
    }
    core.pending().registered(account);
    Ok(())
}
