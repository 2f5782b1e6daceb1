//! Put Blob of the kinds that start without content: append blobs, and page blobs full of zeros.

use super::admit::{self, Presented};
use super::op::{CreateBlob, NewBlob};
use super::protection::protect;
use super::records::{Content, Head, Record, Shape, Staging};
use super::replace::{LeftOver, overwrite};
use super::reply::Written;
use super::site::{alive, find};
use crate::service::fresh_id;
use crate::settings::Keeping;
use crate::sparse::{self, SparseKeys};
use crate::{Core, Error};
use zaffre_auth::{Authorized, Grants};
use zaffre_base::ContentId;
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::encryption::Encrypted;
use zaffre_domain::blob::tier::Tier;
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_domain::lease::after_write;
use zaffre_store::{Abort, Tx};

/// Creates an append blob or a page blob, in place of what was there.
pub async fn create_blob(core: &Core, op: Authorized<CreateBlob>) -> Result<Written, Error> {
    let (op, grants) = op.into_parts();
    check_combination(&op.conditions, Access::CreateOrReplace { holds_lease: false })?;
    let found = find(core, &op.at.account, &op.at.container).await?;
    let presented = Presented { lease: op.lease, conditions: op.conditions.clone() };
    let settings = core.settings_now(&op.at.account).await?;
    let encrypted = found.choose(&op.encryption, &settings)?;
    let (site, _hold) = found.for_write();
    let keys = site.keys;
    let (keeping, premium) = (settings.keeping(), settings.sku.is_premium());
    let immutability = settings.version_immutability;
    let id = fresh_id(&core.store().clock)?;
    let create = Create { op, presented, grants, id, encrypted, keeping, immutability, premium };
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        create.decide(tx, keys)
    };
    core.commit(&site, body).await
}

struct Create {
    op: CreateBlob,
    presented: Presented,
    grants: Grants,
    /// Names what will be written into the blob.
    id: ContentId,
    encrypted: Encrypted,
    keeping: Keeping,
    /// The account offers policies and holds.
    immutability: bool,
    /// The account is one for premium page blobs.
    premium: bool,
}

impl Create {
    fn decide(
        &self,
        tx: &mut Tx<'_>,
        keys: super::keys::Keys,
    ) -> Result<(Written, LeftOver), Abort<Refusal>> {
        let (stamp, now) = (tx.stamp(), tx.stamp().time());
        let name = &self.op.at.blob;
        let key = keys.blob(name);
        let old = Head::load(tx, &key)?;
        let (version, mut head) = (self.op.context.version, self.empty(stamp));
        admit::replace(old.as_ref(), head.kind(), &self.presented, self.grants, version, now)
            .map_err(Abort::Fail)?;
        let staging = Staging::load(tx, &keys.staging(name))?;
        if let Some(old) = &old {
            head.lease = after_write(old.lease, now);
        }
        head.set_properties(self.op.properties.clone());
        head.metadata = self.op.metadata.clone();
        if let Some(tier) = self.op.tier {
            tier.fits(head.tiered(self.premium, true)).map_err(Abort::Fail)?;
            head.set_tier(Tier::named(tier, now));
        }
        head.tags = self.op.tags.clone();
        head.encrypted = self.encrypted.clone();
        if head.content.shape == Shape::Sparse {
            let content = SparseKeys { incarnation: keys.0, content: self.id };
            sparse::label(tx, content, &sparse::Label::Blob(name.as_str().to_owned()))?;
        }
        protect(tx, keys, name, &mut head, self.op.protection, self.immutability)?;
        let (old, staging) = (old.as_ref(), staging.as_ref());
        Ok(overwrite(tx, keys, name, old, head, staging, self.keeping)?)
    }

    fn empty(&self, stamp: zaffre_base::Stamp) -> Head {
        match self.op.new {
            NewBlob::Append => {
                let shape = Shape::Blocks { pages: 0 };
                let content = Content { id: self.id, length: 0, shape };
                Head::new(BlobKind::Append, stamp, content)
            }
            NewBlob::Page { length, sequence_number } => {
                let content = Content { id: self.id, length, shape: Shape::Sparse };
                let mut head = Head::new(BlobKind::Page, stamp, content);
                head.set_sequence_number(sequence_number);
                head
            }
        }
    }
}
