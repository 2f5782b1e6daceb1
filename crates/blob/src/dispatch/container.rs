//! Container operations and both listings.

use super::{Dispatch, done};
use crate::parse::listing::{BlobListing, ContainerListing};
use crate::render::container;
use crate::render::listing::{self, Frame};
use crate::render::protection::Asked;
use hyper::StatusCode;
use zaffre_core::blob::{self as service, op};
use zaffre_http::{ApiError, BodyStream, Reply, access_policies, xml};

/// The letters a policy can grant on a container.
const PERMISSIONS: &str = "racwdxyltfmeopi";

impl Dispatch<'_> {
    pub(super) async fn list_containers(self, asked: ContainerListing) -> Result<Reply, ApiError> {
        let ContainerListing { op, echo } = asked;
        let metadata = op.include_metadata;
        let op = self.caller.permit(op)?;
        let page = done(service::list_containers(self.core, op).await)?;
        let endpoint = self.asked.endpoint();
        let version = self.asked.version;
        let (versions, tags, copies) = (false, false, false);
        let protection = Asked::default();
        let (endpoint, echo) = (&endpoint, &echo);
        let frame = Frame { endpoint, echo, metadata, versions, tags, protection, copies, version };
        Ok(listing::containers(&page, &frame))
    }

    pub(super) async fn list_blobs(self, asked: BlobListing) -> Result<Reply, ApiError> {
        let BlobListing { op, echo, protection, copies } = asked;
        let (metadata, tags) = (op.include_metadata, op.include_tags);
        let versions = op.history.versions;
        let name = op.at.container.clone();
        let op = self.caller.permit(op)?;
        let page = done(service::list_blobs(self.core, op).await)?;
        let endpoint = self.asked.endpoint();
        let version = self.asked.version;
        let (endpoint, echo) = (&endpoint, &echo);
        let frame = Frame { endpoint, echo, metadata, versions, tags, protection, copies, version };
        Ok(listing::blobs(&page, name.as_str(), &frame))
    }

    pub(super) async fn create_container(self, op: op::CreateContainer) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let written = done(service::create_container(self.core, op).await)?;
        Ok(container::changed(StatusCode::CREATED, written, self.asked.version))
    }

    pub(super) async fn get_container_properties(
        self,
        op: op::GetContainer,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let view = done(service::get_container(self.core, op).await)?;
        Ok(container::properties(&view, self.asked.version))
    }

    pub(super) async fn get_container_metadata(
        self,
        op: op::GetContainer,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let view = done(service::get_container(self.core, op).await)?;
        Ok(container::view(&view, self.asked.version))
    }

    pub(super) async fn set_container_metadata(
        self,
        op: op::SetContainerMetadata,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let written = done(service::set_container_metadata(self.core, op).await)?;
        Ok(container::changed(StatusCode::OK, written, self.asked.version))
    }

    pub(super) async fn get_container_acl(
        self,
        op: op::GetContainerAcl,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let view = done(service::get_container_acl(self.core, op).await)?;
        Ok(container::acl(&view, self.asked.version))
    }

    pub(super) async fn set_container_acl(
        self,
        mut op: op::SetContainerAcl,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let document = xml::collect(body, self.asked.fields.content_length()).await?;
        op.policies = access_policies::parse(&document, PERMISSIONS)?;
        let op = self.caller.permit(op)?;
        let written = done(service::set_container_acl(self.core, op).await)?;
        Ok(container::changed(StatusCode::OK, written, self.asked.version))
    }

    pub(super) async fn delete_container(self, op: op::DeleteContainer) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        done(service::delete_container(self.core, op).await)?;
        Ok(container::deleted(self.asked.version))
    }

    pub(super) async fn restore_container(
        self,
        op: op::RestoreContainer,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let written = done(service::restore_container(self.core, op).await)?;
        Ok(container::changed(StatusCode::CREATED, written, self.asked.version))
    }

    pub(super) async fn lease_container(self, op: op::LeaseContainer) -> Result<Reply, ApiError> {
        let command = op.command;
        let op = self.caller.permit(op)?;
        let outcome = done(service::lease_container(self.core, op).await)?;
        Ok(container::leased(command, &outcome, self.asked.version))
    }
}
