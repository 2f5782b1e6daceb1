//! Operations on the service as a whole.

use super::At;
use crate::batch::Batch;
use crate::fields::Fields;
use crate::target::Target;
use zaffre_auth::Service;
use zaffre_base::AccountName;
use zaffre_core::service_properties::{
    GetServiceProperties, GetServiceStats, SetServiceProperties,
};
use zaffre_domain::service::ServicePropertiesUpdate;
use zaffre_http::ApiError;
use zaffre_http::multipart::Boundary;

/// Get Service Properties
pub(super) fn get(account: &AccountName) -> GetServiceProperties {
    GetServiceProperties { account: account.clone(), service: Service::Blob }
}

/// Set Service Properties; the body says what changes.
pub(super) fn set(account: &AccountName) -> SetServiceProperties {
    let update = ServicePropertiesUpdate::default();
    SetServiceProperties { account: account.clone(), service: Service::Blob, update }
}

/// Get Service Stats
pub(super) fn stats(account: &AccountName) -> GetServiceStats {
    GetServiceStats { account: account.clone() }
}

/// Blob Batch; the body holds the parts.
pub(super) fn batch(fields: &Fields<'_>, at: At<'_>) -> Result<Batch, ApiError> {
    const TYPE: &str = "content-type";
    let content_type = fields.required(TYPE)?;
    let boundary = Boundary::of_content_type(content_type)
        .map_err(|_| ApiError::invalid_header_value(TYPE, content_type))?;
    let container = match at.target {
        Target::Service => None,
        Target::Container(container) | Target::Blob(container, _) => Some(container.clone()),
    };
    Ok(Batch { account: at.account.clone(), container, boundary })
}
