//! The rows of one message, always written and removed together.
//!
//! Must never leave one without the others: the indexes are only as true as this file.

use super::keys::Keys;
use super::records::{Count, Stored, Waiting};
use crate::records::Record;
use zaffre_base::Guid;
use zaffre_domain::queue::{Message, NEVER};
use zaffre_store::{Interrupt, Snapshot, StoreError, Tx};

/// Bytes of text in one row: a row's value holds at most 64 KiB with all that is in it, and a text
/// of that size must fit.
const PART: usize = 32 * 1024;

/// Writes a new message, or a new state of one whose old state is removed already.
pub(super) fn write_state(
    tx: &mut Tx<'_>,
    keys: Keys,
    id: Guid,
    message: &Message,
    length: u32,
) -> Result<(), Interrupt> {
    Stored::new(message, length).store(tx, &keys.message(id))?;
    Waiting { id, expires: message.expires }.store(tx, &keys.next(message))
}

/// Writes what stays the same for all of a message's life: when it expires.
pub(super) fn write_expiry(
    tx: &mut Tx<'_>,
    keys: Keys,
    id: Guid,
    message: &Message,
) -> Result<(), Interrupt> {
    if message.expires < NEVER { tx.put(&keys.expiry(message.expires, id), &[]) } else { Ok(()) }
}

/// Takes a message out of its place in the order of delivery.
pub(super) fn leave_place(tx: &mut Tx<'_>, keys: Keys, message: &Message) -> Result<(), Interrupt> {
    tx.delete(&keys.next(message))
}

/// Removes every row of a message.
pub(super) fn remove(
    tx: &mut Tx<'_>,
    keys: Keys,
    id: Guid,
    stored: &Stored,
) -> Result<(), Interrupt> {
    let message = stored.message();
    tx.delete(&keys.message(id))?;
    leave_place(tx, keys, &message)?;
    if message.expires < NEVER {
        tx.delete(&keys.expiry(message.expires, id))?;
    }
    for part in parts(stored.length) {
        tx.delete(&keys.text(id, part))?;
    }
    Ok(())
}

/// Writes a text; gives its length.
pub(super) fn write_text(
    tx: &mut Tx<'_>,
    keys: Keys,
    id: Guid,
    text: &str,
) -> Result<u32, Interrupt> {
    for (part, bytes) in (0..).zip(text.as_bytes().chunks(PART)) {
        tx.put(&keys.text(id, part), bytes)?;
    }
    u32::try_from(text.len()).map_err(|_| StoreError::Limit("a message's text").into())
}

/// Removes the parts of an old text that a new one of `length` bytes does not overwrite.
pub(super) fn cut_text(
    tx: &mut Tx<'_>,
    keys: Keys,
    id: Guid,
    old: u32,
    length: u32,
) -> Result<(), Interrupt> {
    for part in parts(old).skip(parts(length).count()) {
        tx.delete(&keys.text(id, part))?;
    }
    Ok(())
}

/// Reads a text inside a transaction.
pub(super) fn text(
    tx: &mut Tx<'_>,
    keys: Keys,
    id: Guid,
    length: u32,
) -> Result<String, Interrupt> {
    let mut bytes = Vec::new();
    for part in parts(length) {
        bytes.extend(tx.get(&keys.text(id, part))?.unwrap_or_default());
    }
    Ok(whole(bytes, length)?)
}

/// Reads a text in a snapshot.
pub(super) fn peek_text(
    inside: &Snapshot,
    keys: Keys,
    id: Guid,
    length: u32,
) -> Result<String, StoreError> {
    let mut bytes = Vec::new();
    for part in parts(length) {
        bytes.extend(inside.get(&keys.text(id, part))?.unwrap_or_default());
    }
    whole(bytes, length)
}

fn whole(bytes: Vec<u8>, length: u32) -> Result<String, StoreError> {
    let complete = u32::try_from(bytes.len()).is_ok_and(|found| found == length);
    let text = complete.then(|| String::from_utf8(bytes).ok()).flatten();
    text.ok_or_else(|| StoreError::corrupt("the text of a message"))
}

fn parts(length: u32) -> impl Iterator<Item = u8> {
    let count = usize::try_from(length).unwrap_or(usize::MAX).div_ceil(PART);
    (0..u8::MAX).take(count)
}

/// Changes the number of messages.
pub(super) fn count(tx: &mut Tx<'_>, keys: Keys, more: u64, fewer: u64) -> Result<(), Interrupt> {
    let key = keys.count();
    let Count { messages } = Count::load(tx, &key)?.unwrap_or_default();
    let messages = messages.saturating_add(more).saturating_sub(fewer);
    if messages == 0 { tx.delete(&key) } else { Count { messages }.store(tx, &key) }
}
