//! Method, path and query to one operation: the service's table of URLs.
//!
//! Must never look at a credential or a body.

use crate::operation::Kind;
use crate::parse::since;
use crate::target::Target;
use hyper::Method;
use zaffre_http::{ApiError, Asked};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Service,
    Queue,
    Messages,
    Message,
}

use Level::{Message, Messages, Queue, Service};

/// What the path names, `restype`, `comp`, verb, operation.
type Line = (Level, &'static str, &'static str, Method, Kind);

const TABLE: &[Line] = &[
    (Service, "", "list", Method::GET, Kind::ListQueues),
    (Service, "service", "properties", Method::GET, Kind::GetServiceProperties),
    (Service, "service", "properties", Method::PUT, Kind::SetServiceProperties),
    (Service, "service", "stats", Method::GET, Kind::GetServiceStats),
    (Service, "service", "userdelegationkey", Method::POST, Kind::GetUserDelegationKey),
    (Queue, "", "", Method::PUT, Kind::CreateQueue),
    (Queue, "", "", Method::DELETE, Kind::DeleteQueue),
    (Queue, "", "metadata", Method::GET, Kind::GetQueueMetadata),
    (Queue, "", "metadata", Method::HEAD, Kind::GetQueueMetadata),
    (Queue, "", "metadata", Method::PUT, Kind::SetQueueMetadata),
    (Queue, "", "acl", Method::GET, Kind::GetQueueAcl),
    (Queue, "", "acl", Method::HEAD, Kind::GetQueueAcl),
    (Queue, "", "acl", Method::PUT, Kind::SetQueueAcl),
    (Messages, "", "", Method::POST, Kind::PutMessage),
    (Messages, "", "", Method::GET, Kind::GetMessages),
    (Messages, "", "", Method::DELETE, Kind::ClearMessages),
    (Message, "", "", Method::PUT, Kind::UpdateMessage),
    (Message, "", "", Method::DELETE, Kind::DeleteMessage),
];

/// Which operation is asked of `target`.
pub fn route(target: &Target, asked: &Asked<'_>) -> Result<Kind, ApiError> {
    let restype = asked.query("restype").unwrap_or_default().to_ascii_lowercase();
    let comp = asked.query("comp").unwrap_or_default().to_ascii_lowercase();
    let level = match target {
        Target::Service => Service,
        Target::Queue(_) => Queue,
        Target::Messages(_) => Messages,
        Target::Message(..) => Message,
    };
    let here = || TABLE.iter().filter(|line| line.0 == level && line.1 == restype);
    if here().next().is_none() {
        return Err(ApiError::invalid_query_parameter("restype", &restype, ""));
    }
    if !here().any(|line| line.2 == comp) {
        return Err(ApiError::invalid_query_parameter("comp", &comp, ""));
    }
    let found = here().find(|line| line.2 == comp && line.3 == asked.method());
    match found.map(|line| line.4) {
        Some(Kind::GetMessages) if peeks(asked)? => Ok(Kind::PeekMessages),
        Some(Kind::UpdateMessage) if asked.version < since::UPDATES => {
            Err(ApiError::unsupported_http_verb())
        }
        Some(kind) => Ok(kind),
        None => Err(ApiError::unsupported_http_verb()),
    }
}

fn peeks(asked: &Asked<'_>) -> Result<bool, ApiError> {
    const NAME: &str = "peekonly";
    match asked.query(NAME) {
        None | Some("") => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        Some(text) => Err(ApiError::invalid_query_parameter(NAME, text, "Invalid boolean value.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_base::ApiVersion;
    use zaffre_http::{Destination, RequestHead};

    fn routed(method: &str, path: &str, version: ApiVersion) -> &'static str {
        let head = RequestHead::sample(method, &format!("/acct{path}"));
        let routed = Destination::read(&head, false).and_then(|to| {
            let target = Target::parse(&to.path)?;
            route(&target, &Asked::new(&head, to, None, version)?)
        });
        routed.map_or_else(|error| error.code, Kind::name)
    }

    #[test]
    fn lines() {
        for (method, path, want) in [
            ("GET", "/?comp=list", "ListQueues"),
            ("GET", "?comp=list", "ListQueues"),
            ("GET", "/?restype=service&comp=properties", "GetServiceProperties"),
            ("PUT", "/?restype=service&comp=properties", "SetServiceProperties"),
            ("GET", "/?restype=service&comp=stats", "GetServiceStats"),
            ("POST", "/?restype=service&comp=userdelegationkey", "GetUserDelegationKey"),
            ("PUT", "/abc", "CreateQueue"),
            ("DELETE", "/abc", "DeleteQueue"),
            ("GET", "/abc?comp=metadata", "GetQueueMetadata"),
            ("HEAD", "/abc?COMP=Metadata", "GetQueueMetadata"),
            ("PUT", "/abc?comp=metadata", "SetQueueMetadata"),
            ("GET", "/abc?comp=acl", "GetQueueAcl"),
            ("PUT", "/abc?comp=acl", "SetQueueAcl"),
            ("POST", "/abc/messages", "PutMessage"),
            ("GET", "/abc/messages", "GetMessages"),
            ("GET", "/abc/messages?peekonly=true", "PeekMessages"),
            ("GET", "/abc/messages?peekonly=false", "GetMessages"),
            ("GET", "/abc/messages?peekonly=maybe", "InvalidQueryParameterValue"),
            ("DELETE", "/abc/messages", "ClearMessages"),
            ("PUT", "/abc/messages/x", "UpdateMessage"),
            ("DELETE", "/abc/messages/x", "DeleteMessage"),
            ("POST", "/abc/messages/x", "UnsupportedHttpVerb"),
            ("GET", "/abc", "UnsupportedHttpVerb"),
            ("GET", "/", "InvalidQueryParameterValue"),
            ("GET", "/abc?comp=nonsense", "InvalidQueryParameterValue"),
            ("GET", "/abc?restype=service&comp=properties", "InvalidQueryParameterValue"),
        ] {
            assert_eq!(routed(method, path, ApiVersion::LATEST), want, "{method} {path}");
        }
        let old = ApiVersion::new(2009, 9, 19);
        assert_eq!(routed("PUT", "/abc/messages/x", old), "UnsupportedHttpVerb");
    }
}
