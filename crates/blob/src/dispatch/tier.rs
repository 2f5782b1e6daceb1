//! Set Blob Tier.

use super::{Dispatch, done};
use crate::render::tier;
use zaffre_core::blob::{self as service, op};
use zaffre_http::{ApiError, Reply};

impl Dispatch<'_> {
    pub(super) async fn set_blob_tier(self, op: op::SetBlobTier) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let set = done(service::set_blob_tier(self.core, op).await)?;
        Ok(tier::set(set, self.asked.version))
    }
}
