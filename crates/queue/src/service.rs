//! The service behind a listener: each request through route, check, parse and dispatch.
//!
//! Must never answer anything itself: every answer comes from one of those steps.

use crate::authorize::Caller;
use crate::dispatch::Dispatch;
use crate::route::route;
use crate::target::Target;
use crate::{failure, parse};
use hyper::Method;
use zaffre_core::Core;
use zaffre_http::cors;
use zaffre_http::{
    AccountsHandle, ApiError, Asked, Destination, Frame, Noted, Reply, Request, Service,
    signed_headers, versions,
};

const SERVICE: zaffre_auth::Service = zaffre_auth::Service::Queue;

/// What an operator may choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueOptions {
    /// The account is always the first path segment, whatever the host is called.
    pub always_path_style: bool,
}

/// The Queue service.
#[derive(Clone, Debug)]
pub struct QueueService {
    core: Core,
    accounts: AccountsHandle,
    options: QueueOptions,
}

impl QueueService {
    /// The service on `core` for `accounts`.
    pub fn new(core: Core, accounts: AccountsHandle, options: QueueOptions) -> Self {
        Self { core, accounts, options }
    }

    async fn answer(&self, request: Request, noted: &mut Noted) -> Result<Reply, ApiError> {
        let Request { head, content_length, body } = request;
        let to = Destination::read(&head, self.options.always_path_style)?;
        let accounts = self.accounts.current();
        let chosen = self.core.chosen_properties(&accounts, &to.account, SERVICE).await;
        let properties = chosen.map_err(|error| failure::api_error(&error))?;
        let version = versions::effective(&head)?;
        noted.version = Some(version);
        let properties = noted.properties.insert(properties);
        // A preflight is about the service, whatever path it names.
        if head.method == Method::OPTIONS {
            noted.operation = Some("Preflight");
            return cors::preflight(&properties.cors, &head, version);
        }
        let asked = Asked::new(&head, to, content_length, version)?;
        let target = Target::parse(path(&asked))?;
        let kind = route(&target, &asked)?;
        noted.operation = Some(kind.name());
        head.meet(kind.name(), path(&asked)).await?;
        let headers = signed_headers(&head)?;
        let caller = Caller::identify(&asked, &target, &headers, &accounts, &self.core).await?;
        noted.credential = Some(caller.scheme());
        caller.check(kind)?;
        let operation = parse::operation(kind, &target, &asked)?;
        let dispatch = Dispatch { core: &self.core, caller: &caller, asked: &asked };
        dispatch.perform(operation, body).await
    }
}

/// The path after the account. A vendor's client names the account twice when it asks a secondary
/// endpoint with the account in the path for its state.
fn path<'a>(asked: &'a Asked<'_>) -> &'a str {
    let to = &asked.to;
    let doubled = to.secondary
        && to.path_style
        && to.path.trim_end_matches('/') == to.account.as_str()
        && asked.query("restype").is_some_and(|restype| restype.eq_ignore_ascii_case("service"));
    if doubled { "" } else { &to.path }
}

impl Service for QueueService {
    fn name(&self) -> &'static str {
        "Queue"
    }

    async fn call(&self, request: Request) -> Result<Reply, ApiError> {
        let frame = Frame::of(&request.head);
        let mut noted = Noted::default();
        let mut result = self.answer(request, &mut noted).await;
        frame.close(noted, &mut result);
        result
    }
}
