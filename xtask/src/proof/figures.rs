//! The figures this project holds itself to: one row each, and the commands that show them.
//!
//! Must never hold a floor below what docs/reliability.md promises.

/// A figure. `{seed}` in its commands is replaced, and `{day}` by the number of the day; each must print a line
/// `figure <name>: <count> <what>, seed <seed>[, more]` and end well only if all is well.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    /// What it is called on the command line and in docs/reliability.md.
    pub(crate) name: &'static str,
    /// The form for CI: about a minute.
    pub(crate) short: &'static str,
    /// The form for a soak, which repeats it with ever new seeds: some minutes.
    pub(crate) long: &'static str,
    /// The least that the short form must count.
    pub(crate) floor: u64,
    /// What soaks together are to count: `cargo xtask soak` says how far they are.
    pub(crate) goal: u64,
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
        long: "cargo run --locked -p zaffre-testkit --bin histories -- --count 1000 --seed {seed}",
        floor: 200,
        goal: 20_000,
        when: When::Proof,
    },
    Figure {
        name: "planted",
        // Another four every day, all of them in three days.
        short: "cargo run --locked -p zaffre-testkit --bin histories -- planted --count 4 --seed {day}",
        long: "cargo run --locked -p zaffre-testkit --bin histories -- planted --seed {seed}",
        floor: 4,
        goal: 12,
        when: When::Proof,
    },
    Figure {
        name: "schedules",
        // Of all packages, though only two have such tests: so the rest is built as for the others.
        short: "cargo test --locked --workspace \
                --features zaffre-store/shuttle,zaffre-core/shuttle --test *schedules -- --nocapture",
        long: "env ZAFFRE_SCHEDULES=100000 ZAFFRE_SEED_START={seed} cargo test --locked -p zaffre-store -p zaffre-core \
               --features zaffre-store/shuttle,zaffre-core/shuttle --test *schedules -- --nocapture",
        floor: 10_000,
        goal: 1_000_000,
        when: When::Elsewhere("schedules"),
    },
    Figure {
        name: "crash",
        short: "cargo test --locked -p zaffre-core --test crash_all -- --nocapture",
        long: "env ZAFFRE_SEED_START={seed} ZAFFRE_SEEDS=50000 cargo test --locked \
                --release -p zaffre-core -p zaffre-store --test *crash* -- --nocapture",
        floor: 5_000,
        goal: 1_000_000,
        when: When::Elsewhere("tests"),
    },
    Figure {
        name: "power",
        short: "env ZAFFRE_TEST_SEED={seed} python3 tests/run.py --only power",
        long: "env ZAFFRE_TEST_SEED={seed} ZAFFRE_POWER_CYCLES=200 python3 tests/run.py \
                --only power",
        floor: 24,
        goal: 10_000,
        when: When::Elsewhere("alone"),
    },
    Figure {
        name: "points",
        short: "env ZAFFRE_TEST_SEED={seed} python3 tests/run.py --only power",
        long: "env ZAFFRE_TEST_SEED={seed} ZAFFRE_POINT_PASSES=20 python3 tests/run.py \
                --only power",
        floor: 300,
        goal: 10_000,
        when: When::Elsewhere("alone"),
    },
    Figure {
        name: "crash-points",
        short: "env ZAFFRE_SEED_START={seed} cargo test --locked -p zaffre --test points crash_point -- --nocapture",
        long: "env ZAFFRE_SEED_START={seed} ZAFFRE_SEEDS=5 cargo test --locked \
                --release -p zaffre --test points crash_point -- --nocapture",
        floor: 4_000,
        goal: 80_000,
        when: When::Elsewhere("tests"),
    },
    Figure {
        name: "fault-points",
        short: "env ZAFFRE_SEED_START={seed} cargo test --locked -p zaffre --test points failing_call -- --nocapture",
        long: "env ZAFFRE_SEED_START={seed} ZAFFRE_SEEDS=2 cargo test --locked \
                --release -p zaffre --test points failing_call -- --nocapture",
        floor: 500,
        goal: 50_000,
        when: When::Elsewhere("tests"),
    },
    Figure {
        name: "kill",
        short: "env ZAFFRE_TEST_SEED={seed} python3 tests/run.py --only kill",
        long: "env ZAFFRE_TEST_SEED={seed} ZAFFRE_KILL_CYCLES=500 python3 tests/run.py \
                --only kill",
        floor: 100,
        goal: 10_000,
        when: When::Elsewhere("alone"),
    },
    Figure {
        name: "matrix",
        short: "python3 tests/run.py --only access",
        long: "python3 tests/run.py --only access",
        floor: 3_800,
        goal: 3_800,
        when: When::Elsewhere("clients"),
    },
    Figure {
        name: "forgeries",
        short: "env ZAFFRE_SEED_START={seed} cargo test --locked -p zaffre-auth --test \
                auth mutations -- --nocapture",
        long: "env ZAFFRE_SEED_START={seed} ZAFFRE_SEEDS=500000 cargo test --locked \
                --release -p zaffre-auth --test auth mutations -- --nocapture",
        floor: 100_000,
        goal: 1_000_000,
        when: When::Elsewhere("tests"),
    },
    Figure {
        name: "forgeries-http",
        short: "env ZAFFRE_TEST_SEED={seed} python3 tests/run.py --only access",
        long: "env ZAFFRE_TEST_SEED={seed} python3 tests/run.py --only access",
        floor: 3_000,
        goal: 30_000,
        when: When::Elsewhere("clients"),
    },
    Figure {
        name: "overload",
        short: "python3 tests/run.py --only abuse",
        long: "env ZAFFRE_LOAD_SECONDS=30 python3 tests/run.py --only abuse",
        floor: 1_000,
        goal: 100_000,
        when: When::Elsewhere("alone"),
    },
    Figure {
        name: "capacity",
        short: "python3 tests/run.py --only abuse",
        long: "env ZAFFRE_LOAD_SECONDS=30 python3 tests/run.py --only abuse",
        floor: 200,
        goal: 10_000,
        when: When::Elsewhere("alone"),
    },
    Figure {
        name: "idle",
        short: "python3 tests/run.py --only abuse",
        long: "env ZAFFRE_LOAD_SECONDS=30 python3 tests/run.py --only abuse",
        floor: 10_000,
        goal: 10_000,
        when: When::Elsewhere("alone"),
    },
    Figure {
        name: "slow",
        short: "python3 tests/run.py --only abuse",
        long: "env ZAFFRE_LOAD_SECONDS=30 python3 tests/run.py --only abuse",
        floor: 1_000,
        goal: 1_000,
        when: When::Elsewhere("alone"),
    },
    Figure {
        name: "full-disk",
        short: "env ZAFFRE_TEST_SEED={seed} python3 tests/run.py --only abuse",
        long: "env ZAFFRE_TEST_SEED={seed} python3 tests/run.py --only abuse",
        floor: 20,
        goal: 200,
        when: When::Elsewhere("alone"),
    },
    Figure {
        name: "descriptors",
        short: "python3 tests/run.py --only abuse",
        long: "python3 tests/run.py --only abuse",
        floor: 400,
        goal: 400,
        when: When::Elsewhere("alone"),
    },
    Figure {
        name: "clock-back",
        short: "python3 tests/run.py --only abuse",
        long: "python3 tests/run.py --only abuse",
        floor: 20,
        goal: 20,
        when: When::Elsewhere("alone"),
    },
    Figure {
        name: "secrets",
        short: "python3 tests/run.py --only wire --only queue",
        long: "python3 tests/run.py --trace",
        floor: 10_000,
        goal: 10_000,
        when: When::Elsewhere("clients"),
    },
    Figure {
        name: "scrub",
        short: "env ZAFFRE_SEED_START={seed} cargo test --locked -p zaffre-store --test \
                store_corruption -- --nocapture",
        long: "env ZAFFRE_SEED_START={seed} cargo test --locked --release -p \
                zaffre-store --test store_corruption -- --nocapture",
        floor: 500,
        goal: 100_000,
        when: When::Elsewhere("tests"),
    },
    Figure {
        name: "fuzz",
        short: "cargo run --release --manifest-path fuzz/Cargo.toml --bin smoke -- \
                --runs 50000 --seed {seed}",
        long: "cargo run --release --manifest-path fuzz/Cargo.toml --bin smoke -- \
                --runs 1000000 --seed {seed}",
        floor: 1_000_000,
        goal: 2_300_000_000,
        when: When::Elsewhere("fuzz"),
    },
    Figure {
        name: "mutants",
        short: "cargo xtask mutants",
        long: "cargo xtask mutants --all",
        floor: 0,
        goal: 1_000,
        when: When::Elsewhere("mutants"),
    },
];
