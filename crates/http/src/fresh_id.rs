//! Ids that nobody can guess, such as those of leases.
//!
//! Must never fall back on one that can be guessed: without random bytes there is no id.

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
