//! `spec/lease_*.csv`.

use crate::table::{Answer, Row, rows, run, same};
use core::time::Duration;
use zaffre_base::{Guid, Timestamp};
use zaffre_domain::lease::{
    Lease, LeaseAccess, LeaseCommand, LeaseReply, LeaseState, LeaseView, admits, after_write,
    holds, step, step_before_2012, view,
};
use zaffre_domain::{LeaseOn, Refusal};

const STATES: &str = include_str!("../../../../spec/lease_states.csv");

fn guid(name: &str) -> Guid {
    match name {
        "A" => Guid(0xA),
        "B" => Guid(0xB),
        "C" => Guid(0xC),
        "X" => Guid(0xFF),
        _ => panic!("not an id: {name}"),
    }
}

/// A blob or container with its lease, and the time.
struct World {
    lease: Lease,
    now: Timestamp,
    on: LeaseOn,
}

impl World {
    /// Runs a script on something fresh.
    fn after(script: &str, on: LeaseOn) -> Self {
        let now = Timestamp::from_unix_seconds(1_800_000_000);
        let mut world = Self { lease: Lease::default(), now, on };
        world.run(script);
        world
    }

    fn run(&mut self, script: &str) {
        for words in script.split(';').map(str::trim).filter(|words| *words != "-") {
            match words.split_once(' ').unwrap_or((words, "")) {
                ("wait", time) => self.now = self.now.plus(duration(time)),
                // Containers keep their lease whatever is written.
                ("write", "") if self.on == LeaseOn::Blob => {
                    self.use_it(None, LeaseAccess::Write).expect("scripts succeed");
                    self.lease = after_write(self.lease, self.now);
                }
                ("write", "") => self.use_it(None, LeaseAccess::Read).expect("scripts succeed"),
                (name, "") => {
                    let state = rows(STATES).into_iter().find(|row| row.text("state") == name);
                    self.run(state.expect("a state").text("script"));
                }
                _ => {
                    let done = step(self.lease, command(words), self.on, self.now);
                    self.lease = done.expect("scripts succeed").0;
                }
            }
        }
    }

    fn use_it(&self, presented: Option<Guid>, access: LeaseAccess) -> Result<(), Refusal> {
        admits(&self.lease, presented, access, self.on, self.now)
    }

    /// The state's name and who holds or held it.
    fn state(&self) -> (&'static str, Option<Guid>) {
        match self.lease.state(self.now) {
            LeaseState::Available => ("available", None),
            LeaseState::Leased(id) => ("leased", Some(id)),
            LeaseState::Breaking(id) => ("breaking", Some(id)),
            LeaseState::Broken(id) => ("broken", Some(id)),
            LeaseState::Expired(id) => ("expired", Some(id)),
        }
    }

    /// Whether the state lasts exactly `left` seconds more, or for ever.
    fn lasts(&self, left: Option<u64>) -> Result<(), String> {
        let at = |now| Self { now, ..*self }.state().0;
        let year = Duration::from_hours(366 * 24);
        let Some(left) = left else {
            return same("state in a year", &at(self.now.plus(year)), &self.state().0);
        };
        let end = self.now.plus(Duration::from_secs(left));
        same("state just before the end", &at(Timestamp(end.0 - 1)), &self.state().0)?;
        same("state at the end is another", &(at(end) == self.state().0), &false)
    }
}

fn duration(text: &str) -> Duration {
    match text.strip_suffix("ms") {
        Some(millis) => Duration::from_millis(millis.parse().expect("milliseconds")),
        None => Duration::from_secs(text.parse().expect("seconds")),
    }
}

fn command(text: &str) -> LeaseCommand {
    let words: Vec<&str> = text.split_whitespace().collect();
    let optional = |word: &str| Some(word.to_owned()).filter(|word| word != "-");
    let seconds = |word: &str| word.parse().expect("seconds");
    match *words.as_slice() {
        ["acquire", id, time] => LeaseCommand::Acquire {
            seconds: (time != "-1").then(|| seconds(time)),
            proposed: optional(id).map(|id| guid(&id)),
            fallback: guid("X"),
        },
        ["renew", id] => LeaseCommand::Renew { id: guid(id) },
        ["release", id] => LeaseCommand::Release { id: guid(id) },
        ["change", id, to] => LeaseCommand::Change { id: guid(id), proposed: guid(to) },
        ["break", period] => {
            LeaseCommand::Break { period: optional(period).map(|period| seconds(&period)) }
        }
        _ => panic!("not an action: {text}"),
    }
}

/// The success status of an action.
fn success(command: LeaseCommand) -> &'static str {
    match command {
        LeaseCommand::Acquire { .. } => "201",
        LeaseCommand::Break { .. } => "202",
        LeaseCommand::Renew { .. } | LeaseCommand::Change { .. } | LeaseCommand::Release { .. } => {
            "200"
        }
    }
}

fn both(row: &Row) -> &'static [LeaseOn] {
    match row.text("on") {
        "both" => &[LeaseOn::Blob, LeaseOn::Container],
        "blob" => &[LeaseOn::Blob],
        "container" => &[LeaseOn::Container],
        text => panic!("not a thing to lease: {text}"),
    }
}

fn act(
    row: &Row,
    mut world: World,
    step: impl Fn(Lease, LeaseCommand, LeaseOn, Timestamp) -> Result<(Lease, LeaseReply), Refusal>,
) -> Result<(World, LeaseReply), String> {
    let command = command(row.text("action"));
    let (answer, reply) = match step(world.lease, command, world.on, world.now) {
        Ok((lease, reply)) => {
            world.lease = lease;
            (Answer::ok(success(command)), reply)
        }
        Err(refusal) => (Answer::refused(&refusal), LeaseReply::default()),
    };
    same("answer", &answer, &row.expected())?;
    same("state", &world.state().0, &row.text("state_after"))?;
    Ok((world, reply))
}

#[test]
fn states() {
    run("lease_states", STATES, 2 * 8, |row| {
        for on in [LeaseOn::Blob, LeaseOn::Container] {
            let world = World::after(row.text("script"), on);
            let shown = view(&world.lease, world.now);
            let duration = match shown {
                LeaseView::Leased { infinite: true } => Some("infinite"),
                LeaseView::Leased { infinite: false } => Some("fixed"),
                _ => None,
            };
            let locked = row.text("status") == "locked";
            let holder = row.optional("holder").map(guid);
            same("locked", &shown.is_locked(), &locked)?;
            same("duration", &duration, &row.optional("duration"))?;
            same("state", &world.state(), &(row.text("lease_state"), holder))?;
            same("holder", &holds(&world.lease, holder, world.now), &locked)?;
            world.lasts(row.number("left"))?;
        }
        Ok(2)
    });
}

#[test]
fn actions() {
    run("lease_actions", include_str!("../../../../spec/lease_actions.csv"), 302, |row| {
        for on in both(row) {
            let world = World::after(row.text("state"), *on);
            let (world, reply) = act(row, world, step)?;
            same("holder", &world.state().1, &row.optional("holder").map(guid))?;
            same("reply id", &reply.id, &row.optional("reply_id").map(guid))?;
            same("lease time", &reply.break_seconds, &row.number("lease_time"))?;
            world.lasts(row.number("left"))?;
        }
        Ok(both(row).len())
    });
}

#[test]
fn breaks() {
    run("lease_break", include_str!("../../../../spec/lease_break.csv"), 2 * 28, |row| {
        for on in [LeaseOn::Blob, LeaseOn::Container] {
            let mut world = World::after(row.text("script"), on);
            let done = step(world.lease, command(row.text("action")), on, world.now);
            let (lease, reply) = done.map_err(|refusal| format!("{refusal:?}"))?;
            world.lease = lease;
            same("state", &world.state().0, &row.text("state_after"))?;
            same("lease time", &reply.break_seconds, &row.number("lease_time"))?;
            if row.number("left").is_some() {
                world.lasts(row.number("left"))?;
            }
        }
        Ok(2)
    });
}

#[test]
fn breaks_before_2012() {
    let table = include_str!("../../../../spec/lease_break_before_2012.csv");
    run("lease_break_before_2012", table, 9, |row| {
        let world = World::after(row.text("state"), LeaseOn::Blob);
        act(row, world, step_before_2012).map(|_| 1)
    });
}

#[test]
fn uses_of_blobs() {
    run("lease_use_blob", include_str!("../../../../spec/lease_use_blob.csv"), 36, |row| {
        let mut world = World::after(row.text("state"), LeaseOn::Blob);
        let access = match row.text("use") {
            "write" => LeaseAccess::Write,
            "read" => LeaseAccess::Read,
            text => panic!("write or read: {text}"),
        };
        let result = world.use_it(row.optional("id").map(guid), access);
        if result.is_ok() && access == LeaseAccess::Write {
            world.lease = after_write(world.lease, world.now);
        }
        same("answer", &used(&result), &row.expected())?;
        same("state", &world.state().0, &row.text("state_after")).map(|()| 1)
    });
}

#[test]
fn uses_of_containers() {
    let table = include_str!("../../../../spec/lease_use_container.csv");
    run("lease_use_container", table, 36, |row| {
        let world = World::after(row.text("state"), LeaseOn::Container);
        let access = match row.text("use") {
            "delete" => LeaseAccess::Write,
            "other" => LeaseAccess::Read,
            text => panic!("delete or other: {text}"),
        };
        let result = world.use_it(row.optional("id").map(guid), access);
        same("answer", &used(&result), &row.expected())?;
        let deleted = result.is_ok() && access == LeaseAccess::Write;
        let state = if deleted { "-" } else { world.state().0 };
        same("state", &state, &row.text("state_after")).map(|()| 1)
    });
}

fn used(result: &Result<(), Refusal>) -> Answer {
    match result {
        Ok(()) => Answer::ok("ok"),
        Err(refusal) => Answer::refused(refusal),
    }
}
