//! The heads of the operations that only append blobs have.
//!
//! Must never touch the body: only what its headers say about it.

use super::blob::writable;
use super::conditions::conditions;
use super::properties::uploaded;
use super::put::{Upload, content_length, framing};
use super::{checksum, encryption, protection, tags};
use crate::fields::Fields;
use zaffre_base::ApiVersion;
use zaffre_core::blob::op::{self, BlobPath, NewBlob};
use zaffre_domain::blob::append::AppendConditions;
use zaffre_domain::conditions::ConditionalOperation as Op;
use zaffre_http::{ApiError, codes};

/// From here on there are append blobs.
const APPEND_BLOBS: ApiVersion = ApiVersion::new(2015, 2, 21);
const POSITION: &str = "x-ms-blob-condition-appendpos";
const MAX_SIZE: &str = "x-ms-blob-condition-maxsize";
const PAGE_LENGTH: &str = "x-ms-blob-content-length";
const TIER: &str = "x-ms-access-tier";

pub(super) fn create(fields: &Fields<'_>, at: BlobPath) -> Result<op::CreateBlob, ApiError> {
    since(fields)?;
    writable(fields)?;
    without_body(fields)?;
    if let Some(text) = fields.header(PAGE_LENGTH)? {
        return Err(ApiError::invalid_header_value(PAGE_LENGTH, text));
    }
    if fields.header(TIER)?.is_some() {
        return Err(codes::ACCESS_TIER_NOT_SUPPORTED_FOR_BLOB_TYPE.into());
    }
    Ok(op::CreateBlob {
        at,
        new: NewBlob::Append,
        properties: uploaded(fields)?,
        metadata: fields.metadata()?,
        tags: tags::header(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::PutBlob)?,
        tier: None,
        protection: protection::given(fields)?,
        encryption: encryption::of_write(fields)?,
        context: fields.context(),
    })
}

pub(super) fn append_block(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<Upload<op::AppendBlock>, ApiError> {
    since(fields)?;
    writable(fields)?;
    let framing = framing(fields)?;
    // A block without a length might turn out to be empty, which no block may be.
    let length = content_length(fields, framing)?.ok_or_else(ApiError::missing_content_length)?;
    if length == 0 {
        return Err(ApiError::invalid_header_value("Content-Length", "0"));
    }
    let op = op::AppendBlock {
        at,
        length: Some(length),
        expect: checksum::expected(fields)?,
        append: append_conditions(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::AppendBlock)?,
        context: fields.context(),
        encryption: encryption::of_write(fields)?,
    };
    Ok(Upload { op, framing })
}

pub(super) fn seal(fields: &Fields<'_>, at: BlobPath) -> Result<op::SealBlob, ApiError> {
    since(fields)?;
    writable(fields)?;
    Ok(op::SealBlob {
        at,
        append: AppendConditions { position: number(fields, POSITION)?, max_size: None },
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::SealBlob)?,
    })
}

/// Where the blob must end, and how large it may become.
pub(super) fn append_conditions(fields: &Fields<'_>) -> Result<AppendConditions, ApiError> {
    Ok(AppendConditions {
        position: number(fields, POSITION)?,
        max_size: number(fields, MAX_SIZE)?,
    })
}

fn since(fields: &Fields<'_>) -> Result<(), ApiError> {
    if fields.version() < APPEND_BLOBS {
        return Err(codes::FEATURE_VERSION_MISMATCH.into());
    }
    Ok(())
}

/// Refuses content for a blob that starts without any.
pub(super) fn without_body(fields: &Fields<'_>) -> Result<(), ApiError> {
    match fields.content_length() {
        Some(0) => Ok(()),
        Some(length) => Err(ApiError::invalid_header_value("Content-Length", &length.to_string())),
        None => Err(ApiError::missing_content_length()),
    }
}

/// A header that holds a whole number from 0 on.
pub(super) fn number(fields: &Fields<'_>, name: &str) -> Result<Option<u64>, ApiError> {
    let Some(text) = fields.header(name)? else { return Ok(None) };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse::<i64>().ok().filter(|_| digits).and_then(|n| u64::try_from(n).ok());
    number.map(Some).ok_or_else(|| ApiError::invalid_header_value(name, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::{Ask, Headers};

    fn path() -> BlobPath {
        crate::parse::testing::blob_path()
    }

    #[test]
    fn numbers() {
        for (text, want) in [
            ("0", Ok(Some(0))),
            ("17", Ok(Some(17))),
            ("9223372036854775807", Ok(Some(9_223_372_036_854_775_807))),
            ("9223372036854775808", Err("InvalidHeaderValue")),
            ("-1", Err("InvalidHeaderValue")),
            ("+1", Err("InvalidHeaderValue")),
            ("1.0", Err("InvalidHeaderValue")),
            ("x", Err("InvalidHeaderValue")),
            ("", Ok(None)),
        ] {
            let ask = Ask::put("/c/b").with(&[(POSITION, text)]);
            assert_eq!(number(&ask.fields(), POSITION).map_err(|e| e.code), want, "{text}");
        }
    }

    #[test]
    fn creating() {
        let rows: [(Headers<'_>, u64, &str, Result<(), &str>); 6] = [
            (&[], 0, "2015-02-21", Ok(())),
            (&[], 0, "2014-02-14", Err("FeatureVersionMismatch")),
            (&[], 1, "2024-08-04", Err("InvalidHeaderValue")),
            (&[(PAGE_LENGTH, "512")], 0, "2024-08-04", Err("InvalidHeaderValue")),
            (&[(TIER, "Hot")], 0, "2024-08-04", Err("AccessTierNotSupportedForBlobType")),
            (&[("x-ms-expiry-option", "true")], 0, "2024-08-04", Err("NotImplemented")),
        ];
        for (headers, length, version, want) in rows {
            let ask = Ask::put("/c/b").with(headers).version(version).length(length);
            let got = create(&ask.fields(), path()).map(|_| ()).map_err(|e| e.code);
            if want == Err("NotImplemented") {
                assert!(got.is_err(), "{headers:?}");
            } else {
                assert_eq!(got, want, "{headers:?} {version}");
            }
        }
    }

    #[test]
    fn appending() {
        type Want = Result<(Option<u64>, Option<u64>), &'static str>;
        let rows: [(Headers<'_>, u64, Want); 5] = [
            (&[], 1, Ok((None, None))),
            (&[(POSITION, "4"), (MAX_SIZE, "9")], 1, Ok((Some(4), Some(9)))),
            (&[], 0, Err("InvalidHeaderValue")),
            (&[(MAX_SIZE, "-9")], 1, Err("InvalidHeaderValue")),
            (&[("content-md5", "x")], 1, Err("InvalidMd5")),
        ];
        for (headers, length, want) in rows {
            let ask = Ask::put("/c/b?comp=appendblock").with(headers).length(length);
            let got = append_block(&ask.fields(), path());
            let got = got.map(|u| (u.op.append.position, u.op.append.max_size));
            assert_eq!(got.map_err(|e| e.code), want, "{headers:?}");
        }
    }
}
