//! Headers and query into one typed operation, every syntax error found on the way.
//!
//! Must never read a body, look anything up, or check a permission.

pub mod copy;
pub mod directory;
pub mod file;
pub mod handles;
pub(crate) mod item;
pub(crate) mod lease;
pub mod listing;
pub mod permission;
mod range;
mod share;
mod smb;
pub(crate) mod snapshot;

use crate::operation::{FileOperation, Kind, Level};
use crate::target::Target;
use zaffre_auth::Service;
use zaffre_base::Guid;
use zaffre_core::file::op::{GetFile, Kind as ItemKind};
use zaffre_core::service_properties::{GetServiceProperties, SetServiceProperties};
use zaffre_domain::fs::FilePath;
use zaffre_domain::service::ServicePropertiesUpdate;
use zaffre_http::{ApiError, Asked, codes, file_codes};

/// Condition headers, of which this service knows none.
const CONDITIONS: [&str; 4] =
    ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];

/// Draws an id that nobody has.
pub type Fresh<'a> = &'a (dyn Fn() -> Result<Guid, ApiError> + Sync);

/// Parses the head of a request that was routed to `kind` and is about `path`.
pub fn operation(
    kind: Kind,
    target: &Target,
    path: FilePath,
    asked: &Asked<'_>,
    fresh: Fresh<'_>,
) -> Result<FileOperation, ApiError> {
    use FileOperation as F;
    check_version(kind, asked)?;
    asked.check_timeout()?;
    refuse_conditions(asked)?;
    let account = &asked.to.account;
    let share = || target.share(account);
    let read = |path| item::read(target, path, asked);
    let written = |path| item::written(target, path, asked);
    Ok(match kind {
        Kind::GetServiceProperties => F::GetServiceProperties(GetServiceProperties {
            account: account.clone(),
            service: Service::File,
        }),
        Kind::SetServiceProperties => F::SetServiceProperties(SetServiceProperties {
            account: account.clone(),
            service: Service::File,
            update: ServicePropertiesUpdate::default(),
        }),
        Kind::GetUserDelegationKey => F::GetUserDelegationKey(()),
        Kind::ListShares => F::ListShares(listing::shares(account, asked)?),
        Kind::CreateShare => F::CreateShare(share::create(share()?, asked)?),
        Kind::GetShareProperties => F::GetShareProperties(share::get(share()?, asked)?),
        Kind::GetShareMetadata => F::GetShareMetadata(share::get(share()?, asked)?),
        Kind::SetShareProperties => F::SetShareProperties(share::set_properties(share()?, asked)?),
        Kind::SetShareMetadata => F::SetShareMetadata(share::set_metadata(share()?, asked)?),
        Kind::GetShareAcl => F::GetShareAcl(share::get_acl(share()?, asked)?),
        Kind::SetShareAcl => F::SetShareAcl(share::set_acl(share()?, asked)?),
        Kind::RestoreShare => F::RestoreShare(share::restore(share()?, asked)?),
        Kind::LeaseShare => F::LeaseShare(share::lease(share()?, asked, fresh()?)?),
        Kind::BreakShareLease => F::BreakShareLease(share::lease(share()?, asked, fresh()?)?),
        Kind::GetShareStats => F::GetShareStats(share::stats(share()?, asked)?),
        Kind::SnapshotShare => F::SnapshotShare(share::snapshot(share()?, asked)?),
        Kind::DeleteShare => F::DeleteShare(share::delete(share()?, asked)?),
        Kind::CreatePermission => {
            snapshot::refuse(asked)?;
            F::CreatePermission(share()?)
        }
        Kind::GetPermission => F::GetPermission(permission::get(share()?, asked)?),
        Kind::CreateDirectory => F::CreateDirectory(directory::create(written(path)?, asked)?),
        Kind::GetDirectoryProperties => F::GetDirectoryProperties(directory::get(read(path)?)),
        Kind::GetDirectoryMetadata => F::GetDirectoryMetadata(directory::get(read(path)?)),
        Kind::SetDirectoryProperties => {
            F::SetDirectoryProperties(directory::set_properties(written(path)?, asked)?)
        }
        Kind::SetDirectoryMetadata => {
            F::SetDirectoryMetadata(directory::set_metadata(written(path)?, asked)?)
        }
        Kind::DeleteDirectory => F::DeleteDirectory(directory::delete(written(path)?, asked)?),
        Kind::ListDirectory => {
            F::ListDirectory(directory::list(read(path)?, target.inside(), asked)?)
        }
        Kind::RenameDirectory => {
            F::RenameDirectory(copy::rename(written(path)?, ItemKind::Directory, asked)?)
        }
        Kind::ListHandles => F::ListHandles(handles::list(read(path)?, asked)?),
        Kind::ForceCloseHandles => F::ForceCloseHandles(handles::close(read(path)?, asked)?),
        Kind::CreateFile => F::CreateFile(file::create(written(path)?, asked)?),
        Kind::GetFile => F::GetFile(file::download(read(path)?, asked)?),
        Kind::GetFileProperties => F::GetFileProperties(file::get_properties(read(path)?, asked)?),
        Kind::GetFileMetadata => F::GetFileMetadata(file::get_properties(read(path)?, asked)?),
        Kind::SetFileProperties => {
            F::SetFileProperties(file::set_properties(written(path)?, asked)?)
        }
        Kind::SetFileMetadata => F::SetFileMetadata(file::set_metadata(written(path)?, asked)?),
        Kind::DeleteFile => F::DeleteFile(file::delete(written(path)?, asked)?),
        Kind::PutRange => F::PutRange(file::put_range(written(path)?, asked)?),
        Kind::PutRangeFromUrl => F::PutRangeFromUrl(copy::put_range(written(path)?, asked)?),
        Kind::ListRanges => F::ListRanges(file::list_ranges(read(path)?, asked)?),
        Kind::CopyFile => F::CopyFile(copy::copy(written(path)?, asked, fresh)?),
        Kind::AbortCopyFile => F::AbortCopyFile(copy::abort(written(path)?, asked)?),
        Kind::RenameFile => F::RenameFile(copy::rename(written(path)?, ItemKind::File, asked)?),
        Kind::LeaseFile => F::LeaseFile(file::lease(written(path)?, asked, fresh)?),
        Kind::BreakFileLease => F::BreakFileLease(file::lease(written(path)?, asked, fresh)?),
    })
}

/// The path inside the share that the operation is about; the root where it is about the share.
pub fn path(kind: Kind, target: &Target, asked: &Asked<'_>) -> Result<FilePath, ApiError> {
    match kind.level() {
        Level::Share => Ok(FilePath::ROOT),
        Level::Directory | Level::File => item::path(target, asked),
    }
}

/// Get File of the source of a copy.
pub(crate) fn source(
    target: &Target,
    path: FilePath,
    asked: &Asked<'_>,
) -> Result<GetFile, ApiError> {
    file::get(item::read(target, path, asked)?, asked)
}

fn check_version(kind: Kind, asked: &Asked<'_>) -> Result<(), ApiError> {
    if asked.version < kind.since() {
        return Err(ApiError::from(file_codes::FEATURE_VERSION_MISMATCH).saying(format!(
            "The operation requires at least version {} of the service.",
            kind.since()
        )));
    }
    Ok(())
}

fn refuse_conditions(asked: &Asked<'_>) -> Result<(), ApiError> {
    for name in CONDITIONS {
        if asked.header(name)?.is_some() {
            return Err(
                ApiError::from(codes::CONDITION_HEADERS_NOT_SUPPORTED).detail("HeaderName", name)
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
