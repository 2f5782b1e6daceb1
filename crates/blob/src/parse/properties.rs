//! Content headers: what an upload stores beside its bytes.
//!
//! Must never interpret a content header: it comes back as it was sent.

use super::checksum;
use crate::fields::Fields;
use zaffre_domain::blob::HttpProperties;
use zaffre_http::ApiError;

/// What is stored when a writer does not say what the content is.
const DEFAULT_CONTENT_TYPE: &str = "application/octet-stream";

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

/// Headers of a write that ask for what is not done here.
pub(super) const UNSERVED_ON_WRITES: &[&str] = &["x-ms-expiry-option"];

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
}
