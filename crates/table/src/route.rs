//! Verb, path and the `restype` and `comp` parameters decide which operation a request asks for.
//!
//! Must never look at a credential or a body.

use crate::operation::Kind;
use crate::target::Target;
use hyper::Method;
use hyper::header::HeaderValue;
use zaffre_http::{ApiError, Asked, table_codes};

/// The header that carries another verb than POST.
pub const TUNNEL: &str = "x-http-method";

/// The verb that is meant: a POST may carry another one in a header, whose values are given.
pub fn verb<'a>(
    sent: &Method,
    mut tunnelled: impl Iterator<Item = &'a [u8]>,
) -> Result<Method, ApiError> {
    let Some(first) = tunnelled.next() else { return Ok(sent.clone()) };
    if tunnelled.next().is_some() {
        return Err(table_codes::X_METHOD_INCORRECT_COUNT.into());
    }
    if *sent != Method::POST {
        return Err(table_codes::X_METHOD_NOT_USING_POST.into());
    }
    let verb = first.to_ascii_uppercase();
    if [b"MERGE".as_slice(), b"PATCH", b"PUT", b"DELETE"].contains(&verb.as_slice()) {
        Method::from_bytes(&verb).map_err(|_| table_codes::X_METHOD_INCORRECT_VALUE.into())
    } else {
        Err(table_codes::X_METHOD_INCORRECT_VALUE.into())
    }
}

/// Which operation is asked of `target`.
pub fn route(target: &Target, asked: &Asked<'_>) -> Result<Kind, ApiError> {
    let tunnelled = asked.head.headers.get_all(TUNNEL).iter().map(HeaderValue::as_bytes);
    let verb = verb(asked.method(), tunnelled)?;
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
        (Target::Service, "service", "stats") if verb == Method::GET => Ok(Kind::GetServiceStats),
        (Target::Entities(_), "", "acl") => match verb.as_str() {
            "GET" | "HEAD" => Ok(Kind::GetTableAcl),
            "PUT" => Ok(Kind::SetTableAcl),
            _ => Err(ApiError::unsupported_http_verb()),
        },
        (_, "", "") => resource(target, verb.as_str(), conditional),
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
