//! What a filter sees: an entity with its system properties, or the name of a table.

use super::filter::{Lookup, Operator};
use super::key::{PARTITION_KEY, ROW_KEY, TIMESTAMP};
use super::{EntityKey, Properties, Value};
use alloc::string::ToString;
use zaffre_base::{Stamp, TableName};

/// The property that a query for tables sees.
pub const TABLE_NAME: &str = "TableName";

/// A whole entity.
#[derive(Clone, PartialEq, Debug)]
pub struct Entity {
    /// Its keys.
    pub key: EntityKey,
    /// The commit that made it: its Timestamp and ETag.
    pub written: Stamp,
    /// Everything else.
    pub properties: Properties,
}

impl Lookup for Entity {
    fn compare(&self, property: &str, operator: Operator, value: &Value) -> Option<bool> {
        let key = |text: &str| Value::String(text.to_string()).compares(operator, value);
        match property {
            PARTITION_KEY => Some(key(self.key.partition())),
            ROW_KEY => Some(key(self.key.row())),
            TIMESTAMP => Some(Value::DateTime(self.written.time()).compares(operator, value)),
            name => self.properties.get(name).map(|found| found.compares(operator, value)),
        }
    }

    fn is_true(&self, property: &str) -> bool {
        self.properties.get(property) == Some(&Value::Boolean(true))
    }
}

/// Tables are compared without regard to case, as they are found.
impl Lookup for TableName {
    fn compare(&self, property: &str, operator: Operator, value: &Value) -> Option<bool> {
        if property != TABLE_NAME {
            return None;
        }
        let value = match value {
            Value::String(text) => &Value::String(text.to_ascii_lowercase()),
            other => other,
        };
        Some(Value::String(self.folded()).compares(operator, value))
    }

    fn is_true(&self, _: &str) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::filter::{matches, parse};
    use super::*;

    fn passes(text: &str, what: &impl Lookup) -> bool {
        parse(text).expect("a filter").is_none_or(|filter| matches(&filter, what))
    }

    #[test]
    fn entities() {
        let properties = [
            ("age", Value::Int32(39)),
            ("ok", Value::Boolean(true)),
            ("big", Value::Int64(1 << 40)),
        ];
        let properties = properties.map(|(n, v)| (n.to_string(), v)).to_vec();
        let entity = Entity {
            key: EntityKey::new("p", "r").expect("legal"),
            written: Stamp(637_000_000_000_000_000),
            properties: Properties::new(properties).expect("legal"),
        };
        for (text, want) in [
            ("", true),
            ("PartitionKey eq 'p' and RowKey eq 'r'", true),
            ("PartitionKey gt 'p'", false),
            ("age eq 39", true),
            ("Age eq 39", false),
            ("age ne 40 and age lt 40", true),
            ("big gt 5", true),
            ("ok", true),
            ("not ok", false),
            ("age", false),
            ("missing ne 1", false),
            ("not (missing eq 1)", true),
            ("Timestamp gt datetime'2000-01-01T00:00:00Z'", true),
            ("Timestamp gt datetime'2100-01-01T00:00:00Z'", false),
        ] {
            assert_eq!(passes(text, &entity), want, "{text}");
        }
    }

    #[test]
    fn tables() {
        let table = TableName::parse("MyTable").expect("legal");
        for (text, want) in [
            ("TableName eq 'mytable'", true),
            ("TableName eq 'MYTABLE'", true),
            ("TableName ge 'my' and TableName lt 'mz'", true),
            ("TableName ne 'MyTable'", false),
            ("Name eq 'MyTable'", false),
            ("Name", false),
            ("not Name", true),
        ] {
            assert_eq!(passes(text, &table), want, "{text}");
        }
    }
}
