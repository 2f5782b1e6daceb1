//! The proof that somebody holds a key of an account, won by NTLM.

use crate::action::Guarded;
use crate::authorized::{Authorized, Grants};
use zaffre_base::AccountName;

/// Somebody who has proven to hold a key of this account. Only the acceptor can make one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyHolder {
    account: AccountName,
}

impl KeyHolder {
    pub(super) fn new(account: AccountName) -> Self {
        Self { account }
    }

    /// Which account.
    pub fn account(&self) -> &AccountName {
        &self.account
    }

    /// Whoever holds a key may do everything within the account and nothing in any other.
    pub fn authorize<Op: Guarded>(&self, op: Op) -> Option<Authorized<Op>> {
        let own = *op.scope().account == self.account;
        own.then(|| Authorized::new(op, Grants::ALL, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::action::{Action, Scope};

    struct Read(AccountName);

    impl Guarded for Read {
        fn action(&self) -> Action {
            Action::GetFile
        }

        fn scope(&self) -> Scope<'_> {
            Scope::account(&self.0)
        }
    }

    #[test]
    fn everything_in_their_own_account() {
        let name = |text: &str| AccountName::parse(text).expect("a name");
        let holder = KeyHolder::new(name("mine"));
        let authorized = holder.authorize(Read(name("mine"))).expect("their own");
        assert_eq!(authorized.into_parts().1, Grants::ALL);
        assert!(holder.authorize(Read(name("other"))).is_none());
    }
}
