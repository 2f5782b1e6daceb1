//! The few refusals only the Blob service has; all others are `ApiError`'s own.
//!
//! Must never be used for what the state decides: those come from core and the shared table.

use zaffre_http::ApiError;

/// An operation of Azure's that this server does not perform yet.
pub fn unserved(what: &str) -> ApiError {
    ApiError::not_implemented()
        .saying(format!("{what} is not implemented yet by this server. Nothing was changed."))
}

/// A header that asks for something this server does not do; ignoring it would be a lie.
pub fn unserved_header(name: &str) -> ApiError {
    unserved(&format!("The header {name}")).detail("HeaderName", name)
}
