//! Errors as Azure sends them, and the constructors for those that the protocol itself finds.
//!
//! The texts are in `codes`; what the rules refuse is mapped in `refusal`. Must never carry a
//! secret: everything here goes to the client.

use crate::codes::{self, Code};
use crate::message::BodyError;
use hyper::StatusCode;
use zaffre_base::ApiVersion;
use zaffre_base::names::NameError;

/// An error on its way to the client.
#[derive(Clone, Debug)]
pub struct ApiError {
    /// The HTTP status.
    pub status: StatusCode,
    /// `x-ms-error-code`
    pub code: &'static str,
    /// The message of the XML body (without RequestId and Time, which the server adds).
    pub message: String,
    /// Extra XML elements after Message, such as HeaderName and HeaderValue.
    pub details: Vec<(&'static str, String)>,
    /// Extra response headers (`Content-Range` on 416, `WWW-Authenticate` on 401).
    pub headers: Vec<(&'static str, String)>,
    /// Authentication failures carry another Server header and no `x-ms-version`.
    pub authentication: bool,
    /// The version of the answer where the request alone does not tell it.
    pub version: Option<ApiVersion>,
    /// What was asked, for those who count.
    pub operation: Option<&'static str>,
}

impl From<Code> for ApiError {
    fn from(code: Code) -> Self {
        Self {
            status: code.status,
            code: code.name,
            message: code.message.to_owned(),
            details: Vec::new(),
            headers: Vec::new(),
            authentication: false,
            version: None,
            operation: None,
        }
    }
}

impl ApiError {
    /// Adds an element after Message.
    #[must_use]
    pub fn detail(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.details.push((name, value.into()));
        self
    }

    /// Adds a response header.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The same error with another message.
    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// A header's value has the wrong form.
    pub fn invalid_header_value(name: &str, value: &str) -> Self {
        Self::from(codes::INVALID_HEADER_VALUE)
            .detail("HeaderName", name)
            .detail("HeaderValue", value)
    }

    /// A header is needed and not there.
    pub fn missing_required_header(name: &str) -> Self {
        Self::from(codes::MISSING_REQUIRED_HEADER).detail("HeaderName", name)
    }

    /// A query parameter's value has the wrong form.
    pub fn invalid_query_parameter(name: &str, value: &str, reason: &str) -> Self {
        Self::from(codes::INVALID_QUERY_PARAMETER_VALUE)
            .detail("QueryParameterName", name)
            .detail("QueryParameterValue", value)
            .detail("Reason", reason)
    }

    /// A query parameter lies outside what is allowed.
    pub fn out_of_range_query(name: &str, value: &str, least: u64, most: u64) -> Self {
        Self::from(codes::OUT_OF_RANGE_QUERY_PARAMETER_VALUE)
            .detail("QueryParameterName", name)
            .detail("QueryParameterValue", value)
            .detail("MinimumAllowed", least.to_string())
            .detail("MaximumAllowed", most.to_string())
    }

    /// A query parameter is needed and not there.
    pub fn missing_required_query(name: &str) -> Self {
        Self::from(codes::MISSING_REQUIRED_QUERY_PARAMETER).detail("QueryParameterName", name)
    }

    /// The resource does not know this verb.
    pub fn unsupported_http_verb() -> Self {
        codes::UNSUPPORTED_HTTP_VERB.into()
    }

    /// The URL names nothing here.
    pub fn invalid_uri() -> Self {
        codes::INVALID_URI.into()
    }

    /// The URL has no meaning at all: a broken escape, or bytes that are not UTF-8.
    pub fn url_failed_to_parse() -> Self {
        codes::REQUEST_URL_FAILED_TO_PARSE.into()
    }

    /// A container or blob name has characters it must not have.
    pub fn invalid_resource_name() -> Self {
        codes::INVALID_RESOURCE_NAME.into()
    }

    /// Some input is out of range.
    pub fn out_of_range_input() -> Self {
        codes::OUT_OF_RANGE_INPUT.into()
    }

    /// Some input makes no sense.
    pub fn invalid_input() -> Self {
        codes::INVALID_INPUT.into()
    }

    /// The XML body is not well-formed, or breaks one of our limits.
    pub fn invalid_xml(line: u64, position: u64, reason: impl Into<String>) -> Self {
        Self::from(codes::INVALID_XML_DOCUMENT)
            .detail("LineNumber", line.to_string())
            .detail("LinePosition", position.to_string())
            .detail("Reason", reason)
    }

    /// An XML node's value has the wrong form.
    pub fn invalid_xml_node(name: &str, value: &str) -> Self {
        Self::from(codes::INVALID_XML_NODE_VALUE)
            .detail("XmlNodeName", name)
            .detail("XmlNodeValue", value)
    }

    /// A write came without saying how long its body is.
    pub fn missing_content_length() -> Self {
        codes::MISSING_CONTENT_LENGTH_HEADER.into()
    }

    /// The body is larger than `limit` bytes.
    pub fn request_body_too_large(limit: u64) -> Self {
        Self::from(codes::REQUEST_BODY_TOO_LARGE).detail("MaxLimit", limit.to_string())
    }

    /// The body broke off. The client has mostly gone; if not, it may try again.
    pub fn incomplete_body() -> Self {
        Self::from(codes::INVALID_INPUT).saying("The request body ended before it was complete.")
    }

    /// Something is wrong on our side; the log says what.
    pub fn internal_error() -> Self {
        codes::INTERNAL_ERROR.into()
    }

    /// More work than we can take on now; clients retry after a pause.
    pub fn server_busy() -> Self {
        Self::from(codes::SERVER_BUSY).header("retry-after", "1")
    }

    /// No space for more bytes, in memory or on the disk. Not a 5xx: trying again will not help.
    pub fn no_space() -> Self {
        codes::MEMORY_EXTENT_STORE_AT_SIZE_LIMIT.into()
    }

    /// An operation of the real service that is not built here.
    pub fn not_implemented() -> Self {
        codes::API_NOT_IMPLEMENTED.into()
    }

    /// The same refusal as a 304, which has no body.
    pub fn not_modified() -> Self {
        Self { status: StatusCode::NOT_MODIFIED, ..Self::from(codes::CONDITION_NOT_MET) }
    }
}

impl From<NameError> for ApiError {
    fn from(error: NameError) -> Self {
        match error {
            NameError::Length => Self::out_of_range_input()
                .saying("The specified resource name length is not within the permissible limits."),
            NameError::Characters => Self::invalid_resource_name(),
        }
    }
}

impl From<BodyError> for ApiError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Broken => Self::incomplete_body(),
            BodyError::TooLarge { limit } => Self::request_body_too_large(limit),
        }
    }
}
