//! Byte-range locks of SMB against writes and reads of both protocols.
//!
//! Must never wait for a lock: who waits cannot be told from who is refused.

use super::files::{FILE, RANGE, SmbClient, bytes, get, prepare, put};
use crate::Random;
use crate::models::range_lock::{Answer, LockedFile, Op, RANGES};
use crate::real::Lost;
use crate::real::http::{Http, Reply};
use crate::real::record::{Known, OPERATIONS, Subject};
use crate::real::smb::{FileId, Locks, Smb};

const NOT_GRANTED: u32 = 0xC000_0055;
const LOCK_CONFLICT: u32 = 0xC000_0054;
const RANGE_NOT_LOCKED: u32 = 0xC000_007E;
const READ_WRITE: u32 = 0x3;
const SHARE_ALL: u32 = 0x7;

/// Locks of ranges.
#[derive(Debug)]
pub(crate) struct RangeLock;

/// The client's handle, opened if it is not.
fn handle((smb, file): &mut (Smb, Option<FileId>)) -> Result<(&mut Smb, FileId), Lost> {
    let file = match *file {
        Some(file) => file,
        None => match smb.open(FILE, READ_WRITE, SHARE_ALL)? {
            Ok(opened) => *file.insert(opened),
            Err(status) => panic!("all is shared, and yet: {status:x}"),
        },
    };
    Ok((smb, file))
}

impl Subject for RangeLock {
    type Model = LockedFile;
    type Client = SmbClient;
    const NAME: &'static str = "range-lock";

    fn prepare(&self, http: &mut Http, key: &str) -> Result<(), String> {
        prepare(http, key, RANGES as u64)
    }

    fn choose(&self, random: &mut Random, value: u64, known: &Known) -> Op {
        let client = value.saturating_sub(2) / OPERATIONS;
        let range = random.below(RANGES as u64);
        let locked = known.iter().rev().find(|locked| locked.0 == client.to_string());
        if let Some((_, range)) = locked.filter(|_| random.below(3) > 0) {
            return Op::Unlock { client, range: range.parse().unwrap_or(0) };
        }
        match random.below(20) {
            0..4 => Op::Lock { client, range },
            4..6 => Op::Unlock { client, range },
            6..12 => Op::Write { client, range, value },
            12..16 => Op::Put { range, value },
            _ => Op::Get { range },
        }
    }

    fn perform(
        &self,
        client: &mut SmbClient,
        http: &mut Http,
        key: &str,
        op: &Op,
    ) -> Result<Answer, Lost> {
        let status = match op {
            Op::Put { range, value } => return Ok(answer(&put(http, key, *range, *value)?, None)),
            Op::Get { range } => {
                let (reply, value) = get(http, key, *range)?;
                return Ok(answer(&reply, value));
            }
            Op::Lock { range, .. } => {
                let (smb, file) = handle(client.at(http, key))?;
                smb.lock(file, range * RANGE, RANGE, Locks::Take)?
            }
            Op::Unlock { range, .. } => {
                let (smb, file) = handle(client.at(http, key))?;
                smb.lock(file, range * RANGE, RANGE, Locks::Release)?
            }
            Op::Write { range, value, .. } => {
                let (smb, file) = handle(client.at(http, key))?;
                smb.write(file, range * RANGE, &bytes(*value))?
            }
            Op::Restart {} => unreachable!("an event"),
        };
        Ok(match status {
            0 => Answer::Done {},
            NOT_GRANTED | LOCK_CONFLICT => Answer::Conflict {},
            RANGE_NOT_LOCKED => Answer::NotLocked {},
            other => Answer::Strange { status: u64::from(other), code: String::new() },
        })
    }

    fn learn(op: &Op, answer: &Answer) -> Option<(String, String)> {
        match (op, answer) {
            (Op::Lock { client, range }, Answer::Done {}) => {
                Some((client.to_string(), range.to_string()))
            }
            _ => None,
        }
    }

    fn last() -> Op {
        Op::Get { range: 0 }
    }
}

fn answer(reply: &Reply, value: Option<u64>) -> Answer {
    match (reply.status, reply.code().as_str(), value) {
        (201, _, _) => Answer::Done {},
        (200 | 206, _, Some(value)) => Answer::Found { value },
        (409, "FileLockConflict", _) => Answer::Conflict {},
        (status, code, _) => Answer::Strange { status, code: code.to_owned() },
    }
}
