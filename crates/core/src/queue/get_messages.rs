//! Get Messages: takes the first ready messages for a while, in one commit.
//!
//! Must never look at more rows than it may take plus a few: what is invisible is after the end of
//! the range, and what has expired is passed by once, outside the commit.

use super::inside::transact;
use super::keys::Keys;
use super::op::GetMessages;
use super::records::{Stored, Waiting};
use super::reply::MessageView;
use super::rows;
use crate::directory::Place;
use crate::records::Record;
use crate::service::blocking;
use crate::{Core, Error};
use std::time::Duration;
use zaffre_auth::Authorized;
use zaffre_base::Stamp;
use zaffre_domain::Refusal;
use zaffre_store::{Abort, StoreError, Tx};

/// Rows of expired messages that a commit passes by at most.
const PASSED: usize = 8;

/// Rows of expired messages that are passed by with one look outside a commit.
const LOOK: usize = 4_096;

/// What one commit came to.
struct Taken {
    messages: Vec<MessageView>,
    /// No message is before this key any more.
    head: Vec<u8>,
    /// Everything that it looked at had expired, and there may be more behind.
    blocked: bool,
}

/// A place behind expired messages, found outside a commit.
struct Behind {
    place: Place,
    key: Vec<u8>,
    /// All commits up to this one were seen; later ones may have put messages before the key. To
    /// pass those by is right for the request that began before them, and for no other.
    seen: Stamp,
}

/// Receives messages: nobody else does for as long as `hold`.
pub async fn get_messages(
    core: &Core,
    op: Authorized<GetMessages>,
) -> Result<Vec<MessageView>, Error> {
    let (GetMessages { at, count, hold }, _) = op.into_parts();
    let mut behind: Option<Behind> = None;
    loop {
        // Before the look: what it does not see was committed later.
        let seen = core.store().meta.last_stamp();
        let make = |place: &Place| {
            let head = core.heads().get(place);
            let known = behind.as_ref().filter(|behind| behind.place == *place);
            let head = known.map_or(head.clone(), |behind| behind.key.clone().max(head));
            move |tx: &mut Tx<'_>, keys| take(tx, keys, &head, count, hold)
        };
        let (taken, place) = transact(core, &at, make).await?;
        // Without messages nothing was written, so that this may not have been a commit.
        let looked = taken.messages.is_empty().then_some(seen);
        match behind.as_ref().map(|behind| behind.seen).or(looked) {
            Some(seen) => core.heads().seen(&place, taken.head.clone(), seen),
            None => core.heads().found(&place, taken.head.clone()),
        }
        if !taken.blocked {
            return Ok(taken.messages);
        }
        let seen = behind.map_or(seen, |behind| behind.seen.min(seen));
        let key = pass_by_expired(core, &place, taken.head).await?;
        behind = Some(Behind { place, key, seen });
    }
}

fn take(
    tx: &mut Tx<'_>,
    keys: Keys,
    head: &[u8],
    count: usize,
    hold: Duration,
) -> Result<Taken, Abort<Refusal>> {
    let (stamp, now) = (tx.stamp(), tx.stamp().time());
    let end = keys.visible_end(now);
    let limit = count + PASSED;
    let found = tx.scan(head, Some(&end), limit)?;
    let all_seen = found.len() < limit;
    let mut messages = Vec::new();
    let mut last = None;
    for row in found {
        if messages.len() == count {
            break;
        }
        let waiting = Waiting::from_bytes(&row.value).map_err(zaffre_store::Interrupt::from)?;
        last = Some(row.key);
        if waiting.expires <= now {
            continue;
        }
        let id = waiting.id;
        let missing = || StoreError::corrupt("a waiting message that is not there");
        let stored = Stored::load(tx, &keys.message(id))?
            .ok_or_else(|| Abort::Interrupt(missing().into()))?;
        let old = stored.message();
        let message = old.receive(stamp, hold).ok_or_else(|| Abort::Interrupt(missing().into()))?;
        rows::leave_place(tx, keys, &old)?;
        rows::write_state(tx, keys, id, &message, stored.length)?;
        let text = rows::text(tx, keys, id, stored.length)?;
        messages.push(MessageView { id, message, text });
    }
    let exhausted = all_seen && messages.len() < count;
    let blocked = messages.is_empty() && !all_seen;
    let head = match last {
        _ if exhausted => end,
        Some(last) => [last.as_slice(), &[0]].concat(),
        None => head.to_vec(),
    };
    Ok(Taken { messages, head, blocked })
}

/// The first place from `from` on that is behind expired messages, however many there are.
async fn pass_by_expired(core: &Core, place: &Place, from: Vec<u8>) -> Result<Vec<u8>, Error> {
    let keys = Keys(place.incarnation);
    let mut key = from;
    loop {
        let inside = core.store().meta.snapshot(&place.placement).await?;
        let (now, from) = (core.now(&inside), key);
        let (reached, done) = blocking(move || {
            let rows = inside.scan(&from, Some(&keys.visible_end(now)), LOOK)?;
            let mut reached = from;
            for row in &rows {
                if Waiting::from_bytes(&row.value)?.expires > now {
                    return Ok((reached, true));
                }
                reached = [row.key.as_slice(), &[0]].concat();
            }
            Ok((reached, rows.len() < LOOK))
        })
        .await?;
        if done {
            return Ok(reached);
        }
        key = reached;
    }
}
