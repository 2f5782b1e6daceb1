//! What the four REST services share: listener, limits, TLS, request heads, errors, XML.
//!
//! Must never know a service's operations.

pub mod access_policies;
mod accounts;
pub mod address;
pub mod analytics;
mod asked;
mod auth_error;
pub mod codes;
mod copy_refusal;
pub mod cors;
pub mod delegation;
pub mod error;
pub mod faults;
pub mod fetch;
pub mod file_codes;
mod file_refusal;
pub mod frame;
mod fresh_id;
pub mod head;
pub mod headers;
pub mod inside;
mod kept_refusal;
pub mod limits;
pub mod message;
pub mod multipart;
pub mod outbound;
pub mod percent;
mod refusal;
pub mod server;
pub mod service_properties;
pub mod source_url;
pub mod structured;
pub mod table_codes;
mod table_refusal;
pub mod tls;
pub mod traffic;
pub mod versions;
pub mod xml;

pub use accounts::AccountsHandle;
pub use asked::{Asked, Destination, refuse_repetition, signed_headers};
pub use error::ApiError;
pub use frame::{Frame, Noted};
pub use fresh_id::fresh_id;
pub use head::Origin;
pub use hyper::header::HeaderName;
pub use message::{
    BodyError, BodyStream, Reply, ReplyBody, ReplyParts, Request, RequestHead, Service,
};
pub use server::{Alarms, Listener, ServerOptions, Timeouts};
