//! Operations on shares.

use super::{Dispatch, done};
use crate::render::share as render;
use hyper::StatusCode;
use zaffre_core::file::share::{self as service, op};
use zaffre_http::{ApiError, BodyStream, Reply, access_policies, header};

/// The letters a policy can grant on a share.
const PERMISSIONS: &str = "rcwdl";

impl Dispatch<'_> {
    pub(super) async fn create_share(self, op: op::CreateShare) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let written = done(service::create_share(self.core, op).await)?;
        Ok(render::changed(StatusCode::CREATED, written, self.asked.version))
    }

    pub(super) async fn get_share_properties(self, op: op::GetShare) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let view = done(service::get_share(self.core, op).await)?;
        Ok(render::properties(&view, self.asked.version))
    }

    pub(super) async fn get_share_metadata(self, op: op::GetShare) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let view = done(service::get_share(self.core, op).await)?;
        Ok(render::only_metadata(&view, self.asked.version))
    }

    pub(super) async fn set_share_properties(
        self,
        op: op::SetShareProperties,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let written = done(service::set_share_properties(self.core, op).await)?;
        Ok(render::changed(StatusCode::OK, written, self.asked.version))
    }

    pub(super) async fn set_share_metadata(
        self,
        op: op::SetShareMetadata,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let written = done(service::set_share_metadata(self.core, op).await)?;
        Ok(render::changed(StatusCode::OK, written, self.asked.version))
    }

    pub(super) async fn get_share_acl(self, op: op::GetShareAcl) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let acl = done(service::get_share_acl(self.core, op).await)?;
        Ok(render::acl(&acl, self.asked.version))
    }

    pub(super) async fn set_share_acl(
        self,
        mut op: op::SetShareAcl,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let document = self.document(body).await?;
        op.policies = access_policies::parse(&document, PERMISSIONS)?;
        let op = self.caller.permit(op)?;
        let written = done(service::set_share_acl(self.core, op).await)?;
        Ok(render::changed(StatusCode::OK, written, self.asked.version))
    }

    pub(super) async fn restore_share(self, op: op::RestoreShare) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let written = done(service::restore_share(self.core, op).await)?;
        Ok(render::changed(StatusCode::CREATED, written, self.asked.version))
    }

    pub(super) async fn lease_share(self, op: op::LeaseShare) -> Result<Reply, ApiError> {
        let command = op.command;
        let op = self.caller.permit(op)?;
        let leased = done(service::lease_share(self.core, op).await)?;
        Ok(render::leased(command, &leased, self.asked.version))
    }

    pub(super) async fn get_share_stats(self, op: op::GetShareStats) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let stats = done(service::get_share_stats(self.core, op).await)?;
        Ok(render::stats(&stats, self.asked.version))
    }

    pub(super) async fn snapshot_share(self, op: op::SnapshotShare) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let taken = done(service::snapshot_share(self.core, op).await)?;
        let reply = render::changed(StatusCode::CREATED, taken.written, self.asked.version);
        Ok(reply.with(header!("x-ms-snapshot"), taken.snapshot.time().iso7()))
    }

    pub(super) async fn delete_share(self, op: op::DeleteShare) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let usage = done(service::delete_share(self.core, op).await)?;
        Ok(self.empty(StatusCode::ACCEPTED).with(header!("x-ms-file-share-usage-bytes"), usage))
    }
}
