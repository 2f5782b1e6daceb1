//! A request head from text, the way a connection would hand it over.

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Uri, Version};
use zaffre_base::Guid;
use zaffre_http::RequestHead;
use zaffre_http::head::Origin;

/// Headers one request may have; more would only slow the run down.
const HEADERS: usize = 64;

/// Reads `METHOD target` and lines of headers; `None` where HTTP itself would refuse the text.
pub(crate) fn decode(text: &[u8]) -> Option<RequestHead> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let first = std::str::from_utf8(lines.next()?).ok()?;
    let mut words = first.trim_end().split(' ');
    let method = Method::from_bytes(words.next()?.as_bytes()).ok()?;
    let uri: Uri = words.next()?.parse().ok()?;
    let mut headers = HeaderMap::new();
    let mut metadata_names = Vec::new();
    for line in lines.take(HEADERS) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at(colon);
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        let (Ok(header), Ok(value)) =
            (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
        else {
            continue;
        };
        if header.as_str().starts_with("x-ms-meta-") {
            metadata_names.extend(std::str::from_utf8(&name[10..]).map(str::to_owned));
        }
        headers.append(header, value);
    }
    let origin = Origin { peer: ([127, 0, 0, 1], 50_000).into(), secure: false, id: Guid(1) };
    let version = Version::HTTP_10;
    RequestHead::decode(method, &uri, version, headers, metadata_names, &origin).ok()
}
