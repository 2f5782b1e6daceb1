//! Which seeds a randomised test runs: few in CI, many in a soak, one to replay a failure.

use std::ops::Range;

/// `ZAFFRE_SEED` replays one; `ZAFFRE_SEED_START` and `ZAFFRE_SEEDS` choose others than the first
/// `default` ones. Tests print what they run.
pub fn seeds(default: u64) -> Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text: String| text.parse().ok());
    if let Some(seed) = number("ZAFFRE_SEED") {
        return seed..seed + 1;
    }
    let start: u64 = number("ZAFFRE_SEED_START").unwrap_or(1);
    start..start + number("ZAFFRE_SEEDS").unwrap_or(default)
}

/// Runs `case` for every number on two threads; a panic in one ends the test.
pub fn in_parallel(cases: Range<u64>, case: impl Fn(u64) + Sync) {
    std::thread::scope(|scope| {
        for offset in 0..2 {
            let (cases, case) = (cases.clone(), &case);
            scope.spawn(move || cases.skip(offset).step_by(2).for_each(case));
        }
    });
}
