//! What becomes of the destination: whether it may be copied to, and its new head.

use super::op::{CopyBlob, When};
use super::source::Traits;
use crate::blob::admit::{self, Presented};
use crate::blob::content::free::sparse_keys;
use crate::blob::keys::Keys;
use crate::blob::protection::protect;
use crate::blob::records::{Content, CopyState, Head, Record, Shape, Staging};
use crate::blob::replace::{LeftOver, overwrite, rewrite};
use crate::blob::reply::{CopyReply, Written};
use crate::blob::site::Site;
use crate::settings::Keeping;
use crate::sparse;
use std::time::Duration;
use zaffre_auth::Grants;
use zaffre_base::Timestamp;
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::copy::{CopyStatus, admits_later_copy};
use zaffre_domain::blob::encryption::Encrypted;
use zaffre_domain::blob::tier::{AccessTier, Tier, TierChange, Tiered};
use zaffre_domain::lease::after_write;
use zaffre_store::{Abort, Tx};

/// The destination of a copy.
#[derive(Clone)]
pub(super) struct Destination {
    pub(super) op: CopyBlob,
    pub(super) presented: Presented,
    pub(super) grants: Grants,
    pub(super) site: Site,
    pub(super) keeping: Keeping,
    pub(super) traits: Traits,
    pub(super) encrypted: Encrypted,
    /// Blobs of the account can have policies and holds.
    pub(super) immutability: bool,
    /// Of an account for premium page blobs.
    pub(super) premium: bool,
    /// How long the way back from the archive takes.
    pub(super) rehydration: Duration,
}

/// What the new head names.
#[derive(Clone, Copy)]
pub(super) struct Made {
    pub(super) content: Content,
    /// Blocks of an append blob.
    pub(super) blocks: u32,
    pub(super) status: CopyStatus,
}

impl Destination {
    fn keys(&self) -> Keys {
        self.site.keys
    }

    /// Whether what is there may be copied to.
    pub(super) fn admit(&self, old: Option<&Head>, now: Timestamp) -> Result<(), Refusal> {
        let version = self.op.context.version;
        admit::replace(old, self.traits.kind, &self.presented, self.grants, version, now)?;
        let Some(old) = old else { return Ok(()) };
        if self.op.when == When::Later { admits_later_copy(&old.lease, now) } else { Ok(()) }
    }

    /// Puts a new head in the place of what is there.
    pub(super) fn write(
        &self,
        tx: &mut Tx<'_>,
        made: Made,
    ) -> Result<(CopyReply, LeftOver), Abort<Refusal>> {
        let (stamp, now) = (tx.stamp(), tx.stamp().time());
        let (keys, name) = (self.keys(), &self.op.at.blob);
        let old = Head::load(tx, &keys.blob(name))?;
        self.admit(old.as_ref(), now).map_err(Abort::Fail)?;
        let staging = Staging::load(tx, &keys.staging(name))?;
        let mut head = Head::new(self.traits.kind, stamp, made.content);
        if let Some(old) = &old {
            head.lease = after_write(old.lease, now);
        }
        self.dress(&mut head, now, made.status).map_err(Abort::Fail)?;
        match self.traits.kind {
            BlobKind::Block => {}
            BlobKind::Append => {
                head.set_append_blocks(made.blocks);
                if self.op.seal.unwrap_or(self.traits.sealed) {
                    head.seal();
                }
            }
            BlobKind::Page => head.set_sequence_number(self.traits.sequence_number),
        }
        if made.content.shape == Shape::Sparse {
            let label = sparse::Label::Blob(name.as_str().to_owned());
            sparse::label(tx, sparse_keys(&self.site, made.content.id), &label)?;
        }
        protect(tx, keys, name, &mut head, self.op.protection, self.immutability)?;
        let (old, staging) = (old.as_ref(), staging.as_ref());
        let (written, left) = overwrite(tx, keys, name, old, head, staging, self.keeping)?;
        Ok((self.reply(written, made.status), left))
    }

    /// A copy of a blob onto itself: everything but the bytes is as for any other.
    pub(super) fn write_in_place(
        &self,
        tx: &mut Tx<'_>,
    ) -> Result<(CopyReply, LeftOver), Abort<Refusal>> {
        let (stamp, now) = (tx.stamp(), tx.stamp().time());
        let (keys, name) = (self.keys(), &self.op.at.blob);
        let old = Head::load(tx, &keys.blob(name))?;
        self.admit(old.as_ref(), now).map_err(Abort::Fail)?;
        let Some(old) = old else { return Err(Abort::Fail(Refusal::BlobNotFound)) };
        let staging = Staging::load(tx, &keys.staging(name))?;
        let mut head = old.clone();
        head.written = stamp;
        head.lease = after_write(old.lease, now);
        let itself = Traits {
            properties: old.properties(),
            metadata: old.metadata.clone(),
            length: old.content.length,
            ..self.traits.clone()
        };
        let again = Self { traits: itself, ..self.clone() };
        again.dress(&mut head, now, CopyStatus::Success).map_err(Abort::Fail)?;
        if self.op.seal == Some(true) && self.traits.kind == BlobKind::Append {
            head.seal();
        }
        protect(tx, keys, name, &mut head, self.op.protection, self.immutability)?;
        let (written, left) = rewrite(tx, keys, name, &old, head, staging.as_ref(), self.keeping)?;
        Ok((self.reply(written, CopyStatus::Success), left))
    }

    /// What does not depend on the content.
    fn dress(&self, head: &mut Head, now: Timestamp, status: CopyStatus) -> Result<(), Refusal> {
        head.set_properties(self.traits.properties.clone());
        let given = &self.op.metadata;
        head.metadata = if given.is_empty() { self.traits.metadata.clone() } else { given.clone() };
        head.tags = self.op.tags.clone();
        head.encrypted = self.encrypted.clone();
        head.set_tier(self.tier(now)?);
        let copy = CopyState::pending(self.op.id, self.op.shown_source.clone(), self.traits.length);
        head.copy = Some(match status {
            CopyStatus::Pending => copy,
            ended => copy.ended(ended, now, None),
        });
        Ok(())
    }

    /// The tier that was asked for; a copy from the archive has the way back before it.
    fn tier(&self, now: Timestamp) -> Result<Tier, Refusal> {
        let Some(tier) = self.op.tier else { return Ok(Tier::default()) };
        let Traits { kind, length, archived, .. } = self.traits;
        let blob = Tiered { kind, length, premium_account: self.premium, current: true };
        let before = if archived { Tier::named(AccessTier::Archive, now) } else { Tier::default() };
        let asked = TierChange { tier, priority: self.op.priority, may_hurry: false };
        Ok(before.change(asked, blob, now, self.rehydration)?.0)
    }

    fn reply(&self, written: Written, status: CopyStatus) -> CopyReply {
        CopyReply { written, id: self.op.id, status, md5: None, crc64: None }
    }
}
