//! The `x-ms-tags` header and the heads of the operations on tags.
//!
//! Must never decide whether a tag is legal: the domain does.

use super::conditions::{conditions, on_blob};
use super::listing::{Echo, echo, page_size};
use super::moment;
use crate::fields::Fields;
use zaffre_base::limits::TAGS_HEADER_BYTES;
use zaffre_base::{AccountName, ApiVersion, ContainerName};
use zaffre_core::blob::op::{self, BlobPath, ExpectedChecksum};
use zaffre_domain::Refusal;
use zaffre_domain::blob::tags::{self, FindExpression, FindScope, Tags};
use zaffre_domain::conditions::{ConditionalOperation as Op, Conditions};
use zaffre_http::{ApiError, codes, percent};

const HEADER: &str = "x-ms-tags";
/// From here on the operations on tags take ordinary conditions under names of their own.
const CONDITIONS_SINCE: ApiVersion = ApiVersion::new(2026, 2, 6);

/// Set Blob Tags, whose tags are in the body.
#[derive(Clone, Debug)]
pub struct TagsUpload {
    /// The operation; its tags come with the body.
    pub op: op::SetBlobTags,
    /// What the body's checksum must be.
    pub expect: ExpectedChecksum,
}

/// Find Blobs by Tags with what its answer repeats.
#[derive(Clone, Debug)]
pub struct Search {
    /// The operation.
    pub op: op::FindBlobsByTags,
    /// What to repeat.
    pub echo: Echo,
    /// The expression as sent.
    pub text: String,
}

/// `x-ms-tags`: names and values like a form's, `a=1&b=2`.
pub(super) fn header(fields: &Fields<'_>) -> Result<Tags, ApiError> {
    let Some(text) = fields.header(HEADER)? else { return Ok(Tags::new()) };
    if text.len() > TAGS_HEADER_BYTES {
        return Err(Refusal::TagsTooLarge.into());
    }
    let decoded = |text: &str| percent::decode_query(text).ok_or(Refusal::InvalidTag);
    let pairs = text.split('&').map(|pair| {
        let (name, value) = pair.split_once('=').ok_or(Refusal::InvalidTag)?;
        Ok((decoded(name)?, decoded(value)?))
    });
    let pairs = pairs.collect::<Result<Vec<_>, Refusal>>()?;
    Ok(tags::collect(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?)
}

pub(super) fn get(fields: &Fields<'_>, at: BlobPath) -> Result<op::GetBlobTags, ApiError> {
    let at = moment::of(fields, at)?;
    Ok(op::GetBlobTags {
        at,
        lease: fields.lease_id()?,
        conditions: taken(fields, Op::GetBlobTags)?,
        context: fields.context(),
    })
}

pub(super) fn set(
    fields: &Fields<'_>,
    at: BlobPath,
    expect: ExpectedChecksum,
) -> Result<TagsUpload, ApiError> {
    // A version's tags can be changed, a snapshot's cannot.
    if let Some(text) = fields.query("snapshot") {
        return Err(ApiError::invalid_query_parameter("snapshot", text, ""));
    }
    let at = moment::of(fields, at)?;
    let op = op::SetBlobTags {
        at,
        tags: Tags::new(),
        lease: fields.lease_id()?,
        conditions: taken(fields, Op::SetBlobTags)?,
    };
    Ok(TagsUpload { op, expect })
}

fn taken(fields: &Fields<'_>, operation: Op) -> Result<Conditions, ApiError> {
    let tags = conditions(fields, operation)?;
    if fields.version() < CONDITIONS_SINCE {
        return Ok(tags);
    }
    Ok(Conditions { if_tags: tags.if_tags, ..on_blob(fields)? })
}

pub(super) fn find(
    fields: &Fields<'_>,
    account: &AccountName,
    container: Option<ContainerName>,
) -> Result<Search, ApiError> {
    const WHERE: &str = "where";
    let echo = echo(fields)?;
    let text = fields.query(WHERE).ok_or_else(|| ApiError::missing_required_query(WHERE))?;
    let scope = if container.is_some() { FindScope::Container } else { FindScope::Account };
    let expression = FindExpression::parse(text, scope).map_err(|error| {
        let reason = error.to_string();
        ApiError::invalid_query_parameter(WHERE, text, &reason).saying(reason)
    })?;
    let mut include_versions = false;
    for include in fields.query_all("include").flat_map(|list| list.split(',')) {
        match include.trim() {
            "" => {}
            one if one.eq_ignore_ascii_case("none") => {}
            one if one.eq_ignore_ascii_case("versions") => include_versions = true,
            one => return Err(ApiError::invalid_query_parameter("include", one, "")),
        }
    }
    let op = op::FindBlobsByTags {
        account: account.clone(),
        container,
        expression,
        include_versions,
        marker: echo.marker.clone().filter(|marker| !marker.is_empty()),
        max_results: page_size(&echo),
    };
    Ok(Search { op, echo, text: text.to_owned() })
}

/// The condition on tags of any operation that takes one.
pub(super) fn condition(
    fields: &Fields<'_>,
) -> Result<Option<zaffre_domain::blob::tags::Predicate>, ApiError> {
    const NAME: &str = "x-ms-if-tags";
    let Some(text) = fields.header(NAME)? else { return Ok(None) };
    match tags::Predicate::parse(text) {
        Ok(predicate) => Ok(Some(predicate)),
        Err(error) => Err(ApiError::from(codes::INVALID_HEADER_VALUE)
            .saying(error.to_string())
            .detail("HeaderName", NAME)
            .detail("HeaderValue", text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::Ask;

    #[test]
    fn headers() {
        let long = format!("a={}", "v".repeat(TAGS_HEADER_BYTES));
        for (text, want) in [
            ("", Ok("")),
            ("a=1", Ok("a=1")),
            ("a=1&b=2", Ok("a=1;b=2")),
            ("a=", Ok("a=")),
            ("tag%201=a+b%2Fc", Ok("tag 1=a b/c")),
            ("a=x=y", Ok("a=x=y")),
            ("=1", Err("EmptyTagName")),
            ("a", Err("InvalidTag")),
            ("a=1&", Err("InvalidTag")),
            ("a=%zz", Err("InvalidTag")),
            ("a=%26", Err("InvalidTag")),
            ("a=1&a=2", Err("DuplicateTagNames")),
            (&long, Err("TagsTooLarge")),
        ] {
            let ask = Ask::put("/c/b").with(&[(HEADER, text)]);
            let got = header(&ask.fields()).map_err(|e| e.code);
            let shown = got
                .map(|t| t.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(";"));
            assert_eq!(shown, want.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn searches() {
        let account = AccountName::parse("devstoreaccount1").expect("a name");
        for (query, want) in [
            ("where=a%3D'1'", Ok(("a='1'", 5000))),
            ("where=%22a%22+%3D+%271%27&maxresults=7&include=none", Ok(("\"a\" = '1'", 7))),
            ("", Err("MissingRequiredQueryParameter")),
            ("where=garbage", Err("InvalidQueryParameterValue")),
            ("where=a%3D'1'&include=metadata", Err("InvalidQueryParameterValue")),
            ("where=a%3D'1'&maxresults=0", Err("OutOfRangeQueryParameterValue")),
        ] {
            let ask = Ask::get(&format!("/?comp=blobs&{query}"));
            let got = find(&ask.fields(), &account, None).map_err(|e| e.code);
            let got = got.as_ref().map(|s| (s.text.as_str(), s.op.max_results)).map_err(|e| *e);
            assert_eq!(got, want, "{query}");
        }
    }

    #[test]
    fn conditions_on_tags() {
        for (text, want) in
            [("a = '1'", Ok(true)), ("", Ok(false)), ("a", Err("InvalidHeaderValue"))]
        {
            let ask = Ask::get("/c/b").with(&[("x-ms-if-tags", text)]);
            let got = condition(&ask.fields()).map(|c| c.is_some()).map_err(|e| e.code);
            assert_eq!(got, want, "{text}");
        }
    }
}
