//! Answers of the Table service: JSON for what is OData, XML for the rest.

pub(crate) mod batch;
pub(crate) mod entity;
pub(crate) mod error;
pub(crate) mod table;

use crate::format::Level;
use hyper::StatusCode;
use std::fmt::Write as _;
use zaffre_base::ApiVersion;
use zaffre_http::{Reply, header};

/// Characters that stand for themselves in a key inside a URL.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!*()@$,;:'".contains(&byte)
}

/// Appends a key as it is inside a URL: quotes doubled, everything unsafe escaped.
pub(crate) fn push_url_key(out: &mut String, key: &str) {
    if key.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        out.push_str(key);
        return;
    }
    for byte in key.bytes() {
        if byte == b'\'' {
            out.push_str("''");
        } else if is_plain(byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
}

/// An answer with a JSON body.
pub(crate) fn json(status: StatusCode, level: Level, body: String, version: ApiVersion) -> Reply {
    plain(status, version).with_body(level.content_type(), body)
}

/// An answer of an OData operation without a body.
pub(crate) fn plain(status: StatusCode, version: ApiVersion) -> Reply {
    Reply::new(status, version)
        .with_text(header!("cache-control"), "no-cache")
        .with_text(header!("x-content-type-options"), "nosniff")
}
