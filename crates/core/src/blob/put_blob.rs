//! Put Blob: creates or replaces a block blob in one go.

use super::ByteStream;
use super::admit::{self, Presented};
use super::content::claim::NewRows;
use super::content::upload::{Expected, is_small, receive};
use super::keys::Keys;
use super::op::{ExpectedChecksum, PutBlob};
use super::protection::protect;
use super::records::{Content, Head, Record, Staging};
use super::replace::{LeftOver, overwrite};
use super::reply::{PutBlobReply, Written};
use super::site::{Site, alive, find};
use crate::settings::{AccountSettings, Keeping};
use crate::{Core, Error};
use zaffre_auth::{Authorized, Grants};
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::encryption::Encrypted;
use zaffre_domain::blob::sizes::{check_size, sizes};
use zaffre_domain::blob::tier::Tier;
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_domain::lease::after_write;
use zaffre_store::{Abort, Tx};

/// Stores a whole block blob.
pub async fn put_blob(
    core: &Core,
    op: Authorized<PutBlob>,
    body: ByteStream,
) -> Result<PutBlobReply, Error> {
    let (op, grants) = op.into_parts();
    store_blob(core, op, grants, body).await
}

/// The same for what the service itself stores.
pub(crate) async fn store_blob(
    core: &Core,
    op: PutBlob,
    grants: Grants,
    body: ByteStream,
) -> Result<PutBlobReply, Error> {
    check_combination(&op.conditions, Access::CreateOrReplace { holds_lease: false })?;
    let limit = sizes(op.context.version).put_blob;
    check_size(op.length.unwrap_or(0), limit)?;
    let found = find(core, &op.at.account, &op.at.container).await?;
    let settings = core.settings_now(&op.at.account).await?;
    let encrypted = found.choose(&op.encryption, &settings)?;
    let (site, hold) = found.for_write();
    let put = Put::new(op, grants, site.keys, encrypted, &settings);
    put.refuse_early(core, &site).await?;
    let expected = Expected { limit, length: put.op.length, md5: true };
    let received = receive(core, &site, hold, body, expected, put.op.encryption.key()).await?;
    let md5 = received.md5.unwrap_or_default();
    if let Err(mismatch) = put.check_sums(md5, received.crc64) {
        received.claim.give_up().await;
        return Err(mismatch.into());
    }
    let (content, rows) = (received.content, received.rows);
    let decide = move |tx: &mut Tx<'_>| put.decide(tx, content, md5, &rows);
    let written = received.claim.commit(decide).await?;
    Ok(PutBlobReply { written, md5, crc64: received.crc64 })
}

struct Put {
    op: PutBlob,
    presented: Presented,
    grants: Grants,
    keys: Keys,
    encrypted: Encrypted,
    keeping: Keeping,
    /// The account offers policies and holds.
    immutability: bool,
}

impl Put {
    fn new(
        mut op: PutBlob,
        grants: Grants,
        keys: Keys,
        encrypted: Encrypted,
        settings: &AccountSettings,
    ) -> Self {
        let conditions = std::mem::take(&mut op.conditions);
        let presented = Presented { lease: op.lease, conditions };
        let (keeping, immutability) = (settings.keeping(), settings.version_immutability);
        Self { op, presented, grants, keys, encrypted, keeping, immutability }
    }

    /// Saves receiving a large body that will be refused. Not when the request announces a
    /// checksum: a wrong one is what such a request must be told about first.
    async fn refuse_early(&self, core: &Core, site: &Site) -> Result<(), Error> {
        let announced = self.op.expect != ExpectedChecksum::default()
            || self.op.properties.content_md5.is_some();
        if announced || is_small(core, self.op.length) {
            return Ok(());
        }
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let head = Head::peek(&inside, &self.keys.blob(&self.op.at.blob))?;
        let (version, now) = (self.op.context.version, core.now(&inside));
        Ok(admit::replace(
            head.as_ref(),
            BlobKind::Block,
            &self.presented,
            self.grants,
            version,
            now,
        )?)
    }

    fn check_sums(&self, md5: [u8; 16], crc64: [u8; 8]) -> Result<(), Refusal> {
        let announced = [self.op.expect.md5, self.op.properties.content_md5];
        if let Some(announced) = announced.into_iter().flatten().find(|sum| *sum != md5) {
            return Err(Refusal::Md5Mismatch { announced, computed: md5 });
        }
        match self.op.expect.crc64 {
            Some(announced) if announced != crc64 => {
                Err(Refusal::Crc64Mismatch { announced, computed: crc64 })
            }
            _ => Ok(()),
        }
    }

    fn decide(
        &self,
        tx: &mut Tx<'_>,
        content: Content,
        md5: [u8; 16],
        rows: &NewRows,
    ) -> Result<(Written, LeftOver), Abort<Refusal>> {
        alive(tx, self.keys)?;
        let (stamp, now) = (tx.stamp(), tx.stamp().time());
        let name = &self.op.at.blob;
        let key = self.keys.blob(name);
        let old = Head::load(tx, &key)?;
        let version = self.op.context.version;
        admit::replace(old.as_ref(), BlobKind::Block, &self.presented, self.grants, version, now)
            .map_err(Abort::Fail)?;
        let staging = Staging::load(tx, &self.keys.staging(name))?;
        rows.write(tx)?;
        let mut head = Head::block_blob(stamp, content);
        if let Some(old) = &old {
            head.lease = after_write(old.lease, now);
            head.set_tier(old.tier().at(now));
        }
        let mut properties = self.op.properties.clone();
        properties.content_md5 = Some(md5);
        head.set_properties(properties);
        head.metadata = self.op.metadata.clone();
        head.tags = self.op.tags.clone();
        head.encrypted = self.encrypted.clone();
        if let Some(tier) = self.op.tier {
            head.set_tier(Tier::named(tier, now));
        }
        protect(tx, self.keys, name, &mut head, self.op.protection, self.immutability)?;
        let (old, staging) = (old.as_ref(), staging.as_ref());
        Ok(overwrite(tx, self.keys, name, old, head, staging, self.keeping)?)
    }
}
