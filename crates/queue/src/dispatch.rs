//! From a parsed operation to its answer: permit, call core, render.
//!
//! Must never have a default arm, and never call core with anything but what `permit` gave.

use crate::authorize::Caller;
use crate::failure;
use crate::operation::QueueOperation;
use crate::parse::Listing;
use crate::render::{self, Shown};
use crate::text;
use hyper::StatusCode;
use zaffre_auth::{GetUserDelegationKey, Service};
use zaffre_core::queue::op;
use zaffre_core::queue::reply::Created;
use zaffre_core::queue::{self as service};
use zaffre_core::service_properties::{
    GetServiceProperties, GetServiceStats, SetServiceProperties, get_service_properties,
    set_service_properties,
};
use zaffre_core::{Core, Error};
use zaffre_http::delegation::{self, KeyInfo};
use zaffre_http::{ApiError, Asked, BodyStream, Reply, access_policies, service_properties, xml};

/// The letters a policy can grant on a queue.
const PERMISSIONS: &str = "raup";

/// What every operation needs.
#[derive(Clone, Copy)]
pub(crate) struct Dispatch<'a> {
    pub(crate) core: &'a Core,
    pub(crate) caller: &'a Caller<'a>,
    pub(crate) asked: &'a Asked<'a>,
}

/// What core replied, or the answer to its failure.
fn done<T>(result: Result<T, Error>) -> Result<T, ApiError> {
    result.map_err(|error| failure::api_error(&error))
}

impl Dispatch<'_> {
    /// Performs `operation`, the rest of which, if there is any, is in `body`.
    pub(crate) async fn perform(
        self,
        operation: QueueOperation,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        use QueueOperation as Q;
        match operation {
            Q::GetServiceProperties(op) => self.get_service_properties(op).await,
            Q::SetServiceProperties(op) => self.set_service_properties(op, body).await,
            Q::GetServiceStats(op) => self.get_service_stats(op),
            Q::GetUserDelegationKey(()) => self.get_user_delegation_key(body).await,
            Q::ListQueues(listing) => self.list_queues(listing).await,
            Q::CreateQueue(op) => self.create_queue(op).await,
            Q::DeleteQueue(op) => self.delete_queue(op).await,
            Q::GetQueueMetadata(op) => self.get_queue_metadata(op).await,
            Q::SetQueueMetadata(op) => self.set_queue_metadata(op).await,
            Q::GetQueueAcl(op) => self.get_queue_acl(op).await,
            Q::SetQueueAcl(op) => self.set_queue_acl(op, body).await,
            Q::PutMessage(op) => self.put_message(op, body).await,
            Q::GetMessages(op) => self.get_messages(op).await,
            Q::PeekMessages(op) => self.peek_messages(op).await,
            Q::UpdateMessage(op) => self.update_message(op, body).await,
            Q::DeleteMessage(op) => self.delete_message(op).await,
            Q::ClearMessages(op) => self.clear_messages(op).await,
        }
    }

    async fn document(self, body: BodyStream) -> Result<Vec<u8>, ApiError> {
        xml::collect(body, self.asked.content_length).await
    }

    fn empty(self, status: StatusCode) -> Reply {
        render::empty(status, self.asked.version)
    }

    async fn get_service_properties(self, op: GetServiceProperties) -> Result<Reply, ApiError> {
        let kind = op.service;
        let op = self.caller.permit(op)?;
        let properties = done(get_service_properties(self.core, op).await)?;
        let version = self.asked.version;
        let document = service_properties::document(&properties, kind, version);
        Ok(self.empty(StatusCode::OK).with_body("application/xml", document))
    }

    async fn set_service_properties(
        self,
        mut op: SetServiceProperties,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let document = self.document(body).await?;
        op.update = service_properties::parse(&document, op.service, self.asked.version)?;
        let op = self.caller.permit(op)?;
        done(set_service_properties(self.core, op).await)?;
        Ok(self.empty(StatusCode::ACCEPTED))
    }

    fn get_service_stats(self, op: GetServiceStats) -> Result<Reply, ApiError> {
        self.caller.permit(op)?;
        let now = self.core.store().clock.now();
        service_properties::stats(self.asked.to.secondary, self.asked.version, now)
    }

    async fn get_user_delegation_key(self, body: BodyStream) -> Result<Reply, ApiError> {
        let document = self.document(body).await?;
        let info = KeyInfo::parse(&document, self.core.store().clock.now())?;
        let version = self.asked.version;
        let key = self.caller.issue(GetUserDelegationKey {
            account: self.asked.to.account.clone(),
            service: Service::Queue,
            start: info.start,
            expiry: info.expiry,
            version,
            delegated_tenant: info.delegated_tenant,
        })?;
        Ok(delegation::reply(&key, version))
    }

    async fn list_queues(self, listing: Listing) -> Result<Reply, ApiError> {
        let op = self.caller.permit(listing.op.clone())?;
        let page = done(service::list_queues(self.core, op).await)?;
        Ok(render::listing(&page, &listing, &self.asked.endpoint(), self.asked.version))
    }

    async fn create_queue(self, op: op::CreateQueue) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        Ok(self.empty(match done(service::create_queue(self.core, op).await)? {
            Created::New => StatusCode::CREATED,
            Created::Existing => StatusCode::NO_CONTENT,
        }))
    }

    async fn delete_queue(self, op: op::DeleteQueue) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        done(service::delete_queue(self.core, op).await)?;
        Ok(self.empty(StatusCode::NO_CONTENT))
    }

    async fn get_queue_metadata(self, op: op::GetQueueMetadata) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let found = done(service::get_queue_metadata(self.core, op).await)?;
        Ok(render::properties(&found, self.asked.version))
    }

    async fn set_queue_metadata(self, op: op::SetQueueMetadata) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        done(service::set_queue_metadata(self.core, op).await)?;
        Ok(self.empty(StatusCode::NO_CONTENT))
    }

    async fn get_queue_acl(self, op: op::GetQueueAcl) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let policies = done(service::get_queue_acl(self.core, op).await)?;
        Ok(render::acl(&policies, self.asked.version))
    }

    async fn set_queue_acl(
        self,
        mut op: op::SetQueueAcl,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let document = self.document(body).await?;
        op.policies = access_policies::parse(&document, PERMISSIONS)?;
        let op = self.caller.permit(op)?;
        done(service::set_queue_acl(self.core, op).await)?;
        Ok(self.empty(StatusCode::NO_CONTENT))
    }

    async fn put_message(
        self,
        mut op: op::PutMessage,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let version = self.asked.version;
        text::check_length(self.asked.content_length, version)?;
        op.text = text::parse(&self.document(body).await?, version)?;
        let op = self.caller.permit(op)?;
        let message = done(service::put_message(self.core, op).await)?;
        Ok(render::put(&message, version))
    }

    async fn get_messages(self, op: op::GetMessages) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let messages = done(service::get_messages(self.core, op).await)?;
        Ok(render::messages(&messages, Shown::Received, self.asked.version))
    }

    async fn peek_messages(self, op: op::PeekMessages) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let messages = done(service::peek_messages(self.core, op).await)?;
        Ok(render::messages(&messages, Shown::Peeked, self.asked.version))
    }

    async fn update_message(
        self,
        mut op: op::UpdateMessage,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let version = self.asked.version;
        text::check_length(self.asked.content_length, version)?;
        let document = self.document(body).await?;
        // No body at all changes the visibility alone.
        if !document.is_empty() {
            op.text = Some(text::parse(&document, version)?);
        }
        let op = self.caller.permit(op)?;
        let message = done(service::update_message(self.core, op).await)?;
        Ok(render::updated(&message, version))
    }

    async fn delete_message(self, op: op::DeleteMessage) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        done(service::delete_message(self.core, op).await)?;
        Ok(self.empty(StatusCode::NO_CONTENT))
    }

    async fn clear_messages(self, op: op::ClearMessages) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        done(service::clear_messages(self.core, op).await)?;
        Ok(self.empty(StatusCode::NO_CONTENT))
    }
}
