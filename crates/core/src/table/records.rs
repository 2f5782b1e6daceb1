//! The rows of the Table service: tables, and entities with values of every type.

use crate::directory::{Family, Listed};
use crate::records::{Policy, Record, fields};
use minicbor::{Decode, Encode};
use std::borrow::Cow;
use zaffre_base::{Guid, Incarnation, Stamp, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::table::{Properties, TableRefusal, Value};

/// A table that exists.
#[derive(Clone, PartialEq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Table {
    /// Prefixes every key inside; the commit that created the table.
    #[cbor(n(0), with = "fields")]
    pub(crate) incarnation: Incarnation,
    /// Its name in the case it was created in.
    #[n(1)]
    pub(crate) name: String,
    #[n(2)]
    pub(crate) policies: Vec<Policy>,
}

impl Record for Table {
    const WHAT: &'static str = "table";
}

impl Listed for Table {
    const FAMILY: Family = Family::Tables;

    fn incarnation(&self) -> Incarnation {
        self.incarnation
    }

    fn not_found() -> Refusal {
        TableRefusal::TableNotFound.into()
    }

    fn being_deleted() -> Refusal {
        TableRefusal::TableBeingDeleted.into()
    }
}

/// The row of an entity: when it was written, and its properties or the first part of them.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Stored<'a> {
    #[cbor(n(0), with = "fields")]
    pub(crate) written: Stamp,
    /// How many more parts there are, each in a row of its own.
    #[n(1)]
    pub(crate) parts: u8,
    /// The properties, or as much of them as fits.
    #[cbor(n(2), with = "minicbor::bytes")]
    pub(crate) bytes: Cow<'a, [u8]>,
}

impl Record for Stored<'_> {
    const WHAT: &'static str = "entity";
}

/// All properties of an entity. Written from where they are; what is read is its own.
#[derive(Clone, PartialEq, Debug, Encode, Decode)]
#[cbor(transparent)]
pub(crate) struct StoredProperties<'a>(#[n(0)] Vec<Property<'a>>);

impl Record for StoredProperties<'_> {
    const WHAT: &'static str = "properties of an entity";
}

#[derive(Clone, PartialEq, Debug, Encode, Decode)]
struct Property<'a> {
    #[n(0)]
    name: Cow<'a, str>,
    #[n(1)]
    value: StoredValue<'a>,
}

#[derive(Clone, PartialEq, Debug, Encode, Decode)]
enum StoredValue<'a> {
    #[n(0)]
    String(#[n(0)] Cow<'a, str>),
    #[n(1)]
    Int32(#[n(0)] i32),
    #[n(2)]
    Int64(#[n(0)] i64),
    /// As its bits: NaN and the sign of zero come back as they were.
    #[n(3)]
    Double(#[n(0)] u64),
    #[n(4)]
    Boolean(#[n(0)] bool),
    #[n(5)]
    DateTime(#[cbor(n(0), with = "fields")] Timestamp),
    #[n(6)]
    Guid(#[cbor(n(0), with = "fields")] Guid),
    #[n(7)]
    Binary(#[cbor(n(0), with = "minicbor::bytes")] Cow<'a, [u8]>),
}

impl<'a> From<&'a Properties> for StoredProperties<'a> {
    fn from(properties: &'a Properties) -> Self {
        let stored = |(name, value): (&'a str, &'a Value)| {
            let value = match value {
                Value::String(text) => StoredValue::String(Cow::Borrowed(text)),
                Value::Int32(number) => StoredValue::Int32(*number),
                Value::Int64(number) => StoredValue::Int64(*number),
                Value::Double(number) => StoredValue::Double(number.to_bits()),
                Value::Boolean(is) => StoredValue::Boolean(*is),
                Value::DateTime(instant) => StoredValue::DateTime(*instant),
                Value::Guid(guid) => StoredValue::Guid(*guid),
                Value::Binary(bytes) => StoredValue::Binary(Cow::Borrowed(bytes)),
            };
            Property { name: Cow::Borrowed(name), value }
        };
        Self(properties.iter().map(stored).collect())
    }
}

impl From<StoredProperties<'_>> for Properties {
    fn from(stored: StoredProperties<'_>) -> Self {
        let value = |property: Property<'_>| {
            let value = match property.value {
                StoredValue::String(text) => Value::String(text.into_owned()),
                StoredValue::Int32(number) => Value::Int32(number),
                StoredValue::Int64(number) => Value::Int64(number),
                StoredValue::Double(bits) => Value::Double(f64::from_bits(bits)),
                StoredValue::Boolean(is) => Value::Boolean(is),
                StoredValue::DateTime(instant) => Value::DateTime(instant),
                StoredValue::Guid(guid) => Value::Guid(guid),
                StoredValue::Binary(bytes) => Value::Binary(bytes.into_owned()),
            };
            (property.name.into_owned(), value)
        };
        Self::from_stored(stored.0.into_iter().map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_comes_back() {
        let values = [
            Value::String("é\u{10000}".to_owned()),
            Value::Int32(i32::MIN),
            Value::Int64(i64::MIN),
            Value::Double(-0.0),
            Value::Double(f64::INFINITY),
            Value::Boolean(true),
            Value::DateTime(Timestamp(504_911_232_000_000_000)),
            Value::Guid(Guid(u128::MAX)),
            Value::Binary(vec![0, 255]),
        ];
        let named = values.iter().enumerate().map(|(i, value)| (format!("p{i}"), value.clone()));
        let properties = Properties::from_stored(named.collect());
        let bytes = StoredProperties::from(&properties).to_bytes();
        let read = StoredProperties::from_bytes(&bytes).ok();
        assert_eq!(read.map(Properties::from), Some(properties));
        let nan = Properties::from_stored(vec![("n".to_owned(), Value::Double(f64::NAN))]);
        let back = StoredProperties::from_bytes(&StoredProperties::from(&nan).to_bytes());
        let back = back.map(Properties::from).ok();
        let is_nan = |value: &Value| matches!(value, Value::Double(n) if n.is_nan());
        assert!(back.is_some_and(|p| p.get("n").is_some_and(is_nan)));
    }
}
