//! Batches on one partition of a table, and queries of all of it.
//!
//! Must never name a row twice in one batch: that is another refusal.

use super::entity::{JSON, json, table, value_in};
use crate::Random;
use crate::models::batch::{Answer, Op, Partition, ROWS, Write};
use crate::real::Lost;
use crate::real::http::{Http, Reply, Service};
use crate::real::record::{Known, Subject};

/// Batches.
#[derive(Debug)]
pub(crate) struct Batch;

impl Subject for Batch {
    type Model = Partition;
    type Client = ();
    const NAME: &'static str = "batch";

    fn prepare(&self, http: &mut Http, key: &str) -> Result<(), String> {
        table(http, key)
    }

    fn choose(&self, random: &mut Random, value: u64, _: &Known) -> Op {
        if random.below(10) < 3 {
            return Op::Query {};
        }
        let first = random.index(ROWS);
        let count = 2 + random.index(ROWS - 1);
        let writes = (0..count).map(|step| {
            let row = (first + step) % ROWS;
            match random.below(10) {
                0..2 => Write::Insert(row, value),
                2 => Write::Delete(row),
                _ => Write::Put(row, value),
            }
        });
        Op::Batch { writes: writes.collect() }
    }

    fn perform(&self, (): &mut (), http: &mut Http, key: &str, op: &Op) -> Result<Answer, Lost> {
        match op {
            Op::Query {} => {
                let target = format!("/{key}()?$filter=PartitionKey%20eq%20'p'");
                let reply = http.ask(Service::Table, "GET", &target, &JSON, &[])?;
                Ok(if reply.status == 200 { found(&reply) } else { strange(&reply) })
            }
            Op::Batch { writes } => {
                let kind = [("Content-Type", "multipart/mixed; boundary=batch_1")];
                let body = body(key, writes);
                let reply = http.ask(Service::Table, "POST", "/$batch", &kind, body.as_bytes())?;
                Ok(done(&reply))
            }
        }
    }

    fn learn(_: &Op, _: &Answer) -> Option<(String, String)> {
        None
    }

    fn last() -> Op {
        Op::Query {}
    }
}

fn body(key: &str, writes: &[Write]) -> String {
    let mut text =
        String::from("--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n");
    let all = format!("http://127.0.0.1/devstoreaccount1/{key}");
    let one = |row: &usize| format!("{all}(PartitionKey='p',RowKey='{row}')");
    for write in writes {
        let (head, json) = match write {
            Write::Put(row, value) => {
                (format!("PUT {} HTTP/1.1", one(row)), json(&row.to_string(), *value))
            }
            Write::Insert(row, value) => {
                (format!("POST {all} HTTP/1.1"), json(&row.to_string(), *value))
            }
            Write::Delete(row) => {
                (format!("DELETE {} HTTP/1.1\r\nIf-Match: *", one(row)), String::new())
            }
        };
        text += "--changeset_1\r\nContent-Type: application/http\r\n\
                 Content-Transfer-Encoding: binary\r\n\r\n";
        text += &head;
        text += "\r\nAccept: application/json;odata=nometadata\r\n\
                 Content-Type: application/json\r\nPrefer: return-no-content\r\n\r\n";
        text += &json;
        text += "\r\n";
    }
    text + "--changeset_1--\r\n--batch_1--\r\n"
}

fn done(reply: &Reply) -> Answer {
    let text = reply.text();
    if reply.status == 202 && !text.contains("HTTP/1.1 4") && text.contains("HTTP/1.1 204") {
        Answer::Done {}
    } else if reply.status == 202 && text.contains("EntityAlreadyExists") {
        Answer::Exists {}
    } else if reply.status == 202 && text.contains("ResourceNotFound") {
        Answer::Missing {}
    } else {
        strange(reply)
    }
}

fn found(reply: &Reply) -> Answer {
    let text = reply.text();
    let entities: Vec<&str> = text.split('}').collect();
    let row = |row: usize| {
        let named = format!("\"RowKey\":\"{row}\"");
        entities.iter().find(|entity| entity.contains(&named)).and_then(|e| value_in(e))
    };
    Answer::Found { rows: (0..ROWS).map(row).collect() }
}

fn strange(reply: &Reply) -> Answer {
    let code: String = reply.code().split_whitespace().collect();
    Answer::Strange { status: reply.status, code }
}
