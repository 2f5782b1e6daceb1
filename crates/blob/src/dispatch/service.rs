//! Operations on the service as a whole.

use super::{Dispatch, done};
use crate::batch::{Batch, Sender};
use hyper::StatusCode;
use zaffre_auth::{GetUserDelegationKey, Service};
use zaffre_core::service_properties::{
    self as service, GetServiceProperties, GetServiceStats, SetServiceProperties,
};
use zaffre_http::delegation::{self, KeyInfo};
use zaffre_http::{ApiError, BodyStream, Reply, multipart, service_properties, xml};

impl Dispatch<'_> {
    pub(super) async fn get_service_properties(
        self,
        op: GetServiceProperties,
    ) -> Result<Reply, ApiError> {
        let kind = op.service;
        let op = self.caller.permit(op)?;
        let properties = done(service::get_service_properties(self.core, op).await)?;
        let version = self.asked.version;
        let document = service_properties::document(&properties, kind, version);
        Ok(Reply::new(StatusCode::OK, version).with_body("application/xml", document))
    }

    pub(super) async fn set_service_properties(
        self,
        mut op: SetServiceProperties,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let version = self.asked.version;
        let document = xml::collect(body, self.asked.fields.content_length()).await?;
        op.update = service_properties::parse(&document, op.service, version)?;
        let op = self.caller.permit(op)?;
        done(service::set_service_properties(self.core, op).await)?;
        Ok(Reply::new(StatusCode::ACCEPTED, version))
    }

    pub(super) async fn get_user_delegation_key(self, body: BodyStream) -> Result<Reply, ApiError> {
        let document = xml::collect(body, self.asked.fields.content_length()).await?;
        let info = KeyInfo::parse(&document, self.core.store().clock.now())?;
        let version = self.asked.version;
        let op = GetUserDelegationKey {
            account: self.asked.account.clone(),
            service: Service::Blob,
            start: info.start,
            expiry: info.expiry,
            version,
            delegated_tenant: info.delegated_tenant,
        };
        let key = self.caller.issue(op)?;
        Ok(delegation::reply(&key, version))
    }

    pub(super) fn get_service_stats(self, op: GetServiceStats) -> Result<Reply, ApiError> {
        self.caller.permit(op)?;
        let now = self.core.store().clock.now();
        service_properties::stats(self.asked.secondary, self.asked.version, now)
    }

    pub(super) async fn batch(self, op: Batch, body: BodyStream) -> Result<Reply, ApiError> {
        let Dispatch { service, accounts, asked: parent, .. } = self;
        let (op, _) = self.caller.permit(op)?.into_parts();
        let body = multipart::collect(body, parent.fields.content_length()).await?;
        Sender { service, accounts, parent }.send(&op, &body).await
    }
}
