//! Create and delete tables; get and set their ACLs.

use super::op::{CreateTable, DeleteTable, GetTableAcl, SetTableAcl, TablePath};
use super::records::Table;
use crate::directory::keys::directory;
use crate::directory::{self, Family, claim_name, register};
use crate::records::{Policy, Record};
use crate::{Core, Error};
use zaffre_auth::{Authorized, ContainerAccess};
use zaffre_base::Incarnation;
use zaffre_domain::Refusal;
use zaffre_domain::blob::AccessPolicy;
use zaffre_domain::table::TableRefusal;
use zaffre_store::{Abort, Tx};

/// Create Table.
pub async fn create_table(core: &Core, op: Authorized<CreateTable>) -> Result<(), Error> {
    let (CreateTable { at }, _) = op.into_parts();
    register(core, &at.account).await?;
    let placement = directory(&at.account);
    let body = move |tx: &mut Tx<'_>| {
        let key = Family::Tables.row(&at.folded);
        if Table::load(tx, &key)?.is_some() {
            return Err(Abort::Fail(TableRefusal::TableAlreadyExists.into()));
        }
        claim_name::<Table>(tx, &at.folded)?;
        let incarnation = Incarnation(tx.stamp().0);
        let name = at.table.as_str().to_owned();
        Ok(Table { incarnation, name, policies: Vec::new() }.store(tx, &key)?)
    };
    core.transact(&placement, body).await
}

/// Delete Table: its row goes, the guard comes, its entities are purged in the background.
pub async fn delete_table(core: &Core, op: Authorized<DeleteTable>) -> Result<(), Error> {
    let (DeleteTable { at }, _) = op.into_parts();
    let deleted = directory::delete(core, &at.account, &at.folded, |_: &Table, _| Ok(())).await;
    deleted.map_err(|error| match error {
        // Asked for by its name, a table is a resource like any other.
        Error::Refused(Refusal::Table(TableRefusal::TableNotFound)) => {
            Error::Refused(TableRefusal::NoSuchTable.into())
        }
        other => other,
    })
}

async fn row(core: &Core, at: &TablePath) -> Result<Option<Table>, Error> {
    let inside = core.store().meta.snapshot(&directory(&at.account)).await?;
    Ok(Table::peek(&inside, &Family::Tables.row(&at.folded))?)
}

/// What authorization needs to know of a table; `None` = there is none.
pub async fn table_access(core: &Core, at: &TablePath) -> Result<Option<ContainerAccess>, Error> {
    let policies = |table: Table| table.policies.iter().map(Policy::shown).collect();
    Ok(row(core, at).await?.map(|table| ContainerAccess::of_policies(policies(table))))
}

/// Get Table ACL.
pub async fn get_table_acl(
    core: &Core,
    op: Authorized<GetTableAcl>,
) -> Result<Vec<AccessPolicy>, Error> {
    let (GetTableAcl { at }, _) = op.into_parts();
    let table = row(core, &at).await?.ok_or(Refusal::from(TableRefusal::TableNotFound))?;
    Ok(table.policies.iter().map(Policy::shown).collect())
}

/// Set Table ACL: replaces all policies.
pub async fn set_table_acl(core: &Core, op: Authorized<SetTableAcl>) -> Result<(), Error> {
    let (SetTableAcl { at, policies }, _) = op.into_parts();
    let placement = directory(&at.account);
    let body = move |tx: &mut Tx<'_>| {
        let key = Family::Tables.row(&at.folded);
        let missing = || Abort::Fail(TableRefusal::TableNotFound.into());
        let mut table = Table::load(tx, &key)?.ok_or_else(missing)?;
        table.policies = policies.iter().map(Policy::from).collect();
        Ok(table.store(tx, &key)?)
    };
    core.transact(&placement, body).await
}
