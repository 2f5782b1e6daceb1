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
use crate::batch::Answering;
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
        // On the heap, each as large as it is: in one future the most frequent reads would carry
        // the space of the rarest copies about.
        let work: Answering<'_> = match operation {
            B::GetBlob(download) => return self.get_blob(download).await,
            B::GetBlobProperties(op) => return self.get_blob_properties(op).await,
            B::GetAccountInfo(op) => {
                self.caller.permit(op)?;
                let settings = self.core.settings(&self.asked.account);
                return Ok(render::container::account(&settings, self.asked.version));
            }
            B::GetServiceProperties(op) => Box::pin(self.get_service_properties(op)),
            B::SetServiceProperties(op) => Box::pin(self.set_service_properties(op, body)),
            B::GetServiceStats(op) => return self.get_service_stats(op),
            B::Batch(op) => Box::pin(self.batch(op, body)),
            B::GetUserDelegationKey => Box::pin(self.get_user_delegation_key(body)),
            B::ListContainers(listing) => Box::pin(self.list_containers(listing)),
            B::CreateContainer(op) => Box::pin(self.create_container(op)),
            B::GetContainerProperties(op) => Box::pin(self.get_container_properties(op)),
            B::GetContainerMetadata(op) => Box::pin(self.get_container_metadata(op)),
            B::SetContainerMetadata(op) => Box::pin(self.set_container_metadata(op)),
            B::GetContainerAcl(op) => Box::pin(self.get_container_acl(op)),
            B::SetContainerAcl(op) => Box::pin(self.set_container_acl(op, body)),
            B::DeleteContainer(op) => Box::pin(self.delete_container(op)),
            B::RestoreContainer(op) => Box::pin(self.restore_container(op)),
            B::LeaseContainer(op) => Box::pin(self.lease_container(op)),
            B::ListBlobs(listing) => Box::pin(self.list_blobs(listing)),
            B::GetBlobMetadata(op) => Box::pin(self.get_blob_metadata(op)),
            B::SetBlobMetadata(op) => Box::pin(self.set_blob_metadata(op)),
            B::SetBlobProperties(op) => Box::pin(self.set_blob_properties(op)),
            B::DeleteBlob(op) => Box::pin(self.delete_blob(op)),
            B::SnapshotBlob(op) => Box::pin(self.snapshot_blob(op)),
            B::UndeleteBlob(op) => Box::pin(self.undelete_blob(op)),
            B::LeaseBlob(op) => Box::pin(self.lease_blob(op)),
            B::PutBlob(upload) => Box::pin(self.put_blob(upload, body)),
            B::CreateBlob(op) => Box::pin(self.create_blob(op)),
            B::PutPage(upload) => Box::pin(self.put_page(upload, body)),
            B::SetPageProperties(op) => Box::pin(self.set_page_properties(op)),
            B::GetPageRanges(op) => Box::pin(self.get_page_ranges(op)),
            B::AppendBlock(upload) => Box::pin(self.append_block(upload, body)),
            B::PutBlobFromUrl(asked) => Box::pin(self.put_blob_from_url(*asked)),
            B::PutBlockFromUrl(asked) => Box::pin(self.put_block_from_url(asked)),
            B::AppendBlockFromUrl(asked) => Box::pin(self.append_block_from_url(asked)),
            B::PutPageFromUrl(asked) => Box::pin(self.put_page_from_url(asked)),
            B::CopyBlob(asked) => Box::pin(self.copy_blob(*asked)),
            B::AbortCopyBlob(op) => Box::pin(self.abort_copy(op)),
            B::IncrementalCopyBlob(asked) => Box::pin(self.incremental_copy(asked)),
            B::SealBlob(op) => Box::pin(self.seal_blob(op)),
            B::PutBlock(upload) => Box::pin(self.put_block(upload, body)),
            B::PutBlockList(upload) => Box::pin(self.put_block_list(upload, body)),
            B::QueryBlobContents(op) => Box::pin(self.query_blob(op, body)),
            B::GetBlobTags(op) => Box::pin(self.get_blob_tags(op)),
            B::SetBlobTags(upload) => Box::pin(self.set_blob_tags(upload, body)),
            B::SetBlobTier(op) => Box::pin(self.set_blob_tier(op)),
            B::SetBlobImmutabilityPolicy(op) => Box::pin(self.set_immutability_policy(op)),
            B::DeleteBlobImmutabilityPolicy(op) => Box::pin(self.delete_immutability_policy(op)),
            B::SetBlobLegalHold(op) => Box::pin(self.set_legal_hold(op)),
            B::FindBlobsByTags(search) => Box::pin(self.find_blobs_by_tags(search)),
            B::GetBlockList(op) => Box::pin(self.get_block_list(op)),
        };
        work.await
    }
}

/// What core replied, or the answer to its failure.
fn done<T>(result: Result<T, Error>) -> Result<T, ApiError> {
    result.map_err(|error| failure::api_error(&error))
}
