//! `/test/clock`: the service's one clock, shown and turned.
//!
//! Must never turn it back: what was committed is never in the future.

use crate::controls::{Refused, wrong};
use serde_json::{Value, json};
use std::time::Duration;
use zaffre_core::Core;
use zaffre_store::Clock;

/// The furthest it is turned at once.
const FURTHEST: Duration = Duration::from_hours(24 * 366 * 10);

/// What the clock shows, and whether it stands.
pub(crate) fn show(clock: &Clock) -> Value {
    let (now, wall) = (clock.now(), clock.wall());
    json!({
        "now": now.iso7().to_string(),
        "frozen": clock.is_frozen(),
        "real": wall.iso7().to_string(),
        "ahead_seconds": now.since(wall).as_secs(),
    })
}

/// Performs `{"action": "freeze" | "advance" | "resume", "by": "15s"}`.
pub(crate) async fn turn(core: &Core, asked: &Value) -> Result<Value, Refused> {
    let clock = &core.store().clock;
    match asked.get("action").and_then(Value::as_str) {
        Some("freeze") => clock.freeze(),
        Some("resume") => clock.resume(),
        Some("advance") => {
            clock.advance(by(asked.get("by").unwrap_or(&Value::Null))?);
            // Reads go on at the time of what is on its way to the disk; after this they do not.
            core.store().meta.settle().await.map_err(failed)?;
            // What has become due is done before the answer, so that tests need not wait for it.
            core.run_background_once().await.map_err(failed)?;
        }
        _ => return Err(wrong("`action` must be freeze, advance or resume")),
    }
    Ok(show(clock))
}

fn failed(error: impl std::fmt::Display) -> Refused {
    (hyper::StatusCode::INTERNAL_SERVER_ERROR, format!("what is due failed: {error}"))
}

/// A time in seconds, or text as [`parse`] reads it.
fn by(value: &Value) -> Result<Duration, Refused> {
    let read = match value {
        Value::Number(seconds) => parse(&seconds.to_string()),
        Value::String(text) => parse(text),
        _ => None,
    };
    read.filter(|by| *by <= FURTHEST).ok_or_else(|| {
        wrong("`by` must be a time such as 15s, 250ms, 2m, 12h or 7d, at most ten years")
    })
}

/// `15s`, `250ms`, `2m`, `12h`, `7d`, `1.5s`; seconds if there is no unit.
fn parse(text: &str) -> Option<Duration> {
    const UNITS: [(&str, u64); 5] =
        [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let unit = if unit.is_empty() { "s" } else { unit };
    let (_, each) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if !part.bytes().all(|b| b.is_ascii_digit()) || part.is_empty() || part.len() > 6 {
        return None;
    }
    let digits = u32::try_from(part.len()).ok()?;
    let micros = each.checked_mul(1_000)?;
    let fraction = part.parse::<u64>().ok()?.checked_mul(micros)? / 10_u64.checked_pow(digits)?;
    let whole = whole.parse::<u64>().ok()?.checked_mul(micros)?;
    Some(Duration::from_micros(whole.checked_add(fraction)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, micros) in [
            ("15s", Some(15_000_000)),
            ("15", Some(15_000_000)),
            ("250ms", Some(250_000)),
            ("1.5s", Some(1_500_000)),
            ("0.25", Some(250_000)),
            ("2m", Some(120_000_000)),
            ("12h", Some(43_200_000_000)),
            ("7d", Some(604_800_000_000)),
            ("", None),
            ("s", None),
            ("-1s", None),
            ("1.s", None),
            ("1e3", None),
            ("15 s", None),
            ("99999999999999999999s", None),
            ("9999999999999999d", None),
        ] {
            assert_eq!(parse(text), micros.map(Duration::from_micros), "{text}");
        }
        assert!(by(&json!("4000d")).is_err());
        assert_eq!(by(&json!(2.5)).ok(), Some(Duration::from_millis(2_500)));
    }
}
