//! A container's row in its account's directory.

use super::{Deleted, Record, fields};
use crate::directory::{Family, Listed};
use crate::records::Policy;
use minicbor::{Decode, Encode};
use std::collections::BTreeMap;
use zaffre_base::{ETag, Incarnation, Stamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::encryption::ScopePolicy;
use zaffre_domain::blob::tags::NO_TAGS;
use zaffre_domain::blob::{AccessPolicy, PublicAccess};
use zaffre_domain::conditions::Validators;
use zaffre_domain::lease::Lease;

/// A container that exists.
#[derive(Clone, PartialEq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Container {
    /// Prefixes every key inside; the commit that created the container.
    #[cbor(n(0), with = "fields")]
    pub(crate) incarnation: Incarnation,
    /// The commit that made this state.
    #[cbor(n(1), with = "fields")]
    pub(crate) written: Stamp,
    #[n(2)]
    pub(crate) metadata: BTreeMap<String, String>,
    #[n(3)]
    access: Access,
    #[n(4)]
    policies: Vec<Policy>,
    #[cbor(n(5), with = "fields")]
    pub(crate) lease: Lease,
    /// Only in rows of deleted containers.
    #[n(6)]
    pub(crate) deleted: Option<Deleted>,
    /// The scope of blobs that name none.
    #[n(8)]
    default_scope: Option<String>,
    /// Whether blobs may not name another.
    #[n(9)]
    deny_scope_override: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(index_only)]
enum Access {
    #[n(0)]
    Private,
    #[n(1)]
    Blob,
    #[n(2)]
    Container,
}

impl Record for Container {
    const WHAT: &'static str = "container";
}

impl Listed for Container {
    const FAMILY: Family = Family::Containers;

    fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    fn not_found() -> Refusal {
        Refusal::ContainerNotFound
    }

    fn being_deleted() -> Refusal {
        Refusal::ContainerBeingDeleted
    }
}

impl Container {
    /// A private container that is new at `written`.
    pub(crate) fn new(written: Stamp) -> Self {
        Self {
            incarnation: Incarnation(written.0),
            written,
            metadata: BTreeMap::new(),
            access: Access::Private,
            policies: Vec::new(),
            lease: Lease::default(),
            deleted: None,
            default_scope: None,
            deny_scope_override: None,
        }
    }

    pub(crate) fn access(&self) -> PublicAccess {
        match self.access {
            Access::Private => PublicAccess::Private,
            Access::Blob => PublicAccess::Blob,
            Access::Container => PublicAccess::Container,
        }
    }

    pub(crate) fn set_access(&mut self, access: PublicAccess) {
        self.access = match access {
            PublicAccess::Private => Access::Private,
            PublicAccess::Blob => Access::Blob,
            PublicAccess::Container => Access::Container,
        };
    }

    pub(crate) fn scopes(&self) -> ScopePolicy {
        let deny_override = self.deny_scope_override.unwrap_or(false);
        ScopePolicy { default: self.default_scope.clone(), deny_override }
    }

    pub(crate) fn set_scopes(&mut self, scopes: ScopePolicy) {
        self.default_scope = scopes.default;
        self.deny_scope_override = scopes.deny_override.then_some(true);
    }

    pub(crate) fn policies(&self) -> Vec<AccessPolicy> {
        self.policies.iter().map(Policy::shown).collect()
    }

    pub(crate) fn set_policies(&mut self, policies: &[AccessPolicy]) {
        self.policies = policies.iter().map(Policy::from).collect();
    }

    /// What conditions are compared with.
    pub(crate) fn validators(&self) -> Validators<'static> {
        let last_modified = self.written.time();
        Validators { etag: ETag(self.written), last_modified, tags: &NO_TAGS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_base::Timestamp;

    #[test]
    fn round_trip() {
        let mut container = Container::new(Stamp(7));
        container.metadata.insert("a".to_owned(), "b".to_owned());
        for access in [PublicAccess::Private, PublicAccess::Blob, PublicAccess::Container] {
            container.set_access(access);
            assert_eq!(container.access(), access);
        }
        let policies = vec![
            AccessPolicy { id: "all".to_owned(), start: None, expiry: None, permission: None },
            AccessPolicy {
                id: "two".to_owned(),
                start: Some(Timestamp(1)),
                expiry: Some(Timestamp(2)),
                permission: Some("rwd".to_owned()),
            },
        ];
        container.set_policies(&policies);
        let back = Container::from_bytes(&container.to_bytes()).ok();
        assert_eq!(back.as_ref(), Some(&container));
        assert_eq!(back.map(|c| c.policies()), Some(policies));
    }
}
