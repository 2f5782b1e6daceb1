//! From a parsed operation to its answer: permit, call core, render.
//!
//! Must never have a default arm, and never call core with anything but what `permit` gave.

mod copy;
mod directory;
mod file;
mod handles;
mod service;
mod share;

use crate::authorize::Caller;
use crate::failure;
use crate::operation::FileOperation;
use crate::service::Ports;
use hyper::StatusCode;
use zaffre_auth::Accounts;
use zaffre_core::{Core, Error};
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;
use zaffre_http::inside::Inside;
use zaffre_http::{ApiError, Asked, BodyStream, Reply, xml};

/// What every operation needs.
#[derive(Clone, Copy)]
pub(crate) struct Dispatch<'a> {
    pub(crate) core: &'a Core,
    pub(crate) caller: &'a Caller<'a>,
    pub(crate) asked: &'a Asked<'a>,
    pub(crate) accounts: &'a Accounts,
    pub(crate) blobs: &'a dyn Inside,
    pub(crate) ports: Ports,
    pub(crate) always_path_style: bool,
}

/// What core replied, or the answer to its failure.
fn done<T>(result: Result<T, Error>) -> Result<T, ApiError> {
    result.map_err(|error| failure::api_error(&error))
}

/// What a read found. One of another kind is not found: clients ask whether there is a directory
/// where a file may be, and the other way round.
fn found<T>(result: Result<T, Error>) -> Result<T, ApiError> {
    done(result.map_err(|error| match error {
        Error::Refused(Refusal::File(FileRefusal::ResourceTypeMismatch)) => {
            FileRefusal::ResourceNotFound.into()
        }
        other => other,
    }))
}

impl Dispatch<'_> {
    /// Performs `operation`, the rest of which, if there is any, is in `body`.
    pub(crate) async fn perform(
        self,
        operation: FileOperation,
        body: BodyStream,
    ) -> Result<Reply, ApiError> {
        use FileOperation as F;
        match operation {
            F::GetServiceProperties(op) => self.get_service_properties(op).await,
            F::SetServiceProperties(op) => self.set_service_properties(op, body).await,
            F::GetUserDelegationKey(()) => self.get_user_delegation_key(body).await,
            F::ListShares(listing) => self.list_shares(listing).await,
            F::CreateShare(op) => self.create_share(op).await,
            F::GetShareProperties(op) => self.get_share_properties(op).await,
            F::GetShareMetadata(op) => self.get_share_metadata(op).await,
            F::SetShareProperties(op) => self.set_share_properties(op).await,
            F::SetShareMetadata(op) => self.set_share_metadata(op).await,
            F::GetShareAcl(op) => self.get_share_acl(op).await,
            F::SetShareAcl(op) => self.set_share_acl(op, body).await,
            F::RestoreShare(op) => self.restore_share(op).await,
            F::LeaseShare(op) | F::BreakShareLease(op) => self.lease_share(op).await,
            F::GetShareStats(op) => self.get_share_stats(op).await,
            F::SnapshotShare(op) => self.snapshot_share(op).await,
            F::DeleteShare(op) => self.delete_share(op).await,
            F::CreatePermission(at) => self.create_permission(at, body).await,
            F::GetPermission(asked) => self.get_permission(asked).await,
            F::CreateDirectory(op) => self.create_directory(op).await,
            F::GetDirectoryProperties(op) => self.get_directory_properties(op).await,
            F::GetDirectoryMetadata(op) => self.get_directory_metadata(op).await,
            F::SetDirectoryProperties(op) => self.set_directory_properties(op).await,
            F::SetDirectoryMetadata(op) => self.set_directory_metadata(op).await,
            F::DeleteDirectory(op) => self.delete_directory(op).await,
            F::ListDirectory(asked) => self.list_directory(asked).await,
            F::RenameDirectory(from) | F::RenameFile(from) => self.rename(from).await,
            F::ListHandles(asked) => self.list_handles(asked).await,
            F::ForceCloseHandles(op) => self.close_handles(op).await,
            F::CreateFile(op) => self.create_file(op, body).await,
            F::GetFile(op) => self.get_file(op).await,
            F::GetFileProperties(op) => self.get_file_properties(op).await,
            F::GetFileMetadata(op) => self.get_file_metadata(op).await,
            F::SetFileProperties(op) => self.set_file_properties(op).await,
            F::SetFileMetadata(op) => self.set_file_metadata(op).await,
            F::DeleteFile(op) => self.delete_file(op).await,
            F::PutRange(op) => self.put_range(op, body).await,
            F::PutRangeFromUrl(from) => self.put_range_from_url(from).await,
            F::ListRanges(op) => self.list_ranges(op).await,
            F::CopyFile(from) => self.copy_file(from).await,
            F::AbortCopyFile(op) => self.abort_copy_file(op).await,
            F::LeaseFile(op) | F::BreakFileLease(op) => self.lease_file(op).await,
        }
    }

    async fn document(self, body: BodyStream) -> Result<Vec<u8>, ApiError> {
        xml::collect(body, self.asked.content_length).await
    }

    fn empty(self, status: StatusCode) -> Reply {
        Reply::new(status, self.asked.version)
    }
}
