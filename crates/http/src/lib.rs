//! What the four REST services share: listener, limits, TLS, request heads, errors, XML.
//!
//! Must never know a service's operations.

pub mod error;
pub mod message;

pub use error::ApiError;
pub use message::{BodyError, BodyStream, Reply, ReplyBody, Request, RequestHead, Service};
