//! Headers, parameters and small bodies into operations of core.
//!
//! Must never decide whether something may be done; only what was asked.

use crate::entity;
use crate::format::{Level, negotiate};
use crate::json::{Member, members};
use crate::operation::Kind;
use crate::target::{Target, table_path};
use zaffre_base::AccountName;
use zaffre_base::limits::TABLE_PAGE;
use zaffre_core::table::op::{QueryEntities, QueryTables, TablePath, WriteEntity};
use zaffre_domain::Refusal;
use zaffre_domain::table::filter::{self, Expression};
use zaffre_domain::table::{EntityKey, IfMatch, TableRefusal, Write, token};
use zaffre_http::{ApiError, Asked, table_codes};

/// Most names in `$select`.
const SELECTED: usize = 255;
/// Options of OData that the service does not have.
const UNSUPPORTED: &[&str] =
    &["$orderby", "$skip", "$count", "$expand", "$inlinecount", "$skiptoken"];

fn refused(refusal: TableRefusal) -> ApiError {
    Refusal::from(refusal).into()
}

/// The level of the answer: `$format` wins over Accept.
pub(crate) fn level(asked: &Asked<'_>) -> Result<Level, ApiError> {
    let format = asked.query("$format").filter(|text| !text.is_empty());
    let accept = match format {
        Some(format) => Some(format),
        None => asked.header("accept")?,
    };
    Ok(negotiate(accept)?)
}

/// `$filter`; empty means none.
fn filter(asked: &Asked<'_>) -> Result<Option<Expression>, ApiError> {
    let text = asked.query("$filter").unwrap_or_default();
    filter::parse(text).map_err(|error| refused(error.into()))
}

fn top(asked: &Asked<'_>) -> Result<usize, ApiError> {
    let Some(text) = asked.query("$top").filter(|text| !text.is_empty()) else {
        return Ok(TABLE_PAGE);
    };
    let number = text.parse::<usize>().ok().filter(|top| (1..=TABLE_PAGE).contains(top));
    number.ok_or_else(ApiError::invalid_input)
}

/// `$select`: the names in their order; none for all.
pub(crate) fn select(asked: &Asked<'_>) -> Result<Vec<String>, ApiError> {
    let text = asked.query("$select").unwrap_or_default();
    let names: Vec<String> = text
        .split(',')
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    if names.len() > SELECTED {
        return Err(ApiError::invalid_input());
    }
    Ok(if names.iter().any(|name| name == "*") { Vec::new() } else { names })
}

fn check_options(asked: &Asked<'_>) -> Result<(), ApiError> {
    asked.check_timeout()?;
    match UNSUPPORTED.iter().find(|name| asked.query(name).is_some()) {
        Some(_) => Err(table_codes::NOT_IMPLEMENTED.into()),
        None => Ok(()),
    }
}

fn continued(asked: &Asked<'_>, name: &str) -> Result<Option<String>, ApiError> {
    let token = asked.query(name).filter(|text| !text.is_empty());
    token.map(token::read).transpose().map_err(refused)
}

/// Query Tables, all or one.
pub(crate) fn query_tables(asked: &Asked<'_>, target: &Target) -> Result<QueryTables, ApiError> {
    check_options(asked)?;
    let only = target.table().map(|at| at.table.clone());
    let account = asked.to.account.clone();
    let next = continued(asked, "NextTableName")?;
    Ok(QueryTables { account, only, filter: filter(asked)?, top: top(asked)?, next })
}

/// Query Entities.
pub(crate) fn query_entities(asked: &Asked<'_>, at: &TablePath) -> Result<QueryEntities, ApiError> {
    check_options(asked)?;
    let row = continued(asked, "NextRowKey")?;
    let next = continued(asked, "NextPartitionKey")?.map(|partition| (partition, row));
    Ok(QueryEntities { at: at.clone(), filter: filter(asked)?, top: top(asked)?, next })
}

/// The table that the body of Create Table names.
pub(crate) fn new_table(body: &[u8], account: &AccountName) -> Result<TablePath, ApiError> {
    let members = members(body).map_err(|_| refused(TableRefusal::InvalidValue))?;
    let name = members.iter().find_map(|(name, value)| match value {
        Member::Text(text) if name == "TableName" => Some(&**text),
        _ => None,
    });
    let name = name.ok_or_else(|| refused(TableRefusal::KeyMissing))?;
    if name.eq_ignore_ascii_case("tables") {
        return Err(refused(TableRefusal::ReservedName));
    }
    table_path(name, account)
}

/// What a write demands of the entity, as its headers have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions<'a> {
    pub(crate) if_match: Option<&'a str>,
    pub(crate) if_none_match: Option<&'a str>,
}

/// A write of one entity, on its own or in a batch.
pub(crate) fn write(
    kind: Kind,
    target: &Target,
    conditions: Conditions<'_>,
    body: &[u8],
) -> Result<WriteEntity, ApiError> {
    match (kind, target) {
        (Kind::InsertEntity, Target::Entities(at)) => {
            let entity = entity::read(body)?;
            let missing = || refused(TableRefusal::KeyMissing);
            let partition = entity.partition.ok_or_else(missing)?;
            let row = entity.row.ok_or_else(missing)?;
            let key = EntityKey::new(&partition, &row).map_err(refused)?;
            Ok(WriteEntity { at: at.clone(), key, write: Write::Insert(entity.properties) })
        }
        (_, Target::Entity { at, partition, row }) => {
            if conditions.if_none_match.is_some() {
                return Err(ApiError::invalid_input());
            }
            let key = EntityKey::new(partition, row).map_err(refused)?;
            let write = change(kind, conditions.if_match, body, &key)?;
            Ok(WriteEntity { at: at.clone(), key, write })
        }
        _ => Err(table_codes::METHOD_NOT_ALLOWED.into()),
    }
}

fn change(
    kind: Kind,
    if_match: Option<&str>,
    body: &[u8],
    key: &EntityKey,
) -> Result<Write, ApiError> {
    let wanted = || match if_match {
        Some(text) => condition(text),
        None => Err(ApiError::missing_required_header("If-Match")),
    };
    if kind == Kind::DeleteEntity {
        return Ok(Write::Delete(wanted()?));
    }
    let entity = entity::read(body)?;
    let differs = |given: Option<&str>, named: &str| given.is_some_and(|given| given != named);
    if differs(entity.partition.as_deref(), key.partition())
        || differs(entity.row.as_deref(), key.row())
    {
        return Err(refused(TableRefusal::KeysDiffer));
    }
    let properties = entity.properties;
    Ok(match kind {
        Kind::UpdateEntity => Write::Update(properties, wanted()?),
        Kind::MergeEntity => Write::Merge(properties, wanted()?),
        Kind::InsertOrReplaceEntity => Write::InsertOrReplace(properties),
        Kind::InsertOrMergeEntity => Write::InsertOrMerge(properties),
        _ => return Err(table_codes::METHOD_NOT_ALLOWED.into()),
    })
}

fn condition(text: &str) -> Result<IfMatch, ApiError> {
    IfMatch::parse(text).ok_or_else(|| {
        ApiError::invalid_input().saying(format!(
            "The etag value '{text}' specified in one of the request headers is not valid. Please \
             make sure only one etag value is specified and is valid."
        ))
    })
}
