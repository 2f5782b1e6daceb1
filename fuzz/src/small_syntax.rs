//! The small forms in headers and parameters: ranges, dates, ids, tags, versions, Base64, names.
//! What is understood is shown in one form that means the same.

use zaffre_base::{
    AccountName, ApiVersion, BlobName, ContainerName, ETag, Guid, Timestamp, base64,
};
use zaffre_domain::blob::range;

/// The target.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    ranges(text);
    if let Some(time) = Timestamp::parse_http(text) {
        assert_eq!(Timestamp::parse_http(&time.rfc1123().to_string()), Some(time));
    }
    if let Some(time) = Timestamp::parse_iso(text) {
        assert_eq!(Timestamp::parse_iso(&time.iso7().to_string()), Some(time));
    }
    if let Some(id) = Guid::parse(text) {
        assert_eq!(Guid::parse(&id.to_string()), Some(id));
    }
    if let Some(tag) = ETag::parse(text) {
        assert_eq!(ETag::parse(&tag.to_string()), Some(tag));
        assert_eq!(ETag::parse(&tag.unquoted()), Some(tag));
    }
    if let Some(version) = ApiVersion::parse(text) {
        assert_eq!(version.to_string(), text);
    }
    if let Some(bytes) = base64::decode(text) {
        assert_eq!(base64::encode(&bytes), text, "one form for each value");
    }
    assert!(AccountName::parse(text).is_err() || text.len() <= 63);
    assert!(ContainerName::parse(text).is_err() || text.len() <= 63);
    assert!(BlobName::parse(text).is_err() || text.encode_utf16().count() <= 1024);
}

fn ranges(text: &str) {
    for version in [ApiVersion::OLDEST, ApiVersion::LATEST] {
        let Some(asked) = range::parse(text, version) else { continue };
        for length in [0, 1, 10, u64::MAX] {
            let Ok(Some(span)) = range::clip(asked, length, version) else { continue };
            assert_eq!(span.offset, asked.0);
            assert!(span.length > 0);
            let end = span.offset.checked_add(span.length);
            assert!(end.is_some_and(|end| end <= length), "{span:?} of {length}");
        }
    }
}
