//! Answers of Get Blob Tags, Set Blob Tags and Find Blobs by Tags, and tags in listings.

use super::{XML, listing, since};
use crate::parse::tags::Search;
use hyper::StatusCode;
use zaffre_base::ApiVersion;
use zaffre_core::blob::reply::FoundPage;
use zaffre_domain::blob::tags::Tags;
use zaffre_http::Reply;
use zaffre_http::xml::Writer;

/// Get Blob Tags.
pub fn all(tags: &Tags, version: ApiVersion) -> Reply {
    let mut xml = Writer::default();
    element(&mut xml, tags);
    Reply::new(StatusCode::OK, version).with_body(XML, xml.finish())
}

/// Set Blob Tags.
pub fn set(version: ApiVersion) -> Reply {
    Reply::new(StatusCode::NO_CONTENT, version)
}

/// Find Blobs by Tags.
pub fn found(page: &FoundPage, asked: &Search, endpoint: &str, version: ApiVersion) -> Reply {
    let mut xml = Writer::default();
    xml.open_with("EnumerationResults", &[("ServiceEndpoint", endpoint)])
        .optional("Marker", asked.echo.marker.as_ref())
        .element("Where", &asked.text)
        .optional("MaxResults", asked.echo.max_results);
    listing::group(&mut xml, "Blobs", page.blobs.is_empty(), |xml| {
        for blob in &page.blobs {
            xml.open("Blob");
            listing::legal_name(xml, blob.name.as_str());
            xml.element("ContainerName", &blob.container);
            if let Some(version) = blob.version {
                xml.element("VersionId", version.iso7());
                xml.optional("IsCurrentVersion", blob.current.then_some("true"));
            }
            if version >= since::TAGS_OF_FOUND_BLOBS {
                element(xml, &blob.tags);
            } else {
                xml.optional("TagValue", blob.tags.values().next());
            }
            xml.close("Blob");
        }
    });
    xml.element("NextMarker", page.next.as_deref().unwrap_or_default());
    xml.close("EnumerationResults");
    Reply::new(StatusCode::OK, version).with_body(XML, xml.finish())
}

/// `<Tags>`
pub(super) fn element(xml: &mut Writer, tags: &Tags) {
    xml.open("Tags");
    listing::group(xml, "TagSet", tags.is_empty(), |xml| {
        for (name, value) in tags {
            xml.open("Tag").element("Key", name).element("Value", value).close("Tag");
        }
    });
    xml.close("Tags");
}
