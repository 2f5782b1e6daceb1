//! NTSTATUS: the codes we answer with, and the one table that maps refusals to them.
//!
//! Must never be consulted to decide anything: a code is what a decision looks like on the wire.

use zaffre_core::Error;
use zaffre_domain::Refusal;
use zaffre_domain::fs::FileRefusal;

/// A status as it goes over the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Status(pub u32);

macro_rules! statuses {
    ($($name:ident = $value:literal;)*) => {
        #[expect(missing_docs, reason = "the protocol's own names")]
        impl Status {
            $(pub const $name: Self = Self($value);)*
        }
    };
}

statuses! {
    SUCCESS = 0x0000_0000;
    PENDING = 0x0000_0103;
    NOTIFY_CLEANUP = 0x0000_010B;
    NOTIFY_ENUM_DIR = 0x0000_010C;
    BUFFER_OVERFLOW = 0x8000_0005;
    NO_MORE_FILES = 0x8000_0006;
    UNSUCCESSFUL = 0xC000_0001;
    INVALID_INFO_CLASS = 0xC000_0003;
    INFO_LENGTH_MISMATCH = 0xC000_0004;
    INVALID_HANDLE = 0xC000_0008;
    INVALID_PARAMETER = 0xC000_000D;
    NO_SUCH_FILE = 0xC000_000F;
    INVALID_DEVICE_REQUEST = 0xC000_0010;
    END_OF_FILE = 0xC000_0011;
    MORE_PROCESSING_REQUIRED = 0xC000_0016;
    INVALID_VIEW_SIZE = 0xC000_001F;
    ACCESS_DENIED = 0xC000_0022;
    BUFFER_TOO_SMALL = 0xC000_0023;
    OBJECT_NAME_INVALID = 0xC000_0033;
    OBJECT_NAME_NOT_FOUND = 0xC000_0034;
    OBJECT_NAME_COLLISION = 0xC000_0035;
    OBJECT_PATH_INVALID = 0xC000_0039;
    OBJECT_PATH_NOT_FOUND = 0xC000_003A;
    OBJECT_PATH_SYNTAX_BAD = 0xC000_003B;
    SHARING_VIOLATION = 0xC000_0043;
    EAS_NOT_SUPPORTED = 0xC000_004F;
    NO_EAS_ON_FILE = 0xC000_0052;
    FILE_LOCK_CONFLICT = 0xC000_0054;
    LOCK_NOT_GRANTED = 0xC000_0055;
    DELETE_PENDING = 0xC000_0056;
    PRIVILEGE_NOT_HELD = 0xC000_0061;
    LOGON_FAILURE = 0xC000_006D;
    RANGE_NOT_LOCKED = 0xC000_007E;
    DISK_FULL = 0xC000_007F;
    INSUFFICIENT_RESOURCES = 0xC000_009A;
    MEDIA_WRITE_PROTECTED = 0xC000_00A2;
    BAD_IMPERSONATION_LEVEL = 0xC000_00A5;
    PIPE_NOT_AVAILABLE = 0xC000_00AC;
    PIPE_DISCONNECTED = 0xC000_00B0;
    FILE_IS_A_DIRECTORY = 0xC000_00BA;
    NOT_SUPPORTED = 0xC000_00BB;
    NETWORK_NAME_DELETED = 0xC000_00C9;
    BAD_NETWORK_NAME = 0xC000_00CC;
    REQUEST_NOT_ACCEPTED = 0xC000_00D0;
    REQUEST_OUT_OF_SEQUENCE = 0xC000_042A;
    OPLOCK_NOT_GRANTED = 0xC000_00E2;
    INVALID_OPLOCK_PROTOCOL = 0xC000_00E3;
    INTERNAL_ERROR = 0xC000_00E5;
    UNEXPECTED_IO_ERROR = 0xC000_00E9;
    DIRECTORY_NOT_EMPTY = 0xC000_0101;
    NOT_A_DIRECTORY = 0xC000_0103;
    CANCELLED = 0xC000_0120;
    CANNOT_DELETE = 0xC000_0121;
    FILE_CLOSED = 0xC000_0128;
    FS_DRIVER_REQUIRED = 0xC000_019C;
    INVALID_LOCK_RANGE = 0xC000_01A1;
    USER_SESSION_DELETED = 0xC000_0203;
    NOT_FOUND = 0xC000_0225;
    DUPLICATE_OBJECTID = 0xC000_022A;
    NOT_A_REPARSE_POINT = 0xC000_0275;
    FILE_NOT_AVAILABLE = 0xC000_0467;
    SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP = 0xC05D_0000;
}

/// A refusal as the wire has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The code.
    pub status: Status,
    /// What a few codes say besides.
    pub data: Vec<u8>,
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self { status, data: Vec::new() }
    }
}

impl From<crate::wire::cursor::Malformed> for Failure {
    fn from(_: crate::wire::cursor::Malformed) -> Self {
        Status::INVALID_PARAMETER.into()
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Status::from(error).into()
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(Refusal::File(refusal)) => refusal.into(),
            Error::Refused(refusal) => {
                tracing::warn!(?refusal, "a refusal that files do not have");
                Self::INVALID_PARAMETER
            }
            Error::Store(error) => {
                tracing::error!(%error, "the store failed");
                Self::UNEXPECTED_IO_ERROR
            }
        }
    }
}

/// The table.
impl From<FileRefusal> for Status {
    fn from(refusal: FileRefusal) -> Self {
        use FileRefusal as R;
        match refusal {
            R::ShareNotFound | R::ShareBeingDeleted => Self::BAD_NETWORK_NAME,
            R::ShareAlreadyExists | R::ResourceAlreadyExists => Self::OBJECT_NAME_COLLISION,
            R::ResourceNotFound | R::ShareSnapshotNotFound | R::PreviousSnapshotNotFound => {
                Self::OBJECT_NAME_NOT_FOUND
            }
            R::ParentNotFound => Self::OBJECT_PATH_NOT_FOUND,
            R::ResourceTypeMismatch => Self::NOT_A_DIRECTORY,
            R::DirectoryNotEmpty => Self::DIRECTORY_NOT_EMPTY,
            R::CannotDelete => Self::CANNOT_DELETE,
            R::MovedIntoItself
            | R::ReadOnlyAttribute
            | R::OverwriteNotPermitted
            | R::ClientCacheFlushDelay => Self::ACCESS_DENIED,
            R::InvalidPath | R::InvalidResourceName => Self::OBJECT_NAME_INVALID,
            R::SharingViolation => Self::SHARING_VIOLATION,
            R::FileLockConflict => Self::FILE_LOCK_CONFLICT,
            R::DeletePending => Self::DELETE_PENDING,
            R::HandleLimitExceeded => Self::INSUFFICIENT_RESOURCES,
            R::ShareSizeLimitReached | R::FileTooLarge | R::TooManyStreams => Self::DISK_FULL,
            R::ShareSnapshotOperationNotSupported => Self::MEDIA_WRITE_PROTECTED,
            R::ShareHasSnapshots
            | R::ShareSnapshotCountExceeded
            | R::ShareSnapshotInProgress
            | R::DeleteShareWhenSnapshotLeased
            | R::InvalidAttributes
            | R::NothingBelow
            | R::InvalidPermission
            | R::NoTextForPermission
            | R::InvalidPermissionKey
            | R::FileGenerationMismatch
            | R::NoPendingCopy => Self::INVALID_PARAMETER,
        }
    }
}
