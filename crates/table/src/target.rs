//! The part of a decoded path after the account: tables, one table, its entities or one of them.
//!
//! Must never decode anything: it gets text that was decoded once and makes typed names of it.

use zaffre_auth::action::Scope;
use zaffre_base::{AccountName, TableName};
use zaffre_core::table::op::TablePath;
use zaffre_domain::table::key::{PARTITION_KEY, ROW_KEY};
use zaffre_http::ApiError;

/// What a path names inside an account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The account's Table service.
    Service,
    /// All tables: `/Tables`.
    Tables,
    /// One table as an entry of that list: `/Tables('name')`.
    Table(TablePath),
    /// The entities of a table: `/name` or `/name()`.
    Entities(TablePath),
    /// One entity: `/name(PartitionKey='…',RowKey='…')`.
    Entity {
        /// Its table.
        at: TablePath,
        /// Its PartitionKey.
        partition: String,
        /// Its RowKey.
        row: String,
    },
    /// `/$batch`
    Batch,
}

const TABLES: &str = "Tables";

impl Target {
    /// Reads the decoded path after the account, without its leading slash.
    pub fn parse(path: &str, account: &AccountName) -> Result<Self, ApiError> {
        let path = path.strip_suffix('/').unwrap_or(path);
        match path {
            "" => return Ok(Self::Service),
            "$batch" => return Ok(Self::Batch),
            _ => {}
        }
        let (name, keys) = match path.split_once('(') {
            None => (path, None),
            Some((name, rest)) => {
                let inside = rest.strip_suffix(')').ok_or_else(bad_syntax)?;
                (name, Some(inside.trim()))
            }
        };
        let tables = name.eq_ignore_ascii_case(TABLES);
        match keys {
            None | Some("") if tables => Ok(Self::Tables),
            Some(keys) if tables => {
                let (table, rest) = literal(keys).ok_or_else(bad_syntax)?;
                if !rest.is_empty() {
                    return Err(bad_syntax());
                }
                Ok(Self::Table(table_path(&table, account)?))
            }
            None | Some("") => Ok(Self::Entities(table_path(name, account)?)),
            Some(keys) => {
                let at = table_path(name, account)?;
                let (partition, row) = entity_keys(keys, &at)?;
                Ok(Self::Entity { at, partition, row })
            }
        }
    }

    /// The table that it is about, if it is about one.
    pub fn table(&self) -> Option<&TablePath> {
        match self {
            Self::Service | Self::Tables | Self::Batch => None,
            Self::Table(at) | Self::Entities(at) | Self::Entity { at, .. } => Some(at),
        }
    }

    /// The same as the permission rules see it.
    pub fn scope<'a>(&'a self, account: &'a AccountName) -> Scope<'a> {
        match self {
            Self::Service | Self::Tables | Self::Batch => Scope::account(account),
            Self::Table(at) | Self::Entities(at) => Scope::container(account, &at.folded),
            Self::Entity { at, partition, row } => {
                Scope::entity(account, &at.folded, (partition, row))
            }
        }
    }
}

/// A table by its name, which may be reserved.
pub(crate) fn table_path(name: &str, account: &AccountName) -> Result<TablePath, ApiError> {
    Ok(TablePath::new(account, TableName::parse(name)?))
}

/// `PartitionKey='…',RowKey='…'` in either order.
fn entity_keys(text: &str, at: &TablePath) -> Result<(String, String), ApiError> {
    let (first, rest) = key(text).ok_or_else(|| wrong_keys(at))?;
    let rest = rest.trim_start().strip_prefix(',').ok_or_else(|| wrong_keys(at))?;
    let (second, rest) = key(rest.trim_start()).ok_or_else(|| wrong_keys(at))?;
    if !rest.trim().is_empty() {
        return Err(bad_syntax());
    }
    let (((PARTITION_KEY, partition), (ROW_KEY, row))
    | ((ROW_KEY, row), (PARTITION_KEY, partition))) = (first, second)
    else {
        return Err(wrong_keys(at));
    };
    if [&partition, &row].into_iter().any(|key| key.contains(['/', '\\'])) {
        return Err(bad_syntax());
    }
    Ok((partition, row))
}

/// `Name='value'`, and what follows.
fn key(text: &str) -> Option<((&str, String), &str)> {
    let (name, rest) = text.split_once('=')?;
    let (value, rest) = literal(rest.trim_start())?;
    Some(((name.trim(), value), rest))
}

/// A literal in single quotes, a doubled one standing for itself, and what follows.
fn literal(text: &str) -> Option<(String, &str)> {
    let mut rest = text.strip_prefix('\'')?;
    let mut value = String::new();
    loop {
        let (before, after) = rest.split_once('\'')?;
        value.push_str(before);
        match after.strip_prefix('\'') {
            Some(more) => {
                value.push('\'');
                rest = more;
            }
            None => return Some((value, after)),
        }
    }
}

fn bad_syntax() -> ApiError {
    ApiError::invalid_input().saying("Bad Request - Error in query syntax.")
}

fn wrong_keys(at: &TablePath) -> ApiError {
    ApiError::invalid_input().saying(format!(
        "The number of keys specified in the URI does not match number of key properties for the \
         resource '{}.{}'.",
        at.account, at.table
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(path: &str) -> String {
        let account = AccountName::parse("acct").unwrap_or_else(|_| panic!("legal"));
        match Target::parse(path, &account) {
            Ok(Target::Service) => "service".to_owned(),
            Ok(Target::Tables) => "tables".to_owned(),
            Ok(Target::Table(at)) => format!("table {}", at.table),
            Ok(Target::Entities(at)) => format!("entities {}", at.table),
            Ok(Target::Entity { at, partition, row }) => {
                format!("entity {} {partition}|{row}", at.table)
            }
            Ok(Target::Batch) => "batch".to_owned(),
            Err(error) => error.code.to_owned(),
        }
    }

    #[test]
    fn paths() {
        for (path, want) in [
            ("", "service"),
            ("Tables", "tables"),
            ("Tables()", "tables"),
            ("tables/", "tables"),
            ("Tables('abc')", "table abc"),
            ("Tables('Abc1')", "table Abc1"),
            ("Tables('abc'", "InvalidInput"),
            ("Tables(abc)", "InvalidInput"),
            ("Tables('ab')", "OutOfRangeInput"),
            ("abc", "entities abc"),
            ("abc()", "entities abc"),
            ("abc(PartitionKey='p',RowKey='r')", "entity abc p|r"),
            ("abc(RowKey='r', PartitionKey='p')", "entity abc p|r"),
            ("abc(PartitionKey='it''s',RowKey='')", "entity abc it's|"),
            ("abc(PartitionKey='a,b=''c',RowKey='(x)')", "entity abc a,b='c|(x)"),
            ("abc(PartitionKey='p')", "InvalidInput"),
            ("abc(PartitionKey='p',PartitionKey='p')", "InvalidInput"),
            ("abc(PartitionKey='p',Other='p')", "InvalidInput"),
            ("abc(PartitionKey='a/b',RowKey='r')", "InvalidInput"),
            ("abc(PartitionKey='p',RowKey='r')x", "InvalidInput"),
            ("abc(PartitionKey='p,RowKey='r')", "InvalidInput"),
            ("$batch", "batch"),
            ("a-b", "InvalidResourceName"),
            ("1ab", "InvalidResourceName"),
            ("ab", "OutOfRangeInput"),
        ] {
            assert_eq!(show(path), want, "{path}");
        }
    }
}
