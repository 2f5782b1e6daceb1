//! Query Blob Contents.

use super::{Dispatch, done};
use crate::body;
use crate::render::query;
use zaffre_core::blob::{self as service, op};
use zaffre_http::{ApiError, BodyStream, Reply, xml};

impl Dispatch<'_> {
    pub(super) async fn query_blob(
        self,
        op: op::QueryBlob,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let document = xml::collect(body, self.asked.fields.content_length()).await?;
        let asked = body::query::parse(&document)?;
        let op = self.caller.permit(op)?;
        let reply = done(service::query_blob(self.core, op).await)?;
        let now = self.core.store().clock.now();
        let mut sync = [0; 16];
        getrandom::fill(&mut sync).map_err(|_| ApiError::internal_error())?;
        query::answer(reply, asked, now, sync, self.asked.version)
    }
}
