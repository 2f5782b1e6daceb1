//! Blob operations.

use super::{Dispatch, done};
use crate::body::{block_list, stream, verify};
use crate::parse::blob::Download;
use crate::parse::put::{BlockListUpload, Upload};
use crate::render::{blob, blocks, container, encryption, history, upload};
use zaffre_core::blob::{self as service, op};
use zaffre_http::{ApiError, BodyStream, Reply, xml};

impl Dispatch<'_> {
    pub(super) async fn get_blob(self, asked: Download) -> Result<Reply, ApiError> {
        let (op, overrides) = self.caller.permit_read(asked.op)?;
        let reply = done(service::get_blob(self.core, op).await)?;
        blob::content(reply, asked.structured, &overrides, self.asked.version)
    }

    pub(super) async fn get_blob_properties(
        self,
        op: op::GetBlobProperties,
    ) -> Result<Reply, ApiError> {
        let (op, overrides) = self.caller.permit_read(op)?;
        let view = done(service::get_blob_properties(self.core, op).await)?;
        blob::properties(&view, &overrides, self.asked.version)
    }

    pub(super) async fn get_blob_metadata(
        self,
        op: op::GetBlobProperties,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let view = done(service::get_blob_properties(self.core, op).await)?;
        Ok(blob::only_metadata(&view, self.asked.version))
    }

    pub(super) async fn set_blob_metadata(
        self,
        op: op::SetBlobMetadata,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let written = done(service::set_blob_metadata(self.core, op).await)?;
        encryption::echo(blob::metadata_set(written, self.asked.version), &self.asked.fields)
    }

    pub(super) async fn set_blob_properties(
        self,
        op: op::SetBlobProperties,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let written = done(service::set_blob_properties(self.core, op).await)?;
        Ok(blob::properties_set(written, self.asked.version))
    }

    pub(super) async fn delete_blob(self, op: op::DeleteBlob) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let reply = done(service::delete_blob(self.core, op).await)?;
        Ok(history::deleted(reply, self.asked.version))
    }

    pub(super) async fn snapshot_blob(self, op: op::SnapshotBlob) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let reply = done(service::snapshot_blob(self.core, op).await)?;
        encryption::echo(history::snapshot(&reply, self.asked.version), &self.asked.fields)
    }

    pub(super) async fn undelete_blob(self, op: op::UndeleteBlob) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        done(service::undelete_blob(self.core, op).await)?;
        Ok(history::undeleted(self.asked.version))
    }

    pub(super) async fn lease_blob(self, op: op::LeaseBlob) -> Result<Reply, ApiError> {
        let command = op.command;
        let op = self.caller.permit(op)?;
        let outcome = done(service::lease_blob(self.core, op).await)?;
        Ok(container::leased(command, &outcome, self.asked.version))
    }

    pub(super) async fn put_blob(
        self,
        asked: Upload<op::PutBlob>,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(asked.op)?;
        let (content, fault) = stream::content(body, asked.framing);
        let reply = service::put_blob(self.core, op, content).await;
        let reply = fault.get().map_or_else(|| done(reply), |fault| Err((*fault).into()))?;
        encryption::echo(
            upload::blob(&reply, asked.framing, self.asked.version),
            &self.asked.fields,
        )
    }

    pub(super) async fn put_block(
        self,
        asked: Upload<op::PutBlock>,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(asked.op)?;
        let (content, fault) = stream::content(body, asked.framing);
        let reply = service::put_block(self.core, op, content).await;
        let reply = fault.get().map_or_else(|| done(reply), |fault| Err((*fault).into()))?;
        encryption::echo(
            upload::block(&reply, asked.framing, self.asked.version),
            &self.asked.fields,
        )
    }

    pub(super) async fn put_block_list(
        self,
        asked: BlockListUpload,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let BlockListUpload { mut op, expect } = asked;
        let document = xml::collect(body, self.asked.fields.content_length()).await?;
        let verified = verify(&document, expect)?;
        op.blocks = block_list::parse(&document)?;
        let op = self.caller.permit(op)?;
        let written = done(service::put_block_list(self.core, op).await)?;
        encryption::echo(
            upload::block_list(written, verified, self.asked.version),
            &self.asked.fields,
        )
    }

    pub(super) async fn get_block_list(self, op: op::GetBlockList) -> Result<Reply, ApiError> {
        if op.uncommitted {
            self.caller.check_staged_blocks(self.asked)?;
        }
        let op = self.caller.permit(op)?;
        let list = done(service::get_block_list(self.core, op).await)?;
        Ok(blocks::list(&list, self.asked.version))
    }
}
