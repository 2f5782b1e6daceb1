//! Any body is an entity within the limits or an error, and an entity written down is read back.

use zaffre_domain::table::value::date_text;
use zaffre_domain::table::{EntityKey, Value};
use zaffre_table::json::Object;
use zaffre_table::read_entity;

/// What the service sets or takes from elsewhere.
const SYSTEM: [&str; 3] = ["PartitionKey", "RowKey", "Timestamp"];

/// The target.
pub fn run(input: &[u8]) {
    let Ok(sent) = read_entity(input) else { return };
    assert!(sent.properties.len() <= 252);
    let mut names: Vec<&str> = sent.properties.iter().map(|(name, _)| name).collect();
    assert!(names.iter().all(|name| !SYSTEM.contains(name) && !name.contains('@')));
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a property twice");
    let mut object = Object::default();
    for (name, key) in [("PartitionKey", &sent.partition), ("RowKey", &sent.row)] {
        if let Some(key) = key {
            object.text(name, key);
        }
    }
    for (name, value) in sent.properties.iter() {
        let text = text(value);
        object.text(&format!("{name}@odata.type"), value.edm_type().name());
        match value {
            Value::Boolean(_) | Value::Int32(_) => object.raw(name, &text),
            _ => object.text(name, &text),
        }
    }
    let again = object.finish();
    let read = read_entity(again.as_bytes());
    let read = read.unwrap_or_else(|error| panic!("{again} is refused: {}", error.code));
    // Not by equality: NaN is equal to nothing.
    assert_eq!(format!("{read:?}"), format!("{sent:?}"));
    if let (Some(partition), Some(row)) = (&sent.partition, &sent.row)
        && let Ok(key) = EntityKey::new(partition, row)
    {
        assert_eq!(EntityKey::from_bytes(&key.bytes()), Some(key));
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Int32(number) => number.to_string(),
        Value::Int64(number) => number.to_string(),
        Value::Double(number) if number.is_infinite() && *number > 0.0 => "Infinity".to_owned(),
        Value::Double(number) if number.is_infinite() => "-Infinity".to_owned(),
        Value::Double(number) => format!("{number:?}"),
        Value::Boolean(is) => is.to_string(),
        Value::DateTime(instant) => date_text(*instant),
        Value::Guid(guid) => guid.to_string(),
        Value::Binary(bytes) => zaffre_base::base64::encode(bytes),
    }
}
