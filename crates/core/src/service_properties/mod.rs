//! Get and Set Service Properties of any service, and what running requests need to know of them.
//!
//! Must never read a row for a request that only wants to know the rules: they are kept in memory
//! and replaced by whoever sets them.

mod cache;
mod record;

pub(crate) use cache::Cache;

use crate::blob::records::Container;
use crate::directory::{Family, keys, register};
use crate::records::Record;
use crate::service::detached;
use crate::{Core, Error};
use record::StoredProperties;
use std::sync::Arc;
use zaffre_auth::{Accounts, Action, Authorized, Guarded, Scope, Service};
use zaffre_base::{AccountName, Stamp};
use zaffre_domain::service::{ServiceProperties, ServicePropertiesUpdate};
use zaffre_store::{Interrupt, Tx};

/// Where the pages of a static website are.
const WEBSITE: &str = "$web";
/// Where the logs of all services of an account are.
const LOGS: &str = "$logs";

/// Get Service Properties.
#[derive(Clone, Debug)]
pub struct GetServiceProperties {
    /// Whose.
    pub account: AccountName,
    /// Of which service.
    pub service: Service,
}

/// Set Service Properties.
#[derive(Clone, Debug)]
pub struct SetServiceProperties {
    /// Whose.
    pub account: AccountName,
    /// Of which service.
    pub service: Service,
    /// What changes.
    pub update: ServicePropertiesUpdate,
}

/// Get Service Stats.
#[derive(Clone, Debug)]
pub struct GetServiceStats {
    /// Whose.
    pub account: AccountName,
}

impl Guarded for GetServiceProperties {
    fn action(&self) -> Action {
        Action::GetServiceProperties
    }

    fn scope(&self) -> Scope<'_> {
        Scope::account(&self.account)
    }
}

impl Guarded for SetServiceProperties {
    fn action(&self) -> Action {
        Action::SetServiceProperties
    }

    fn scope(&self) -> Scope<'_> {
        Scope::account(&self.account)
    }
}

impl Guarded for GetServiceStats {
    fn action(&self) -> Action {
        Action::GetServiceStats
    }

    fn scope(&self) -> Scope<'_> {
        Scope::account(&self.account)
    }
}

/// Get Service Properties.
pub async fn get_service_properties(
    core: &Core,
    op: Authorized<GetServiceProperties>,
) -> Result<Arc<ServiceProperties>, Error> {
    let (op, _) = op.into_parts();
    let properties = core.service_properties(&op.account, op.service).await?;
    if properties.delete_retention.is_some() || op.service != Service::Blob {
        return Ok(properties);
    }
    let kept = core.settings(&op.account).delete_retention();
    let shown = ServiceProperties { delete_retention: Some(kept), ..(*properties).clone() };
    Ok(Arc::new(shown))
}

/// Set Service Properties: what the update does not name stays. Makes the containers that a website
/// and logs need.
pub async fn set_service_properties(
    core: &Core,
    op: Authorized<SetServiceProperties>,
) -> Result<(), Error> {
    let (SetServiceProperties { account, service, update }, _) = op.into_parts();
    register(core, &account).await?;
    let core = core.clone();
    detached(async move {
        let directory = keys::directory(&account);
        let body = move |tx: &mut Tx<'_>| Ok(change(tx, service, &update)?);
        let committed = core.store().meta.transact(&directory, body).await;
        match committed {
            Ok((stamp, properties)) => {
                core.properties().keep(&account, service, stamp, Arc::new(properties));
                Ok(())
            }
            Err(error) => {
                // It may have happened all the same: the next request reads the row.
                core.properties().forget(&account, service);
                Err(error.into())
            }
        }
    })
    .await
}

fn change(
    tx: &mut Tx<'_>,
    service: Service,
    update: &ServicePropertiesUpdate,
) -> Result<(Stamp, ServiceProperties), Interrupt> {
    let key = keys::service_properties(service);
    let stored = StoredProperties::load(tx, &key)?;
    let mut properties = stored.map(StoredProperties::properties).unwrap_or_default();
    properties.apply(update);
    let stamp = tx.stamp();
    StoredProperties::new(&properties, stamp).store(tx, &key)?;
    if properties.website.enabled {
        ensure_container(tx, WEBSITE, stamp)?;
    }
    if properties.logging.is_on() {
        ensure_container(tx, LOGS, stamp)?;
    }
    Ok((stamp, properties))
}

/// Creates one of the service's own containers unless it is there. Its name is never held back
/// after a deletion: nobody but the service creates it.
fn ensure_container(tx: &mut Tx<'_>, name: &str, stamp: Stamp) -> Result<(), Interrupt> {
    let key = Family::Containers.row(name);
    if tx.get(&key)?.is_none() {
        tx.delete(&Family::Containers.held_name(name))?;
        Container::new(stamp).store(tx, &key)?;
    }
    Ok(())
}

impl Core {
    /// What the account's owner has chosen for a service; an account that is not there has chosen
    /// nothing, and is refused when its credential is looked at.
    pub async fn chosen_properties(
        &self,
        accounts: &Accounts,
        account: &AccountName,
        service: Service,
    ) -> Result<Arc<ServiceProperties>, Error> {
        match accounts.get(account) {
            Some(_) => self.service_properties(account, service).await,
            None => Ok(Arc::default()),
        }
    }

    /// The properties of an account's service as they are now; from memory but for the first time.
    /// The account must be one of the server's.
    pub async fn service_properties(
        &self,
        account: &AccountName,
        service: Service,
    ) -> Result<Arc<ServiceProperties>, Error> {
        if let Some(kept) = self.properties().get(account, service) {
            return Ok(kept);
        }
        let directory = self.store().meta.snapshot(&keys::directory(account)).await?;
        let row = StoredProperties::peek(&directory, &keys::service_properties(service))?;
        let written = row.as_ref().map_or(Stamp(0), StoredProperties::written);
        let properties = Arc::new(row.map(StoredProperties::properties).unwrap_or_default());
        Ok(self.properties().keep(account, service, written, properties))
    }
}
