//! Append Block and Append Blob Seal: bytes go to the end of the blob, all or none.
//!
//! Must never change what was appended before: readers of it look at the same rows.

use super::ByteStream;
use super::admit::{self, Presented};
use super::content::claim::NewRows;
use super::content::upload::{Expected, is_small, receive};
use super::keys::Keys;
use super::op::{AppendBlock, ExpectedChecksum, SealBlob};
use super::records::{APPENDED_PER_PAGE, Block, Content, Head, Page, Record, Shape};
use super::replace::LeftOver;
use super::reply::{AppendReply, Written};
use super::site::{Site, alive, find};
use crate::{Core, Error};
use zaffre_auth::Authorized;
use zaffre_base::BlobName;
use zaffre_domain::Refusal;
use zaffre_domain::blob::BlobKind;
use zaffre_domain::blob::append::{self, AppendConditions};
use zaffre_domain::blob::encryption::Encrypted;
use zaffre_domain::blob::sizes::{append_block as largest_block, check_size};
use zaffre_domain::conditions::{Access, check_combination};
use zaffre_domain::lease::after_write;
use zaffre_store::{Abort, Interrupt, StoreError, Tx};

/// Adds one block to an append blob.
pub async fn append_block(
    core: &Core,
    op: Authorized<AppendBlock>,
    body: ByteStream,
) -> Result<AppendReply, Error> {
    let (op, _) = op.into_parts();
    let limit = largest_block(op.context.version);
    check_size(op.length.unwrap_or(0), limit)?;
    check_combination(&op.conditions, Access::Modify)?;
    let (site, hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let (expect, length) = (op.expect, op.length);
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let key = op.encryption.key();
    let shown = op.encryption.shown();
    let add = Append { name: op.at.blob, asked: op.append, presented, shown, keys: site.keys };
    add.refuse_early(core, &site, length, expect).await?;
    let expected = Expected { limit, length, md5: expect.md5.is_some() };
    let received = receive(core, &site, hold, body, expected, key).await?;
    let refused = if received.content.length == 0 {
        // A block that came without a length and turned out empty.
        Err(Refusal::IncompleteBody)
    } else {
        expect.check(received.md5, received.crc64)
    };
    if let Err(refused) = refused {
        received.claim.give_up().await;
        return Err(refused.into());
    }
    let (content, rows) = (received.content, received.rows);
    let (md5, crc64) = (received.md5, received.crc64);
    let decide = move |tx: &mut Tx<'_>| add.decide(tx, content, &rows);
    let (written, offset, blocks) = received.claim.commit(decide).await?;
    Ok(AppendReply { written, offset, blocks, md5, crc64 })
}

/// What Append Block came to: the commit, where the block went, how many there are.
type Appended = (Written, u64, u32);

struct Append {
    name: BlobName,
    asked: AppendConditions,
    presented: Presented,
    shown: Encrypted,
    keys: Keys,
}

impl Append {
    /// Saves receiving a large body that will be refused, unless its checksum comes first.
    async fn refuse_early(
        &self,
        core: &Core,
        site: &Site,
        length: Option<u64>,
        expect: ExpectedChecksum,
    ) -> Result<(), Error> {
        if expect != ExpectedChecksum::default() || is_small(core, length) {
            return Ok(());
        }
        let inside = core.store().meta.snapshot(&site.placement).await?;
        let head = Head::peek(&inside, &self.keys.blob(&self.name))?;
        if head.is_none() && super::site::is_deleted(&inside, self.keys)? {
            return Err(Refusal::ContainerNotFound.into());
        }
        let now = core.now(&inside);
        let head = admit::modify_kind(head, BlobKind::Append, &self.presented, now)?;
        head.encrypted.admits(&self.shown)?;
        append::admit(head.appendable(), self.asked, length.unwrap_or(0))?;
        Ok(())
    }

    fn decide(
        &self,
        tx: &mut Tx<'_>,
        block: Content,
        rows: &NewRows,
    ) -> Result<(Appended, LeftOver), Abort<Refusal>> {
        alive(tx, self.keys)?;
        let (stamp, now) = (tx.stamp(), tx.stamp().time());
        let key = self.keys.blob(&self.name);
        let head = Head::load(tx, &key)?;
        let mut head = admit::modify_kind(head, BlobKind::Append, &self.presented, now)
            .map_err(Abort::Fail)?;
        head.encrypted.admits(&self.shown).map_err(Abort::Fail)?;
        let before = head.appendable();
        let offset = append::admit(before, self.asked, block.length).map_err(Abort::Fail)?;
        rows.write(tx)?;
        let pages = add_to_list(tx, self.keys, &head.content, before.blocks, block)?;
        let blocks = before.blocks + 1;
        head.content.length = offset + block.length;
        head.content.shape = Shape::Blocks { pages };
        head.set_append_blocks(blocks);
        head.copy = None;
        head.written = stamp;
        head.lease = after_write(head.lease, now);
        head.store(tx, &key)?;
        Ok(((Written::at(stamp), offset, blocks), LeftOver::Nothing))
    }
}

/// Writes a block behind the others; returns how many pages there are then.
fn add_to_list(
    tx: &mut Tx<'_>,
    keys: Keys,
    content: &Content,
    blocks: u32,
    block: Content,
) -> Result<u32, Interrupt> {
    let (number, index) = (blocks / APPENDED_PER_PAGE, blocks % APPENDED_PER_PAGE);
    let key = keys.page(content.id, number);
    let mut page = if index == 0 {
        Page { offset: content.length, blocks: Vec::new() }
    } else {
        let missing = || StoreError::corrupt("the last page of an append blob is missing");
        Page::load(tx, &key)?.ok_or_else(missing)?
    };
    page.blocks.push(Block { id: Vec::new(), content: block });
    page.store(tx, &key)?;
    Ok(number + 1)
}

/// Seals an append blob: nothing can be added any more.
pub async fn seal_blob(core: &Core, op: Authorized<SealBlob>) -> Result<Written, Error> {
    let (op, _) = op.into_parts();
    check_combination(&op.conditions, Access::Modify)?;
    let (site, _hold) = find(core, &op.at.account, &op.at.container).await?.for_write();
    let keys = site.keys;
    let presented = Presented { lease: op.lease, conditions: op.conditions };
    let (name, conditions) = (op.at.blob, op.append);
    let body = move |tx: &mut Tx<'_>| {
        alive(tx, keys)?;
        let stamp = tx.stamp();
        let key = keys.blob(&name);
        let head = Head::load(tx, &key)?;
        let mut head = admit::modify_kind(head, BlobKind::Append, &presented, stamp.time())
            .map_err(Abort::Fail)?;
        append::admit_seal(head.appendable(), conditions).map_err(Abort::Fail)?;
        head.seal();
        head.copy = None;
        head.written = stamp;
        head.lease = after_write(head.lease, stamp.time());
        head.store(tx, &key)?;
        Ok(Written::at(stamp))
    };
    core.transact(&site.placement, body).await
}
