//! CORS on the wire: preflights answered from the rules, and the headers of actual answers.
//!
//! Must never refuse an actual request: the browser decides what the page may see.

use crate::codes;
use crate::error::ApiError;
use crate::message::{Reply, RequestHead};
use crate::server::CLIENT_REQUEST_ID;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderName, HeaderValue, ORIGIN,
};
use hyper::{Method, StatusCode};
use zaffre_base::ApiVersion;
use zaffre_domain::service::cors::{CorsRule, find};

const ALLOW_ORIGIN: &str = "access-control-allow-origin";
const ALLOW_CREDENTIALS: &str = "access-control-allow-credentials";
const EXPOSE_HEADERS: &str = "access-control-expose-headers";
const ANY: &str = "*";
/// What the server adds to every answer, and a page may be shown like the rest.
const ALWAYS_SENT: [&str; 4] = ["x-ms-request-id", "server", "x-ms-version", "date"];

/// Answers an OPTIONS request.
pub fn preflight(
    rules: &[CorsRule],
    head: &RequestHead,
    version: ApiVersion,
) -> Result<Reply, ApiError> {
    let required = || {
        ApiError::from(codes::INVALID_HEADER_VALUE).saying("A required CORS header is not present.")
    };
    let origin = text(head, &ORIGIN).ok_or_else(required)?;
    let method = text(head, &ACCESS_CONTROL_REQUEST_METHOD).ok_or_else(required)?;
    let headers = text(head, &ACCESS_CONTROL_REQUEST_HEADERS);
    let names = headers.into_iter().flat_map(|list| list.split(','));
    let mut names = names.map(str::trim).filter(|name| !name.is_empty());
    let found = find(rules, Some(origin), method)
        .filter(|found| found.rule.allows_headers(&mut names))
        .ok_or_else(|| ApiError::from(codes::CORS_PREFLIGHT_FAILURE))?;
    let allowed = if found.any_origin { ANY } else { origin };
    Ok(Reply::new(StatusCode::OK, version)
        .with(ACCESS_CONTROL_ALLOW_ORIGIN, allowed)
        .with(ACCESS_CONTROL_ALLOW_METHODS, method)
        .with_some(ACCESS_CONTROL_ALLOW_HEADERS, headers)
        .with(ACCESS_CONTROL_MAX_AGE, found.rule.max_age_seconds)
        .with_some(ACCESS_CONTROL_ALLOW_CREDENTIALS, (!found.any_origin).then_some("true")))
}

/// A header that is sent and not empty, as text.
fn text<'a>(head: &'a RequestHead, name: &HeaderName) -> Option<&'a str> {
    let value = head.headers.get(name)?.to_str().ok()?.trim();
    Some(value).filter(|value| !value.is_empty())
}

/// What of a request decides its CORS headers; taken before the request is given away.
#[derive(Clone, Debug)]
pub struct CrossOrigin {
    origin: Option<String>,
    method: Method,
    names_client_id: bool,
}

impl CrossOrigin {
    /// Of this request.
    pub fn of(head: &RequestHead) -> Self {
        Self {
            origin: text(head, &ORIGIN).map(str::to_owned),
            method: head.method.clone(),
            names_client_id: head.headers.contains_key(CLIENT_REQUEST_ID),
        }
    }

    /// Adds to an answer what the rules say about it.
    pub fn mark(&self, rules: &[CorsRule], answer: &mut Result<Reply, ApiError>) {
        if rules.is_empty() || self.method == Method::OPTIONS {
            return;
        }
        let reads = matches!(self.method, Method::GET | Method::HEAD);
        if self.origin.is_none() && !reads {
            return;
        }
        let found = find(rules, self.origin.as_deref(), self.method.as_str());
        if reads && found.is_none_or(|found| !found.any_origin) {
            put(answer, "vary", "Origin");
        }
        let Some(found) = found else { return };
        let origin = self.origin.as_deref().filter(|_| !found.any_origin);
        put(answer, ALLOW_ORIGIN, origin.unwrap_or(ANY));
        if !found.any_origin {
            put(answer, ALLOW_CREDENTIALS, "true");
        }
        let exposed = self.exposed(found.rule, answer);
        if !exposed.is_empty() {
            put(answer, EXPOSE_HEADERS, &exposed);
        }
    }

    fn exposed(&self, rule: &CorsRule, answer: &Result<Reply, ApiError>) -> String {
        let client_id = self.names_client_id.then_some("x-ms-client-request-id");
        let always = ALWAYS_SENT.into_iter().chain(client_id);
        let own: Vec<&str> = match answer {
            Ok(reply) => reply.headers.keys().map(HeaderName::as_str).collect(),
            Err(error) => {
                let named = error.headers.iter().map(|(name, _)| *name);
                named.chain(["x-ms-error-code", "content-type"]).collect()
            }
        };
        let own = own.into_iter().filter(|name| !name.starts_with("access-control-"));
        let own = own.filter(|name| *name != "vary").chain(["content-length"]);
        rule.exposed(always.chain(own)).join(",")
    }
}

fn put(answer: &mut Result<Reply, ApiError>, name: &'static str, value: &str) {
    match answer {
        Ok(reply) => {
            // It came in a header, or was checked when the rule was stored.
            if let Ok(value) = HeaderValue::from_str(value) {
                reply.headers.insert(HeaderName::from_static(name), value);
            }
        }
        Err(error) => error.headers.push((name, value.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(origins: &str, methods: &str, allowed: &str, exposed: &str) -> CorsRule {
        let list = |text: &str| -> Vec<String> {
            text.split(',').filter(|t| !t.is_empty()).map(str::to_owned).collect()
        };
        CorsRule {
            origins: list(origins),
            methods: list(methods),
            allowed_headers: list(allowed),
            exposed_headers: list(exposed),
            max_age_seconds: 9,
        }
    }

    fn head(method: &str, headers: &[(HeaderName, &str)]) -> RequestHead {
        let mut head = RequestHead::sample(method, "/acct/c/b");
        for (name, value) in headers {
            head.headers.insert(name, value.parse().expect("a test's header"));
        }
        head
    }

    fn value<'a>(reply: &'a Reply, name: &str) -> &'a str {
        reply.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("-")
    }

    #[test]
    fn preflights() {
        let rules = [rule("http://a", "PUT", "x-ms-*", ""), rule("*", "GET", "", "")];
        for (origin, method, headers, want) in [
            ("http://a", "PUT", "x-ms-date, X-Ms-Version", "http://a PUT true"),
            ("http://a", "PUT", "", "http://a PUT true"),
            ("http://a", "PUT", "etag", "CorsPreflightFailure"),
            ("http://a", "GET", "", "* GET -"),
            ("http://a", "GET", "x", "CorsPreflightFailure"),
            ("http://b", "PUT", "", "CorsPreflightFailure"),
            ("", "PUT", "", "InvalidHeaderValue"),
            ("http://a", "", "", "InvalidHeaderValue"),
        ] {
            let sent = [
                (ORIGIN, origin),
                (ACCESS_CONTROL_REQUEST_METHOD, method),
                (ACCESS_CONTROL_REQUEST_HEADERS, headers),
            ];
            let reply = preflight(&rules, &head("OPTIONS", &sent), ApiVersion::LATEST);
            let shown = match reply {
                Ok(reply) => {
                    let of = |name| value(&reply, name).to_owned();
                    [of(ALLOW_ORIGIN), of("access-control-allow-methods"), of(ALLOW_CREDENTIALS)]
                        .join(" ")
                }
                Err(error) => error.code.to_owned(),
            };
            assert_eq!(shown, want, "{origin} {method} {headers}");
        }
        let none = preflight(&[], &head("OPTIONS", &[]), ApiVersion::LATEST);
        assert_eq!(none.map(|_| ()).map_err(|e| e.code), Err("InvalidHeaderValue"));
    }

    #[test]
    fn actual_answers() {
        let exact = rule("http://a", "GET,PUT", "", "x-ms-*");
        let any = rule("*", "GET", "", "etag");
        let (exact, any, both) = ([exact.clone()], [any.clone()], [exact, any]);
        let (exact, any): (&[CorsRule], &[CorsRule]) = (&exact, &any);
        let none: &[CorsRule] = &[];
        for (rules, method, origin, want) in [
            (none, "GET", "", "- - - -"),
            (none, "GET", "http://a", "- - - -"),
            (exact, "GET", "", "Origin - - -"),
            (any, "GET", "", "- * etag -"),
            (&both, "GET", "", "- * etag -"),
            (exact, "GET", "http://a", "Origin http://a x-ms-request-id,x-ms-version true"),
            (exact, "GET", "http://b", "Origin - - -"),
            (any, "GET", "http://b", "- * etag -"),
            (any, "HEAD", "http://b", "Origin - - -"),
            (exact, "PUT", "http://a", "- http://a x-ms-request-id,x-ms-version true"),
            (exact, "PUT", "http://b", "- - - -"),
            (any, "PUT", "", "- - - -"),
        ] {
            let sent = [(ORIGIN, origin)];
            let cross = CrossOrigin::of(&head(method, &sent));
            let mut answer = Ok(Reply::new(StatusCode::OK, ApiVersion::LATEST));
            cross.mark(rules, &mut answer);
            let Ok(reply) = answer else { panic!("an answer stays an answer") };
            let of = |name| value(&reply, name).to_owned();
            let shown = [of("vary"), of(ALLOW_ORIGIN), of(EXPOSE_HEADERS), of(ALLOW_CREDENTIALS)];
            assert_eq!(shown.join(" "), want, "{rules:?} {method} {origin}");
            let mut refused = Err(ApiError::invalid_uri());
            cross.mark(rules, &mut refused);
            let has = refused.is_err_and(|e| e.headers.iter().any(|(n, _)| *n == ALLOW_ORIGIN));
            assert_eq!(has, reply.headers.contains_key(ALLOW_ORIGIN));
        }
    }
}
