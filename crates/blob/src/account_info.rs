//! Get Account Information: the one operation answered without a look at any state.
//!
//! Must never say more than every caller may know: it needs no particular permission.

use crate::target::Target;
use zaffre_auth::action::{Action, Guarded, Scope};
use zaffre_base::AccountName;

/// Get Account Information, asked of any URL of the account.
#[derive(Clone, Debug)]
pub struct GetAccountInfo {
    account: AccountName,
    target: Target,
}

impl GetAccountInfo {
    /// Asked of `target`, which need not exist.
    pub fn new(account: &AccountName, target: &Target) -> Self {
        Self { account: account.clone(), target: target.clone() }
    }
}

impl Guarded for GetAccountInfo {
    fn action(&self) -> Action {
        Action::GetAccountInfo
    }

    fn scope(&self) -> Scope<'_> {
        self.target.scope(&self.account)
    }
}
