//! The operations of the Table service as plain data: what a protocol parses a request into.
//!
//! Must never know HTTP; every field is typed and already checked for syntax.

use std::ops::Deref;
use std::sync::Arc;
use zaffre_base::{AccountName, TableName};
use zaffre_domain::blob::AccessPolicy;
use zaffre_domain::table::filter::Expression;
use zaffre_domain::table::{EntityKey, Write};

/// A table by its full name. Clones share it: every operation of a batch has one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TablePath(Arc<TableNames>);

/// The names in a [`TablePath`].
#[derive(PartialEq, Eq, Debug)]
pub struct TableNames {
    /// The account.
    pub account: AccountName,
    /// The table, in the case it was asked for in.
    pub table: TableName,
    /// The same in lower case: what it is found by.
    pub folded: String,
}

impl TablePath {
    /// A table of an account.
    pub fn new(account: &AccountName, table: TableName) -> Self {
        let (account, folded) = (account.clone(), table.folded());
        Self(Arc::new(TableNames { account, table, folded }))
    }
}

impl Deref for TablePath {
    type Target = TableNames;

    fn deref(&self) -> &TableNames {
        &self.0
    }
}

/// Query Tables.
#[derive(Clone, Debug)]
pub struct QueryTables {
    /// The account.
    pub account: AccountName,
    /// Only this one.
    pub only: Option<TableName>,
    /// Which to show.
    pub filter: Option<Expression>,
    /// Page size, 1..=1000.
    pub top: usize,
    /// Where the last page ended, in lower case.
    pub next: Option<String>,
}

/// Create Table.
#[derive(Clone, Debug)]
pub struct CreateTable {
    /// Which.
    pub at: TablePath,
}

/// Delete Table.
#[derive(Clone, Debug)]
pub struct DeleteTable {
    /// Which.
    pub at: TablePath,
}

/// Get Table ACL.
#[derive(Clone, Debug)]
pub struct GetTableAcl {
    /// Which.
    pub at: TablePath,
}

/// Set Table ACL.
#[derive(Clone, Debug)]
pub struct SetTableAcl {
    /// Which.
    pub at: TablePath,
    /// Stored access policies, at most five.
    pub policies: Vec<AccessPolicy>,
}

/// Get one entity.
#[derive(Clone, Debug)]
pub struct GetEntity {
    /// Where.
    pub at: TablePath,
    /// Which.
    pub key: EntityKey,
}

/// Query Entities.
#[derive(Clone, Debug)]
pub struct QueryEntities {
    /// Where.
    pub at: TablePath,
    /// Which to show.
    pub filter: Option<Expression>,
    /// Page size, 1..=1000.
    pub top: usize,
    /// The partition, and perhaps the row, that the last page ended before.
    pub next: Option<(String, Option<String>)>,
}

/// Any operation that writes one entity.
#[derive(Clone, Debug)]
pub struct WriteEntity {
    /// Where.
    pub at: TablePath,
    /// Which.
    pub key: EntityKey,
    /// How.
    pub write: Write,
}
