//! Errors of the Table service: JSON where bodies are, XML of its own kind elsewhere.
//!
//! Must never show more of an error than its own text.

use crate::format::Level;
use crate::json::Object;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use zaffre_base::{ApiVersion, Guid, Timestamp};
use zaffre_http::xml::escape;
use zaffre_http::{ApiError, Reply, ReplyBody, header};

const NAMESPACE: &str = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata";

/// The message with what every error says besides.
fn message(error: &ApiError, id: Guid, now: Timestamp) -> String {
    format!("{}\nRequestId:{id}\nTime:{}", error.message, now.iso7())
}

/// `{"odata.error":…}`; a batch puts the position of the operation before the message.
pub(crate) fn json(error: &ApiError, index: Option<usize>, id: Guid, now: Timestamp) -> String {
    let mut text = Object::default();
    text.text("lang", "en-US");
    let said = message(error, id, now);
    text.text("value", &index.map_or_else(|| said.clone(), |index| format!("{index}:{said}")));
    let mut inner = Object::default();
    inner.text("code", error.code);
    inner.raw("message", &text.finish());
    let mut whole = Object::default();
    whole.raw("odata.error", &inner.finish());
    whole.finish()
}

fn xml(error: &ApiError, id: Guid, now: Timestamp) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><m:error xmlns:m=\"{NAMESPACE}\"><m:code>{}\
         </m:code><m:message xml:lang=\"en-US\">{}</m:message></m:error>",
        error.code,
        escape(&message(error, id, now))
    )
}

/// The answer to a request that failed.
pub(crate) fn reply(
    error: &ApiError,
    as_xml: bool,
    id: Guid,
    now: Timestamp,
    version: ApiVersion,
) -> Reply {
    let mut reply = Reply::new(error.status, error.version.unwrap_or(version))
        .with(header!("x-ms-error-code"), error.code)
        .with(header!("cache-control"), "no-cache")
        .with(header!("x-content-type-options"), "nosniff");
    for (name, value) in &error.headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            reply.headers.insert(HeaderName::from_static(name), value);
        }
    }
    let (kind, body) = if as_xml {
        ("application/xml", xml(error, id, now))
    } else {
        (Level::Minimal.content_type(), json(error, None, id, now))
    };
    reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply.body = ReplyBody::Full(body.into());
    reply.code = Some(error.code);
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies() {
        let error = ApiError::invalid_input().saying("a <b> \"c\"");
        let now = Timestamp::parse_iso("2022-05-06T00:37:28.43474Z").unwrap_or(Timestamp(0));
        assert_eq!(
            json(&error, Some(3), Guid(1), now),
            "{\"odata.error\":{\"code\":\"InvalidInput\",\"message\":{\"lang\":\"en-US\",\"value\":\
             \"3:a <b> \\\"c\\\"\\nRequestId:00000000-0000-0000-0000-000000000001\\n\
             Time:2022-05-06T00:37:28.4347400Z\"}}}"
        );
        let document = xml(&error, Guid(1), now);
        assert!(document.contains("<m:code>InvalidInput</m:code>") && document.contains("a &lt;b"));
    }
}
