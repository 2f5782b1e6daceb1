//! The XML of List Containers and List Blobs, elements in the order the service has them.
//!
//! Must never show a name that XML cannot hold as it is: such names are percent-encoded.

use super::{
    XML, blob_type, container, copy, encryption, lease_duration, lease_state, lease_status,
    protection, since, tags, tier,
};
use crate::parse::listing::Echo;
use hyper::StatusCode;
use std::fmt::Write as _;
use zaffre_base::{ApiVersion, Timestamp, base64};
use zaffre_core::blob::reply::{
    BlobPage, BlobView, ContainerPage, ContainerView, DeletedView, ListEntry, MomentView, OfKind,
};
use zaffre_domain::blob::Metadata;
use zaffre_domain::blob::encryption::{ACCOUNT_SCOPE, Encrypted};
use zaffre_domain::lease::LeaseView;
use zaffre_http::Reply;
use zaffre_http::xml::Writer;

/// What a listing says about where it was asked.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent parts of what was asked for")]
pub struct Frame<'a> {
    /// The service's URL with a slash at its end, and the account in it where it is in the path.
    pub endpoint: &'a str,
    /// The parameters to repeat.
    pub echo: &'a Echo,
    /// Whether metadata was asked for.
    pub metadata: bool,
    /// Whether versions were asked for.
    pub versions: bool,
    /// Whether tags were asked for.
    pub tags: bool,
    /// Whether policies and holds were asked for.
    pub protection: protection::Asked,
    /// Whether copies were asked for.
    pub copies: bool,
    /// The version to show.
    pub version: ApiVersion,
}

/// List Containers.
pub fn containers(page: &ContainerPage, frame: &Frame<'_>) -> Reply {
    let mut xml = Writer::default();
    xml.open_with("EnumerationResults", &[("ServiceEndpoint", frame.endpoint)]);
    echo(&mut xml, frame.echo);
    group(&mut xml, "Containers", page.containers.is_empty(), |xml| {
        for view in &page.containers {
            container_entry(xml, view, frame);
        }
    });
    finish(xml, page.next.as_deref(), frame.version)
}

/// List Blobs.
pub fn blobs(page: &BlobPage, name: &str, frame: &Frame<'_>) -> Reply {
    let mut xml = Writer::default();
    let url = format!("{}{name}", frame.endpoint);
    if frame.version >= since::PRESENT_LISTINGS {
        let attributes = [("ServiceEndpoint", frame.endpoint), ("ContainerName", name)];
        xml.open_with("EnumerationResults", &attributes);
    } else {
        xml.open_with("EnumerationResults", &[("ContainerName", &url)]);
    }
    echo(&mut xml, frame.echo);
    group(&mut xml, "Blobs", page.entries.is_empty(), |xml| {
        for entry in &page.entries {
            match entry {
                ListEntry::Blob(view) => blob_entry(xml, view, &url, frame),
                ListEntry::Prefix(prefix) => {
                    xml.open("BlobPrefix");
                    legal_name(xml, prefix);
                    xml.close("BlobPrefix");
                }
            }
        }
    });
    finish(xml, page.next.as_deref(), frame.version)
}

fn echo(xml: &mut Writer, echo: &Echo) {
    xml.optional("Prefix", echo.prefix.as_ref())
        .optional("Marker", echo.marker.as_ref())
        .optional("MaxResults", echo.max_results)
        .optional("Delimiter", echo.delimiter.as_ref());
}

fn finish(mut xml: Writer, next: Option<&str>, version: ApiVersion) -> Reply {
    xml.element("NextMarker", next.unwrap_or_default()).close("EnumerationResults");
    Reply::new(StatusCode::OK, version).with_body(XML, xml.finish())
}

pub(super) fn group(xml: &mut Writer, name: &str, empty: bool, inside: impl FnOnce(&mut Writer)) {
    if empty {
        xml.empty(name);
        return;
    }
    xml.open(name);
    inside(xml);
    xml.close(name);
}

fn container_entry(xml: &mut Writer, view: &ContainerView, frame: &Frame<'_>) {
    let version = frame.version;
    xml.open("Container").element("Name", &view.name);
    if version < since::PRESENT_LISTINGS {
        xml.element("Url", format_args!("{}{}", frame.endpoint, view.name));
    }
    if let Some((_, version)) = view.deleted {
        xml.element("Deleted", "true").element("Version", format_args!("{:016X}", version.0));
    }
    xml.open("Properties")
        .element("Last-Modified", view.written.last_modified().rfc1123())
        .element("Etag", view.written.etag());
    lease(xml, view.lease, version);
    if version >= since::PUBLIC_ACCESS {
        xml.optional("PublicAccess", container::access(view.access));
    }
    if version >= since::ENCRYPTION_SCOPES {
        let default = view.scopes.default.as_deref().unwrap_or(ACCOUNT_SCOPE);
        xml.element("DefaultEncryptionScope", default)
            .element("DenyEncryptionScopeOverride", view.scopes.deny_override);
    }
    if version >= since::IMMUTABILITY {
        xml.element("HasImmutabilityPolicy", "false").element("HasLegalHold", "false");
    }
    if version >= since::VERSIONED_IMMUTABILITY {
        xml.element("ImmutableStorageWithVersioningEnabled", view.version_immutability);
    }
    deletion(xml, view.deleted.map(|(deleted, _)| deleted));
    xml.close("Properties");
    metadata(xml, &view.metadata, frame.metadata);
    xml.close("Container");
}

fn blob_entry(xml: &mut Writer, view: &BlobView, container: &str, frame: &Frame<'_>) {
    let version = frame.version;
    let name = view.name.as_str();
    xml.open("Blob");
    legal_name(xml, name);
    if version < since::PRESENT_LISTINGS {
        xml.element("Url", format_args!("{container}/{}", percent_encoded(name)));
    }
    moment(xml, view.moment, frame);
    xml.open("Properties");
    if view.committed {
        content_properties(xml, view, version);
    } else {
        xml.element("Content-Length", view.length);
    }
    if let OfKind::Page { sequence_number } = view.of_kind {
        xml.element("x-ms-blob-sequence-number", sequence_number);
    }
    xml.element("BlobType", blob_type(view));
    if version >= since::TIERS {
        tier::elements(xml, view, version);
    }
    if view.moment.is_current() {
        lease(xml, view.lease, version);
    }
    if version >= since::ENCRYPTION {
        xml.element("ServerEncrypted", "true");
    }
    encryption::elements(xml, &view.encrypted, version);
    deletion(xml, view.moment.deleted());
    if frame.copies {
        copy::elements(xml, view, version);
    }
    let has_tags = !view.tags.is_empty() && version >= since::TAGS;
    xml.optional("TagCount", has_tags.then_some(view.tags.len()));
    if let OfKind::Append { sealed: true, .. } = view.of_kind
        && version >= since::SEALED
    {
        xml.element("Sealed", "true");
    }
    let accessed = view.last_access.filter(|_| version >= since::LAST_ACCESS);
    xml.optional("LastAccessTime", accessed.map(Timestamp::rfc1123));
    protection::elements(xml, view.protection, frame.protection);
    xml.close("Properties");
    if let (Encrypted::ByCustomer(_), true) = (&view.encrypted, frame.metadata) {
        // Metadata belongs to who has the key.
        xml.open_with("Metadata", &[("Encrypted", "true")]).close("Metadata");
    } else {
        metadata(xml, &view.metadata, frame.metadata);
    }
    if has_tags && frame.tags {
        tags::element(xml, &view.tags);
    }
    if version >= since::REPLICATION_METADATA {
        xml.empty("OrMetadata");
    }
    xml.close("Blob");
}

/// Which state of a blob an entry is.
fn moment(xml: &mut Writer, moment: MomentView, frame: &Frame<'_>) {
    match moment {
        MomentView::Current { version } => {
            if let Some(id) = version.filter(|_| frame.versions) {
                xml.element("VersionId", id.iso7()).element("IsCurrentVersion", "true");
            }
        }
        MomentView::Snapshot { at, .. } => {
            xml.element("Snapshot", at.iso7());
        }
        MomentView::Version { at, .. } => {
            xml.element("VersionId", at.iso7());
        }
        MomentView::Deleted(_) | MomentView::VersionsOnly => {}
    }
    if moment.deleted().is_some() {
        xml.element("Deleted", "true");
    }
    if moment == MomentView::VersionsOnly {
        xml.element("HasVersionsOnly", "true");
    }
}

fn deletion(xml: &mut Writer, deleted: Option<DeletedView>) {
    if let Some(DeletedView { at, remaining_days }) = deleted {
        xml.element("DeletedTime", at.rfc1123()).element("RemainingRetentionDays", remaining_days);
    }
}

fn content_properties(xml: &mut Writer, view: &BlobView, version: ApiVersion) {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let stored = &view.properties;
    if version >= since::CREATION_TIME {
        xml.element("Creation-Time", view.created.rfc1123());
    }
    xml.element("Last-Modified", view.written.last_modified().rfc1123())
        .element("Etag", view.written.etag().unquoted())
        .element("Content-Length", view.length)
        .element("Content-Type", text(&stored.content_type))
        .element("Content-Encoding", text(&stored.content_encoding))
        .element("Content-Language", text(&stored.content_language));
    if version >= since::CRC64 {
        xml.empty("Content-CRC64");
    }
    let md5 = stored.content_md5.map(|md5| base64::encode(&md5));
    xml.element("Content-MD5", md5.unwrap_or_default())
        .element("Cache-Control", text(&stored.cache_control));
    if version >= since::DISPOSITION {
        xml.element("Content-Disposition", text(&stored.content_disposition));
    }
}

fn lease(xml: &mut Writer, lease: LeaseView, version: ApiVersion) {
    xml.element("LeaseStatus", lease_status(lease));
    if version >= since::LEASE_STATES {
        xml.element("LeaseState", lease_state(lease))
            .optional("LeaseDuration", lease_duration(lease));
    }
}

/// Names are identifiers, so that each can be an element of its own.
fn metadata(xml: &mut Writer, metadata: &Metadata, asked: bool) {
    if !asked {
        return;
    }
    group(xml, "Metadata", metadata.is_empty(), |xml| {
        for (name, value) in metadata {
            xml.element(name, value);
        }
    });
}

/// `<Name>`, encoded if it has characters that XML cannot hold.
pub(super) fn legal_name(xml: &mut Writer, name: &str) {
    let illegal = |c: char| matches!(c, '\u{0}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}');
    if name.contains(illegal) {
        xml.element_with("Name", &[("Encoded", "true")], percent_encoded(name));
    } else {
        xml.element("Name", name);
    }
}

/// All but the characters that a URL's path may hold as they are.
fn percent_encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    name.bytes().fold(String::with_capacity(name.len()), |mut out, byte| {
        if plain(byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}
