//! Replies of core into headers and XML, exactly as the service sends them.
//!
//! Must never decide anything but what the requested version shows.

pub mod append;
pub mod blob;
pub mod blocks;
pub mod container;
pub mod copy;
pub mod encryption;
pub mod history;
pub mod listing;
pub mod pages;
pub mod protection;
pub mod query;
mod since;
pub mod tags;
pub mod tier;
pub mod upload;

use zaffre_base::ApiVersion;
use zaffre_core::blob::reply::{BlobView, OfKind, Written};
use zaffre_domain::blob::Metadata;
use zaffre_domain::lease::LeaseView;
use zaffre_http::{Reply, header};

const XML: &str = "application/xml";
/// What the request said, word for word: SDKs compare.
const STRUCTURED_BODY: &str = "XSM/1.0; properties=crc64";

/// ETag and Last-Modified.
fn written(reply: Reply, written: Written, version: ApiVersion) -> Reply {
    let reply = reply.with(header!("last-modified"), written.last_modified().rfc1123());
    if version >= since::QUOTED_ETAGS {
        reply.with(header!("etag"), written.etag())
    } else {
        reply.with(header!("etag"), written.etag().unquoted())
    }
}

fn blob_type(view: &BlobView) -> &'static str {
    match view.of_kind {
        OfKind::Block => "BlockBlob",
        OfKind::Append { .. } => "AppendBlob",
        OfKind::Page { .. } => "PageBlob",
    }
}

fn metadata(reply: Reply, metadata: &Metadata) -> Reply {
    metadata.iter().fold(reply, |reply, (name, value)| reply.with_metadata(name, value))
}

/// `x-ms-lease-status`, `-state` and `-duration`.
fn lease(reply: Reply, lease: LeaseView, version: ApiVersion) -> Reply {
    let reply = reply.with_text(header!("x-ms-lease-status"), lease_status(lease));
    if version < since::LEASE_STATES {
        return reply;
    }
    reply
        .with_text(header!("x-ms-lease-state"), lease_state(lease))
        .with_some(header!("x-ms-lease-duration"), lease_duration(lease))
}

fn lease_status(lease: LeaseView) -> &'static str {
    match lease {
        LeaseView::Leased { .. } | LeaseView::Breaking => "locked",
        LeaseView::Available | LeaseView::Broken | LeaseView::Expired => "unlocked",
    }
}

fn lease_state(lease: LeaseView) -> &'static str {
    match lease {
        LeaseView::Available => "available",
        LeaseView::Leased { .. } => "leased",
        LeaseView::Breaking => "breaking",
        LeaseView::Broken => "broken",
        LeaseView::Expired => "expired",
    }
}

fn lease_duration(lease: LeaseView) -> Option<&'static str> {
    match lease {
        LeaseView::Leased { infinite: true } => Some("infinite"),
        LeaseView::Leased { infinite: false } => Some("fixed"),
        LeaseView::Available | LeaseView::Breaking | LeaseView::Broken | LeaseView::Expired => None,
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod testing {
    //! Replies as text, for golden tests.

    use zaffre_http::{Reply, ReplyBody};

    /// Status, headers in order of name, an empty line, and the body if it is text.
    pub(crate) fn shown(reply: &Reply) -> String {
        let mut headers: Vec<String> = reply
            .headers
            .iter()
            .map(|(name, value)| {
                let spelled = reply.spelling.iter().find(|s| s.eq_ignore_ascii_case(name.as_str()));
                let name = spelled.map_or(name.as_str(), String::as_str);
                format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()))
            })
            .collect();
        headers.sort();
        let body = match &reply.body {
            ReplyBody::Empty => String::new(),
            ReplyBody::Full(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            ReplyBody::Stream { length, .. } => format!("({length} bytes)"),
            ReplyBody::Open { .. } => "(bytes)".to_owned(),
        };
        let body = body.trim_start_matches('\u{FEFF}');
        format!("{}\n{}\n\n{body}", reply.status.as_u16(), headers.join("\n"))
    }

    /// Compares line by line, so that a golden text can be indented in the test.
    pub(crate) fn check(reply: &Reply, golden: &str) {
        let lines =
            |text: &str| text.trim().lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
        let split = |text: &str| text.replace("><", ">\n<");
        assert_eq!(lines(&split(&shown(reply))), lines(&split(golden)));
    }
}
