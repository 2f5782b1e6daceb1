//! `/test/faults`: rules of faults as JSON.
//!
//! Must never be lenient: a name that is misspelt is an error, not a rule that never hits.

use crate::controls::{Refused, wrong};
use hyper::StatusCode;
use serde_json::{Map, Value, json};
use std::time::Duration;
use zaffre_http::faults::{Action, Active, Faults, LONGEST_DELAY, Moment, RULES, Rule};

/// All rules.
pub(crate) fn list(faults: &Faults) -> Value {
    json!({ "faults": faults.list().iter().map(shown).collect::<Vec<_>>() })
}

/// Adds a rule; gives it with its id.
pub(crate) fn add(faults: &Faults, asked: &Value) -> Result<Value, Refused> {
    let rule = rule(asked.as_object().ok_or_else(|| wrong("a fault is a JSON object"))?)?;
    let full = || wrong(format!("there are {RULES} rules already"));
    let id = faults.add(rule.clone()).ok_or_else(full)?;
    Ok(shown(&Active { id, rule, seen: 0, hit: 0 }))
}

/// Removes a rule.
pub(crate) fn remove(faults: &Faults, id: &str) -> Result<Value, Refused> {
    let found = id.parse().is_ok_and(|id| faults.remove(id));
    let missing = || (StatusCode::NOT_FOUND, format!("there is no fault {id}"));
    found.then(|| json!({ "removed": 1 })).ok_or_else(missing)
}

fn rule(asked: &Map<String, Value>) -> Result<Rule, Refused> {
    const KNOWN: [&str; 8] =
        ["action", "service", "operation", "container", "nth", "times", "when", "delay_ms"];
    if let Some(name) = asked.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        return Err(wrong(format!("`{name}` is not known; there are {}", KNOWN.join(", "))));
    }
    let text = |name: &str| match asked.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(format!("`{name}` must be text"))),
    };
    let number = |name: &str| match asked.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64() {
            Some(number) => Ok(Some(number)),
            None => Err(wrong(format!("`{name}` must be a whole number"))),
        },
    };
    let service = text("service")?;
    if let Some(service) = &service
        && !["blob", "queue", "table", "file"].contains(&service.to_ascii_lowercase().as_str())
    {
        return Err(wrong("`service` must be blob, queue, table or file"));
    }
    let action = action(text("action")?.as_deref(), number("delay_ms")?)?;
    let moment = match text("when")?.as_deref() {
        None | Some("before") => Moment::Before,
        Some("after") => Moment::After,
        Some(_) => return Err(wrong("`when` must be before or after")),
    };
    let nth = number("nth")?.unwrap_or(1);
    if nth == 0 {
        return Err(wrong("`nth` counts from 1"));
    }
    // None at all means one; nought means for ever.
    let times = Some(number("times")?.unwrap_or(1)).filter(|times| *times > 0);
    let (operation, container) = (text("operation")?, text("container")?);
    Ok(Rule { service, operation, container, nth, times, action, moment })
}

fn action(name: Option<&str>, delay: Option<u64>) -> Result<Action, Refused> {
    let delay = delay.map(Duration::from_millis);
    match (name, delay) {
        (Some("delay"), Some(time)) if time <= LONGEST_DELAY => Ok(Action::Delay(time)),
        (Some("delay"), _) => {
            Err(wrong(format!("a delay needs `delay_ms`, at most {}", LONGEST_DELAY.as_millis())))
        }
        (_, Some(_)) => Err(wrong("`delay_ms` is for the action delay")),
        (Some("busy"), None) => Ok(Action::Busy),
        (Some("internal"), None) => Ok(Action::Internal),
        (Some("condition"), None) => Ok(Action::Condition),
        (Some("reset"), None) => Ok(Action::Reset),
        _ => Err(wrong("`action` must be busy, internal, condition, reset or delay")),
    }
}

fn shown(active: &Active) -> Value {
    let Active { id, rule, seen, hit } = active;
    let (action, delay) = match rule.action {
        Action::Busy => ("busy", None),
        Action::Internal => ("internal", None),
        Action::Condition => ("condition", None),
        Action::Reset => ("reset", None),
        Action::Delay(time) => ("delay", Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))),
    };
    let when = match rule.moment {
        Moment::Before => "before",
        Moment::After => "after",
    };
    json!({
        "id": id,
        "action": action,
        "delay_ms": delay,
        "service": rule.service,
        "operation": rule.operation,
        "container": rule.container,
        "nth": rule.nth,
        "times": rule.times.unwrap_or(0),
        "when": when,
        "seen": seen,
        "hit": hit,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        for (asked, refused) in [
            (json!({ "action": "busy" }), None),
            (json!({ "action": "delay", "delay_ms": 5, "service": "Blob", "times": 0 }), None),
            (json!({ "action": "reset", "when": "after", "nth": 3, "container": "c" }), None),
            (json!([]), Some("a fault is")),
            (json!({}), Some("`action` must be")),
            (json!({ "action": "bussy" }), Some("`action` must be")),
            (json!({ "action": "delay" }), Some("a delay needs")),
            (json!({ "action": "delay", "delay_ms": 600_001 }), Some("a delay needs")),
            (json!({ "action": "busy", "delay_ms": 5 }), Some("`delay_ms` is for")),
            (json!({ "action": "busy", "nth": 0 }), Some("`nth` counts")),
            (json!({ "action": "busy", "nth": "1" }), Some("`nth` must be")),
            (json!({ "action": "busy", "service": "blobs" }), Some("`service` must be")),
            (json!({ "action": "busy", "operaton": "x" }), Some("`operaton` is not known")),
            (json!({ "action": "busy", "when": "later" }), Some("`when` must be")),
        ] {
            let faults = Faults::default();
            match (add(&faults, &asked), refused) {
                (Ok(added), None) => assert_eq!(added["id"], 1),
                (Err((_, said)), Some(start)) => assert!(said.starts_with(start), "{said}"),
                (got, _) => panic!("{asked}: {got:?}"),
            }
            assert_eq!(faults.list().len(), usize::from(refused.is_none()));
        }
    }

    #[test]
    fn removal() {
        let faults = Faults::default();
        add(&faults, &json!({ "action": "busy" })).expect("added");
        assert!(remove(&faults, "2").is_err() && remove(&faults, "x").is_err());
        assert!(remove(&faults, "1").is_ok() && remove(&faults, "1").is_err());
    }
}
