//! Tables of histories of a register, legal and not.
//!
//! Must never use a model that ships with a driver: what is tested here is the search.

use super::super::{Effect, Entry, Event, Model, read, worded};
use super::{Verdict, check};

worded! {
    enum Op { Write { value: u64 }, Read {}, Swap { from: u64, to: u64 } }
}
worded! {
    enum Answer { Done {}, Value { value: u64 }, Unmet {} }
}

#[derive(Debug)]
struct Register;

impl Model for Register {
    type State = u64;
    type Op = Op;
    type Answer = Answer;

    fn start() -> u64 {
        0
    }

    fn step(state: &u64, op: &Op, answer: Option<&Answer>) -> Vec<u64> {
        let (next, right) = match op {
            Op::Write { value } => (*value, Answer::Done {}),
            Op::Read {} => (*state, Answer::Value { value: *state }),
            Op::Swap { from, to } if from == state => (*to, Answer::Done {}),
            Op::Swap { .. } => (*state, Answer::Unmet {}),
        };
        let fits = answer.is_none_or(|answer| *answer == right);
        if fits { vec![next] } else { Vec::new() }
    }

    fn effect(_: &Op, answer: &Answer) -> Effect {
        match answer {
            Answer::Done {} => Effect::Changed,
            Answer::Value { .. } => Effect::Read,
            Answer::Unmet {} => Effect::Refused,
        }
    }

    fn event(_: Event) -> Option<(Op, Answer)> {
        None
    }
}

fn history(lines: &str) -> Vec<Entry<Register>> {
    read(lines).expect("a history")
}

/// Lines of client, call, end (`-` for never), operation, answer (`?` for lost).
const LEGAL: &[(&str, &str)] = &[
    ("nothing", ""),
    ("one after the other", "1 0 1 Write value=5 => Done\n1 2 3 Read => Value value=5"),
    (
        "a read beside a write sees the old",
        "1 0 9 Write value=5 => Done\n2 1 2 Read => Value value=0",
    ),
    ("or the new", "1 0 9 Write value=5 => Done\n2 1 2 Read => Value value=5"),
    (
        "two writes side by side, in either order",
        "1 0 9 Write value=5 => Done\n2 0 9 Write value=6 => Done\n3 10 11 Read => Value value=5",
    ),
    (
        "a lost write that happened later",
        "1 0 - Write value=5 => ?\n2 1 2 Read => Value value=0\n2 3 4 Read => Value value=5",
    ),
    ("a lost write that never happened", "1 0 - Write value=5 => ?\n2 9 10 Read => Value value=0"),
    (
        "a lost write with an end that happened before it",
        "1 0 5 Write value=5 => ?\n2 6 7 Read => Value value=5",
    ),
    (
        "a swap that lost against another",
        "1 0 9 Swap from=0 to=1 => Done\n2 0 9 Swap from=0 to=2 => Unmet\n3 10 11 Read => Value value=1",
    ),
    (
        "a write that changes nothing at first and is needed later",
        "1 0 9 Write value=0 => Done\n2 1 2 Write value=5 => Done\n2 3 4 Read => Value value=5\n\
         2 10 11 Read => Value value=0",
    ),
    (
        "a read that ends as another begins may overlap it",
        "1 0 5 Read => Value value=7\n2 5 6 Write value=7 => Done",
    ),
];

/// The same, and the line (from 0) that nothing explains.
const ILLEGAL: &[(&str, usize, &str)] = &[
    ("a value from nowhere", 0, "1 0 1 Read => Value value=5"),
    ("a write that is lost", 1, "1 0 1 Write value=5 => Done\n1 2 3 Read => Value value=0"),
    (
        "a stale read after a new one",
        2,
        "1 0 9 Write value=5 => Done\n2 1 2 Read => Value value=5\n2 3 4 Read => Value value=0",
    ),
    (
        "two swaps from one value",
        1,
        "1 0 8 Swap from=0 to=1 => Done\n2 0 9 Swap from=0 to=2 => Done",
    ),
    (
        "a lost write that comes and goes",
        3,
        "1 0 - Write value=5 => ?\n2 1 2 Read => Value value=5\n2 3 4 Write value=6 => Done\n\
         2 5 6 Read => Value value=5",
    ),
    (
        "a lost write that happened after its end",
        2,
        "1 0 3 Write value=5 => ?\n2 4 5 Read => Value value=0\n2 6 7 Read => Value value=5",
    ),
    ("a refusal without a reason", 0, "1 0 1 Swap from=0 to=2 => Unmet"),
];

#[test]
fn legal_histories() {
    for (name, lines) in LEGAL {
        assert_eq!(check(&history(lines), 10_000), Verdict::Legal, "{name}");
    }
}

#[test]
fn illegal_histories() {
    for (name, at, lines) in ILLEGAL {
        assert_eq!(check(&history(lines), 10_000), Verdict::Illegal(*at), "{name}");
    }
}

#[test]
fn too_much_work_is_no_verdict() {
    let line = |n: u64| format!("{n} 0 {} Write value={n} => Done\n", 10 + n);
    let lines = (0..12).map(line).collect::<Vec<_>>().concat();
    assert_eq!(check(&history(&lines), 1_000_000), Verdict::Legal);
    assert_eq!(check(&history(&lines), 100), Verdict::Unknown);
    let many = "1 0 - Read => ?\n".repeat(65);
    assert_eq!(check(&history(&many), 1_000_000), Verdict::Unknown);
}
