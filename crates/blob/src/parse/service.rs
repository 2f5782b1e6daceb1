//! Operations on the service as a whole.

use zaffre_auth::Service;
use zaffre_base::AccountName;
use zaffre_core::service_properties::{
    GetServiceProperties, GetServiceStats, SetServiceProperties,
};
use zaffre_domain::service::ServicePropertiesUpdate;

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
