//! Answers to the parts of a batch, written as parts of one body.
//!
//! Must never write a body that is not whole: what streams has no place in a batch.

use crate::error::ApiError;
use crate::message::{Reply, ReplyBody};
use crate::server::error_document;
use std::fmt::Write as _;
use zaffre_base::{ApiVersion, Guid, Timestamp};

/// The body under way.
pub struct ResponseWriter {
    boundary: String,
    parent: Guid,
    server: &'static str,
    now: Timestamp,
    parts: u32,
    out: Vec<u8>,
}

impl ResponseWriter {
    /// An answer to the request `parent`, whose boundary starts with `prefix`.
    pub fn new(prefix: &str, parent: Guid, server: &'static str, now: Timestamp) -> Self {
        let boundary = format!("{prefix}_{parent}");
        Self { boundary, parent, server, now, parts: 0, out: Vec::new() }
    }

    /// The content type of the whole.
    pub fn content_type(&self) -> String {
        format!("multipart/mixed; boundary={}", self.boundary)
    }

    /// Adds the answer to the next part.
    pub fn part(
        &mut self,
        content_id: Option<&str>,
        client_id: Option<&str>,
        answer: Result<Reply, ApiError>,
        version: ApiVersion,
    ) {
        self.parts += 1;
        let id = Guid(self.parent.0.wrapping_add(u128::from(self.parts)));
        let mut text = format!("--{}\r\nContent-Type: application/http\r\n", self.boundary);
        if let Some(content_id) = content_id {
            let _ = write!(text, "Content-ID: {content_id}\r\n");
        }
        text.push_str("\r\n");
        let body = match answer {
            Ok(reply) => success(&mut text, reply),
            Err(error) => failure(&mut text, &error, id, self.now),
        };
        let _ = write!(text, "x-ms-request-id: {id}\r\nx-ms-version: {version}\r\n");
        if let Some(client_id) = client_id {
            let _ = write!(text, "x-ms-client-request-id: {client_id}\r\n");
        }
        let _ = write!(text, "Server: {}\r\n", self.server);
        if !body.is_empty() {
            let _ = write!(text, "Content-Length: {}\r\n", body.len());
        }
        text.push_str("\r\n");
        self.out.extend_from_slice(text.as_bytes());
        self.out.extend_from_slice(&body);
        if !body.is_empty() {
            self.out.extend_from_slice(b"\r\n");
        }
    }

    /// The whole body.
    pub fn finish(mut self) -> Vec<u8> {
        self.out.extend_from_slice(format!("--{}--", self.boundary).as_bytes());
        self.out
    }
}

fn success(text: &mut String, reply: Reply) -> Vec<u8> {
    let reason = reply.status.canonical_reason().unwrap_or_default();
    let _ = write!(text, "HTTP/1.1 {} {reason}\r\n", reply.status.as_u16());
    for (name, value) in &reply.headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        let _ = write!(text, "{name}: {value}\r\n");
    }
    match reply.into_parts().body {
        ReplyBody::Full(bytes) => bytes.to_vec(),
        ReplyBody::Empty | ReplyBody::Stream { .. } | ReplyBody::Open { .. } => Vec::new(),
    }
}

fn failure(text: &mut String, error: &ApiError, id: Guid, now: Timestamp) -> Vec<u8> {
    // The message is the reason phrase, which is one line.
    let reason = error.message.lines().next().unwrap_or_default();
    let _ = write!(text, "HTTP/1.1 {} {reason}\r\n", error.status.as_u16());
    let _ = write!(text, "x-ms-error-code: {}\r\nContent-Type: application/xml\r\n", error.code);
    for (name, value) in &error.headers {
        let line = value.lines().next().unwrap_or_default();
        let _ = write!(text, "{name}: {line}\r\n");
    }
    error_document(error, id, now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header;
    use hyper::StatusCode;

    #[test]
    fn golden() {
        let now = Timestamp::from_unix_seconds(0);
        let version = ApiVersion::new(2020, 4, 8);
        let mut out = ResponseWriter::new("batchresponse", Guid(0), "Azure/1.0", now);
        let deleted = Reply::new(StatusCode::ACCEPTED, version)
            .with(header!("x-ms-delete-type-permanent"), true);
        out.part(Some("0"), Some("mine"), Ok(deleted), version);
        out.part(None, None, Err(ApiError::invalid_uri()), version);
        assert_eq!(
            out.content_type(),
            "multipart/mixed; boundary=batchresponse_00000000-0000-0000-0000-000000000000"
        );
        let text = String::from_utf8(out.finish()).expect("UTF-8");
        let b = "--batchresponse_00000000-0000-0000-0000-000000000000";
        let start = format!(
            "{b}\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\n\
             HTTP/1.1 202 Accepted\r\nx-ms-delete-type-permanent: true\r\n\
             x-ms-request-id: 00000000-0000-0000-0000-000000000001\r\nx-ms-version: 2020-04-08\r\n\
             x-ms-client-request-id: mine\r\nServer: Azure/1.0\r\n\r\n\
             {b}\r\nContent-Type: application/http\r\n\r\n\
             HTTP/1.1 400 The requested URI does not represent any resource on the server.\r\n\
             x-ms-error-code: InvalidUri\r\nContent-Type: application/xml\r\n\
             x-ms-request-id: 00000000-0000-0000-0000-000000000002\r\nx-ms-version: 2020-04-08\r\n\
             Server: Azure/1.0\r\nContent-Length: "
        );
        assert!(text.starts_with(&start), "{text}");
        assert!(text.ends_with(&format!("</Error>\r\n{b}--")), "{text}");
    }
}
