//! The closed list of what the File service can be asked, first as a name, then as parsed data.
//!
//! Must never have a default arm: a new operation does not compile until every match handles it.

use crate::parse::copy::{From, RangeFrom};
use crate::parse::directory::EntriesListing;
use crate::parse::file::{Download, Upload};
use crate::parse::handles::HandlesListing;
use crate::parse::listing::SharesListing;
use crate::parse::permission::PermissionAsked;
use zaffre_auth::action::Action;
use zaffre_base::ApiVersion;
use zaffre_core::file::op;
use zaffre_core::file::share::{SharePath, op as share};
use zaffre_core::service_properties::{GetServiceProperties, SetServiceProperties};

const FIRST: ApiVersion = ApiVersion::new(2014, 2, 14);
const V2015: ApiVersion = ApiVersion::new(2015, 2, 21);
const V2017: ApiVersion = ApiVersion::new(2017, 4, 17);
const V2018: ApiVersion = ApiVersion::new(2018, 11, 9);
const V2019_02: ApiVersion = ApiVersion::new(2019, 2, 2);
const V2019_12: ApiVersion = ApiVersion::new(2019, 12, 12);
const V2020_02: ApiVersion = ApiVersion::new(2020, 2, 10);
const V2021: ApiVersion = ApiVersion::new(2021, 4, 10);

macro_rules! operations {
    ($($(#[$doc:meta])* $kind:ident($data:ty): $action:ident, $since:ident;)*) => {
        /// Which operation a request asks for.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            /// Its name, for the log.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => stringify!($kind),)* }
            }

            /// The row of the permission table.
            pub fn action(self) -> Action {
                match self { $(Self::$kind => Action::$action,)* }
            }

            /// The version it came with.
            pub fn since(self) -> ApiVersion {
                match self { $(Self::$kind => $since,)* }
            }
        }

        /// A request whose head was parsed; what comes with the body is filled in later.
        #[derive(Clone, Debug)]
        pub enum FileOperation { $($(#[$doc])* $kind($data),)* }
    };
}

/// What the path of an operation names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// The service, or a share.
    Share,
    /// A directory.
    Directory,
    /// A file.
    File,
}

impl Kind {
    /// What its path names.
    pub fn level(self) -> Level {
        use Kind as K;
        match self {
            K::GetServiceProperties
            | K::SetServiceProperties
            | K::GetUserDelegationKey
            | K::ListShares
            | K::CreateShare
            | K::GetShareProperties
            | K::GetShareMetadata
            | K::SetShareProperties
            | K::SetShareMetadata
            | K::GetShareAcl
            | K::SetShareAcl
            | K::GetShareStats
            | K::SnapshotShare
            | K::DeleteShare
            | K::RestoreShare
            | K::LeaseShare
            | K::BreakShareLease
            | K::CreatePermission
            | K::GetPermission => Level::Share,
            K::CreateDirectory
            | K::GetDirectoryProperties
            | K::GetDirectoryMetadata
            | K::SetDirectoryProperties
            | K::SetDirectoryMetadata
            | K::DeleteDirectory
            | K::ListDirectory
            | K::RenameDirectory
            | K::ListHandles
            | K::ForceCloseHandles => Level::Directory,
            K::CreateFile
            | K::GetFile
            | K::GetFileProperties
            | K::GetFileMetadata
            | K::SetFileProperties
            | K::SetFileMetadata
            | K::DeleteFile
            | K::PutRange
            | K::PutRangeFromUrl
            | K::ListRanges
            | K::CopyFile
            | K::AbortCopyFile
            | K::RenameFile
            | K::LeaseFile
            | K::BreakFileLease => Level::File,
        }
    }
}

operations! {
    /// Get File Service Properties
    GetServiceProperties(GetServiceProperties): GetServiceProperties, V2015;
    /// Set File Service Properties
    SetServiceProperties(SetServiceProperties): SetServiceProperties, V2015;
    /// Get User Delegation Key; all it says comes with the body
    GetUserDelegationKey(()): GetUserDelegationKey, FIRST;
    /// List Shares
    ListShares(SharesListing): ListShares, FIRST;
    /// Create Share
    CreateShare(share::CreateShare): CreateShare, FIRST;
    /// Get Share Properties
    GetShareProperties(share::GetShare): GetShare, FIRST;
    /// Get Share Metadata
    GetShareMetadata(share::GetShare): GetShare, FIRST;
    /// Set Share Properties
    SetShareProperties(share::SetShareProperties): SetShareProperties, V2015;
    /// Set Share Metadata
    SetShareMetadata(share::SetShareMetadata): SetShareMetadata, FIRST;
    /// Get Share ACL
    GetShareAcl(share::GetShareAcl): GetShareAcl, V2015;
    /// Set Share ACL
    SetShareAcl(share::SetShareAcl): SetShareAcl, V2015;
    /// Restore Share
    RestoreShare(share::RestoreShare): RestoreShare, V2019_12;
    /// Lease Share, any action but break
    LeaseShare(share::LeaseShare): LeaseShare, V2020_02;
    /// Lease Share: break
    BreakShareLease(share::LeaseShare): BreakShareLease, V2020_02;
    /// Get Share Stats
    GetShareStats(share::GetShareStats): GetShareStats, V2015;
    /// Snapshot Share
    SnapshotShare(share::SnapshotShare): SnapshotShare, V2017;
    /// Delete Share
    DeleteShare(share::DeleteShare): DeleteShare, FIRST;
    /// Create Permission; what is kept comes with the body
    CreatePermission(SharePath): CreatePermission, V2019_02;
    /// Get Permission
    GetPermission(PermissionAsked): GetPermission, V2019_02;
    /// Create Directory
    CreateDirectory(op::CreateDirectory): CreateDirectory, FIRST;
    /// Get Directory Properties
    GetDirectoryProperties(op::GetDirectory): GetDirectory, FIRST;
    /// Get Directory Metadata
    GetDirectoryMetadata(op::GetDirectory): GetDirectory, FIRST;
    /// Set Directory Properties
    SetDirectoryProperties(op::SetDirectoryProperties): SetDirectoryProperties, V2019_02;
    /// Set Directory Metadata
    SetDirectoryMetadata(op::SetDirectoryMetadata): SetDirectoryMetadata, V2015;
    /// Delete Directory
    DeleteDirectory(op::DeleteDirectory): DeleteDirectory, FIRST;
    /// List Directories and Files
    ListDirectory(EntriesListing): ListDirectory, FIRST;
    /// Rename Directory
    RenameDirectory(From<op::Rename>): Rename, V2021;
    /// List Handles of a file or directory; the URL does not say which
    ListHandles(HandlesListing): ListHandles, V2018;
    /// Force Close Handles of a file or directory
    ForceCloseHandles(op::ForceCloseHandles): ForceCloseHandles, V2018;
    /// Create File
    CreateFile(Upload<op::CreateFile>): CreateFile, FIRST;
    /// Get File
    GetFile(Download): GetFile, FIRST;
    /// Get File Properties
    GetFileProperties(op::GetFileProperties): GetFileProperties, FIRST;
    /// Get File Metadata
    GetFileMetadata(op::GetFileProperties): GetFileProperties, FIRST;
    /// Set File Properties
    SetFileProperties(op::SetFileProperties): SetFileProperties, FIRST;
    /// Set File Metadata
    SetFileMetadata(op::SetFileMetadata): SetFileMetadata, FIRST;
    /// Delete File
    DeleteFile(op::DeleteFile): DeleteFile, FIRST;
    /// Put Range
    PutRange(Upload<op::PutRange>): PutRange, FIRST;
    /// Put Range from URL
    PutRangeFromUrl(From<RangeFrom>): PutRangeFromUrl, V2019_02;
    /// List Ranges
    ListRanges(op::ListRanges): ListRanges, FIRST;
    /// Copy File
    CopyFile(From<op::CopyFile>): CopyFile, V2015;
    /// Abort Copy File
    AbortCopyFile(op::AbortCopyFile): AbortCopyFile, V2015;
    /// Rename File
    RenameFile(From<op::Rename>): Rename, V2021;
    /// Lease File, any action but break
    LeaseFile(op::LeaseFile): LeaseFile, V2019_02;
    /// Lease File: break
    BreakFileLease(op::LeaseFile): BreakFileLease, V2019_02;
}
