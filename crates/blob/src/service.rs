//! The service behind a listener: each request through route, check, parse and dispatch.
//!
//! Must never answer anything itself: every answer comes from one of those steps.

use crate::authorize::{Caller, signed_headers};
use crate::batch::Answering;
use crate::copy::elsewhere::Elsewhere;
use crate::dispatch::Dispatch;
use crate::failure;
use crate::operation::Kind;
use crate::parse::{self, At};
use crate::request::{Asked, Place};
use crate::route::route;
use crate::{system, website};
use hyper::Method;
use std::sync::Arc;
use zaffre_auth::Accounts;
use zaffre_base::{AccountName, ApiVersion, Guid, Timestamp};
use zaffre_core::Core;
use zaffre_domain::service::log::Effect;
use zaffre_domain::service::{Logging, ServiceProperties};
use zaffre_http::analytics::{Outcome, Seen};
use zaffre_http::cors::{self, CrossOrigin};
use zaffre_http::{
    AccountsHandle, ApiError, BodyStream, Reply, Request, RequestHead, Service, message, versions,
};

/// What an operator may choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlobOptions {
    /// The account is always the first path segment, whatever the host is called.
    pub always_path_style: bool,
    /// The port we listen on: a URL with it and this machine's own name is ours.
    pub port: u16,
}

/// The Blob service.
#[derive(Clone, Debug)]
pub struct BlobService {
    pub(crate) core: Core,
    accounts: AccountsHandle,
    options: BlobOptions,
    elsewhere: Option<Elsewhere>,
}

/// What the log says about a request once it is answered.
#[derive(Default)]
struct Noted {
    operation: Option<&'static str>,
    credential: Option<&'static str>,
    version: Option<ApiVersion>,
    properties: Option<Arc<ServiceProperties>>,
    logged: Option<Logged>,
}

/// What a storage analytics log needs, kept only where there is one.
struct Logged {
    seen: Seen,
    logging: Logging,
    account: AccountName,
    path: String,
    effect: Effect,
}

impl Noted {
    /// Remembers what a log line will need, if the account's owner wants logs.
    fn log(
        &mut self,
        properties: &Arc<ServiceProperties>,
        head: &RequestHead,
        content_length: Option<u64>,
        account: &AccountName,
        path: &str,
    ) {
        if properties.logging.is_on() {
            let seen = Seen::of(head, content_length);
            let (account, path) = (account.clone(), path.trim_start_matches('/').to_owned());
            let logging = properties.logging.clone();
            self.logged = Some(Logged { seen, logging, account, path, effect: Effect::Read });
        }
    }
}

impl BlobService {
    /// The service on `core` for `accounts`.
    pub fn new(core: Core, accounts: AccountsHandle, options: BlobOptions) -> Self {
        Self { core, accounts, options, elsewhere: None }
    }

    /// Lets copies come from other servers.
    #[must_use]
    pub fn reaching(self, elsewhere: Option<Elsewhere>) -> Self {
        if let Some(way) = &elsewhere {
            self.core.reach(Arc::new(way.clone()));
        }
        Self { elsewhere, ..self }
    }

    pub(crate) fn elsewhere(&self) -> Option<&Elsewhere> {
        self.elsewhere.as_ref()
    }

    async fn answer(&self, request: Request, noted: &mut Noted) -> Result<Reply, ApiError> {
        let Request { head, content_length, body } = request;
        let accounts = self.accounts.current();
        let site = website::account_of(&head.host).filter(|_| !self.options.always_path_style);
        if let Some(account) = site {
            let properties = self.properties(&accounts, &account).await?;
            noted.operation = Some("GetWebContent");
            noted.log(&properties, &head, content_length, &account, &head.raw_path);
            return Box::pin(self.page(&head, &account, &accounts, &properties)).await;
        }
        let place = Place::read(&head, self.options.always_path_style)?;
        let properties = self.properties(&accounts, &place.account).await?;
        let version = versions::effective_or(&head, properties.default_version)?;
        noted.version = Some(version);
        noted.log(&properties, &head, content_length, &place.account, place.path());
        let properties = noted.properties.insert(properties);
        // A preflight is about the service, whatever path it names.
        if head.method == Method::OPTIONS {
            noted.operation = Some(Kind::Preflight.name());
            return cors::preflight(&properties.cors, &head, version);
        }
        let asked = Asked::read(&head, content_length, place, version)?;
        let kind = route(&asked.target, &asked.fields)?;
        noted.operation = Some(kind.name());
        head.meet(kind.name(), asked.target.container_name()).await?;
        if let Some(logged) = &mut noted.logged {
            logged.effect = kind.effect();
        }
        self.serve(&asked, kind, &accounts, body, noted).await
    }

    /// The way of every request whose operation is known: check, parse, perform.
    async fn serve(
        &self,
        asked: &Asked<'_>,
        kind: Kind,
        accounts: &Accounts,
        body: BodyStream,
        noted: &mut Noted,
    ) -> Result<Reply, ApiError> {
        let headers = signed_headers(asked.head)?;
        let caller = Caller::identify(asked, &headers, accounts, &self.core).await?;
        noted.credential = Some(caller.scheme());
        caller.check(kind, asked)?;
        system::check(kind, &asked.target)?;
        let at = At { account: &asked.account, target: &asked.target, fresh: &fresh_id };
        let operation = parse::operation(kind, at, &asked.fields)?;
        let dispatch =
            Dispatch { core: &self.core, caller: &caller, asked, service: self, accounts };
        dispatch.perform(operation, body).await
    }

    /// One part of a batch, which has no body. Boxed, because a batch is served by the same way.
    pub(crate) fn part<'a>(
        &'a self,
        asked: &'a Asked<'a>,
        kind: Kind,
        accounts: &'a Accounts,
    ) -> Answering<'a> {
        Box::pin(async move {
            let mut noted = Noted::default();
            let body = Box::pin(futures_util::stream::empty());
            self.serve(asked, kind, accounts, body, &mut noted).await
        })
    }

    /// The port we listen on.
    pub(crate) fn port(&self) -> u16 {
        self.options.port
    }

    pub(crate) fn always_path_style(&self) -> bool {
        self.options.always_path_style
    }

    /// The time of day.
    pub(crate) fn wall(&self) -> Timestamp {
        self.core.store().clock.wall()
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
        let found = self.core.service_properties(account, zaffre_auth::Service::Blob).await;
        found.map_err(|error| failure::api_error(&error))
    }
}

impl Service for BlobService {
    fn name(&self) -> &'static str {
        "Blob"
    }

    async fn call(&self, request: Request) -> Result<Reply, ApiError> {
        let clock = &self.core.store().clock;
        let (id, started) = (request.head.id, clock.now());
        let origin = CrossOrigin::of(&request.head);
        let mut noted = Noted::default();
        // On the heap: what all operations hold together is large.
        let mut result = Box::pin(self.answer(request, &mut noted)).await;
        let ms = clock.now().since(started).as_millis();
        let Noted { operation, credential, version, properties, logged } = noted;
        if let Err(error) = &mut result {
            error.version = version;
        }
        message::name(&mut result, operation);
        if let Some(Logged { seen, logging, account, path, effect }) = logged {
            let service = zaffre_auth::Service::Blob;
            let outcome = Outcome {
                operation: operation.unwrap_or("Unknown"),
                effect,
                account: account.as_str(),
                service: service.name(),
                path: &path,
                version,
                started,
                milliseconds: u64::try_from(ms).unwrap_or(u64::MAX),
            };
            let entry = seen.entry(&outcome, &result);
            self.core.log_request(&account, service, &logging, &entry);
        }
        if let Some(properties) = properties {
            origin.mark(&properties.cors, &mut result);
        }
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
