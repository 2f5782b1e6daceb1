//! Operations on the service as a whole.

use super::{Dispatch, done};
use crate::parse::listing::SharesListing;
use crate::render::listing;
use hyper::StatusCode;
use zaffre_auth::{GetUserDelegationKey, Service};
use zaffre_core::file::share::list_shares;
use zaffre_core::service_properties::{
    GetServiceProperties, SetServiceProperties, get_service_properties, set_service_properties,
};
use zaffre_http::delegation::{self, KeyInfo};
use zaffre_http::{ApiError, BodyStream, Reply, service_properties};

impl Dispatch<'_> {
    pub(super) async fn get_service_properties(
        self,
        op: GetServiceProperties,
    ) -> Result<Reply, ApiError> {
        let (kind, version) = (op.service, self.asked.version);
        let op = self.caller.permit(op)?;
        let properties = done(get_service_properties(self.core, op).await)?;
        let document = service_properties::document(&properties, kind, version);
        Ok(self.empty(StatusCode::OK).with_body("application/xml", document))
    }

    pub(super) async fn set_service_properties(
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

    pub(super) async fn get_user_delegation_key(self, body: BodyStream) -> Result<Reply, ApiError> {
        let document = self.document(body).await?;
        let info = KeyInfo::parse(&document, self.core.store().clock.now())?;
        let version = self.asked.version;
        let key = self.caller.issue(GetUserDelegationKey {
            account: self.asked.to.account.clone(),
            service: Service::File,
            start: info.start,
            expiry: info.expiry,
            version,
            delegated_tenant: info.delegated_tenant,
        })?;
        Ok(delegation::reply(&key, version))
    }

    pub(super) async fn list_shares(self, asked: SharesListing) -> Result<Reply, ApiError> {
        let op = self.caller.permit(asked.op.clone())?;
        let page = done(list_shares(self.core, op).await)?;
        Ok(listing::shares(&page, &asked, &self.asked.endpoint(), self.asked.version))
    }
}
