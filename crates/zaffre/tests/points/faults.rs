//! Calls that fail: each call of the disk that a step takes, in each way that a call can fail.
//!
//! Must never take an answer for good whose effect is gone when the power goes right after it.

use crate::run::{Made, Run, View, background, differences, matches, perform, view};
use crate::server::Server;
use std::sync::Arc;
use zaffre_store::disk::{CrashDisk, FailDisk, Fault, FaultPlan, Survival};

/// All ways.
pub(crate) const FAULTS: [Fault; 4] =
    [Fault::Eio, Fault::Enospc, Fault::ShortWrite, Fault::FailedSync];

/// A server on a disk that can fail.
struct Failing {
    below: CrashDisk,
    disk: Arc<FailDisk>,
    server: Server,
}

impl Failing {
    /// On the bytes of `start`, all of them synced.
    fn on(start: &CrashDisk) -> Self {
        let below = start.fork().reboot(Survival::All, 1);
        let disk = Arc::new(FailDisk::new(Arc::new(below.clone())));
        let server = Server::open(Arc::<FailDisk>::clone(&disk)).expect("nothing fails yet");
        Self { below, disk, server }
    }

    /// Makes the step; whether it was acknowledged.
    async fn make(&self, made: &Made) -> bool {
        let Some(ask) = &made.ask else {
            background(&self.server).await;
            return false;
        };
        let answer = perform(&self.server, ask, made.versions).await;
        // The parts of a batch have answers of their own.
        let parts = String::from_utf8_lossy(&answer.body);
        answer.is_good() && !["HTTP/1.1 4", "HTTP/1.1 5"].iter().any(|part| parts.contains(part))
    }
}

/// How many calls of the disk a step takes, reads among them.
pub(crate) async fn calls(start: &CrashDisk, made: &Made) -> u64 {
    let failing = Failing::on(start);
    let before = failing.disk.calls();
    let _ = failing.make(made).await;
    failing.disk.calls() - before
}

/// The call of that number fails while a step is made; whether there was such a call.
pub(crate) async fn fail(
    run: &Run,
    start: &CrashDisk,
    made: &Made,
    fault: Fault,
    call: u64,
) -> bool {
    let failing = Failing::on(start);
    let from = failing.disk.calls() + call;
    failing.disk.set_plan(Some(FaultPlan { fault, from, count: 1 }));
    let mut acknowledged = failing.make(made).await;
    failing.disk.set_plan(None);
    if failing.disk.hits() == 0 {
        return false;
    }
    if fault == Fault::FailedSync {
        // What that sync should have kept will never get there, whatever later ones say.
        failing.below.forget_unsynced();
    }
    if !acknowledged && made.ask.is_some() {
        // A client tries again if it sees that nothing happened.
        let seen = view(&failing.server, &run.script, &made.known).await;
        if matches(&seen, &made.before) {
            acknowledged = failing.make(made).await;
        }
    }
    let below = failing.below.clone();
    drop(failing);
    let context = || format!("{fault:?} at call {call} of {}", made.name);
    let server = Server::open(Arc::new(below.reboot(Survival::None, 1)))
        .unwrap_or_else(|error| panic!("{}: does not open: {error}", context()));
    let now = view(&server, &run.script, &made.known).await;
    let done = matches(&scrubbed(&now), &scrubbed(&made.after));
    let absent = matches(&now, &made.before);
    assert!(
        done || (absent && !acknowledged),
        "{}, acknowledged: {acknowledged}\nagainst after:\n{}against before:\n{}",
        context(),
        differences(&scrubbed(&now), &scrubbed(&made.after)),
        differences(&now, &made.before),
    );
    true
}

/// Without what differs between two times that the same is done: times, ETags, ids.
fn scrubbed(view: &View) -> View {
    view.iter().map(|line| line.as_deref().map(scrub)).collect()
}

fn scrub(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let dated = rest.get(..29).is_some_and(|text| text.ends_with(" GMT"));
        let guid = rest.get(..36).is_some_and(is_guid);
        let tag = rest.strip_prefix("0x").map_or(0, hexadecimal);
        if let Some(after) = rest.strip_prefix("<Version>") {
            rest = after.trim_start_matches(|c: char| c != '<');
        } else if dated {
            rest = &rest[29..];
        } else if guid {
            rest = &rest[36..];
        } else if tag >= 8 {
            rest = &rest[2 + tag..];
        } else {
            if !first.is_ascii_digit() {
                out.push(first);
            }
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

fn hexadecimal(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_hexdigit).count()
}

fn is_guid(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

#[test]
fn what_differs_between_two_times_is_taken_out() {
    let cases = [
        ("etag=0x8DE1234567890AB x", "etag= x"),
        ("last-modified=Sun, 15 Nov 2026 19:00:00 GMT y", "last-modified= y"),
        ("id=11111111-aaaa-1111-1111-111111111111;", "id=;"),
        ("<Version>01DABC</Version>", "</Version>"),
        ("abc0xyz", "abcxyz"),
    ];
    for (line, wanted) in cases {
        assert_eq!(scrub(line), wanted);
    }
}
