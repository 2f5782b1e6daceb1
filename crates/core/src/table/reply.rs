//! What the operations of the Table service answer, as plain data for a protocol to render.

use zaffre_base::TableName;
use zaffre_domain::Refusal;
use zaffre_domain::table::{Entity, EntityKey};

/// One page of tables.
#[derive(Clone, Debug)]
pub struct TablePage {
    /// In the order of their names, in the case they were created in.
    pub tables: Vec<TableName>,
    /// The table that the next page starts with; `None` at the end.
    pub next: Option<String>,
}

/// One page of entities.
#[derive(Clone, Debug)]
pub struct EntityPage {
    /// In the order of their keys.
    pub entities: Vec<Entity>,
    /// The first key that was not looked at; `None` at the end.
    pub next: Option<EntityKey>,
}

/// What a write did.
#[derive(Clone, PartialEq, Debug)]
pub enum Wrote {
    /// The entity is as it was made here.
    Entity(Entity),
    /// The entity is gone.
    Gone,
}

/// What a batch came to.
#[derive(Clone, Debug)]
pub enum Batch {
    /// Every operation was done, in one commit.
    Done(Vec<Wrote>),
    /// Nothing was done, because one operation was refused.
    Refused {
        /// Which.
        index: usize,
        /// Why.
        refusal: Refusal,
    },
}
