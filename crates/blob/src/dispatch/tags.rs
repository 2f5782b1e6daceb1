//! The operations on tags.

use super::{Dispatch, done};
use crate::body;
use crate::parse::tags::{Search, TagsUpload};
use crate::render::tags;
use zaffre_core::blob::{self as service, op};
use zaffre_http::{ApiError, BodyStream, Reply, xml};

impl Dispatch<'_> {
    pub(super) async fn get_blob_tags(self, op: op::GetBlobTags) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let found = done(service::get_blob_tags(self.core, op).await)?;
        Ok(tags::all(&found, self.asked.version))
    }

    pub(super) async fn set_blob_tags(
        self,
        asked: TagsUpload,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let TagsUpload { mut op, expect } = asked;
        let document = xml::collect(body, self.asked.fields.content_length()).await?;
        body::verify(&document, expect)?;
        op.tags = body::tags::parse(&document)?;
        let op = self.caller.permit(op)?;
        done(service::set_blob_tags(self.core, op).await)?;
        Ok(tags::set(self.asked.version))
    }

    pub(super) async fn find_blobs_by_tags(self, asked: Search) -> Result<Reply, ApiError> {
        let op = self.caller.permit(asked.op.clone())?;
        let page = done(service::find_blobs_by_tags(self.core, op).await)?;
        Ok(tags::found(&page, &asked, &self.asked.endpoint(), self.asked.version))
    }
}
