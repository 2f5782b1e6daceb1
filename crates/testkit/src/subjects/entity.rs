//! An entity of a table, written and deleted under conditions.
//!
//! Must never ask for metadata: answers stay short.

use super::{expect, headers};
use crate::Random;
use crate::models::When;
use crate::models::blob::{Answer, Cell, Op};
use crate::real::Lost;
use crate::real::http::{Http, Reply, Service, between};
use crate::real::record::{Known, Subject, pick};

/// What every request to a table says.
pub(super) const JSON: [(&str, &str); 4] = [
    ("Accept", "application/json;odata=nometadata"),
    ("Content-Type", "application/json"),
    ("Prefer", "return-no-content"),
    ("DataServiceVersion", "3.0"),
];

/// Entities under conditions.
#[derive(Debug)]
pub(crate) struct Entity;

/// Makes a table.
pub(super) fn table(http: &mut Http, key: &str) -> Result<(), String> {
    let body = format!("{{\"TableName\":\"{key}\"}}");
    let made = http.ask(Service::Table, "POST", "/Tables", &JSON, body.as_bytes());
    expect(&made.map_err(|_| "no answer")?, 204)
}

/// An entity's JSON.
pub(super) fn json(row: &str, value: u64) -> String {
    format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\",\"V\":{value}}}")
}

impl Subject for Entity {
    type Model = Cell;
    type Client = ();
    const NAME: &'static str = "entity";

    fn prepare(&self, http: &mut Http, key: &str) -> Result<(), String> {
        table(http, key)
    }

    fn choose(&self, random: &mut Random, value: u64, known: &Known) -> Op {
        let when = match (random.below(10), pick(random, known)) {
            (0..2, _) | (_, None) => When::Present,
            (_, Some(known)) => When::Tag(known.0.clone()),
        };
        match random.below(10) {
            0..2 => Op::Insert { value },
            2 => Op::Put { value, when: When::Always },
            3..6 => Op::Put { value, when },
            6..9 => Op::Get {},
            _ => Op::Delete { when },
        }
    }

    fn perform(&self, (): &mut (), http: &mut Http, key: &str, op: &Op) -> Result<Answer, Lost> {
        let one = format!("/{key}(PartitionKey='p',RowKey='r')");
        let mut more = JSON.to_vec();
        let reply = match op {
            Op::Insert { value } => {
                let body = json("r", *value);
                http.ask(Service::Table, "POST", &format!("/{key}"), &more, body.as_bytes())?
            }
            Op::Put { value, when } => {
                more.extend(headers(when));
                http.ask(Service::Table, "PUT", &one, &more, json("r", *value).as_bytes())?
            }
            Op::Get {} => http.ask(Service::Table, "GET", &one, &more, &[])?,
            Op::Delete { when } => {
                more.extend(headers(when));
                http.ask(Service::Table, "DELETE", &one, &more, &[])?
            }
        };
        Ok(answer(op, &reply))
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

fn answer(op: &Op, reply: &Reply) -> Answer {
    let etag = reply.header("ETag");
    match (op, reply.status, reply.code().as_str()) {
        (Op::Delete { .. }, 204, _) => Answer::Deleted {},
        (Op::Insert { .. } | Op::Put { .. }, 204, _) => Answer::Written { etag },
        (Op::Get {}, 200, _) => match value_in(&reply.text()) {
            Some(value) => Answer::Found { etag, value },
            None => Answer::Strange { status: 200, code: "NotWhatWasWritten".to_owned() },
        },
        (_, 404, "ResourceNotFound") => Answer::Missing {},
        (_, 409, "EntityAlreadyExists") => Answer::Exists {},
        (_, 412, "UpdateConditionNotSatisfied") => Answer::Unmet {},
        (_, status, code) => Answer::Strange { status, code: code.to_owned() },
    }
}

/// The value in an entity's JSON.
pub(super) fn value_in(text: &str) -> Option<u64> {
    let closed = format!("{text}}}");
    let found = between(&closed, "\"V\":", "}");
    found.split(',').next()?.parse().ok()
}
