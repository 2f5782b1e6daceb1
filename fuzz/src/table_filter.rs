//! Filters over entities: what passes lies in the runs of keys that are read, and errors point
//! into the text.

use zaffre_base::{Guid, Stamp, Timestamp};
use zaffre_domain::table::filter::{Expression, FilterError, matches, parse};
use zaffre_domain::table::plan::ranges;
use zaffre_domain::table::{Entity, EntityKey, Properties, Value};

const KEYS: [&str; 5] = ["", "a", "b", "b b", "\u{FFFD}"];

/// The target.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let expression = match parse(text) {
        Ok(Some(expression)) => expression,
        Ok(None) => return assert!(text.trim().is_empty(), "only nothing lets everything through"),
        Err(FilterError::Syntax { position, text: shown }) => {
            assert_eq!(shown, text);
            return assert!(position <= text.chars().count());
        }
        Err(FilterError::Incompatible { .. }) => return,
        Err(FilterError::NotImplemented | FilterError::TooDeep) => return,
    };
    match parse(&format!("({text})")) {
        // Not by equality: NaN is equal to nothing.
        Ok(Some(same)) => assert_eq!(format!("{same:?}"), format!("{expression:?}")),
        other => assert_eq!(other, Err(FilterError::TooDeep)),
    }
    let runs = ranges(Some(&expression));
    for pair in runs.windows(2) {
        let end = pair[0].end.as_ref().expect("only the last run has no end");
        assert!(*end < pair[1].start, "runs are in order and apart");
    }
    let opposite = Expression::Not(Box::new(expression.clone()));
    for entity in samples() {
        let passes = matches(&expression, &entity);
        assert_ne!(passes, matches(&opposite, &entity));
        let read = runs.iter().any(|run| run.holds(&entity.key.bytes()));
        assert!(read || !passes, "an entity that passes is not read");
    }
}

fn samples() -> impl Iterator<Item = Entity> {
    let values = [
        Value::String("a".to_owned()),
        Value::Int32(1),
        Value::Int64(1 << 40),
        Value::Double(1.5),
        Value::Boolean(true),
        Value::DateTime(Timestamp(638_000_000_000_000_000)),
        Value::Guid(Guid(1)),
        Value::Binary(vec![0, 255]),
    ];
    let pairs = KEYS.into_iter().flat_map(|p| KEYS.into_iter().map(move |r| (p, r)));
    pairs.enumerate().map(move |(at, (partition, row))| Entity {
        key: EntityKey::new(partition, row).expect("legal keys"),
        written: Stamp(638_000_000_000_000_000),
        properties: Properties::from_stored(vec![
            ("a".to_owned(), values[at % values.len()].clone()),
            ("b".to_owned(), values[at / KEYS.len()].clone()),
        ]),
    })
}
