//! Headers and query into one typed operation, every syntax error found on the way.
//!
//! Must never read a body, look anything up, or check a permission.

pub(crate) mod append;
pub mod blob;
mod checksum;
mod conditions;
pub(crate) mod container;
pub mod copy;
mod encryption;
pub mod from_url;
pub(crate) mod lease;
pub mod listing;
pub(crate) mod moment;
pub(crate) mod pages;
mod properties;
mod protection;
pub mod put;
mod service;
pub mod tags;
#[cfg(test)]
pub(crate) mod testing;
mod tier;

use crate::account_info::GetAccountInfo;
use crate::fields::Fields;
use crate::operation::{BlobOperation, Kind};
use crate::target::Target;
use zaffre_base::{AccountName, Guid};
use zaffre_domain::conditions::ConditionalOperation as Op;
use zaffre_http::{ApiError, codes};

/// Where the request goes and what it may draw on.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// The account.
    pub account: &'a AccountName,
    /// What in it.
    pub target: &'a Target,
    /// Draws a random id, for a lease whose client proposes none.
    pub fresh: &'a (dyn Fn() -> Result<Guid, ApiError> + Sync),
}

/// Parses the head of a request that was routed to `kind`.
pub fn operation(kind: Kind, at: At<'_>, fields: &Fields<'_>) -> Result<BlobOperation, ApiError> {
    use BlobOperation as B;
    fields.check_timeout()?;
    let container = || at.target.container(at.account);
    let blob = || at.target.blob(at.account);
    Ok(match kind {
        // Answered before anything is parsed; it has no operation.
        Kind::Preflight => return Err(codes::CORS_PREFLIGHT_FAILURE.into()),
        // No account here has a hierarchical namespace.
        Kind::SetBlobExpiry => return Err(codes::HIERARCHICAL_NAMESPACE_NOT_ENABLED.into()),
        Kind::GetUserDelegationKey => B::GetUserDelegationKey,
        Kind::GetAccountInfo => B::GetAccountInfo(GetAccountInfo::new(at.account, at.target)),
        Kind::GetServiceProperties => B::GetServiceProperties(service::get(at.account)),
        Kind::SetServiceProperties => B::SetServiceProperties(service::set(at.account)),
        Kind::GetServiceStats => B::GetServiceStats(service::stats(at.account)),
        Kind::Batch => B::Batch(service::batch(fields, at)?),
        Kind::ListContainers => B::ListContainers(listing::containers(fields, at.account)?),
        Kind::CreateContainer => B::CreateContainer(container::create(fields, container()?)?),
        Kind::GetContainerProperties => {
            B::GetContainerProperties(container::get(fields, container()?)?)
        }
        Kind::GetContainerMetadata => {
            B::GetContainerMetadata(container::get(fields, container()?)?)
        }
        Kind::SetContainerMetadata => {
            B::SetContainerMetadata(container::set_metadata(fields, container()?)?)
        }
        Kind::GetContainerAcl => B::GetContainerAcl(container::get_acl(fields, container()?)?),
        Kind::SetContainerAcl => B::SetContainerAcl(container::set_acl(fields, container()?)?),
        Kind::DeleteContainer => B::DeleteContainer(container::delete(fields, container()?)?),
        Kind::RestoreContainer => B::RestoreContainer(container::restore(fields, container()?)?),
        Kind::LeaseContainer => {
            B::LeaseContainer(container::lease(fields, container()?, (at.fresh)()?)?)
        }
        Kind::ListBlobs => B::ListBlobs(listing::blobs(fields, container()?)?),
        Kind::GetBlob => B::GetBlob(blob::get(fields, blob()?)?),
        Kind::GetBlobProperties => {
            B::GetBlobProperties(blob::get_properties(fields, blob()?, Op::GetBlobProperties)?)
        }
        Kind::GetBlobMetadata => {
            B::GetBlobMetadata(blob::get_properties(fields, blob()?, Op::GetBlobMetadata)?)
        }
        Kind::SetBlobMetadata => B::SetBlobMetadata(blob::set_metadata(fields, blob()?)?),
        Kind::SetBlobProperties if pages::are_changed(fields)? => {
            B::SetPageProperties(pages::set_properties(fields, blob()?)?)
        }
        Kind::SetBlobProperties => B::SetBlobProperties(blob::set_properties(fields, blob()?)?),
        Kind::DeleteBlob => B::DeleteBlob(blob::delete(fields, blob()?)?),
        Kind::SnapshotBlob => B::SnapshotBlob(blob::snapshot(fields, blob()?)?),
        Kind::UndeleteBlob => B::UndeleteBlob(blob::undelete(fields, blob()?)?),
        Kind::LeaseBlob => B::LeaseBlob(blob::lease(fields, blob()?, (at.fresh)()?)?),
        Kind::PutBlob => B::PutBlob(put::put_blob(fields, blob()?)?),
        Kind::PutAppendBlob => B::CreateBlob(append::create(fields, blob()?)?),
        Kind::PutBlobFromUrl => B::PutBlobFromUrl(Box::new(from_url::put_blob(fields, blob()?)?)),
        Kind::PutBlockFromUrl => B::PutBlockFromUrl(from_url::put_block(fields, blob()?)?),
        Kind::AppendBlockFromUrl => B::AppendBlockFromUrl(from_url::append_block(fields, blob()?)?),
        Kind::PutPageFromUrl => B::PutPageFromUrl(copy::put_page(fields, blob()?)?),
        Kind::CopyBlob => B::CopyBlob(Box::new(copy::copy(fields, blob()?, (at.fresh)()?, false)?)),
        Kind::CopyBlobFromUrl => {
            B::CopyBlob(Box::new(copy::copy(fields, blob()?, (at.fresh)()?, true)?))
        }
        Kind::AbortCopyBlob => B::AbortCopyBlob(copy::abort(fields, blob()?)?),
        Kind::IncrementalCopyBlob => {
            B::IncrementalCopyBlob(copy::incremental(fields, blob()?, (at.fresh)()?)?)
        }
        Kind::PutPageBlob => B::CreateBlob(pages::create(fields, blob()?)?),
        Kind::PutPage => B::PutPage(pages::put_page(fields, blob()?)?),
        Kind::GetPageRanges => B::GetPageRanges(pages::get_ranges(fields, blob()?)?),
        Kind::AppendBlock => B::AppendBlock(append::append_block(fields, blob()?)?),
        Kind::SealBlob => B::SealBlob(append::seal(fields, blob()?)?),
        Kind::PutBlock => B::PutBlock(put::put_block(fields, blob()?)?),
        Kind::PutBlockList => B::PutBlockList(put::put_block_list(fields, blob()?)?),
        Kind::QueryBlobContents => B::QueryBlobContents(blob::query(fields, blob()?)?),
        Kind::GetBlobTags => B::GetBlobTags(tags::get(fields, blob()?)?),
        Kind::SetBlobTags => {
            B::SetBlobTags(tags::set(fields, blob()?, checksum::expected(fields)?)?)
        }
        Kind::SetBlobTier => B::SetBlobTier(tier::set(fields, blob()?)?),
        Kind::SetBlobImmutabilityPolicy => {
            B::SetBlobImmutabilityPolicy(protection::set_policy(fields, blob()?)?)
        }
        Kind::DeleteBlobImmutabilityPolicy => {
            B::DeleteBlobImmutabilityPolicy(protection::delete_policy(fields, blob()?)?)
        }
        Kind::SetBlobLegalHold => B::SetBlobLegalHold(protection::set_hold(fields, blob()?)?),
        Kind::FindBlobsByTags => B::FindBlobsByTags(tags::find(fields, at.account, None)?),
        Kind::FindBlobsByTagsInContainer => {
            let container = container()?.container;
            B::FindBlobsByTags(tags::find(fields, at.account, Some(container))?)
        }
        Kind::GetBlockList => B::GetBlockList(blob::get_block_list(fields, blob()?)?),
    })
}

#[cfg(test)]
mod tests;
