//! The service behind a listener: each request through route, check, parse and dispatch.
//!
//! Must never answer anything itself: every answer comes from one of those steps.

use crate::authorize::Caller;
use crate::dispatch::Dispatch;
use crate::failure;
use crate::render::error;
use crate::route::route;
use crate::target::Target;
use hyper::Method;
use std::sync::Arc;
use tracing::Level;
use zaffre_auth::Accounts;
use zaffre_base::{AccountName, ApiVersion};
use zaffre_core::Core;
use zaffre_domain::service::ServiceProperties;
use zaffre_http::cors::{self, CrossOrigin};
use zaffre_http::{
    AccountsHandle, ApiError, Asked, Destination, Reply, Request, Service, message, signed_headers,
    versions,
};

/// What an operator may choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableOptions {
    /// The account is always the first path segment, whatever the host is called.
    pub always_path_style: bool,
}

/// The Table service.
#[derive(Clone, Debug)]
pub struct TableService {
    core: Core,
    accounts: AccountsHandle,
    options: TableOptions,
}

/// What is known about a request once it is answered.
#[derive(Default)]
struct Noted {
    operation: Option<&'static str>,
    credential: Option<&'static str>,
    version: Option<ApiVersion>,
    properties: Option<Arc<ServiceProperties>>,
    speaks_xml: bool,
}

impl TableService {
    /// The service on `core` for `accounts`.
    pub fn new(core: Core, accounts: AccountsHandle, options: TableOptions) -> Self {
        Self { core, accounts, options }
    }

    async fn answer(&self, request: Request, noted: &mut Noted) -> Result<Reply, ApiError> {
        let Request { head, content_length, body } = request;
        let to = Destination::read(&head, self.options.always_path_style)?;
        let accounts = self.accounts.current();
        let properties = self.properties(&accounts, &to.account).await?;
        let version = versions::effective(&head)?;
        noted.version = Some(version);
        let properties = noted.properties.insert(properties);
        // A preflight is about the service, whatever path it names.
        if head.method == Method::OPTIONS {
            noted.operation = Some("Preflight");
            noted.speaks_xml = true;
            return cors::preflight(&properties.cors, &head, version);
        }
        let target = Target::parse(&to.path, &to.account)?;
        let asked = Asked::new(&head, to, content_length, version)?;
        let kind = route(&target, &asked)?;
        noted.operation = Some(kind.name());
        noted.speaks_xml = kind.speaks_xml();
        head.meet(kind.name(), &asked.to.path).await?;
        let headers = signed_headers(&head)?;
        let mut caller = Caller::identify(&asked, &target, &headers, &accounts, &self.core).await?;
        noted.credential = Some(caller.scheme());
        caller.check(kind, &asked, &target)?;
        let dispatch =
            Dispatch { core: &self.core, caller: &mut caller, asked: &asked, target: &target };
        dispatch.perform(kind, body).await
    }

    /// What the account's owner has chosen; an account that is not there has chosen nothing, and is
    /// refused when its credential is looked at.
    async fn properties(
        &self,
        accounts: &Accounts,
        account: &AccountName,
    ) -> Result<Arc<ServiceProperties>, ApiError> {
        if accounts.get(account).is_none() {
            return Ok(Arc::default());
        }
        let found = self.core.service_properties(account, zaffre_auth::Service::Table).await;
        found.map_err(|error| failure::api_error(&error))
    }
}

impl Service for TableService {
    fn name(&self) -> &'static str {
        "Table"
    }

    async fn call(&self, request: Request) -> Result<Reply, ApiError> {
        let clock = &self.core.store().clock;
        let id = request.head.id;
        // Nobody asks for the time if nobody reads it.
        let started = tracing::enabled!(Level::DEBUG).then(|| clock.now());
        let origin = CrossOrigin::of(&request.head);
        let mut noted = Noted::default();
        let mut result = self.answer(request, &mut noted).await;
        let Noted { operation, credential, version, properties, speaks_xml } = noted;
        let code = result.as_ref().err().map(|error| error.code);
        if let Err(failed) = &result {
            let version = version.unwrap_or(ApiVersion::LATEST);
            result = Ok(error::reply(failed, speaks_xml, id, clock.wall(), version));
        }
        if let Some(properties) = properties {
            origin.mark(&properties.cors, &mut result);
        }
        message::name(&mut result, operation);
        if let Ok(reply) = &mut result {
            reply.code = code;
        }
        let status = result.as_ref().map_or(0, |reply| reply.status.as_u16());
        let ms = started.map(|started| clock.now().since(started).as_millis());
        tracing::debug!(%id, operation, credential, status, code, ms, "answered");
        result
    }
}
