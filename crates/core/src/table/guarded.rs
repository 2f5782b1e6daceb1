//! What each operation needs permission for, and where.

use super::op::{
    CreateTable, DeleteTable, GetEntity, GetTableAcl, QueryEntities, QueryTables, SetTableAcl,
    WriteEntity,
};
use zaffre_auth::action::{Action, Guarded, Scope};
use zaffre_domain::table::Write;

macro_rules! guarded {
    ($($op:ident),* $(,)?) => {$(
        impl Guarded for $op {
            fn action(&self) -> Action {
                Action::$op
            }

            fn scope(&self) -> Scope<'_> {
                Scope::container(&self.at.account, &self.at.folded)
            }
        }
    )*};
}

guarded!(CreateTable, DeleteTable, GetTableAcl, SetTableAcl, QueryEntities);

impl Guarded for QueryTables {
    fn action(&self) -> Action {
        Action::QueryTables
    }

    fn scope(&self) -> Scope<'_> {
        Scope::account(&self.account)
    }
}

impl Guarded for GetEntity {
    fn action(&self) -> Action {
        Action::GetEntity
    }

    fn scope(&self) -> Scope<'_> {
        let key = (self.key.partition(), self.key.row());
        Scope::entity(&self.at.account, &self.at.folded, key)
    }
}

impl Guarded for WriteEntity {
    fn action(&self) -> Action {
        match self.write {
            Write::Insert(_) => Action::InsertEntity,
            Write::Update(..) => Action::UpdateEntity,
            Write::Merge(..) => Action::MergeEntity,
            Write::InsertOrReplace(_) => Action::InsertOrReplaceEntity,
            Write::InsertOrMerge(_) => Action::InsertOrMergeEntity,
            Write::Delete(_) => Action::DeleteEntity,
        }
    }

    fn scope(&self) -> Scope<'_> {
        let key = (self.key.partition(), self.key.row());
        Scope::entity(&self.at.account, &self.at.folded, key)
    }
}
