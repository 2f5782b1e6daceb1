//! What tests ask of a table.

use super::{ACCOUNT, World, must};
use zaffre_base::{AccountName, TableName};
use zaffre_core::Error;
use zaffre_core::table as service;
use zaffre_core::table::op::{
    CreateTable, DeleteTable, GetEntity, QueryEntities, TablePath, WriteEntity,
};
use zaffre_core::table::reply::{Batch, Wrote};
use zaffre_domain::table::filter::parse;
use zaffre_domain::table::{Entity, EntityKey, Write};
use zaffre_store::Placement;

pub const TABLE: &str = "Orders";

pub fn at() -> TablePath {
    let account = must(AccountName::parse(ACCOUNT));
    TablePath::new(&account, must(TableName::parse(TABLE)))
}

impl World {
    pub async fn create_table(&self) -> Result<(), Error> {
        let op = self.ok(CreateTable { at: at() });
        service::create_table(&self.core, op).await.map(drop)
    }

    pub async fn delete_table(&self) -> Result<(), Error> {
        service::delete_table(&self.core, self.ok(DeleteTable { at: at() })).await
    }

    pub async fn write_entity(&self, key: EntityKey, write: Write) -> Result<Wrote, Error> {
        let op = WriteEntity { at: at(), key, write };
        service::write_entity(&self.core, self.ok(op)).await
    }

    pub async fn write_batch(&self, ops: Vec<(EntityKey, Write)>) -> Result<Batch, Error> {
        let ops = ops.into_iter().map(|(key, write)| WriteEntity { at: at(), key, write });
        service::write_batch(&self.core, ops.map(|op| self.ok(op)).collect()).await
    }

    pub async fn entity(&self, key: EntityKey) -> Result<Entity, Error> {
        service::get_entity(&self.core, self.ok(GetEntity { at: at(), key })).await
    }

    /// Everything that passes, page by page.
    pub async fn entities(&self, filter: &str, top: usize) -> Vec<Entity> {
        let (mut found, mut next) = (Vec::new(), None);
        loop {
            let op = QueryEntities { at: at(), filter: must(parse(filter)), top, next };
            let page = must(service::query_entities(&self.core, self.ok(op)).await);
            assert!(page.entities.len() <= top);
            found.extend(page.entities);
            let Some(key) = page.next else { return found };
            next = Some((key.partition().to_owned(), Some(key.row().to_owned())));
        }
    }

    pub async fn table_rows(&self) -> usize {
        let name = format!("t/{ACCOUNT}/{}", TABLE.to_ascii_lowercase()).into_bytes();
        let snapshot = must(self.core.store().meta.snapshot(&Placement::new(name)).await);
        must(snapshot.scan(&[], None, 1_000_000)).len()
    }
}
