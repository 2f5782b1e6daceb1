//! The properties that requests ask for, in memory.
//!
//! Must never let older properties replace newer ones, whoever reads and sets at the same time.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};
use zaffre_auth::Service;
use zaffre_base::{AccountName, Stamp};
use zaffre_domain::service::ServiceProperties;

/// Accounts whose properties are kept; those beyond are read each time.
const ACCOUNTS: usize = 4096;

/// One entry for each service of an account.
type Kept = [Option<(Stamp, Arc<ServiceProperties>)>; 4];

/// What is known of all accounts.
#[derive(Default)]
pub(crate) struct Cache(RwLock<BTreeMap<AccountName, Kept>>);

fn slot(service: Service) -> usize {
    match service {
        Service::Blob => 0,
        Service::Queue => 1,
        Service::Table => 2,
        Service::File => 3,
    }
}

impl Cache {
    pub(crate) fn get(
        &self,
        account: &AccountName,
        service: Service,
    ) -> Option<Arc<ServiceProperties>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (_, properties) = all.get(account)?[slot(service)].as_ref()?;
        Some(Arc::clone(properties))
    }

    /// Keeps what the commit `written` made unless something newer is there; gives back the newest.
    pub(super) fn keep(
        &self,
        account: &AccountName,
        service: Service,
        written: Stamp,
        properties: Arc<ServiceProperties>,
    ) -> Arc<ServiceProperties> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= ACCOUNTS && !all.contains_key(account) {
            return properties;
        }
        let slot = &mut all.entry(account.clone()).or_default()[slot(service)];
        match slot {
            Some((stamp, newer)) if *stamp > written => Arc::clone(newer),
            _ => {
                *slot = Some((written, Arc::clone(&properties)));
                properties
            }
        }
    }

    pub(super) fn forget(&self, account: &AccountName, service: Service) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = all.get_mut(account) {
            kept[slot(service)] = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_domain::service::Logging;

    #[test]
    fn a_slow_reader_does_not_bring_back_the_past() {
        let cache = Cache::default();
        let account = AccountName::parse("acct").expect("legal");
        let old = Arc::new(ServiceProperties::default());
        let logging = Logging { read: true, ..Logging::default() };
        let new = Arc::new(ServiceProperties { logging, ..ServiceProperties::default() });
        assert!(cache.get(&account, Service::Blob).is_none());
        cache.keep(&account, Service::Blob, Stamp(2), Arc::clone(&new));
        assert_eq!(cache.keep(&account, Service::Blob, Stamp(1), old), new);
        assert_eq!(cache.get(&account, Service::Blob), Some(new));
        assert!(cache.get(&account, Service::Queue).is_none());
        cache.forget(&account, Service::Blob);
        assert!(cache.get(&account, Service::Blob).is_none());
    }
}
