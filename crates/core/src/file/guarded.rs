//! What each operation on files and directories needs permission for, and where.
//!
//! Directories are no objects to a SAS: one for a file never reaches a directory, whatever its name.

use super::op::{
    AbortCopyFile, CopyFile, CreateDirectory, CreateFile, CreatePermission, DeleteDirectory,
    DeleteFile, ForceCloseHandles, GetDirectory, GetFile, GetFileProperties, GetPermission,
    ItemPath, Kind, LeaseFile, ListDirectory, ListHandles, ListRanges, PutRange, Rename,
    SetDirectoryMetadata, SetDirectoryProperties, SetFileMetadata, SetFileProperties,
};
use zaffre_auth::action::{Action, Guarded, Scope};
use zaffre_domain::lease::LeaseCommand;

impl ItemPath {
    fn in_share(&self) -> Scope<'_> {
        Scope::container(&self.share.account, self.share.share.as_str())
    }

    fn of_file(&self) -> Scope<'_> {
        Scope::object(&self.share.account, self.share.share.as_str(), self.path.as_str())
    }

    fn of(&self, kind: Kind) -> Scope<'_> {
        match kind {
            Kind::File => self.of_file(),
            Kind::Directory => self.in_share(),
        }
    }
}

macro_rules! guarded {
    ($scope:ident: $($op:ident),* $(,)?) => {$(
        impl Guarded for $op {
            fn action(&self) -> Action {
                Action::$op
            }

            fn scope(&self) -> Scope<'_> {
                self.at.$scope()
            }
        }
    )*};
}

guarded!(
    in_share: CreateDirectory,
    GetDirectory,
    SetDirectoryProperties,
    SetDirectoryMetadata,
    DeleteDirectory,
    ListDirectory,
    ListHandles,
    ForceCloseHandles,
);

guarded!(
    of_file: CreateFile,
    GetFile,
    GetFileProperties,
    SetFileProperties,
    SetFileMetadata,
    DeleteFile,
    PutRange,
    ListRanges,
    CopyFile,
    AbortCopyFile,
);

macro_rules! of_kind {
    ($($op:ident),*) => {$(
        impl Guarded for $op {
            fn action(&self) -> Action {
                Action::$op
            }

            fn scope(&self) -> Scope<'_> {
                self.at.of(self.kind)
            }
        }
    )*};
}

of_kind!(Rename);

impl Guarded for LeaseFile {
    fn action(&self) -> Action {
        match self.command {
            LeaseCommand::Break { .. } => Action::BreakFileLease,
            LeaseCommand::Acquire { .. }
            | LeaseCommand::Renew { .. }
            | LeaseCommand::Change { .. }
            | LeaseCommand::Release { .. } => Action::LeaseFile,
        }
    }

    fn scope(&self) -> Scope<'_> {
        self.at.of_file()
    }
}

macro_rules! of_share {
    ($($op:ident),*) => {$(
        impl Guarded for $op {
            fn action(&self) -> Action {
                Action::$op
            }

            fn scope(&self) -> Scope<'_> {
                Scope::container(&self.at.account, self.at.share.as_str())
            }
        }
    )*};
}

of_share!(CreatePermission, GetPermission);
