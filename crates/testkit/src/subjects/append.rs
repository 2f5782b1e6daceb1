//! An append blob, whose pieces are all of one length.
//!
//! Must never append a piece twice: each is its own name.

use super::expect;
use crate::Random;
use crate::models::append::{Answer, Appended, Op};
use crate::real::Lost;
use crate::real::http::{Http, Reply, Service};
use crate::real::record::{Known, Subject, pick};

/// Bytes of a piece.
const PIECE: usize = 8;

/// Append blobs.
#[derive(Debug)]
pub(crate) struct AppendBlob;

impl Subject for AppendBlob {
    type Model = Appended;
    type Client = ();
    const NAME: &'static str = "append";

    fn prepare(&self, http: &mut Http, key: &str) -> Result<(), String> {
        let target = format!("/{key}?restype=container");
        let made = http.ask(Service::Blob, "PUT", &target, &[], &[]);
        expect(&made.map_err(|_| "no answer")?, 201)?;
        let kind = [("x-ms-blob-type", "AppendBlob")];
        let made = http.ask(Service::Blob, "PUT", &format!("/{key}/b"), &kind, &[]);
        expect(&made.map_err(|_| "no answer")?, 201)
    }

    fn choose(&self, random: &mut Random, value: u64, known: &Known) -> Op {
        if random.below(10) < 3 {
            return Op::Get {};
        }
        let next = pick(random, known).and_then(|known| known.0.parse().ok()).unwrap_or(0);
        let at = (random.below(2) == 0).then_some(next);
        Op::Append { piece: value, at }
    }

    fn perform(&self, (): &mut (), http: &mut Http, key: &str, op: &Op) -> Result<Answer, Lost> {
        let reply = match op {
            Op::Append { piece, at } => {
                let place = at.map(|at| (at * PIECE as u64).to_string());
                let more: Vec<_> =
                    place.iter().map(|p| ("x-ms-blob-condition-appendpos", p.as_str())).collect();
                let body = format!("{piece:0PIECE$}");
                let target = format!("/{key}/b?comp=appendblock");
                http.ask(Service::Blob, "PUT", &target, &more, body.as_bytes())?
            }
            Op::Get {} => http.ask(Service::Blob, "GET", &format!("/{key}/b"), &[], &[])?,
        };
        Ok(answer(&reply))
    }

    fn learn(_: &Op, answer: &Answer) -> Option<(String, String)> {
        let next = match answer {
            Answer::Appended { at } => at + 1,
            Answer::Found { pieces } => pieces.len() as u64,
            Answer::Misplaced {} | Answer::Strange { .. } => return None,
        };
        Some((next.to_string(), String::new()))
    }

    fn last() -> Op {
        Op::Get {}
    }
}

fn answer(reply: &Reply) -> Answer {
    let strange = |code: &str| Answer::Strange { status: reply.status, code: code.to_owned() };
    match (reply.status, reply.code().as_str()) {
        (201, _) => match reply.header("x-ms-blob-append-offset").parse::<u64>() {
            Ok(at) => Answer::Appended { at: at / PIECE as u64 },
            Err(_) => strange("NoOffset"),
        },
        (200, _) => {
            let pieces = reply.body.chunks(PIECE).map(|piece| {
                let text = std::str::from_utf8(piece).ok().filter(|text| text.len() == PIECE)?;
                text.parse().ok()
            });
            let pieces: Option<Vec<u64>> = pieces.collect();
            pieces.map_or_else(|| strange("TornPiece"), |pieces| Answer::Found { pieces })
        }
        (412, "AppendPositionConditionNotMet") => Answer::Misplaced {},
        (_, code) => strange(code),
    }
}
