//! A container with a lease, deleted and made again.
//!
//! Must never keep anything in it: what is tested is its lease and its end.

use super::expect;
use super::lease::{choose, learn, perform, presents, refused};
use crate::Random;
use crate::models::container_lease::{CREATE, LeasedContainer};
use crate::models::lease::{Answer, Op};
use crate::real::Lost;
use crate::real::http::{Http, Service};
use crate::real::record::{Known, Subject};

/// Leases of containers.
#[derive(Debug)]
pub(crate) struct Container {
    /// Whether the clock stands unless it is turned, so that leases may end.
    pub(crate) timed: bool,
}

impl Subject for Container {
    type Model = LeasedContainer;
    type Client = ();
    const NAME: &'static str = "container-lease";

    fn prepare(&self, http: &mut Http, key: &str) -> Result<(), String> {
        let target = format!("/{key}?restype=container");
        let made = http.ask(Service::Blob, "PUT", &target, &[], &[]);
        expect(&made.map_err(|_| "no answer")?, 201)
    }

    fn choose(&self, random: &mut Random, value: u64, known: &Known) -> Op {
        let create = random.below(6) == 0;
        if create {
            return Op::Write { id: None, value: CREATE };
        }
        choose(random, self.timed, known, |id| Op::Write { id, value })
    }

    fn perform(&self, (): &mut (), http: &mut Http, key: &str, op: &Op) -> Result<Answer, Lost> {
        let target = format!("/{key}?restype=container");
        match op {
            Op::Write { value: CREATE, .. } => {
                let reply = http.ask(Service::Blob, "PUT", &target, &[], &[])?;
                Ok(if reply.status == 201 { Answer::Written {} } else { refused(&reply) })
            }
            Op::Write { id, .. } => {
                let id = presents(*id);
                let more: Vec<_> = id.iter().map(|(n, v)| (*n, v.as_str())).collect();
                let reply = http.ask(Service::Blob, "DELETE", &target, &more, &[])?;
                Ok(if reply.status == 202 { Answer::Written {} } else { refused(&reply) })
            }
            Op::Read {} => {
                let reply = http.ask(Service::Blob, "HEAD", &target, &[], &[])?;
                let lease = reply.header("x-ms-lease-state");
                Ok(if reply.status == 200 {
                    Answer::Found { value: 0, lease }
                } else {
                    refused(&reply)
                })
            }
            _ => perform(http, &format!("{target}&comp=lease"), op),
        }
    }

    fn learn(op: &Op, answer: &Answer) -> Option<(String, String)> {
        learn(op, answer)
    }

    fn last() -> Op {
        Op::Read {}
    }
}
