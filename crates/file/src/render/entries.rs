//! Documents of List Directories and Files, List Ranges and List Handles.
//!
//! Must never leave out or reorder an element: clients read by position, too.

use super::{XML, next_marker, since};
use crate::parse::directory::{EntriesListing, Shows};
use hyper::StatusCode;
use zaffre_base::{ApiVersion, ETag, Timestamp};
use zaffre_core::file::reply::{EntryPage, EntryView, HandlePage, HandleView, RangesReply};
use zaffre_domain::sparse::Change;
use zaffre_http::xml::Writer;
use zaffre_http::{Reply, header, percent};

/// List Directories and Files.
pub(crate) fn entries(
    page: &EntryPage,
    asked: &EntriesListing,
    endpoint: &str,
    version: ApiVersion,
) -> Reply {
    let share = asked.op.at.share.share.as_str();
    let (path, path_encoded) = shown(&asked.path, version);
    let mut attributes = vec![("ServiceEndpoint", endpoint), ("ShareName", share)];
    if !asked.snapshot.is_empty() {
        attributes.push(("ShareSnapshot", &asked.snapshot));
    }
    attributes.push(("DirectoryPath", &path));
    if path_encoded {
        attributes.push(("Encoded", "true"));
    }
    let mut xml = Writer::default();
    xml.open_with("EnumerationResults", &attributes);
    xml.optional("Marker", asked.repeated.marker.as_ref());
    if let Some(prefix) = &asked.repeated.prefix {
        named(&mut xml, "Prefix", prefix, version);
    }
    xml.optional("MaxResults", asked.repeated.max_results);
    if version >= since::IDS {
        xml.element("DirectoryId", page.directory);
    }
    if page.entries.is_empty() {
        xml.empty("Entries");
    } else {
        xml.open("Entries");
        for view in &page.entries {
            entry(&mut xml, view, asked.shows, version);
        }
        xml.close("Entries");
    }
    next_marker(&mut xml, page.next.as_ref());
    xml.close("EnumerationResults");
    Reply::new(StatusCode::OK, version).with_body(XML, xml.finish())
}

fn entry(xml: &mut Writer, view: &EntryView, shows: Shows, version: ApiVersion) {
    let element = if view.length.is_some() { "File" } else { "Directory" };
    xml.open(element);
    if version >= since::IDS {
        xml.element("FileId", view.smb.id);
    }
    named(xml, "Name", view.name.as_str(), version);
    let empty = view.length.is_none() && !shows.timestamps && !shows.etag;
    if empty {
        xml.empty("Properties");
    } else {
        xml.open("Properties");
        xml.optional("Content-Length", view.length);
        if shows.timestamps {
            let times = &view.smb.times;
            xml.element("CreationTime", times.created.iso7())
                .element("LastAccessTime", times.last_access.iso7())
                .element("LastWriteTime", times.last_write.iso7());
            if version >= since::CHANGE_TIMES {
                xml.element("ChangeTime", times.change.iso7())
                    .element("Last-Modified", view.written.time().rfc1123());
            }
        }
        if shows.etag {
            xml.element("Etag", ETag(view.written).unquoted());
        }
        xml.close("Properties");
    }
    if shows.attributes {
        xml.element("Attributes", view.smb.attributes.text());
    }
    if shows.permission_key {
        xml.element("PermissionKey", view.smb.permission);
    }
    xml.close(element);
}

/// An element with a name in it; what XML cannot hold is escaped as in a URL.
fn named(xml: &mut Writer, element: &str, name: &str, version: ApiVersion) {
    match shown(name, version) {
        (text, true) => xml.element_with(element, &[("Encoded", "true")], text),
        (text, false) => xml.element(element, text),
    };
}

fn shown(name: &str, version: ApiVersion) -> (String, bool) {
    let holds = |c: char| c >= ' ' && !matches!(c, '\u{FFFE}' | '\u{FFFF}');
    if version < since::ENCODED || name.chars().all(holds) {
        (name.to_owned(), false)
    } else {
        (percent::encode(name), true)
    }
}

/// List Ranges.
pub(crate) fn ranges(reply: &RangesReply, version: ApiVersion) -> Reply {
    let mut xml = Writer::default();
    xml.open("Ranges");
    for found in &reply.ranges {
        let element = match found.change {
            Change::Written => "Range",
            Change::Cleared => "ClearRange",
        };
        xml.open(element)
            .element("Start", found.bytes.start)
            .element("End", found.bytes.end.saturating_sub(1))
            .close(element);
    }
    xml.optional("NextMarker", reply.next);
    xml.close("Ranges");
    super::written(Reply::new(StatusCode::OK, version), reply.written)
        .with(header!("x-ms-content-length"), reply.length)
        .with_body(XML, xml.finish())
}

/// List Handles.
pub(crate) fn handles(page: &HandlePage, version: ApiVersion) -> Reply {
    let mut xml = Writer::default();
    xml.open("EnumerationResults");
    if page.handles.is_empty() {
        xml.empty("Entries");
    } else {
        xml.open("Entries");
        for view in &page.handles {
            handle(&mut xml, view, version);
        }
        xml.close("Entries");
    }
    next_marker(&mut xml, page.next.as_ref());
    xml.close("EnumerationResults");
    Reply::new(StatusCode::OK, version).with_body(XML, xml.finish())
}

fn handle(xml: &mut Writer, view: &HandleView, version: ApiVersion) {
    xml.open("Handle").element("HandleId", view.id);
    named(xml, "Path", &view.path, version);
    xml.element("FileId", view.file)
        .element("ParentId", view.parent)
        .element("SessionId", view.session)
        .element("ClientIp", &view.client_address)
        .element("ClientName", &view.client_name)
        .element("OpenTime", view.opened.rfc1123())
        .optional("LastReconnectTime", view.reconnected.map(Timestamp::rfc1123));
    if version >= since::ACCESS_RIGHTS {
        let rights = [(view.reads, "Read"), (view.writes, "Write"), (view.deletes, "Delete")];
        xml.open("AccessRightList");
        for (_, right) in rights.iter().filter(|(has, _)| *has) {
            xml.element("AccessRight", right);
        }
        xml.close("AccessRightList");
    }
    xml.close("Handle");
}
