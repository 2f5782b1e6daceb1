//! What each operation on a share needs permission for, and where.

use super::op::{
    CreateShare, DeleteShare, GetShare, GetShareAcl, GetShareStats, LeaseShare, ListShares,
    RestoreShare, SetShareAcl, SetShareMetadata, SetShareProperties, ShareAt, SharePath,
    SnapshotShare,
};
use zaffre_auth::action::{Action, Guarded, Scope};
use zaffre_domain::lease::LeaseCommand;

impl SharePath {
    fn scope(&self) -> Scope<'_> {
        Scope::container(&self.account, self.share.as_str())
    }
}

impl ShareAt {
    fn scope(&self) -> Scope<'_> {
        self.share.scope()
    }
}

macro_rules! guarded {
    ($($op:ident),* $(,)?) => {$(
        impl Guarded for $op {
            fn action(&self) -> Action {
                Action::$op
            }

            fn scope(&self) -> Scope<'_> {
                self.at.scope()
            }
        }
    )*};
}

guarded!(
    CreateShare,
    GetShare,
    SetShareProperties,
    SetShareMetadata,
    GetShareAcl,
    SetShareAcl,
    GetShareStats,
    SnapshotShare,
    DeleteShare,
    RestoreShare,
);

impl Guarded for LeaseShare {
    fn action(&self) -> Action {
        match self.command {
            LeaseCommand::Break { .. } => Action::BreakShareLease,
            LeaseCommand::Acquire { .. }
            | LeaseCommand::Renew { .. }
            | LeaseCommand::Change { .. }
            | LeaseCommand::Release { .. } => Action::LeaseShare,
        }
    }

    fn scope(&self) -> Scope<'_> {
        self.at.scope()
    }
}

impl Guarded for ListShares {
    fn action(&self) -> Action {
        Action::ListShares
    }

    fn scope(&self) -> Scope<'_> {
        Scope::account(&self.account)
    }
}
