//! The service behind a listener: each request through route, check, parse and dispatch.
//!
//! Must never answer anything itself: every answer comes from one of those steps.

use crate::authorize::{Caller, signed_headers};
use crate::dispatch::Dispatch;
use crate::operation::Kind;
use crate::parse::{self, At};
use crate::request::Asked;
use crate::route::route;
use zaffre_base::Guid;
use zaffre_core::Core;
use zaffre_http::{AccountsHandle, ApiError, Reply, Request, Service, cors};

/// What an operator may choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlobOptions {
    /// The account is always the first path segment, whatever the host is called.
    pub always_path_style: bool,
}

/// The Blob service.
#[derive(Clone, Debug)]
pub struct BlobService {
    core: Core,
    accounts: AccountsHandle,
    options: BlobOptions,
}

/// What the log says about a request once it is answered.
#[derive(Clone, Copy, Default)]
struct Noted {
    operation: Option<&'static str>,
    credential: Option<&'static str>,
}

impl BlobService {
    /// The service on `core` for `accounts`.
    pub fn new(core: Core, accounts: AccountsHandle, options: BlobOptions) -> Self {
        Self { core, accounts, options }
    }

    async fn answer(&self, request: Request, noted: &mut Noted) -> Result<Reply, ApiError> {
        let Request { head, content_length, body } = request;
        let asked = Asked::read(&head, content_length, self.options.always_path_style)?;
        let kind = route(&asked.target, &asked.fields)?;
        noted.operation = Some(kind.name());
        if kind == Kind::Preflight {
            return Err(cors::preflight(&head));
        }
        let headers = signed_headers(&head)?;
        let accounts = self.accounts.current();
        let caller = Caller::identify(&asked, &headers, &accounts, &self.core).await?;
        noted.credential = Some(caller.scheme());
        caller.check(kind, &asked)?;
        let at = At { account: &asked.account, target: &asked.target, fresh: &fresh_id };
        let operation = parse::operation(kind, at, &asked.fields)?;
        let dispatch = Dispatch { core: &self.core, caller: &caller, asked: &asked };
        dispatch.perform(operation, body).await
    }
}

impl Service for BlobService {
    fn name(&self) -> &'static str {
        "Blob"
    }

    async fn call(&self, request: Request) -> Result<Reply, ApiError> {
        let clock = &self.core.store().clock;
        let (id, started) = (request.head.id, clock.now());
        let mut noted = Noted::default();
        let result = self.answer(request, &mut noted).await;
        let ms = clock.now().since(started).as_millis();
        let Noted { operation, credential } = noted;
        let (status, code) = match &result {
            Ok(reply) => (reply.status.as_u16(), None),
            Err(error) => (error.status.as_u16(), Some(error.code)),
        };
        tracing::debug!(%id, operation, credential, status, code, ms, "answered");
        result
    }
}

/// A lease id that nobody can guess.
fn fresh_id() -> Result<Guid, ApiError> {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(Guid::from_random(bytes)),
        Err(error) => {
            tracing::error!(%error, "the system gave no random bytes; answered 500");
            Err(ApiError::internal_error())
        }
    }
}
