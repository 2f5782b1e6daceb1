//! Content headers and tiers: what an upload stores beside its bytes.
//!
//! Must never interpret a content header: it comes back as it was sent.

use super::checksum;
use crate::fields::Fields;
use zaffre_base::ApiVersion;
use zaffre_domain::blob::HttpProperties;
use zaffre_http::{ApiError, codes};

/// What is stored when a writer does not say what the content is.
const DEFAULT_CONTENT_TYPE: &str = "application/octet-stream";
const TIER: &str = "x-ms-access-tier";
const COLD_SINCE: ApiVersion = ApiVersion::new(2021, 12, 2);

/// The `x-ms-blob-*` content headers alone, as Put Block List and Set Blob Properties take them.
pub(super) fn stored(fields: &Fields<'_>) -> Result<HttpProperties, ApiError> {
    let text = |name| Ok::<_, ApiError>(fields.header(name)?.map(str::to_owned));
    Ok(HttpProperties {
        content_type: text("x-ms-blob-content-type")?,
        content_encoding: text("x-ms-blob-content-encoding")?,
        content_language: text("x-ms-blob-content-language")?,
        content_disposition: text("x-ms-blob-content-disposition")?,
        cache_control: text("x-ms-blob-cache-control")?,
        content_md5: checksum::md5(fields, "x-ms-blob-content-md5")?,
    })
}

/// The content headers of a new blob: without a content type it is a stream of bytes.
pub(super) fn committed(fields: &Fields<'_>) -> Result<HttpProperties, ApiError> {
    Ok(with_default_type(stored(fields)?))
}

/// The content headers of Put Blob: the plain header stands in where its `x-ms-blob-` twin is not
/// sent, except for the disposition, which describes the request itself.
pub(super) fn uploaded(fields: &Fields<'_>) -> Result<HttpProperties, ApiError> {
    let mut properties = stored(fields)?;
    let stand_in = |slot: &mut Option<String>, name| {
        if slot.is_none() {
            *slot = fields.header(name)?.map(str::to_owned);
        }
        Ok::<_, ApiError>(())
    };
    stand_in(&mut properties.content_type, "content-type")?;
    stand_in(&mut properties.content_encoding, "content-encoding")?;
    stand_in(&mut properties.content_language, "content-language")?;
    stand_in(&mut properties.cache_control, "cache-control")?;
    Ok(with_default_type(properties))
}

fn with_default_type(mut properties: HttpProperties) -> HttpProperties {
    properties.content_type.get_or_insert_with(|| DEFAULT_CONTENT_TYPE.to_owned());
    properties
}

/// `x-ms-access-tier`, in the spelling answers use.
pub(super) fn tier(fields: &Fields<'_>) -> Result<Option<String>, ApiError> {
    let Some(text) = fields.header(TIER)? else { return Ok(None) };
    let known = ["Hot", "Cool", "Cold", "Archive"];
    let found = known.into_iter().find(|tier| tier.eq_ignore_ascii_case(text));
    match found {
        Some("Cold") if fields.version() < COLD_SINCE => {
            Err(ApiError::invalid_header_value(TIER, text))
        }
        Some(tier) => Ok(Some(tier.to_owned())),
        None => Err(ApiError::invalid_header_value(TIER, text)),
    }
}

/// `x-ms-access-tier` of a page blob: a size of premium storage.
pub(super) fn page_tier(fields: &Fields<'_>) -> Result<Option<String>, ApiError> {
    const KNOWN: [&str; 11] =
        ["P4", "P6", "P10", "P15", "P20", "P30", "P40", "P50", "P60", "P70", "P80"];
    let Some(text) = fields.header(TIER)? else { return Ok(None) };
    match KNOWN.into_iter().find(|tier| tier.eq_ignore_ascii_case(text)) {
        Some(tier) => Ok(Some(tier.to_owned())),
        None => match tier(fields)? {
            Some(_) => Err(codes::ACCESS_TIER_NOT_SUPPORTED_FOR_BLOB_TYPE.into()),
            None => Ok(None),
        },
    }
}

/// Headers of a write that ask for encryption or immutability: not done here yet.
pub(super) const UNSERVED_ON_WRITES: &[&str] = &[
    "x-ms-encryption-key",
    "x-ms-encryption-key-sha256",
    "x-ms-encryption-scope",
    "x-ms-immutability-policy-until-date",
    "x-ms-immutability-policy-mode",
    "x-ms-legal-hold",
    "x-ms-expiry-option",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::{Ask, Headers};

    #[test]
    fn metadata_headers() {
        let big = "x".repeat(9000);
        let rows: [(Headers<'_>, Result<&str, &str>); 7] = [
            (&[], Ok("")),
            (&[("x-ms-meta-a", "1"), ("x-ms-meta-b_2", " two ")], Ok("a=1 b_2=two")),
            (&[("x-ms-meta-a", "1"), ("x-ms-meta-a", "2")], Err("InvalidMetadata")),
            (&[("x-ms-meta-", "1")], Err("EmptyMetadataKey")),
            (&[("x-ms-meta-1a", "1")], Err("InvalidMetadata")),
            (&[("x-ms-meta-a", "é")], Err("InvalidMetadata")),
            (&[("x-ms-meta-a", &big)], Err("MetadataTooLarge")),
        ];
        for (headers, want) in rows {
            let ask = Ask::put("/c/b").with(headers);
            let got = ask.fields().metadata().map_err(|e| e.code);
            let shown = got
                .map(|m| m.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" "));
            assert_eq!(shown, want.map(str::to_owned), "{headers:?}");
        }
    }

    #[test]
    fn put_blob_prefers_the_blob_headers() {
        let ask = Ask::put("/c/b").with(&[
            ("content-type", "text/plain"),
            ("x-ms-blob-content-type", "text/html"),
            ("content-language", "en"),
            ("content-disposition", "inline"),
            ("cache-control", "no-store"),
            ("content-md5", "XrY7u+Ae7tCTyyK7j1rNww=="),
        ]);
        let got = uploaded(&ask.fields()).expect("legal");
        let want = HttpProperties {
            content_type: Some("text/html".to_owned()),
            content_language: Some("en".to_owned()),
            cache_control: Some("no-store".to_owned()),
            ..HttpProperties::default()
        };
        assert_eq!(got, want);
        let committed = committed(&ask.fields()).expect("legal");
        assert_eq!(committed.cache_control, None);
        let bare = uploaded(&Ask::put("/c/b").fields()).expect("legal");
        assert_eq!(bare.content_type.as_deref(), Some("application/octet-stream"));
        assert_eq!(stored(&Ask::put("/c/b").fields()).expect("legal"), HttpProperties::default());
    }

    #[test]
    fn tiers() {
        for (text, version, want) in [
            ("Hot", "2024-08-04", Ok(Some("Hot"))),
            ("cool", "2024-08-04", Ok(Some("Cool"))),
            ("Cold", "2024-08-04", Ok(Some("Cold"))),
            ("Cold", "2021-10-04", Err("InvalidHeaderValue")),
            ("Archive", "2018-11-09", Ok(Some("Archive"))),
            ("P10", "2024-08-04", Err("InvalidHeaderValue")),
            ("", "2024-08-04", Ok(None)),
        ] {
            let ask = Ask::put("/c/b").with(&[(TIER, text)]).version(version);
            let got = tier(&ask.fields()).map_err(|e| e.code);
            assert_eq!(got, want.map(|t| t.map(str::to_owned)), "{text} {version}");
        }
    }
}
