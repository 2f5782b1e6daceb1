//! The request inside a part: its line, its headers, its body.
//!
//! Must never be kinder than hyper is to a request on the wire: what a part may say, a request of
//! its own may say as well.

use super::part::{line_at, without_blank_lines};
use super::{MultipartError, PartHeaders};
use crate::error::ApiError;
use crate::head::Origin;
use crate::message::RequestHead;
use hyper::header::{HOST, HeaderValue};
use hyper::{Method, Uri, Version};
use zaffre_base::limits::REQUEST_HEAD_BYTES;

/// A request that came inside a part.
#[derive(Clone, Debug)]
pub struct PartRequest<'a> {
    /// The verb.
    pub method: Method,
    target: &'a str,
    /// The target, absolute or relative, as sent.
    pub uri: Uri,
    /// Its headers.
    pub headers: PartHeaders<'a>,
    /// Its body, without the blank lines around it.
    pub body: &'a [u8],
}

impl<'a> PartRequest<'a> {
    /// Reads a part's content. Most parts have the target and the headers of the one `before` them,
    /// which then need not be read again.
    pub(super) fn read(content: &'a [u8], before: Option<&Self>) -> Result<Self, MultipartError> {
        let (line, next) = line_at(content, 0);
        let (method, target) = request_line(line).ok_or(MultipartError::RequestLine)?;
        let uri = match before {
            Some(before) if before.target == target => before.uri.clone(),
            _ => uri(target).ok_or(MultipartError::RequestLine)?,
        };
        let (headers, rest) =
            PartHeaders::read(&content[next..], before.map(|before| &before.headers))
                .ok_or(MultipartError::RequestHeaders)?;
        Ok(Self { method, target, uri, headers, body: without_blank_lines(rest) })
    }

    /// Whether it asks the same as `other`, with the same words, but for the body.
    pub fn asks_the_same(&self, other: &Self) -> bool {
        self.method == other.method
            && self.target == other.target
            && self.headers.is_same(&other.headers)
    }

    /// The head of this request as if it had come on the connection of `parent`, whose host, id
    /// and peer it shares.
    pub fn head(&self, parent: &RequestHead) -> Result<RequestHead, ApiError> {
        let (mut headers, names) =
            self.headers.to_map().ok_or_else(|| ApiError::from(MultipartError::RequestHeaders))?;
        if !headers.contains_key(HOST) && self.uri.authority().is_none() {
            let host = HeaderValue::from_str(&parent.host);
            headers.insert(HOST, host.map_err(|_| ApiError::invalid_input())?);
        }
        let origin = Origin { peer: parent.peer, secure: parent.secure, id: parent.id };
        // An absolute target names the host itself, as in HTTP/1.0.
        let method = self.method.clone();
        RequestHead::decode(method, &self.uri, Version::HTTP_10, headers, names, &origin)
    }
}

/// `DELETE /container/blob HTTP/1.1`: the verb and the target.
fn request_line(line: &[u8]) -> Option<(Method, &str)> {
    let line = std::str::from_utf8(line).ok().filter(|line| line.len() <= REQUEST_HEAD_BYTES)?;
    let (method, rest) = line.trim_end().split_once(' ')?;
    let (target, protocol) = rest.rsplit_once(' ')?;
    if target.is_empty() || !matches!(protocol, "HTTP/1.1" | "HTTP/1.0") {
        return None;
    }
    Some((Method::from_bytes(method.as_bytes()).ok()?, target))
}

fn uri(target: &str) -> Option<Uri> {
    let absolute = target.starts_with('/') || target.contains("://");
    let uri = if absolute { target.parse() } else { format!("/{target}").parse() };
    uri.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows a request as `verb target|headers|body`.
    fn show(content: &str) -> String {
        match PartRequest::read(content.as_bytes(), None) {
            Ok(r) => {
                let body = String::from_utf8_lossy(r.body);
                format!("{} {}|{}|{body}", r.method, r.uri, r.headers.len())
            }
            Err(error) => format!("{error:?}"),
        }
    }

    #[test]
    fn requests() {
        let many = |n: usize| "A: 1\r\n".repeat(n);
        for (content, want) in [
            ("DELETE /c/b HTTP/1.1\r\nA: 1\r\nb:2\r\n\r\n", "DELETE /c/b|2|"),
            ("DELETE /c/b HTTP/1.1", "DELETE /c/b|0|"),
            ("MERGE http://h/a/t?x=1 HTTP/1.1\n\n\n{}\n\n", "MERGE http://h/a/t?x=1|0|{}"),
            ("PUT c/b? HTTP/1.1\r\nContent-Length: 9\r\n\r\nx", "PUT /c/b?|1|x"),
            ("DELETE /c/b", "RequestLine"),
            ("DELETE /c/b HTTP/2", "RequestLine"),
            ("DELETE /c b HTTP/1.1", "RequestLine"),
            ("DEL(ETE /c HTTP/1.1", "RequestLine"),
            ("DELETE  HTTP/1.1", "RequestLine"),
            ("", "RequestLine"),
            ("DELETE /c HTTP/1.1\r\nnone\r\n\r\n", "RequestHeaders"),
            ("DELETE /c HTTP/1.1\r\nA : 1\r\n\r\n", "RequestHeaders"),
            ("DELETE /c HTTP/1.1\r\nA: \u{1}\r\n\r\n", "RequestHeaders"),
            (&format!("DELETE /c HTTP/1.1\r\n{}\r\n", many(256)), "DELETE /c|256|"),
            (&format!("DELETE /c HTTP/1.1\r\n{}\r\n", many(257)), "RequestHeaders"),
        ] {
            assert_eq!(show(content), want, "{content:?}");
        }
    }

    #[test]
    fn heads() {
        let parent = RequestHead::sample("POST", "/acct?comp=batch");
        let text = "DELETE /acct/c/a%20b?x=%2B HTTP/1.1\r\nx-ms-meta-MyKey: 1\r\n\r\n";
        let request = PartRequest::read(text.as_bytes(), None).expect("legal");
        let head = request.head(&parent).expect("legal");
        assert_eq!(
            (head.raw_path.as_str(), head.host.as_str()),
            ("/acct/c/a%20b", "127.0.0.1:10000")
        );
        assert_eq!(head.parameter("x"), Some("+"));
        assert_eq!(head.metadata_names, ["MyKey"]);
        let text = "DELETE http://other:1/acct/c HTTP/1.1\r\n\r\n";
        let head = PartRequest::read(text.as_bytes(), None).expect("legal").head(&parent);
        assert_eq!(head.map(|head| head.host).ok().as_deref(), Some("other:1"));
        let text = "DELETE /acct/c?x=% HTTP/1.1\r\n\r\n";
        assert!(PartRequest::read(text.as_bytes(), None).expect("legal").head(&parent).is_err());
    }
}
