//! What surrounds the work on every request, whichever service it is for: what was asked is written
//! on the answer, the page that asked learns what it may see, and the log gets its line.
//!
//! Must never decide what an answer says.

use crate::cors::CrossOrigin;
use crate::error::ApiError;
use crate::message::{self, Reply, RequestHead};
use std::sync::Arc;
use tokio::time::Instant;
use tracing::Level;
use zaffre_base::{ApiVersion, Guid};
use zaffre_domain::service::ServiceProperties;

/// What is known about a request once it is answered.
#[derive(Debug, Default)]
pub struct Noted {
    /// What was asked.
    pub operation: Option<&'static str>,
    /// The kind of credential, if it was good.
    pub credential: Option<&'static str>,
    /// The version to answer in.
    pub version: Option<ApiVersion>,
    /// What the account's owner has chosen for the service.
    pub properties: Option<Arc<ServiceProperties>>,
}

/// What of a request is needed for its answer; taken before the request is given away.
#[derive(Debug)]
pub struct Frame {
    id: Guid,
    origin: CrossOrigin,
    /// Nobody asks for the time if nobody reads it.
    started: Option<Instant>,
}

impl Frame {
    /// Of this request.
    pub fn of(head: &RequestHead) -> Self {
        let started = tracing::enabled!(Level::DEBUG).then(Instant::now);
        Self { id: head.id, origin: CrossOrigin::of(head), started }
    }

    /// Completes the answer.
    pub fn close(self, noted: Noted, answer: &mut Result<Reply, ApiError>) {
        let Noted { operation, credential, version, properties } = noted;
        if let Err(error) = answer {
            error.version = version;
        }
        message::name(answer, operation);
        if let Some(properties) = properties {
            self.origin.mark(&properties.cors, answer);
        }
        let (status, code) = match answer {
            Ok(reply) => (reply.status.as_u16(), reply.code),
            Err(error) => (error.status.as_u16(), Some(error.code)),
        };
        let ms = self.started.map(|started| started.elapsed().as_millis());
        let id = self.id;
        tracing::debug!(%id, operation, credential, status, code, ms, "answered");
    }
}
