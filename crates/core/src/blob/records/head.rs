//! The head of a blob: everything about it but its bytes.

use super::{Content, CopyState, Incremental, Record, fields};
use minicbor::{Decode, Encode};
use std::collections::BTreeMap;
use zaffre_base::{ETag, Stamp, Timestamp};
use zaffre_domain::blob::append::Appendable;
use zaffre_domain::blob::copy::CopyStatus;
use zaffre_domain::blob::encryption::Encrypted;
use zaffre_domain::blob::immutability::{ImmutabilityPolicy, PolicyMode, Protection};
use zaffre_domain::blob::tags::Tags;
use zaffre_domain::blob::tier::{AccessTier, RehydratePriority, Rehydration, Tier, Tiered};
use zaffre_domain::blob::{BlobKind, HttpProperties, Metadata};
use zaffre_domain::conditions::Validators;
use zaffre_domain::lease::Lease;

/// The state of a blob.
#[derive(Clone, PartialEq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Head {
    /// The commit that made this state; ETag and Last-Modified come from it.
    #[cbor(n(0), with = "fields")]
    pub(crate) written: Stamp,
    /// When the blob was first created; overwriting keeps it.
    #[cbor(n(1), with = "fields")]
    pub(crate) created: Timestamp,
    #[n(2)]
    pub(crate) content: Content,
    #[n(3)]
    properties: StoredProperties,
    #[n(4)]
    pub(crate) metadata: BTreeMap<String, String>,
    #[cbor(n(5), with = "fields")]
    pub(crate) lease: Lease,
    #[n(6)]
    tier: Option<StoredTier>,
    #[n(7)]
    kind: Kind,
    /// The id of this version, if it was written while versions are kept.
    #[cbor(n(8), with = "fields", has_nil)]
    pub(crate) version: Option<Stamp>,
    /// Only in history: it was deleted and is kept for a while.
    #[n(9)]
    pub(crate) deleted: Option<Deleted>,
    /// Blocks of an append blob.
    #[n(14)]
    append_blocks: Option<u32>,
    /// Whether an append blob was sealed.
    #[n(15)]
    sealed: Option<bool>,
    /// Sequence number of a page blob.
    #[n(16)]
    sequence_number: Option<u64>,
    #[cbor(n(20), with = "fields", has_nil)]
    pub(crate) tags: Tags,
    /// The copy that made it, until something else changes it.
    #[n(21)]
    pub(crate) copy: Option<CopyState>,
    /// Of a blob that incremental copies make.
    #[n(22)]
    pub(crate) incremental: Option<Incremental>,
    /// What its content is encrypted with.
    #[cbor(n(24), with = "fields", has_nil)]
    pub(crate) encrypted: Encrypted,
    /// The way of an archived blob back to another tier.
    #[n(26)]
    rehydration: Option<StoredRehydration>,
    #[n(27)]
    policy: Option<StoredPolicy>,
    /// Whether it is held; `None` = nobody has said.
    #[n(28)]
    legal_hold: Option<bool>,
    /// When it was last read or written, if that is remembered; a day behind at most.
    #[cbor(n(29), with = "fields", has_nil)]
    pub(crate) last_access: Option<Timestamp>,
}

/// A deletion that can be taken back for a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Deleted {
    /// The commit that deleted it.
    #[cbor(n(0), with = "fields")]
    pub(crate) at: Stamp,
    /// When it is gone.
    #[cbor(n(1), with = "fields")]
    pub(crate) until: Timestamp,
}

/// An access tier that was set by name.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
struct StoredTier {
    #[n(0)]
    name: String,
    #[cbor(n(1), with = "fields")]
    since: Timestamp,
}

/// A rehydration; whether it is over is for the reader to tell.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
struct StoredRehydration {
    #[n(0)]
    to: String,
    #[n(1)]
    high: bool,
    #[cbor(n(2), with = "fields")]
    ends: Timestamp,
}

/// An immutability policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
struct StoredPolicy {
    #[cbor(n(0), with = "fields")]
    until: Timestamp,
    #[n(1)]
    locked: bool,
}

/// What kind of blob it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(index_only)]
enum Kind {
    #[n(0)]
    Block,
    #[n(1)]
    Append,
    #[n(2)]
    Page,
}

#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct StoredProperties {
    #[n(0)]
    content_type: Option<String>,
    #[n(1)]
    content_encoding: Option<String>,
    #[n(2)]
    content_language: Option<String>,
    #[n(3)]
    content_disposition: Option<String>,
    #[n(4)]
    cache_control: Option<String>,
    #[cbor(n(5), with = "fields", has_nil)]
    content_md5: Option<[u8; 16]>,
}

impl From<HttpProperties> for StoredProperties {
    fn from(p: HttpProperties) -> Self {
        Self {
            content_type: p.content_type,
            content_encoding: p.content_encoding,
            content_language: p.content_language,
            content_disposition: p.content_disposition,
            cache_control: p.cache_control,
            content_md5: p.content_md5,
        }
    }
}

impl From<StoredProperties> for HttpProperties {
    fn from(p: StoredProperties) -> Self {
        Self {
            content_type: p.content_type,
            content_encoding: p.content_encoding,
            content_language: p.content_language,
            content_disposition: p.content_disposition,
            cache_control: p.cache_control,
            content_md5: p.content_md5,
        }
    }
}

impl Record for Head {
    const WHAT: &'static str = "blob head";
}

impl Head {
    /// A block blob that is new at `written`.
    pub(crate) fn block_blob(written: Stamp, content: Content) -> Self {
        Self::new(BlobKind::Block, written, content)
    }

    /// A blob that is new at `written`.
    pub(crate) fn new(kind: BlobKind, written: Stamp, content: Content) -> Self {
        Self {
            written,
            created: written.time(),
            content,
            properties: HttpProperties::default().into(),
            metadata: Metadata::new(),
            lease: Lease::default(),
            tier: None,
            kind: match kind {
                BlobKind::Block => Kind::Block,
                BlobKind::Append => Kind::Append,
                BlobKind::Page => Kind::Page,
            },
            append_blocks: None,
            sealed: None,
            sequence_number: None,
            version: None,
            deleted: None,
            tags: Tags::new(),
            copy: None,
            incremental: None,
            encrypted: Encrypted::ByAccount,
            rehydration: None,
            policy: None,
            legal_hold: None,
            last_access: None,
        }
    }

    pub(crate) fn kind(&self) -> BlobKind {
        match self.kind {
            Kind::Block => BlobKind::Block,
            Kind::Append => BlobKind::Append,
            Kind::Page => BlobKind::Page,
        }
    }

    /// What an append blob is like; of another kind this says nothing.
    pub(crate) fn appendable(&self) -> Appendable {
        Appendable {
            length: self.content.length,
            blocks: self.append_blocks.unwrap_or(0),
            sealed: self.sealed.unwrap_or(false),
        }
    }

    pub(crate) fn set_append_blocks(&mut self, blocks: u32) {
        self.append_blocks = Some(blocks);
    }

    pub(crate) fn seal(&mut self) {
        self.sealed = Some(true);
    }

    /// Whether it is being copied to.
    pub(crate) fn is_copied_to(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| copy.status() == CopyStatus::Pending)
    }

    pub(crate) fn sequence_number(&self) -> u64 {
        self.sequence_number.unwrap_or(0)
    }

    pub(crate) fn set_sequence_number(&mut self, number: u64) {
        self.sequence_number = Some(number);
    }

    /// The id this state has as a version; what was written without one has its creation's.
    pub(crate) fn version_id(&self) -> Stamp {
        self.version.unwrap_or(Stamp(self.created.0))
    }

    /// Its tier, with a rehydration that may be over.
    pub(crate) fn tier(&self) -> Tier {
        let set = self.tier.as_ref().and_then(|t| Some((AccessTier::parse(&t.name)?, t.since)));
        let rehydration = self.rehydration.as_ref().and_then(|stored| {
            let priority = RehydratePriority::default();
            let priority = if stored.high { RehydratePriority::High } else { priority };
            Some(Rehydration { to: AccessTier::parse(&stored.to)?, priority, ends: stored.ends })
        });
        Tier { set, rehydration }
    }

    /// When its tier was set last; one that was never set is as old as the blob.
    pub(crate) fn tier_changed(&self) -> Timestamp {
        self.tier().set.map_or(self.created, |(_, since)| since)
    }

    pub(crate) fn set_tier(&mut self, tier: Tier) {
        let named = |(tier, since): (AccessTier, _)| (tier.text().to_owned(), since);
        self.tier = tier.set.map(named).map(|(name, since)| StoredTier { name, since });
        self.rehydration = tier.rehydration.map(|way| StoredRehydration {
            to: way.to.text().to_owned(),
            high: way.priority == RehydratePriority::High,
            ends: way.ends,
        });
    }

    /// What keeps it as it is.
    pub(crate) fn protection(&self) -> Protection {
        let policy = self.policy.map(|stored| ImmutabilityPolicy {
            until: stored.until,
            mode: if stored.locked { PolicyMode::Locked } else { PolicyMode::Unlocked },
        });
        Protection { policy, legal_hold: self.legal_hold }
    }

    pub(crate) fn set_protection(&mut self, protection: Protection) {
        self.policy = protection.policy.map(|policy| StoredPolicy {
            until: policy.until,
            locked: policy.mode == PolicyMode::Locked,
        });
        self.legal_hold = protection.legal_hold;
    }

    /// What decides which tiers it can have.
    pub(crate) fn tiered(&self, premium_account: bool, current: bool) -> Tiered {
        Tiered { kind: self.kind(), length: self.content.length, premium_account, current }
    }

    /// Whether its bytes are offline.
    pub(crate) fn is_archived(&self, now: Timestamp) -> bool {
        self.tier().is_archived(now)
    }

    /// The same state as a part of history, where nothing is leased.
    pub(crate) fn to_past(&self) -> Self {
        Self { lease: Lease::default(), ..self.clone() }
    }

    /// The same state, deleted or brought back.
    pub(crate) fn with_deleted(self, deleted: Option<Deleted>) -> Self {
        Self { deleted, ..self }
    }

    /// The same state as the version `version`.
    pub(crate) fn with_version(self, version: Option<Stamp>) -> Self {
        Self { version, ..self }
    }

    pub(crate) fn properties(&self) -> HttpProperties {
        self.properties.clone().into()
    }

    pub(crate) fn set_properties(&mut self, properties: HttpProperties) {
        self.properties = properties.into();
    }

    /// What conditions are compared with.
    pub(crate) fn validators(&self) -> Validators<'_> {
        let last_modified = self.written.time();
        Validators { etag: ETag(self.written), last_modified, tags: &self.tags }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;
    use zaffre_base::{ContentId, Guid};

    #[test]
    fn round_trip() {
        let content = Content {
            id: ContentId(u128::MAX - 1),
            length: u64::MAX,
            shape: Shape::Pieces { size: u32::MAX },
        };
        let mut head = Head::block_blob(Stamp(7), content);
        assert_eq!(Head::from_bytes(&head.to_bytes()).ok().as_ref(), Some(&head));
        head.set_properties(HttpProperties {
            content_type: Some("text/plain".to_owned()),
            content_encoding: Some("gzip".to_owned()),
            content_language: Some("de".to_owned()),
            content_disposition: Some("inline".to_owned()),
            cache_control: Some("no-store".to_owned()),
            content_md5: Some([9; 16]),
        });
        head.metadata.insert("Name".to_owned(), "value".to_owned());
        head.tags.insert("state".to_owned(), "a b".to_owned());
        let way = Rehydration {
            to: AccessTier::Cool,
            priority: RehydratePriority::High,
            ends: Timestamp(6),
        };
        let tier =
            Tier { rehydration: Some(way), ..Tier::named(AccessTier::Archive, Timestamp(5)) };
        head.set_tier(tier);
        assert_eq!(head.tier(), tier);
        let policy = ImmutabilityPolicy { until: Timestamp(77), mode: PolicyMode::Locked };
        let protection = Protection { policy: Some(policy), legal_hold: Some(false) };
        head.set_protection(protection);
        assert_eq!(head.protection(), protection);
        head.lease = Lease {
            id: Some(Guid(3)),
            seconds: Some(15),
            expires: Some(Timestamp(9)),
            breaks: Some(Timestamp(8)),
        };
        head.version = Some(Stamp(11));
        head.last_access = Some(Timestamp(78));
        head.encrypted = Encrypted::ByCustomer([4; 32]);
        head.deleted = Some(Deleted { at: Stamp(12), until: Timestamp(13) });
        let back = Head::from_bytes(&head.to_bytes()).ok();
        assert_eq!(back.as_ref(), Some(&head));
        assert_eq!(back.map(|h| h.properties()), Some(head.properties()));
    }
}
