//! What tests ask of a queue.

use super::{ACCOUNT, World, must};
use std::time::Duration;
use zaffre_base::{AccountName, Guid, QueueName};
use zaffre_core::Error;
use zaffre_core::queue::op::{
    ClearMessages, CreateQueue, DeleteMessage, DeleteQueue, GetMessages, GetQueueMetadata,
    PeekMessages, PutMessage, QueuePath, UpdateMessage,
};
use zaffre_core::queue::reply::{Created, MessageView};
use zaffre_core::queue::{self as service};
use zaffre_domain::blob::Metadata;
use zaffre_domain::queue::Lifetime;
use zaffre_store::Placement;

pub const QUEUE: &str = "orders";

pub fn at() -> QueuePath {
    let account = must(AccountName::parse(ACCOUNT));
    QueuePath { account, queue: must(QueueName::parse(QUEUE)) }
}

impl World {
    pub async fn create_queue(&self) -> Result<Created, Error> {
        let op = CreateQueue { at: at(), metadata: Metadata::new() };
        service::create_queue(&self.core, self.ok(op)).await
    }

    pub async fn delete_queue(&self) -> Result<(), Error> {
        service::delete_queue(&self.core, self.ok(DeleteQueue { at: at() })).await
    }

    pub async fn put_message(
        &self,
        text: &str,
        lifetime: Lifetime,
        delay: u64,
    ) -> Result<MessageView, Error> {
        let delay = Duration::from_secs(delay);
        let op = PutMessage { at: at(), text: text.to_owned(), lifetime, delay };
        service::put_message(&self.core, self.ok(op)).await
    }

    pub async fn receive(&self, count: usize, hold: u64) -> Result<Vec<MessageView>, Error> {
        let op = GetMessages { at: at(), count, hold: Duration::from_secs(hold) };
        service::get_messages(&self.core, self.ok(op)).await
    }

    pub async fn peek(&self, count: usize) -> Result<Vec<MessageView>, Error> {
        service::peek_messages(&self.core, self.ok(PeekMessages { at: at(), count })).await
    }

    pub async fn update(
        &self,
        id: Guid,
        receipt: &str,
        delay: u64,
        text: Option<&str>,
    ) -> Result<MessageView, Error> {
        let op = UpdateMessage {
            at: at(),
            id: Some(id),
            receipt: receipt.to_owned(),
            delay: Duration::from_secs(delay),
            text: text.map(str::to_owned),
        };
        service::update_message(&self.core, self.ok(op)).await
    }

    pub async fn delete_message(&self, id: Guid, receipt: &str) -> Result<(), Error> {
        let op = DeleteMessage { at: at(), id: Some(id), receipt: receipt.to_owned() };
        service::delete_message(&self.core, self.ok(op)).await
    }

    pub async fn clear(&self) -> Result<(), Error> {
        service::clear_messages(&self.core, self.ok(ClearMessages { at: at() })).await
    }

    pub async fn message_count(&self) -> Result<u64, Error> {
        let op = self.ok(GetQueueMetadata { at: at() });
        service::get_queue_metadata(&self.core, op).await.map(|found| found.messages)
    }

    pub async fn queue_rows(&self) -> usize {
        let name = format!("q/{ACCOUNT}/{QUEUE}").into_bytes();
        let snapshot = must(self.core.store().meta.snapshot(&Placement::new(name)).await);
        must(snapshot.scan(&[], None, 1_000_000)).len()
    }
}
