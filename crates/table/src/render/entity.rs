//! Entities as JSON, at each of the three levels.

use super::push_url_key;
use crate::format::Level;
use crate::json::{Object, quoted};
use zaffre_base::TableName;
use zaffre_domain::table::etag::etag;
use zaffre_domain::table::key::{PARTITION_KEY, ROW_KEY, TIMESTAMP};
use zaffre_domain::table::value::date_text;
use zaffre_domain::table::{Entity, EntityKey, Value};

/// What the JSON of an entity says about where it is.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The service's URL without its last slash.
    pub(crate) base: &'a str,
    pub(crate) account: &'a str,
    pub(crate) table: &'a TableName,
    pub(crate) level: Level,
    /// The properties asked for; all if there are none.
    pub(crate) select: &'a [String],
}

impl Place<'_> {
    /// `mytable(PartitionKey='p',RowKey='r')`
    pub(crate) fn link(&self, key: &EntityKey) -> String {
        let mut link = String::new();
        self.push_link(&mut link, key);
        link
    }

    /// Appends [`Place::link`].
    pub(crate) fn push_link(&self, out: &mut String, key: &EntityKey) {
        out.push_str(self.table.as_str());
        out.push_str("(PartitionKey='");
        push_url_key(out, key.partition());
        out.push_str("',RowKey='");
        push_url_key(out, key.row());
        out.push_str("')");
    }

    fn metadata(&self, element: &str) -> String {
        let selected = if self.select.is_empty() {
            String::new()
        } else {
            format!("&$select={}", self.select.join(","))
        };
        format!("{}/$metadata#{}{element}{selected}", self.base, self.table)
    }
}

/// One entity on its own.
pub(crate) fn one(entity: &Entity, place: Place<'_>) -> String {
    let mut object = Object::default();
    if place.level != Level::No {
        object.text("odata.metadata", &place.metadata("/@Element"));
    }
    write(&mut object, entity, place);
    object.finish()
}

/// A page of entities.
pub(crate) fn list(entities: &[Entity], place: Place<'_>) -> String {
    let mut items = String::from("[");
    for (index, entity) in entities.iter().enumerate() {
        if index > 0 {
            items.push(',');
        }
        let mut object = Object::default();
        write(&mut object, entity, place);
        items.push_str(&object.finish());
    }
    items.push(']');
    let mut whole = Object::default();
    if place.level != Level::No {
        whole.text("odata.metadata", &place.metadata(""));
    }
    whole.raw("value", &items);
    whole.finish()
}

fn write(object: &mut Object, entity: &Entity, place: Place<'_>) {
    if place.level == Level::Full {
        let link = place.link(&entity.key);
        object.text("odata.type", &format!("{}.{}", place.account, place.table));
        object.text("odata.id", &format!("{}/{link}", place.base));
        object.text("odata.etag", &etag(entity.written));
        object.text("odata.editLink", &link);
    } else if place.level == Level::Minimal {
        object.text("odata.etag", &etag(entity.written));
    }
    if place.select.is_empty() {
        for name in [PARTITION_KEY, ROW_KEY, TIMESTAMP] {
            property(object, entity, name, place.level);
        }
        for (name, value) in entity.properties.iter() {
            typed(object, name, value, place.level);
        }
    } else {
        for name in place.select {
            property(object, entity, name, place.level);
        }
    }
}

/// One property by its name; one that the entity does not have is null.
fn property(object: &mut Object, entity: &Entity, name: &str, level: Level) {
    match name {
        PARTITION_KEY => object.text(name, entity.key.partition()),
        ROW_KEY => object.text(name, entity.key.row()),
        TIMESTAMP => {
            if level == Level::Full {
                object.text("Timestamp@odata.type", "Edm.DateTime");
            }
            object.text(name, &date_text(entity.written.time()));
        }
        _ => match entity.properties.get(name) {
            Some(value) => typed(object, name, value, level),
            None => object.raw(name, "null"),
        },
    }
}

fn typed(object: &mut Object, name: &str, value: &Value, level: Level) {
    let (json, tells_its_type) = match value {
        Value::String(text) => (quoted(text), true),
        Value::Int32(number) => (number.to_string(), true),
        Value::Int64(number) => (quoted(&number.to_string()), false),
        Value::Double(number) => double(*number),
        Value::Boolean(is) => (is.to_string(), true),
        Value::DateTime(instant) => (quoted(&date_text(*instant)), false),
        Value::Guid(guid) => (quoted(&guid.to_string()), false),
        Value::Binary(bytes) => (quoted(&zaffre_base::base64::encode(bytes)), false),
    };
    if !tells_its_type && level != Level::No {
        object.text(&format!("{name}@odata.type"), value.edm_type().name());
    }
    object.raw(name, &json);
}

/// A Double always looks like one; what JSON cannot write is a text.
fn double(number: f64) -> (String, bool) {
    if number.is_nan() {
        (quoted("NaN"), false)
    } else if number.is_infinite() {
        (quoted(if number > 0.0 { "Infinity" } else { "-Infinity" }), false)
    } else {
        (format!("{number:?}"), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_base::{Guid, Stamp, Timestamp};
    use zaffre_domain::table::Properties;

    fn sample() -> Entity {
        let born = Timestamp::parse_iso("1973-10-04T00:00:00Z").unwrap_or(Timestamp(0));
        let written = Timestamp::parse_iso("2022-05-06T00:34:41.820498Z").unwrap_or(Timestamp(0));
        let properties = [
            ("age", Value::Int32(39)),
            ("even", Value::Double(3.0)),
            ("ok", Value::Boolean(true)),
            ("born", Value::DateTime(born)),
            ("bin", Value::Binary(b"binary".to_vec())),
            ("id", Value::Guid(Guid(0x1234))),
            ("big", Value::Int64(1_125_899_906_842_624)),
            ("inf", Value::Double(f64::INFINITY)),
        ];
        let named = properties.into_iter().map(|(name, value)| (name.to_owned(), value));
        Entity {
            key: EntityKey::new("p", "r'1").unwrap_or_else(|_| panic!("legal")),
            written: Stamp(written.0),
            properties: Properties::from_stored(named.collect()),
        }
    }

    #[test]
    fn levels() {
        let table = TableName::parse("t12").unwrap_or_else(|_| panic!("legal"));
        let place = |level, select| Place {
            base: "http://h/a",
            account: "a",
            table: &table,
            level,
            select,
        };
        let minimal = one(&sample(), place(Level::Minimal, &[]));
        assert_eq!(
            minimal,
            "{\"odata.metadata\":\"http://h/a/$metadata#t12/@Element\",\
             \"odata.etag\":\"W/\\\"datetime'2022-05-06T00%3A34%3A41.820498Z'\\\"\",\
             \"PartitionKey\":\"p\",\"RowKey\":\"r'1\",\"Timestamp\":\"2022-05-06T00:34:41.820498Z\",\
             \"age\":39,\"even\":3.0,\"ok\":true,\
             \"born@odata.type\":\"Edm.DateTime\",\"born\":\"1973-10-04T00:00:00Z\",\
             \"bin@odata.type\":\"Edm.Binary\",\"bin\":\"YmluYXJ5\",\
             \"id@odata.type\":\"Edm.Guid\",\"id\":\"00000000-0000-0000-0000-000000001234\",\
             \"big@odata.type\":\"Edm.Int64\",\"big\":\"1125899906842624\",\
             \"inf@odata.type\":\"Edm.Double\",\"inf\":\"Infinity\"}"
        );
        let none = one(&sample(), place(Level::No, &[]));
        assert!(none.starts_with("{\"PartitionKey\":\"p\"") && !none.contains("odata"));
        let full = list(&[sample()], place(Level::Full, &[]));
        for part in [
            "\"odata.metadata\":\"http://h/a/$metadata#t12\",\"value\":[{",
            "\"odata.type\":\"a.t12\"",
            "\"odata.id\":\"http://h/a/t12(PartitionKey='p',RowKey='r''1')\"",
            "\"odata.editLink\":\"t12(PartitionKey='p',RowKey='r''1')\"",
            "\"Timestamp@odata.type\":\"Edm.DateTime\"",
        ] {
            assert!(full.contains(part), "{part} in {full}");
        }
        let select = ["age".to_owned(), "none".to_owned()];
        let some = one(&sample(), place(Level::Minimal, &select));
        assert!(some.contains("#t12/@Element&$select=age,none"), "{some}");
        assert!(some.ends_with("\"age\":39,\"none\":null}"), "{some}");
    }
}
