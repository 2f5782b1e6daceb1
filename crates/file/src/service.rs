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
use zaffre_core::Core;
use zaffre_http::cors;
use zaffre_http::inside::Inside;
use zaffre_http::{
    AccountsHandle, ApiError, Asked, Destination, Frame, Noted, Reply, Request, Service, fresh_id,
    signed_headers, versions,
};

const SERVICE: zaffre_auth::Service = zaffre_auth::Service::File;

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
}

impl Service for FileService {
    fn name(&self) -> &'static str {
        "File"
    }

    async fn call(&self, request: Request) -> Result<Reply, ApiError> {
        let frame = Frame::of(&request.head);
        let mut noted = Noted::default();
        let mut result = self.answer(request, &mut noted).await;
        frame.close(noted, &mut result);
        result
    }
}
