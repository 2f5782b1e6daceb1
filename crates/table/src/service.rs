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
use zaffre_base::ApiVersion;
use zaffre_core::Core;
use zaffre_http::cors;
use zaffre_http::{
    AccountsHandle, ApiError, Asked, Destination, Frame, Noted, Reply, Request, Service,
    signed_headers, versions,
};

const SERVICE: zaffre_auth::Service = zaffre_auth::Service::Table;

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

impl TableService {
    /// The service on `core` for `accounts`.
    pub fn new(core: Core, accounts: AccountsHandle, options: TableOptions) -> Self {
        Self { core, accounts, options }
    }

    async fn answer(
        &self,
        request: Request,
        noted: &mut Noted,
        speaks_xml: &mut bool,
    ) -> Result<Reply, ApiError> {
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
            *speaks_xml = true;
            return cors::preflight(&properties.cors, &head, version);
        }
        let target = Target::parse(&to.path, &to.account)?;
        let asked = Asked::new(&head, to, content_length, version)?;
        let kind = route(&target, &asked)?;
        noted.operation = Some(kind.name());
        *speaks_xml = kind.speaks_xml();
        head.meet(kind.name(), &asked.to.path).await?;
        let headers = signed_headers(&head)?;
        let mut caller = Caller::identify(&asked, &target, &headers, &accounts, &self.core).await?;
        noted.credential = Some(caller.scheme());
        caller.check(kind, &asked, &target)?;
        let dispatch =
            Dispatch { core: &self.core, caller: &mut caller, asked: &asked, target: &target };
        dispatch.perform(kind, body).await
    }
}

impl Service for TableService {
    fn name(&self) -> &'static str {
        "Table"
    }

    async fn call(&self, request: Request) -> Result<Reply, ApiError> {
        let (id, frame) = (request.head.id, Frame::of(&request.head));
        let (mut noted, mut speaks_xml) = (Noted::default(), false);
        let mut result = self.answer(request, &mut noted, &mut speaks_xml).await;
        if let Err(failed) = &result {
            let (version, now) =
                (noted.version.unwrap_or(ApiVersion::LATEST), self.core.store().clock.wall());
            result = Ok(error::reply(failed, speaks_xml, id, now, version));
        }
        frame.close(noted, &mut result);
        result
    }
}
