//! Operations on page blobs.

use super::{Dispatch, done};
use crate::body::stream;
use crate::parse::put::Upload;
use crate::render::{blob, encryption, pages};
use zaffre_core::blob::{self as service, op};
use zaffre_http::{ApiError, BodyStream, Reply};

impl Dispatch<'_> {
    pub(super) async fn put_page(
        self,
        asked: Upload<op::PutPage>,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(asked.op)?;
        let (content, fault) = stream::content(body, asked.framing);
        let reply = service::put_page(self.core, op, content).await;
        let reply = fault.get().map_or_else(|| done(reply), |fault| Err((*fault).into()))?;
        encryption::echo(
            pages::written_pages(&reply, asked.framing, self.asked.version),
            &self.asked.fields,
        )
    }

    pub(super) async fn set_page_properties(
        self,
        op: op::SetPageProperties,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let set = done(service::set_page_properties(self.core, op).await)?;
        Ok(blob::properties_set(set, self.asked.version))
    }

    pub(super) async fn get_page_ranges(self, op: op::GetPageRanges) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let reply = done(service::get_page_ranges(self.core, op).await)?;
        Ok(pages::ranges(&reply, self.asked.version))
    }
}
