//! Operations on directories, and renames.

use super::{Dispatch, done, found};
use crate::parse::copy::From;
use crate::parse::directory::EntriesListing;
use crate::render::{entries, item};
use crate::source;
use hyper::StatusCode;
use zaffre_core::file::{self as service, op};
use zaffre_http::{ApiError, Reply};

impl Dispatch<'_> {
    pub(super) async fn create_directory(self, op: op::CreateDirectory) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let made = done(service::create_directory(self.core, op).await)?;
        Ok(item::changed(StatusCode::CREATED, &made, self.asked.version))
    }

    pub(super) async fn get_directory_properties(
        self,
        op: op::GetDirectory,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let view = found(service::get_directory(self.core, op).await)?;
        Ok(item::directory(&view, self.asked.version))
    }

    pub(super) async fn get_directory_metadata(
        self,
        op: op::GetDirectory,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let view = found(service::get_directory(self.core, op).await)?;
        Ok(item::only_metadata(view.written, &view.metadata, self.asked.version))
    }

    pub(super) async fn set_directory_properties(
        self,
        op: op::SetDirectoryProperties,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let set = done(service::set_directory_properties(self.core, op).await)?;
        Ok(item::changed(StatusCode::OK, &set, self.asked.version))
    }

    pub(super) async fn set_directory_metadata(
        self,
        op: op::SetDirectoryMetadata,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let set = done(service::set_directory_metadata(self.core, op).await)?;
        Ok(item::metadata_set(&set, self.asked.version))
    }

    pub(super) async fn delete_directory(self, op: op::DeleteDirectory) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        done(service::delete_directory(self.core, op).await)?;
        Ok(self.empty(StatusCode::ACCEPTED))
    }

    pub(super) async fn list_directory(self, asked: EntriesListing) -> Result<Reply, ApiError> {
        let op = self.caller.permit(asked.op.clone())?;
        let page = done(service::list_directory(self.core, op).await)?;
        Ok(entries::entries(&page, &asked, &self.asked.endpoint(), self.asked.version))
    }

    pub(super) async fn rename(self, from: From<op::Rename>) -> Result<Reply, ApiError> {
        let From { mut op, source, dots } = from;
        op.source = source::renamed(self, &source, dots, &op.at, op.kind).await?;
        let op = self.caller.permit(op)?;
        let renamed = done(service::rename(self.core, op).await)?;
        Ok(item::changed(StatusCode::OK, &renamed, self.asked.version))
    }
}
