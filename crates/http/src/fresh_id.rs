//! Ids that nobody can guess: of leases, and of whatever else a client may name without having
//! been told.

use crate::error::ApiError;
use zaffre_base::Guid;

/// One that was never there before.
pub fn fresh_id() -> Result<Guid, ApiError> {
    let mut bytes = [0; 16];
    match getrandom::fill(&mut bytes) {
        Ok(()) => Ok(Guid::from_random(bytes)),
        Err(error) => {
            tracing::error!(%error, "the system gave no random bytes; answered 500");
            Err(ApiError::internal_error())
        }
    }
}
