//! Operations on append blobs, and the creation of blobs without content.

use super::{Dispatch, done};
use crate::body::stream;
use crate::parse::put::Upload;
use crate::render::{append, encryption};
use zaffre_core::blob::{self as service, op};
use zaffre_http::{ApiError, BodyStream, Reply};

impl Dispatch<'_> {
    pub(super) async fn create_blob(self, op: op::CreateBlob) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let written = done(service::create_blob(self.core, op).await)?;
        encryption::echo(append::created(written, self.asked.version), &self.asked.fields)
    }

    pub(super) async fn append_block(
        self,
        asked: Upload<op::AppendBlock>,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(asked.op)?;
        let (content, fault) = stream::content(body, asked.framing);
        let reply = service::append_block(self.core, op, content).await;
        let reply = fault.get().map_or_else(|| done(reply), |fault| Err((*fault).into()))?;
        encryption::echo(
            append::appended(&reply, asked.framing, self.asked.version),
            &self.asked.fields,
        )
    }

    pub(super) async fn seal_blob(self, op: op::SealBlob) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let written = done(service::seal_blob(self.core, op).await)?;
        Ok(append::sealed(written, self.asked.version))
    }
}
