//! Operations on files.

use super::{Dispatch, done, found};
use crate::body;
use crate::parse::file::{Download, Upload};
use crate::render::{entries, file as render, item, share};
use hyper::StatusCode;
use zaffre_core::file::{self as service, op};
use zaffre_http::{ApiError, BodyStream, Reply, header};

impl Dispatch<'_> {
    pub(super) async fn create_file(
        self,
        asked: Upload<op::CreateFile>,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(asked.op)?;
        let (content, fault) = body::framed(body, asked.framing);
        let made = service::create_file(self.core, op, content).await;
        let made = fault.get().map_or_else(|| done(made), |fault| Err((*fault).into()))?;
        let reply = item::changed(StatusCode::CREATED, &made, self.asked.version);
        Ok(render::framed(reply, asked.framing))
    }

    pub(super) async fn get_file(self, asked: Download) -> Result<Reply, ApiError> {
        let (op, overrides) = self.caller.permit_shown(asked.op)?;
        let reply = found(service::get_file(self.core, op).await)?;
        render::content(reply, asked.structured, &overrides, self.asked.version)
    }

    pub(super) async fn get_file_properties(
        self,
        op: op::GetFileProperties,
    ) -> Result<Reply, ApiError> {
        let (op, overrides) = self.caller.permit_shown(op)?;
        let view = found(service::get_file_properties(self.core, op).await)?;
        render::properties(&view, &overrides, self.asked.version)
    }

    pub(super) async fn get_file_metadata(
        self,
        op: op::GetFileProperties,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let view = found(service::get_file_properties(self.core, op).await)?;
        Ok(item::only_metadata(view.written, &view.metadata, self.asked.version))
    }

    pub(super) async fn set_file_properties(
        self,
        op: op::SetFileProperties,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let set = done(service::set_file_properties(self.core, op).await)?;
        Ok(item::changed(StatusCode::OK, &set, self.asked.version))
    }

    pub(super) async fn set_file_metadata(
        self,
        op: op::SetFileMetadata,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let set = done(service::set_file_metadata(self.core, op).await)?;
        Ok(item::metadata_set(&set, self.asked.version))
    }

    pub(super) async fn delete_file(self, op: op::DeleteFile) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        done(service::delete_file(self.core, op).await)?;
        Ok(self.empty(StatusCode::ACCEPTED))
    }

    pub(super) async fn put_range(
        self,
        asked: Upload<op::PutRange>,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(asked.op)?;
        let (content, fault) = body::framed(body, asked.framing);
        let written = service::put_range(self.core, op, content).await;
        let written = fault.get().map_or_else(|| done(written), |fault| Err((*fault).into()))?;
        let reply = render::range_written(&written, self.asked.version);
        Ok(render::framed(reply, asked.framing))
    }

    pub(super) async fn list_ranges(self, op: op::ListRanges) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let ranges = done(service::list_ranges(self.core, op).await)?;
        Ok(entries::ranges(&ranges, self.asked.version))
    }

    pub(super) async fn lease_file(self, op: op::LeaseFile) -> Result<Reply, ApiError> {
        let command = op.command;
        let op = self.caller.permit(op)?;
        let leased = done(service::lease_file(self.core, op).await)?;
        let reply =
            share::changed(share::lease_status(command), leased.written, self.asked.version);
        Ok(reply
            .with_some(header!("x-ms-lease-id"), leased.id)
            .with_some(header!("x-ms-lease-time"), leased.break_seconds))
    }
}
