//! The heads of copies: Copy Blob, Copy Blob From URL, Abort Copy Blob, Incremental Copy Blob, and
//! Put Page From URL.
//!
//! Must never open the source, nor keep its signature in what is shown later.

use super::blob::writable;
use super::conditions::conditions;
use super::from_url::{FromUrl, expected, source, take_tags, without_content};
use super::{encryption, pages, protection, tags, tier};
use crate::copy::url::SourceUrl;
use crate::fields::Fields;
use zaffre_base::Guid;
use zaffre_core::blob::copy::{AbortCopy, CopyBlob, IncrementalCopy, When};
use zaffre_core::blob::op::{self, BlobPath};
use zaffre_domain::conditions::ConditionalOperation as Op;
use zaffre_http::{ApiError, codes};

const TAG_OPTION: &str = "x-ms-copy-source-tag-option";

/// A copy and where it comes from.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The operation.
    pub op: CopyBlob,
    /// Where the content comes from.
    pub source: SourceUrl,
    /// The source's tags are copied too.
    pub take_tags: bool,
}

/// Copy Blob, with `sync` Copy Blob From URL.
pub(super) fn copy(
    fields: &Fields<'_>,
    at: BlobPath,
    id: Guid,
    sync: bool,
) -> Result<Copy, ApiError> {
    writable(fields)?;
    without_content(fields)?;
    let source = source(fields)?;
    let when = if sync { When::Now(expected(fields)?) } else { When::Later };
    let tags = tags::header(fields)?;
    let take_tags = take_tags(fields, &tags)?;
    if take_tags && !sync {
        return Err(ApiError::invalid_header_value(TAG_OPTION, "COPY"));
    }
    let op = CopyBlob {
        at,
        id,
        shown_source: shown(fields)?,
        when,
        metadata: fields.metadata()?,
        tags,
        tier: tier::named(fields)?,
        priority: tier::priority(fields)?,
        protection: protection::given(fields)?,
        encryption: encryption::of_copy(fields)?,
        seal: seal(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::CopyBlob)?,
        context: fields.context(),
    };
    Ok(Copy { op, source, take_tags })
}

pub(super) fn abort(fields: &Fields<'_>, at: BlobPath) -> Result<AbortCopy, ApiError> {
    const ACTION: &str = "x-ms-copy-action";
    const ID: &str = "copyid";
    writable(fields)?;
    let action = fields.required(ACTION)?;
    if !action.eq_ignore_ascii_case("abort") {
        return Err(ApiError::invalid_header_value(ACTION, action));
    }
    let text = fields.query(ID).ok_or_else(|| ApiError::missing_required_query(ID))?;
    let wrong = || ApiError::invalid_query_parameter(ID, text, "copyid needs to be valid Guid.");
    let id = Guid::parse(text).ok_or_else(wrong)?;
    Ok(AbortCopy { at, id, lease: fields.lease_id()? })
}

pub(super) fn incremental(
    fields: &Fields<'_>,
    at: BlobPath,
    id: Guid,
) -> Result<FromUrl<IncrementalCopy>, ApiError> {
    writable(fields)?;
    without_content(fields)?;
    fields.required("x-ms-copy-source")?;
    let source = source(fields).map_err(|_| ApiError::from(codes::INVALID_SOURCE_BLOB_URL))?;
    let op = IncrementalCopy {
        at,
        id,
        shown_source: shown(fields)?,
        conditions: conditions(fields, Op::IncrementalCopyBlob)?,
        context: fields.context(),
    };
    Ok(FromUrl { op, source })
}

pub(super) fn put_page(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<FromUrl<op::PutPage>, ApiError> {
    without_content(fields)?;
    let op = pages::put_page_from_url(fields, at, expected(fields)?)?;
    Ok(FromUrl { op, source: source(fields)? })
}

/// `x-ms-seal-blob`
fn seal(fields: &Fields<'_>) -> Result<Option<bool>, ApiError> {
    const SEAL: &str = "x-ms-seal-blob";
    Ok(if fields.header(SEAL)?.is_some() { Some(fields.flag(SEAL)?) } else { None })
}

/// The source as it was given, without what proves that it may be read.
fn shown(fields: &Fields<'_>) -> Result<String, ApiError> {
    let text = fields.required("x-ms-copy-source")?;
    let Some((front, query)) = text.split_once('?') else { return Ok(text.to_owned()) };
    let secret = |part: &&str| part.split('=').next().is_some_and(is_secret);
    let kept: Vec<&str> = query.split('&').filter(|part| !secret(part)).collect();
    Ok(if kept.is_empty() { front.to_owned() } else { format!("{front}?{}", kept.join("&")) })
}

/// However the name is encoded: the same rule as for reading it.
fn is_secret(name: &str) -> bool {
    zaffre_http::percent::decode_query(name).is_none_or(|name| name.eq_ignore_ascii_case("sig"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::Ask;

    #[test]
    fn signatures_are_not_shown() {
        for (sent, want) in [
            ("http://h/a/b", "http://h/a/b"),
            ("http://h/a/b?sig=1", "http://h/a/b"),
            ("http://h/a/b?sv=1&sig=a%2Fb&se=2", "http://h/a/b?sv=1&se=2"),
            ("http://h/a/b?snapshot=x&SIG=1", "http://h/a/b?snapshot=x"),
            ("http://h/a/b?s%69g=1&sp=r", "http://h/a/b?sp=r"),
        ] {
            let ask = Ask::put("/c/b").with(&[("x-ms-copy-source", sent)]);
            assert_eq!(shown(&ask.fields()).ok().as_deref(), Some(want), "{sent}");
        }
    }
}
