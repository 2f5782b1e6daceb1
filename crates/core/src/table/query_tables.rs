//! Query Tables: one page from one snapshot of the account's directory.

use super::op::QueryTables;
use super::records::Table;
use super::reply::TablePage;
use crate::directory::Family;
use crate::directory::keys::directory;
use crate::records::Record;
use crate::service::blocking;
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::TableName;
use zaffre_domain::Refusal;
use zaffre_domain::table::TableRefusal;
use zaffre_domain::table::filter::matches;
use zaffre_store::{Snapshot, StoreError};

/// Tables looked at for one page, whether they pass the filter or not.
const LOOKED_AT: usize = 10_000;
/// Rows read at once.
const BATCH: usize = 500;

/// Lists tables, or finds the one that is named.
pub async fn query_tables(core: &Core, op: Authorized<QueryTables>) -> Result<TablePage, Error> {
    let (op, _) = op.into_parts();
    let inside = core.store().meta.snapshot(&directory(&op.account)).await?;
    if let Some(only) = &op.only {
        let table = Table::peek(&inside, &Family::Tables.row(&only.folded()))?;
        let table = table.ok_or(Refusal::from(TableRefusal::NoSuchTable))?;
        return Ok(TablePage { tables: vec![name(&table)?], next: None });
    }
    blocking(move || page(&op, &inside)).await
}

fn page(op: &QueryTables, inside: &Snapshot) -> Result<TablePage, Error> {
    let range = Family::Tables.rows("");
    let from = op.next.as_deref().map(|next| Family::Tables.row(next)).unwrap_or_default();
    let mut start = range.start.max(from);
    let mut tables = Vec::new();
    let mut looked_at = 0;
    loop {
        let rows = inside.scan(&start, range.end.as_deref(), BATCH)?;
        for row in &rows {
            let table = name(&Table::from_bytes(&row.value)?)?;
            if tables.len() == op.top || looked_at == LOOKED_AT {
                return Ok(TablePage { tables, next: Some(table.folded()) });
            }
            looked_at += 1;
            if op.filter.as_ref().is_none_or(|filter| matches(filter, &table)) {
                tables.push(table);
            }
        }
        match rows.last() {
            Some(last) if rows.len() == BATCH => start = [last.key.as_slice(), &[0]].concat(),
            _ => return Ok(TablePage { tables, next: None }),
        }
    }
}

fn name(table: &Table) -> Result<TableName, StoreError> {
    TableName::parse(&table.name).map_err(|_| StoreError::corrupt("the name of a table"))
}
