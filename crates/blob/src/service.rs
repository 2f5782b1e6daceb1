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
use zaffre_base::{AccountName, Timestamp};
use zaffre_core::Core;
use zaffre_domain::service::log::Effect;
use zaffre_domain::service::{Logging, ServiceProperties};
use zaffre_http::analytics::{Outcome, Seen};
use zaffre_http::cors;
use zaffre_http::{
    AccountsHandle, ApiError, BodyStream, Frame, Noted, Reply, Request, RequestHead, Service,
    fresh_id, versions,
};

const SERVICE: zaffre_auth::Service = zaffre_auth::Service::Blob;

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

/// What a storage analytics log needs, kept only where there is one.
struct Logged {
    seen: Seen,
    logging: Logging,
    account: AccountName,
    path: String,
    effect: Effect,
}

impl Logged {
    /// Remembers what a log line will need, if the account's owner wants logs.
    fn wanted(
        properties: &ServiceProperties,
        head: &RequestHead,
        content_length: Option<u64>,
        account: &AccountName,
        path: &str,
    ) -> Option<Self> {
        properties.logging.is_on().then(|| Self {
            seen: Seen::of(head, content_length),
            logging: properties.logging.clone(),
            account: account.clone(),
            path: path.trim_start_matches('/').to_owned(),
            effect: Effect::Read,
        })
    }

    /// Adds the line to the log.
    fn write(
        self,
        core: &Core,
        noted: &Noted,
        started: Timestamp,
        result: &Result<Reply, ApiError>,
    ) {
        let took = core.store().clock.now().since(started).as_millis();
        let outcome = Outcome {
            operation: noted.operation.unwrap_or("Unknown"),
            effect: self.effect,
            account: self.account.as_str(),
            service: SERVICE.name(),
            path: &self.path,
            version: noted.version,
            started,
            milliseconds: u64::try_from(took).unwrap_or(u64::MAX),
        };
        let entry = self.seen.entry(&outcome, result);
        core.log_request(&self.account, SERVICE, &self.logging, &entry);
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

    async fn answer(
        &self,
        request: Request,
        noted: &mut Noted,
        logged: &mut Option<Logged>,
    ) -> Result<Reply, ApiError> {
        let Request { head, content_length, body } = request;
        let accounts = self.accounts.current();
        let site = website::account_of(&head.host).filter(|_| !self.options.always_path_style);
        if let Some(account) = site {
            let properties = self.properties(&accounts, &account).await?;
            noted.operation = Some("GetWebContent");
            let path = &head.raw_path;
            *logged = Logged::wanted(&properties, &head, content_length, &account, path);
            return Box::pin(self.page(&head, &account, &accounts, &properties)).await;
        }
        let place = Place::read(&head, self.options.always_path_style)?;
        let properties = self.properties(&accounts, &place.account).await?;
        let version = versions::effective_or(&head, properties.default_version)?;
        noted.version = Some(version);
        let path = place.path();
        *logged = Logged::wanted(&properties, &head, content_length, &place.account, path);
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
        if let Some(logged) = logged {
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

    async fn properties(
        &self,
        accounts: &Accounts,
        account: &AccountName,
    ) -> Result<Arc<ServiceProperties>, ApiError> {
        let chosen = self.core.chosen_properties(accounts, account, SERVICE).await;
        chosen.map_err(|error| failure::api_error(&error))
    }
}

impl Service for BlobService {
    fn name(&self) -> &'static str {
        "Blob"
    }

    async fn call(&self, request: Request) -> Result<Reply, ApiError> {
        let (frame, started) = (Frame::of(&request.head), self.core.store().clock.now());
        let (mut noted, mut logged) = (Noted::default(), None);
        // On the heap: what all operations hold together is large.
        let mut result = Box::pin(self.answer(request, &mut noted, &mut logged)).await;
        if let Some(logged) = logged {
            logged.write(&self.core, &noted, started, &result);
        }
        frame.close(noted, &mut result);
        result
    }
}
