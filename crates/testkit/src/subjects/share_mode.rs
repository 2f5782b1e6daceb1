//! Share modes of SMB against each other and against REST.
//!
//! Must never open a file twice by one client: the model has one handle for each.

use super::files::{FILE, SmbClient, get, prepare, put};
use crate::Random;
use crate::models::share_mode::{Answer, Op, READ, SharedFile, WRITE};
use crate::real::Lost;
use crate::real::http::{Http, Reply};
use crate::real::record::{Known, OPERATIONS, Subject};

const SHARING_VIOLATION: u32 = 0xC000_0043;

/// Share modes.
#[derive(Debug)]
pub(crate) struct ShareMode;

impl Subject for ShareMode {
    type Model = SharedFile;
    type Client = SmbClient;
    const NAME: &'static str = "share-mode";

    fn prepare(&self, http: &mut Http, key: &str) -> Result<(), String> {
        prepare(http, key, 1)
    }

    fn choose(&self, random: &mut Random, value: u64, _: &Known) -> Op {
        let client = value.saturating_sub(2) / OPERATIONS;
        let share = if random.below(2) == 0 { READ | WRITE } else { random.below(4) };
        match random.below(20) {
            0..6 => Op::Open { client, access: 1 + random.below(3), share },
            6..13 => Op::Close { client },
            13..17 => Op::Put { value },
            _ => Op::Get {},
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
            Op::Put { value } => return Ok(answer(&put(http, key, 0, *value)?, None)),
            Op::Get {} => {
                let (reply, value) = get(http, key, 0)?;
                return Ok(answer(&reply, value));
            }
            Op::Open { access, share, .. } => {
                let (smb, file) = client.at(http, key);
                if file.is_some() {
                    return Ok(Answer::Idle {});
                }
                let bits = |sum: &u64| u32::try_from(*sum).unwrap_or(0);
                match smb.open(FILE, bits(access), bits(share))? {
                    Ok(opened) => {
                        *file = Some(opened);
                        0
                    }
                    Err(status) => status,
                }
            }
            Op::Close { .. } => {
                let (smb, file) = client.at(http, key);
                let Some(open) = file.take() else { return Ok(Answer::Idle {}) };
                smb.close(open)?
            }
            Op::Restart {} => unreachable!("an event"),
        };
        Ok(match status {
            0 => Answer::Done {},
            SHARING_VIOLATION => Answer::Violation {},
            other => Answer::Strange { status: u64::from(other), code: String::new() },
        })
    }

    fn learn(_: &Op, _: &Answer) -> Option<(String, String)> {
        None
    }

    fn last() -> Op {
        Op::Get {}
    }
}

fn answer(reply: &Reply, value: Option<u64>) -> Answer {
    match (reply.status, reply.code().as_str(), value) {
        (201, _, _) => Answer::Done {},
        (200 | 206, _, Some(value)) => Answer::Found { value },
        (409, "SharingViolation", _) => Answer::Violation {},
        (status, code, _) => Answer::Strange { status, code: code.to_owned() },
    }
}
