//! Asking a service from inside the server: one service reads what another one has, by its rules.
//!
//! Must never be a way around a check: the request goes where one from outside would go.

use crate::error::ApiError;
use crate::message::{Reply, Request, Service};
use std::future::Future;
use std::pin::Pin;

/// An answer that is on its way.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Result<Reply, ApiError>> + Send + 'a>>;

/// A service that another one may ask.
pub trait Inside: Send + Sync {
    /// Handles one request as if it had come from outside.
    fn ask(&self, request: Request) -> Answer<'_>;
}

impl<S: Service> Inside for S {
    fn ask(&self, request: Request) -> Answer<'_> {
        Box::pin(self.call(request))
    }
}
