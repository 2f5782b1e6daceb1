//! Delete Container: the directory row goes, the guard comes, the rest is purged in the background.
//!
//! Removing the directory row decides. From then on nobody finds the container; operations that had
//! found it before may still finish until the guard is set, which is before the answer.

use super::op::DeleteContainer;
use super::records::Container;
use crate::{Core, Error, directory};
use zaffre_auth::Authorized;
use zaffre_domain::LeaseOn;
use zaffre_domain::conditions::evaluate_container;
use zaffre_domain::lease::{LeaseAccess, admits};

/// Deletes a container and everything in it.
pub async fn delete_container(core: &Core, op: Authorized<DeleteContainer>) -> Result<(), Error> {
    let (DeleteContainer { at, lease, conditions }, _) = op.into_parts();
    let name = at.container.as_str();
    directory::delete(core, &at.account, name, move |record: &Container, now| {
        admits(&record.lease, lease, LeaseAccess::Write, LeaseOn::Container, now)?;
        evaluate_container(&conditions, &record.validators())
    })
    .await
}
