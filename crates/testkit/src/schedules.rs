//! How many thread schedules a test tries, and from which seed.
//!
//! Must never know who makes the schedules: tests bring their own.

/// Schedules of a test in CI.
const COUNT: usize = 10_000;

/// Lets `run` try so many schedules from a seed, and says so when it is done. `ZAFFRE_SCHEDULES` and
/// `ZAFFRE_SEED_START` choose others than the ones CI runs.
pub fn schedules(what: &str, run: impl FnOnce(u64, usize)) {
    let read = |name| std::env::var(name).ok().and_then(|text: String| text.parse::<u64>().ok());
    let seed = read("ZAFFRE_SEED_START").unwrap_or(1);
    let asked = read("ZAFFRE_SCHEDULES").and_then(|count| usize::try_from(count).ok());
    let count = asked.unwrap_or(COUNT);
    run(seed, count);
    println!("figure schedules: {count} schedules, seed {seed}, {what}");
}
