//! Immutability policies and legal holds.

use super::{Dispatch, done};
use crate::render::protection;
use zaffre_core::blob::{self as service, op};
use zaffre_http::{ApiError, Reply};

impl Dispatch<'_> {
    pub(super) async fn set_immutability_policy(
        self,
        op: op::SetBlobImmutabilityPolicy,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let policy = done(service::set_immutability_policy(self.core, op).await)?;
        Ok(protection::policy_set(policy, self.asked.version))
    }

    pub(super) async fn delete_immutability_policy(
        self,
        op: op::DeleteBlobImmutabilityPolicy,
    ) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        done(service::delete_immutability_policy(self.core, op).await)?;
        Ok(protection::policy_deleted(self.asked.version))
    }

    pub(super) async fn set_legal_hold(self, op: op::SetBlobLegalHold) -> Result<Reply, ApiError> {
        let op = self.caller.permit(op)?;
        let hold = done(service::set_legal_hold(self.core, op).await)?;
        Ok(protection::hold_set(hold, self.asked.version))
    }
}
