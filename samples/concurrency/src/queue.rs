//! A queue with the official crate `azure_storage_queue`: a message that comes back, a receipt too old.

use crate::account::{Account, Failure};
use crate::refused;
use azure_storage_queue::QueueClient;
use azure_storage_queue::models::{QueueClientReceiveMessagesOptions, QueueMessage};
use std::time::Duration;

/// A message taken from the queue: its id, its pop receipt, how often it was taken.
struct Taken {
    id: String,
    receipt: String,
    count: i64,
}

async fn take(queue: &QueueClient, seconds: i32) -> Result<Option<Taken>, Failure> {
    let options = QueueClientReceiveMessagesOptions {
        visibility_timeout: Some(seconds),
        ..Default::default()
    };
    let answer = queue.receive_messages(Some(options)).await?.into_model()?;
    let Some(message) = answer.items.unwrap_or_default().into_iter().next() else {
        return Ok(None);
    };
    Ok(Some(Taken {
        id: message.message_id.ok_or("no id")?,
        receipt: message.pop_receipt.ok_or("no receipt")?,
        count: message.dequeue_count.ok_or("no count")?,
    }))
}

pub async fn message(account: &Account, name: &str) -> Result<(), Failure> {
    println!(
        "\n== A queue: a message whose receiver is late comes back, and the late one cannot delete"
    );
    let queue = QueueClient::new(account.url("Queue", name)?, None, None)?;
    queue.create(None).await?;
    let message = QueueMessage { message_text: Some("pack the parcel".to_owned()) };
    queue.send_message(message.try_into()?, None).await?;
    let first = take(&queue, 1).await?.ok_or("the message is not there")?;
    println!("1. A worker takes the message for one second; dequeued {} time.", first.count);
    println!("2. The worker is slow; the message becomes visible again.");
    let mut again = None;
    for _ in 0..100 {
        again = take(&queue, 30).await?;
        if again.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let second = again.ok_or("the message did not come back")?;
    assert_eq!(second.id, first.id);
    println!("   Another worker takes it; dequeued {} times.", second.count);
    println!("3. The first worker is done at last and deletes by its old pop receipt:");
    let late = queue.delete_message(&first.id, &first.receipt, None).await;
    refused(404, "MessageNotFound", late)?;
    queue.delete_message(&second.id, &second.receipt, None).await?;
    println!("4. The second worker's receipt is the valid one: the message is gone.");
    queue.delete(None).await?;
    Ok(())
}
