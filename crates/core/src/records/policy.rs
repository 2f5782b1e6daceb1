//! A stored access policy inside the row of what it is about.

use super::fields;
use minicbor::{Decode, Encode};
use zaffre_base::Timestamp;
use zaffre_domain::blob::AccessPolicy;

#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Policy {
    #[n(0)]
    id: String,
    #[cbor(n(1), with = "fields", has_nil)]
    start: Option<Timestamp>,
    #[cbor(n(2), with = "fields", has_nil)]
    expiry: Option<Timestamp>,
    #[n(3)]
    permission: Option<String>,
}

impl Policy {
    pub(crate) fn shown(&self) -> AccessPolicy {
        AccessPolicy {
            id: self.id.clone(),
            start: self.start,
            expiry: self.expiry,
            permission: self.permission.clone(),
        }
    }
}

impl From<&AccessPolicy> for Policy {
    fn from(policy: &AccessPolicy) -> Self {
        Self {
            id: policy.id.clone(),
            start: policy.start,
            expiry: policy.expiry,
            permission: policy.permission.clone(),
        }
    }
}
