//! Create Container.

use super::keys;
use super::op::CreateContainer;
use super::records::{Container, Record};
use super::reply::Written;
use crate::directory::{claim_name, register};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::AccountName;
use zaffre_domain::Refusal;
use zaffre_domain::blob::PublicAccess;
use zaffre_domain::blob::encryption::Encrypted;
use zaffre_store::{Abort, Tx};

/// Creates a container.
pub async fn create_container(
    core: &Core,
    op: Authorized<CreateContainer>,
) -> Result<Written, Error> {
    let (op, _) = op.into_parts();
    check_access(core, &op.at.account, op.access)?;
    let known = core.settings(&op.at.account).encryption_scopes;
    op.scopes.choose(&Encrypted::ByAccount, &known)?;
    register(core, &op.at.account).await?;
    let directory = keys::directory(&op.at.account);
    let body = move |tx: &mut Tx<'_>| {
        let key = keys::container(&op.at.container);
        if tx.get(&key)?.is_some() {
            return Err(Abort::Fail(Refusal::ContainerAlreadyExists));
        }
        let stamp = tx.stamp();
        claim_name::<Container>(tx, op.at.container.as_str())?;
        let mut container = Container::new(stamp);
        container.metadata = op.metadata.clone();
        container.set_access(op.access);
        container.set_scopes(op.scopes.clone());
        container.store(tx, &key)?;
        Ok(Written::at(stamp))
    };
    core.transact(&directory, body).await
}

/// Refuses to make a container public where the account lets none be.
pub(super) fn check_access(
    core: &Core,
    account: &AccountName,
    access: PublicAccess,
) -> Result<(), Refusal> {
    if access == PublicAccess::Private || core.settings(account).public_access {
        Ok(())
    } else {
        Err(Refusal::PublicAccessNotPermitted)
    }
}
