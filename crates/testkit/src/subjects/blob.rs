//! A blob, written and deleted under conditions.
//!
//! Must never send a body that does not say which write it is.

use super::{expect, headers};
use crate::Random;
use crate::models::When;
use crate::models::blob::{Answer, Cell, Op};
use crate::real::Lost;
use crate::real::http::{Http, Reply, Service};
use crate::real::record::{Known, Subject, pick};

/// Conditional blobs.
#[derive(Debug)]
pub(crate) struct Blob;

impl Subject for Blob {
    type Model = Cell;
    type Client = ();
    const NAME: &'static str = "blob";

    fn prepare(&self, http: &mut Http, key: &str) -> Result<(), String> {
        let made = http.ask(Service::Blob, "PUT", &format!("/{key}?restype=container"), &[], &[]);
        expect(&made.map_err(|_| "no answer")?, 201)
    }

    fn choose(&self, random: &mut Random, value: u64, known: &Known) -> Op {
        let when = match random.below(10) {
            0..2 => When::Always,
            2 => When::Absent,
            3 => When::Present,
            _ => pick(random, known).map_or(When::Absent, |known| When::Tag(known.0.clone())),
        };
        match random.below(10) {
            0..5 => Op::Put { value, when },
            5..9 => Op::Get {},
            _ if when == When::Absent => Op::Delete { when: When::Always },
            _ => Op::Delete { when },
        }
    }

    fn perform(&self, (): &mut (), http: &mut Http, key: &str, op: &Op) -> Result<Answer, Lost> {
        let target = format!("/{key}/b");
        let reply = match op {
            Op::Put { value, when } => {
                let mut more = headers(when);
                more.push(("x-ms-blob-type", "BlockBlob"));
                http.ask(Service::Blob, "PUT", &target, &more, value.to_string().as_bytes())?
            }
            Op::Get {} => http.ask(Service::Blob, "GET", &target, &[], &[])?,
            Op::Delete { when } => {
                http.ask(Service::Blob, "DELETE", &target, &headers(when), &[])?
            }
            Op::Insert { .. } => unreachable!("only tables have it"),
        };
        Ok(answer(&reply))
    }

    fn learn(_: &Op, answer: &Answer) -> Option<(String, String)> {
        match answer {
            Answer::Written { etag } | Answer::Found { etag, .. } => {
                Some((etag.clone(), String::new()))
            }
            _ => None,
        }
    }

    fn last() -> Op {
        Op::Get {}
    }
}

fn answer(reply: &Reply) -> Answer {
    let etag = reply.header("ETag");
    match (reply.status, reply.code().as_str()) {
        (201, _) => Answer::Written { etag },
        (200, _) => match reply.text().parse() {
            Ok(value) => Answer::Found { etag, value },
            Err(_) => Answer::Strange { status: 200, code: "NotWhatWasWritten".to_owned() },
        },
        (202, _) => Answer::Deleted {},
        (404, "BlobNotFound") => Answer::Missing {},
        (409, "BlobAlreadyExists") => Answer::Exists {},
        (412, "ConditionNotMet") => Answer::Unmet {},
        (status, code) => Answer::Strange { status, code: code.to_owned() },
    }
}
