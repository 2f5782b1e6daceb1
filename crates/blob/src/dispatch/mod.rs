//! From a parsed operation to its answer: permit, call core, render; one small function each.
//!
//! Must never have a default arm, and never call core with anything but what `permit` gave.

mod append;
mod blob;
mod container;
mod copy;
mod from_url;
mod pages;
mod protection;
mod query;
mod service;
mod tags;
mod tier;

use crate::authorize::Caller;
use crate::failure;
use crate::operation::BlobOperation;
use crate::render;
use crate::request::Asked;
use crate::service::BlobService;
use zaffre_auth::Accounts;
use zaffre_core::{Core, Error};
use zaffre_http::{ApiError, BodyStream, Reply};

/// What every operation needs.
#[derive(Clone, Copy)]
pub(crate) struct Dispatch<'a> {
    pub(crate) core: &'a Core,
    pub(crate) caller: &'a Caller<'a>,
    pub(crate) asked: &'a Asked<'a>,
    pub(crate) service: &'a BlobService,
    pub(crate) accounts: &'a Accounts,
}

impl Dispatch<'_> {
    /// Performs `operation`, whose content, if it has any, is in `body`.
    pub(crate) async fn perform(
        self,
        operation: BlobOperation,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        use BlobOperation as B;
        match operation {
            B::GetAccountInfo(op) => {
                self.caller.permit(op)?;
                let settings = self.core.settings(&self.asked.account);
                Ok(render::container::account(&settings, self.asked.version))
            }
            B::GetServiceProperties(op) => self.get_service_properties(op).await,
            B::SetServiceProperties(op) => self.set_service_properties(op, body).await,
            B::GetServiceStats(op) => self.get_service_stats(op),
            B::Batch(op) => self.batch(op, body).await,
            B::GetUserDelegationKey => self.get_user_delegation_key(body).await,
            B::ListContainers(listing) => self.list_containers(listing).await,
            B::CreateContainer(op) => self.create_container(op).await,
            B::GetContainerProperties(op) => self.get_container_properties(op).await,
            B::GetContainerMetadata(op) => self.get_container_metadata(op).await,
            B::SetContainerMetadata(op) => self.set_container_metadata(op).await,
            B::GetContainerAcl(op) => self.get_container_acl(op).await,
            B::SetContainerAcl(op) => self.set_container_acl(op, body).await,
            B::DeleteContainer(op) => self.delete_container(op).await,
            B::RestoreContainer(op) => self.restore_container(op).await,
            B::LeaseContainer(op) => self.lease_container(op).await,
            B::ListBlobs(listing) => self.list_blobs(listing).await,
            B::GetBlob(download) => self.get_blob(download).await,
            B::GetBlobProperties(op) => self.get_blob_properties(op).await,
            B::GetBlobMetadata(op) => self.get_blob_metadata(op).await,
            B::SetBlobMetadata(op) => self.set_blob_metadata(op).await,
            B::SetBlobProperties(op) => self.set_blob_properties(op).await,
            B::DeleteBlob(op) => self.delete_blob(op).await,
            B::SnapshotBlob(op) => self.snapshot_blob(op).await,
            B::UndeleteBlob(op) => self.undelete_blob(op).await,
            B::LeaseBlob(op) => self.lease_blob(op).await,
            B::PutBlob(upload) => self.put_blob(upload, body).await,
            B::CreateBlob(op) => self.create_blob(op).await,
            B::PutPage(upload) => self.put_page(upload, body).await,
            B::SetPageProperties(op) => self.set_page_properties(op).await,
            B::GetPageRanges(op) => self.get_page_ranges(op).await,
            B::AppendBlock(upload) => self.append_block(upload, body).await,
            B::PutBlobFromUrl(asked) => self.put_blob_from_url(*asked).await,
            B::PutBlockFromUrl(asked) => self.put_block_from_url(asked).await,
            B::AppendBlockFromUrl(asked) => self.append_block_from_url(asked).await,
            B::PutPageFromUrl(asked) => Box::pin(self.put_page_from_url(asked)).await,
            B::CopyBlob(asked) => Box::pin(self.copy_blob(*asked)).await,
            B::AbortCopyBlob(op) => self.abort_copy(op).await,
            B::IncrementalCopyBlob(asked) => Box::pin(self.incremental_copy(asked)).await,
            B::SealBlob(op) => self.seal_blob(op).await,
            B::PutBlock(upload) => self.put_block(upload, body).await,
            B::PutBlockList(upload) => self.put_block_list(upload, body).await,
            B::QueryBlobContents(op) => self.query_blob(op, body).await,
            B::GetBlobTags(op) => self.get_blob_tags(op).await,
            B::SetBlobTags(upload) => self.set_blob_tags(upload, body).await,
            B::SetBlobTier(op) => self.set_blob_tier(op).await,
            B::SetBlobImmutabilityPolicy(op) => self.set_immutability_policy(op).await,
            B::DeleteBlobImmutabilityPolicy(op) => self.delete_immutability_policy(op).await,
            B::SetBlobLegalHold(op) => self.set_legal_hold(op).await,
            B::FindBlobsByTags(search) => self.find_blobs_by_tags(search).await,
            B::GetBlockList(op) => self.get_block_list(op).await,
        }
    }
}

/// What core replied, or the answer to its failure.
fn done<T>(result: Result<T, Error>) -> Result<T, ApiError> {
    result.map_err(|error| failure::api_error(&error))
}
