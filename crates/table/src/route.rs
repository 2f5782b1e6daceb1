//! Verb, path and the `restype` and `comp` parameters decide which operation a request asks for.
//!
//! Must never look at a credential or a body.

use crate::operation::Kind;
use crate::target::Target;
use hyper::Method;
use hyper::header::HeaderMap;
use zaffre_http::{ApiError, Asked, table_codes};

const TUNNEL: &str = "x-http-method";

/// The verb that is meant: a POST may carry another one in a header.
pub fn verb(sent: &Method, headers: &HeaderMap) -> Result<String, ApiError> {
    let mut tunnelled = headers.get_all(TUNNEL).iter();
    let (first, second) = (tunnelled.next(), tunnelled.next());
    let Some(first) = first else { return Ok(sent.as_str().to_owned()) };
    if second.is_some() {
        return Err(table_codes::X_METHOD_INCORRECT_COUNT.into());
    }
    if *sent != Method::POST {
        return Err(table_codes::X_METHOD_NOT_USING_POST.into());
    }
    let verb = first.to_str().unwrap_or_default().to_ascii_uppercase();
    if ["MERGE", "PATCH", "PUT", "DELETE"].contains(&verb.as_str()) {
        Ok(verb)
    } else {
        Err(table_codes::X_METHOD_INCORRECT_VALUE.into())
    }
}

/// Which operation is asked of `target`.
pub fn route(target: &Target, asked: &Asked<'_>) -> Result<Kind, ApiError> {
    let verb = verb(asked.method(), &asked.head.headers)?;
    let conditional = asked.header("if-match")?.is_some();
    let restype = asked.query("restype").unwrap_or_default().to_ascii_lowercase();
    let comp = asked.query("comp").unwrap_or_default().to_ascii_lowercase();
    let unknown = |name: &str, value: &str| ApiError::invalid_query_parameter(name, value, "");
    match (target, restype.as_str(), comp.as_str()) {
        (Target::Service, "service", "properties") => match verb.as_str() {
            "GET" => Ok(Kind::GetServiceProperties),
            "PUT" => Ok(Kind::SetServiceProperties),
            _ => Err(ApiError::unsupported_http_verb()),
        },
        (Target::Service, "service", "stats") if verb == "GET" => Ok(Kind::GetServiceStats),
        (Target::Entities(_), "", "acl") => match verb.as_str() {
            "GET" | "HEAD" => Ok(Kind::GetTableAcl),
            "PUT" => Ok(Kind::SetTableAcl),
            _ => Err(ApiError::unsupported_http_verb()),
        },
        (_, "", "") => resource(target, &verb, conditional),
        (_, "" | "service", comp) => Err(unknown("comp", comp)),
        (_, restype, _) => Err(unknown("restype", restype)),
    }
}

/// The operations of the OData part, which batches have too.
pub fn resource(target: &Target, verb: &str, conditional: bool) -> Result<Kind, ApiError> {
    Ok(match (target, verb) {
        (Target::Tables | Target::Table(_), "GET") => Kind::QueryTables,
        (Target::Tables, "POST") => Kind::CreateTable,
        (Target::Table(_), "DELETE") => Kind::DeleteTable,
        (Target::Entities(_), "GET") => Kind::QueryEntities,
        (Target::Entities(_), "POST") => Kind::InsertEntity,
        (Target::Entity { .. }, "GET") => Kind::GetEntity,
        (Target::Entity { .. }, "PUT") if conditional => Kind::UpdateEntity,
        (Target::Entity { .. }, "PUT") => Kind::InsertOrReplaceEntity,
        (Target::Entity { .. }, "MERGE" | "PATCH") if conditional => Kind::MergeEntity,
        (Target::Entity { .. }, "MERGE" | "PATCH") => Kind::InsertOrMergeEntity,
        (Target::Entity { .. }, "DELETE") => Kind::DeleteEntity,
        (Target::Batch, "POST") => Kind::Batch,
        (Target::Service, _) => return Err(ApiError::invalid_uri()),
        _ => return Err(table_codes::METHOD_NOT_ALLOWED.into()),
    })
}
