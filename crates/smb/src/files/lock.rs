//! LOCK: byte ranges locked, waited for and given back.
//!
//! Must never hold the connection up while it waits.

use super::create::refused;
use super::handle::FileHandle;
use crate::server::exchange::{Exchange, Reply};
use crate::status::{Failure, Status};
use crate::wire::io::{LockElement, LockRequest};
use crate::wire::session::empty_response;
use zaffre_core::file::opens::{LockRefused, Locking, Refused, UnlockRefused};
use zaffre_domain::fs::locks::{LockKind, Range};

const SHARED: u32 = 0x1;
const EXCLUSIVE: u32 = 0x2;
const UNLOCK: u32 = 0x4;
const FAIL_IMMEDIATELY: u32 = 0x10;

/// What a LOCK asks for.
#[derive(PartialEq, Eq, Debug)]
enum Wish {
    Lock {
        ranges: Vec<(Range, LockKind)>,
        wait: bool,
    },
    /// Ranges up to the first element that makes no sense, and whether there was one.
    Unlock {
        ranges: Vec<Range>,
        then: Option<Status>,
    },
}

/// LOCK.
pub(crate) async fn run(x: &mut Exchange<'_>, request: &LockRequest) -> Result<Reply, Failure> {
    let open = x.open(request.file)?;
    let file = open.file().ok_or(Status::INVALID_DEVICE_REQUEST)?;
    if file.directory {
        return Err(Status::INVALID_DEVICE_REQUEST.into());
    }
    let wish = wish(&request.elements)?;
    let sequence = sequence(x, file, request.sequence);
    let opens = x.server.core.opens().clone();
    match wish {
        Wish::Unlock { ranges, then } => {
            opens.unlock(file.handle, &ranges, sequence).map_err(|why| match why {
                UnlockRefused::NotLocked => Status::RANGE_NOT_LOCKED,
                UnlockRefused::Closed => Status::FILE_CLOSED,
            })?;
            if let Some(status) = then {
                return Err(status.into());
            }
        }
        Wish::Lock { ranges, wait } => {
            match opens.lock(file.handle, &ranges, wait, sequence).map_err(not_granted)? {
                Locking::Granted => {}
                Locking::Pending(waiting) => {
                    let cancelled = x.pend().await?;
                    tokio::select! {
                        granted = waiting => granted.map_err(|why| match why {
                            // The handle went while it waited: so did all it could have locked.
                            LockRefused::Closed => Status::RANGE_NOT_LOCKED,
                            other => not_granted(other),
                        })?,
                        () = cancelled.wait() => return Err(Status::CANCELLED.into()),
                    }
                }
            }
        }
    }
    Ok(Reply::ok(empty_response()))
}

fn not_granted(why: LockRefused) -> Status {
    match why {
        LockRefused::NotGranted => Status::LOCK_NOT_GRANTED,
        LockRefused::TooMany => refused(Refused::TooMany),
        LockRefused::Closed => Status::FILE_CLOSED,
    }
}

/// The number of a request that may come again: a client that can lose its connection and keep its
/// handle has to know whether it was done.
fn sequence(x: &Exchange<'_>, file: &FileHandle, sequence: u32) -> Option<(u8, u8)> {
    let third = x.connection.agreed().is_some_and(|agreed| agreed.dialect.is_third());
    let index = u8::try_from(sequence >> 4).ok().filter(|index| (1..=64).contains(index))?;
    let number = u8::try_from(sequence & 0xF).ok()?;
    (third || file.durable.is_some()).then_some((index, number))
}

/// What the elements ask for together: the first says whether to lock or to unlock.
fn wish(elements: &[LockElement]) -> Result<Wish, Status> {
    let first = elements.first().ok_or(Status::INVALID_PARAMETER)?;
    let alone = elements.len() == 1;
    if first.flags == UNLOCK {
        // Unlike locks, those before a bad one are unlocked.
        let unlocks = |element: &LockElement| match element.flags {
            UNLOCK => range(element),
            _ => Err(Status::INVALID_PARAMETER),
        };
        let mut then = None;
        let ranges = elements.iter().map(unlocks);
        let ranges = ranges.map_while(|range| range.map_err(|status| then = Some(status)).ok());
        let ranges = ranges.collect();
        return Ok(Wish::Unlock { ranges, then });
    }
    let mut ranges = Vec::new();
    for element in elements {
        let kind = match element.flags & !FAIL_IMMEDIATELY {
            SHARED => LockKind::Shared,
            EXCLUSIVE => LockKind::Exclusive,
            _ => return Err(Status::INVALID_PARAMETER),
        };
        if !alone && element.flags & FAIL_IMMEDIATELY == 0 {
            return Err(Status::INVALID_PARAMETER);
        }
        ranges.push((range(element)?, kind));
    }
    Ok(Wish::Lock { ranges, wait: first.flags & FAIL_IMMEDIATELY == 0 })
}

fn range(element: &LockElement) -> Result<Range, Status> {
    Range::new(element.offset, element.length).ok_or(Status::INVALID_LOCK_RANGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_what_is_wanted() {
        let element = |flags| LockElement { offset: 5, length: 1, flags };
        let rows: [(&[u32], Result<&str, Status>); 13] = [
            (&[1], Ok("lock, wait")),
            (&[0x11], Ok("lock")),
            (&[2], Ok("lock, wait")),
            (&[4], Ok("unlock")),
            (&[4, 4], Ok("unlock")),
            (&[0x11, 0x12], Ok("lock")),
            (&[0], Err(Status::INVALID_PARAMETER)),
            (&[3], Err(Status::INVALID_PARAMETER)),
            (&[0x20], Err(Status::INVALID_PARAMETER)),
            (&[0x11, 4], Err(Status::INVALID_PARAMETER)),
            (&[4, 0x11], Ok("unlock, then refuse")),
            (&[0x14], Err(Status::INVALID_PARAMETER)),
            (&[2, 2], Err(Status::INVALID_PARAMETER)),
        ];
        for (flags, want) in rows {
            let elements: Vec<_> = flags.iter().map(|flags| element(*flags)).collect();
            let got = wish(&elements).map(|wish| match wish {
                Wish::Lock { wait: true, .. } => "lock, wait",
                Wish::Lock { wait: false, .. } => "lock",
                Wish::Unlock { then: None, .. } => "unlock",
                Wish::Unlock { .. } => "unlock, then refuse",
            });
            assert_eq!(got, want, "{flags:?}");
        }
        let beyond = LockElement { offset: u64::MAX, length: 2, flags: 1 };
        assert_eq!(wish(&[beyond]), Err(Status::INVALID_LOCK_RANGE));
    }
}
