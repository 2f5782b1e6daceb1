//! A blob with a lease.
//!
//! Must never ask for a time that a test's clock could meet exactly: what is then right is open.

use super::expect;
use crate::Random;
use crate::models::lease::{Answer, LeasedBlob, Op};
use crate::real::Lost;
use crate::real::http::{Http, Reply, Service};
use crate::real::record::{Known, Subject, pick};

/// Ids that clients fight with.
const IDS: u64 = 4;
/// Seconds of a lease that ends, and of a break that takes time.
const LEASE: u64 = 15;
const BREAK: u64 = 10;

/// Leases of blobs.
#[derive(Debug)]
pub(crate) struct BlobLease {
    /// Whether the clock stands unless it is turned, so that leases may end.
    pub(crate) timed: bool,
}

/// An id as the wire has it.
fn guid(id: u64) -> String {
    format!("00000000-0000-0000-0000-{id:012}")
}

/// What to ask of a lease; `write` is asked if it is the turn of something else.
pub(super) fn choose(
    random: &mut Random,
    timed: bool,
    known: &Known,
    write: impl FnOnce(Option<u64>) -> Op,
) -> Op {
    let other = 1 + random.below(IDS);
    let id = pick(random, known).and_then(|known| known.0.parse().ok()).unwrap_or(other);
    let ends = timed && random.below(4) > 0;
    match random.below(20) {
        0..5 => Op::Acquire { id: other, seconds: ends.then_some(LEASE) },
        5..7 => Op::Renew { id },
        7..9 => Op::Change { id, to: other },
        9..11 => Op::Release { id },
        11..13 => Op::Break { seconds: if ends { Some(BREAK) } else { None } },
        13 => Op::Break { seconds: Some(0) },
        14..17 => write(Some(id)),
        17 => write(None),
        _ => Op::Read {},
    }
}

/// Asks a lease operation; `target` ends with the query's last parameter.
pub(super) fn perform(http: &mut Http, target: &str, op: &Op) -> Result<Answer, Lost> {
    let mut more: Vec<(&str, String)> = Vec::new();
    let lease_id = |id: &u64| ("x-ms-lease-id", guid(*id));
    let proposed = |id: &u64| ("x-ms-proposed-lease-id", guid(*id));
    let action = match op {
        Op::Acquire { id, seconds } => {
            let seconds = seconds.map_or_else(|| "-1".to_owned(), |seconds| seconds.to_string());
            more.extend([proposed(id), ("x-ms-lease-duration", seconds)]);
            "acquire"
        }
        Op::Renew { id } => {
            more.push(lease_id(id));
            "renew"
        }
        Op::Change { id, to } => {
            more.extend([lease_id(id), proposed(to)]);
            "change"
        }
        Op::Release { id } => {
            more.push(lease_id(id));
            "release"
        }
        Op::Break { seconds } => {
            more.extend(seconds.map(|seconds| ("x-ms-lease-break-period", seconds.to_string())));
            "break"
        }
        Op::Write { .. } | Op::Read {} | Op::Advance { .. } => unreachable!("not of the lease"),
    };
    let mut headers: Vec<(&str, &str)> = more.iter().map(|(n, v)| (*n, v.as_str())).collect();
    headers.push(("x-ms-lease-action", action));
    let reply = http.ask(Service::Blob, "PUT", target, &headers, &[])?;
    let seconds = reply.header("x-ms-lease-time").parse();
    Ok(match (reply.status, op, seconds) {
        (202, Op::Break { .. }, Ok(seconds)) => Answer::Breaks { seconds },
        (200 | 201, _, _) => Answer::Done {},
        _ => refused(&reply),
    })
}

/// What a refusal says.
pub(super) fn refused(reply: &Reply) -> Answer {
    Answer::Refused { status: reply.status, code: reply.code() }
}

/// The headers that present an id.
pub(super) fn presents(id: Option<u64>) -> Vec<(&'static str, String)> {
    id.map(|id| ("x-ms-lease-id", guid(id))).into_iter().collect()
}

/// The id that an answer shows to be in force.
pub(super) fn learn(op: &Op, answer: &Answer) -> Option<(String, String)> {
    match (op, answer) {
        (
            Op::Acquire { id, .. } | Op::Change { to: id, .. } | Op::Renew { id },
            Answer::Done {},
        ) => Some((id.to_string(), String::new())),
        _ => None,
    }
}

impl Subject for BlobLease {
    type Model = LeasedBlob;
    type Client = ();
    const NAME: &'static str = "blob-lease";

    fn prepare(&self, http: &mut Http, key: &str) -> Result<(), String> {
        let target = format!("/{key}?restype=container");
        let made = http.ask(Service::Blob, "PUT", &target, &[], &[]);
        expect(&made.map_err(|_| "no answer")?, 201)?;
        let kind = [("x-ms-blob-type", "BlockBlob")];
        let made = http.ask(Service::Blob, "PUT", &format!("/{key}/b"), &kind, b"0");
        expect(&made.map_err(|_| "no answer")?, 201)
    }

    fn choose(&self, random: &mut Random, value: u64, known: &Known) -> Op {
        choose(random, self.timed, known, |id| Op::Write { id, value })
    }

    fn perform(&self, (): &mut (), http: &mut Http, key: &str, op: &Op) -> Result<Answer, Lost> {
        let target = format!("/{key}/b");
        match op {
            Op::Write { id, value } => {
                let id = presents(*id);
                let mut more: Vec<_> = id.iter().map(|(n, v)| (*n, v.as_str())).collect();
                more.push(("x-ms-blob-type", "BlockBlob"));
                let body = value.to_string();
                let reply = http.ask(Service::Blob, "PUT", &target, &more, body.as_bytes())?;
                Ok(if reply.status == 201 { Answer::Written {} } else { refused(&reply) })
            }
            Op::Read {} => {
                let reply = http.ask(Service::Blob, "GET", &target, &[], &[])?;
                let lease = reply.header("x-ms-lease-state");
                Ok(match (reply.status, reply.text().parse()) {
                    (200, Ok(value)) => Answer::Found { value, lease },
                    _ => refused(&reply),
                })
            }
            _ => perform(http, &format!("{target}?comp=lease"), op),
        }
    }

    fn learn(op: &Op, answer: &Answer) -> Option<(String, String)> {
        learn(op, answer)
    }

    fn last() -> Op {
        Op::Read {}
    }
}
