//! Power losses: after each changing call of a script, in each way that a disk may come back.
//!
//! Must never take a view for good that is neither what was acknowledged nor what is under way.

use crate::run::{Run, background, differences, is_copying, matches, view};
use crate::script::known;
use crate::server::Server;
use std::sync::Arc;
use zaffre_store::disk::{CrashDisk, Survival};

/// Every so many points the server goes on working: the background has its turn, and all is looked
/// at again.
const WORKS_ON: usize = 16;

/// The power goes after `calls` calls.
pub(crate) async fn crash(run: &Run, disk: &CrashDisk, calls: usize, survival: Survival) {
    let seed = (calls as u64) << 2 | survival as u64;
    let disk = disk.reboot(survival, seed);
    let context = || format!("call {calls}, {survival:?}");
    let server = Server::open(Arc::new(disk))
        .unwrap_or_else(|error| panic!("{}: does not open: {error}", context()));
    let Some(made) = run.at(calls) else {
        let now = view(&server, &run.script, &known(&server)).await;
        let then = &run.made[0].before;
        assert!(matches(&now, then), "{}: {}", context(), differences(&now, then));
        return;
    };
    let now = view(&server, &run.script, &made.known).await;
    let (done, absent) = (matches(&now, &made.after), matches(&now, &made.before));
    let acknowledged = calls >= made.until;
    assert!(
        done || (absent && !acknowledged),
        "{}, {} {:?}, keeps versions: {}, acknowledged: {acknowledged}\nagainst after:\n{}against before:\n{}",
        context(),
        made.name,
        made.ask.as_ref().map(|ask| &ask.target),
        made.versions,
        differences(&now, &made.after),
        differences(&now, &made.before),
    );
    if calls.is_multiple_of(WORKS_ON) && !is_copying(&now) {
        background(&server).await;
        let later = view(&server, &run.script, &made.known).await;
        assert!(
            matches(&later, &now),
            "{}, {}, after the background:\n{}",
            context(),
            made.name,
            differences(&later, &now)
        );
    }
}
