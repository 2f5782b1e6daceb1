//! The service behind a listener: each request through route, check, parse and dispatch.
//!
//! Must never answer anything itself: every answer comes from one of those steps.

use crate::authorize::Caller;
use crate::dispatch::Dispatch;
use crate::operation::Level;
use crate::route::route;
use crate::target::Target;
use crate::{failure, parse};
use hyper::Method;
use std::sync::Arc;
use zaffre_auth::Accounts;
use zaffre_base::{AccountName, ApiVersion, Guid};
use zaffre_core::Core;
use zaffre_domain::service::ServiceProperties;
use zaffre_http::cors::{self, CrossOrigin};
use zaffre_http::inside::Inside;
use zaffre_http::{
    AccountsHandle, ApiError, Asked, Destination, Reply, Request, Service, message, signed_headers,
    versions,
};

/// What an operator may choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileOptions {
    /// The account is always the first path segment, whatever the host is called.
    pub always_path_style: bool,
    /// Where the services listen.
    pub ports: Ports,
}

/// The ports by which the sources of copies are recognized.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ports {
    /// Of this service.
    pub file: u16,
    /// Of the Blob service.
    pub blob: u16,
}

/// The File service.
#[derive(Clone)]
pub struct FileService {
    core: Core,
    accounts: AccountsHandle,
    options: FileOptions,
    blobs: Arc<dyn Inside>,
}

/// What is known about a request once it is answered.
#[derive(Default)]
struct Noted {
    operation: Option<&'static str>,
    credential: Option<&'static str>,
    version: Option<ApiVersion>,
    properties: Option<Arc<ServiceProperties>>,
}

impl FileService {
    /// The service on `core` for `accounts`.
    /// `blobs` is where sources of copies are read that are blobs.
    pub fn new(
        core: Core,
        accounts: AccountsHandle,
        options: FileOptions,
        blobs: Arc<dyn Inside>,
    ) -> Self {
        Self { core, accounts, options, blobs }
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
            return cors::preflight(&properties.cors, &head, version);
        }
        let asked = Asked::new(&head, to, content_length, version)?;
        let target = Target::parse(&asked.to.path)?;
        let kind = route(&target, &asked)?;
        noted.operation = Some(kind.name());
        head.meet(kind.name(), &asked.to.path).await?;
        let headers = signed_headers(&head)?;
        let path = parse::path(kind, &target, &asked)?;
        let file = Some(&path).filter(|_| kind.level() == Level::File);
        let scope = target.scope_of(&asked.to.account, file);
        let known = (&*accounts, &self.core);
        let caller = Caller::identify(&asked, &target, scope, &headers, known).await?;
        noted.credential = Some(caller.scheme());
        caller.check(kind, &asked)?;
        let operation = parse::operation(kind, &target, path.clone(), &asked, &fresh_id)?;
        let dispatch = Dispatch {
            core: &self.core,
            caller: &caller,
            asked: &asked,
            accounts: &accounts,
            blobs: &*self.blobs,
            ports: self.options.ports,
            always_path_style: self.options.always_path_style,
        };
        dispatch.perform(operation, body).await
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
        let found = self.core.service_properties(account, zaffre_auth::Service::File).await;
        found.map_err(|error| failure::api_error(&error))
    }
}

impl Service for FileService {
    fn name(&self) -> &'static str {
        "File"
    }

    async fn call(&self, request: Request) -> Result<Reply, ApiError> {
        let clock = &self.core.store().clock;
        let id = request.head.id;
        // Nobody asks for the time if nobody reads it.
        let started = tracing::enabled!(tracing::Level::DEBUG).then(|| clock.now());
        let origin = CrossOrigin::of(&request.head);
        let mut noted = Noted::default();
        let mut result = self.answer(request, &mut noted).await;
        let Noted { operation, credential, version, properties } = noted;
        if let Err(error) = &mut result {
            error.version = version;
        }
        message::name(&mut result, operation);
        if let Some(properties) = properties {
            origin.mark(&properties.cors, &mut result);
        }
        let (status, code) = match &result {
            Ok(reply) => (reply.status.as_u16(), None),
            Err(error) => (error.status.as_u16(), Some(error.code)),
        };
        let ms = started.map(|started| clock.now().since(started).as_millis());
        tracing::debug!(%id, operation, credential, status, code, ms, "answered");
        result
    }
}

/// An id that nobody can guess.
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
