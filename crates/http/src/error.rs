//! Errors as Azure sends them: one table from refusal to status, code and message.

use hyper::StatusCode;

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
}
