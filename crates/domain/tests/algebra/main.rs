//! Laws that hold for every input, on thousands of random ones.
//!
//! Must never repeat the rules' own code: a model here is written from the documentation's words.

mod blobs;
mod conditions;
mod filters;
mod leases;

use proptest::test_runner::Config;

/// `PROPTEST_CASES` asks for more cases; fewer than this would prove too little.
fn config() -> Config {
    let default = Config::default();
    Config { cases: default.cases.max(2_000), ..default }
}
