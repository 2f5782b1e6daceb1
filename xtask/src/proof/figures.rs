//! The figures this project holds itself to: one row each, and the commands that show them.
//!
//! Must never hold a floor below what docs/reliability.md promises.

/// A figure. `{seed}` in its commands is replaced; each must print a line
/// `figure <name>: <count> <what>, seed <seed>[, more]` and end well only if all is well.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    /// What it is called on the command line and in docs/reliability.md.
    pub(crate) name: &'static str,
    /// The form for CI: about a minute.
    pub(crate) short: &'static str,
    /// The form for a soak, which repeats it with ever new seeds.
    pub(crate) long: &'static str,
    /// The least that the short form must count.
    pub(crate) floor: u64,
    /// Which step of `cargo xtask test` runs the short form.
    pub(crate) when: When,
}

/// Who runs the short form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// The step `proof`.
    Proof,
    /// The step of this name, among other things.
    Elsewhere(&'static str),
}

/// All of them.
pub(crate) const FIGURES: &[Figure] = &[
    Figure {
        name: "histories",
        short: "cargo run --locked -p zaffre-testkit --bin histories -- --count 200 --seed {seed}",
        long: "cargo run --locked -p zaffre-testkit --bin histories -- --count 5000 --seed {seed}",
        floor: 200,
        when: When::Proof,
    },
    Figure {
        name: "schedules",
        short: "cargo test --locked -p zaffre-store -p zaffre-core \
                --features zaffre-store/shuttle,zaffre-core/shuttle --test *schedules -- --nocapture",
        long: "env ZAFFRE_SCHEDULES=100000 ZAFFRE_SEED_START={seed} cargo test --locked -p zaffre-store -p zaffre-core \
               --features zaffre-store/shuttle,zaffre-core/shuttle --test *schedules -- --nocapture",
        floor: 10_000,
        when: When::Elsewhere("schedules"),
    },
];
