//! Messages of a queue.
//!
//! Must never leave a message without a holder who may delete it: queues would only grow.

use super::expect;
use crate::Random;
use crate::models::queue::{Answer, Op, Queue};
use crate::real::Lost;
use crate::real::http::{Http, Reply, Service};
use crate::real::record::{Known, Subject, pick};

/// Seconds that a message is taken for if the clock is turned by the test, and if it is not.
const SHORT: u64 = 15;
const LONG: u64 = 3_600;

/// Queue messages.
#[derive(Debug)]
pub(crate) struct QueueMessages {
    /// Whether the clock stands unless it is turned, so that messages may come back.
    pub(crate) timed: bool,
}

impl Subject for QueueMessages {
    type Model = Queue;
    type Client = ();
    const NAME: &'static str = "queue";

    fn prepare(&self, http: &mut Http, key: &str) -> Result<(), String> {
        let made = http.ask(Service::Queue, "PUT", &format!("/{key}"), &[], &[]);
        expect(&made.map_err(|_| "no answer")?, 201)
    }

    fn choose(&self, random: &mut Random, value: u64, known: &Known) -> Op {
        let hold = if self.timed && random.below(4) > 0 { SHORT } else { LONG };
        let Some((id, receipt)) = pick(random, known).cloned() else { return Op::Put { value } };
        match random.below(20) {
            0..5 => Op::Put { value },
            5..12 => Op::Get { hold },
            12 => Op::Peek {},
            13..15 => Op::Update { id, receipt, value, hold: 0 },
            15 => Op::Update { id, receipt, value, hold },
            _ => Op::Delete { id, receipt },
        }
    }

    fn perform(&self, (): &mut (), http: &mut Http, key: &str, op: &Op) -> Result<Answer, Lost> {
        let all = format!("/{key}/messages");
        let text = |v: &u64| format!("<QueueMessage><MessageText>{v}</MessageText></QueueMessage>");
        let (method, target, body) = match op {
            Op::Put { value } => ("POST", all, text(value)),
            Op::Get { hold } => ("GET", format!("{all}?visibilitytimeout={hold}"), String::new()),
            Op::Peek {} => ("GET", format!("{all}?peekonly=true"), String::new()),
            Op::Update { id, receipt, value, hold } => (
                "PUT",
                format!("{all}/{id}?popreceipt={receipt}&visibilitytimeout={hold}"),
                text(value),
            ),
            Op::Delete { id, receipt } => {
                ("DELETE", format!("{all}/{id}?popreceipt={receipt}"), String::new())
            }
            Op::Advance { .. } => unreachable!("an event"),
        };
        let reply = http.ask(Service::Queue, method, &target, &[], body.as_bytes())?;
        Ok(answer(op, &reply))
    }

    fn learn(op: &Op, answer: &Answer) -> Option<(String, String)> {
        match (op, answer) {
            (_, Answer::Put { id, receipt } | Answer::Got { id, receipt, .. })
            | (Op::Update { id, .. }, Answer::Updated { receipt }) => {
                Some((id.clone(), receipt.clone()))
            }
            _ => None,
        }
    }

    fn last() -> Op {
        Op::Get { hold: LONG }
    }
}

fn answer(op: &Op, reply: &Reply) -> Answer {
    let (id, receipt) = (reply.element("MessageId"), reply.element("PopReceipt"));
    let value = reply.element("MessageText").parse();
    let dequeues = reply.element("DequeueCount").parse();
    match (op, reply.status, reply.code().as_str()) {
        (Op::Put { .. }, 201, _) => Answer::Put { id, receipt },
        (Op::Get { .. } | Op::Peek {}, 200, _) if id.is_empty() => Answer::Nothing {},
        (Op::Get { .. } | Op::Peek {}, 200, _) => match (op, value, dequeues) {
            (Op::Peek {}, Ok(value), Ok(dequeues)) => Answer::Peeked { id, value, dequeues },
            (_, Ok(value), Ok(dequeues)) => Answer::Got { id, receipt, value, dequeues },
            _ => Answer::Strange { status: 200, code: "NotWhatWasPut".to_owned() },
        },
        (Op::Update { .. }, 204, _) => Answer::Updated { receipt: reply.header("x-ms-popreceipt") },
        (Op::Delete { .. }, 204, _) => Answer::Deleted {},
        (Op::Update { .. } | Op::Delete { .. }, 404, "MessageNotFound") => Answer::Gone {},
        (_, status, code) => Answer::Strange { status, code: code.to_owned() },
    }
}
