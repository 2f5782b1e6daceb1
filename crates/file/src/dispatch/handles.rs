//! Handles that SMB clients have open, and security descriptors that a share keeps.

use super::{Dispatch, done};
use crate::parse::handles::HandlesListing;
use crate::parse::permission::{self, PermissionAsked};
use crate::render::entries;
use hyper::StatusCode;
use zaffre_base::base64;
use zaffre_base::limits::PERMISSION_BODY_BYTES;
use zaffre_core::file::share::SharePath;
use zaffre_core::file::{self as service, op};
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;
use zaffre_http::{ApiError, BodyStream, Reply, header};

impl Dispatch<'_> {
    pub(super) async fn list_handles(self, asked: HandlesListing) -> Result<Reply, ApiError> {
        let op = self.caller.permit(asked.op.clone())?;
        let page = done(service::list_handles(self.core, op).await)?;
        Ok(entries::handles(&page, self.asked.version))
    }

    pub(super) async fn close_handles(self, op: op::ForceCloseHandles) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let closed = done(service::force_close_handles(self.core, op).await)?;
        Ok(self
            .empty(StatusCode::OK)
            .with(header!("x-ms-number-of-handles-closed"), closed.closed)
            .with(header!("x-ms-number-of-handles-failed"), closed.failed)
            .with_some(header!("x-ms-marker"), closed.next))
    }

    pub(super) async fn create_permission(
        self,
        at: SharePath,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        if self.asked.content_length.is_some_and(|length| length > PERMISSION_BODY_BYTES) {
            return Err(ApiError::request_body_too_large(PERMISSION_BODY_BYTES));
        }
        let descriptor = permission::body(&self.document(body).await?)?;
        let op = self.caller.permit(op::CreatePermission { at, descriptor })?;
        let key = done(service::create_permission(self.core, op).await)?;
        Ok(self.empty(StatusCode::CREATED).with(header!("x-ms-file-permission-key"), key))
    }

    pub(super) async fn get_permission(self, asked: PermissionAsked) -> Result<Reply, ApiError> {
        let op = self.caller.permit(asked.op)?;
        let found = done(service::get_permission(self.core, op).await)?;
        let text = if asked.binary {
            let unreadable = |_| Refusal::from(FileRefusal::InvalidPermission);
            base64::encode(&found.to_bytes().map_err(unreadable)?)
        } else {
            found.sddl()
        };
        let format = if asked.binary { "binary" } else { "sddl" };
        let document = serde_json::json!({ "permission": text, "format": format }).to_string();
        Ok(self.empty(StatusCode::OK).with_body("application/json", document))
    }
}
