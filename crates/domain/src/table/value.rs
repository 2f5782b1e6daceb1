//! The values a property can have, and their text forms.
//!
//! Must never lose a bit: what comes in as text goes out as the same value.

use super::TableRefusal;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use zaffre_base::{Guid, Timestamp, base64};

/// The first instant a DateTime can hold: 1601-01-01.
const FIRST_DATE: u64 = 504_911_232_000_000_000;

/// The type of a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdmType {
    /// Text.
    String,
    /// A 32-bit integer.
    Int32,
    /// A 64-bit integer.
    Int64,
    /// A 64-bit floating point number.
    Double,
    /// True or false.
    Boolean,
    /// An instant, to 100 ns.
    DateTime,
    /// A GUID.
    Guid,
    /// Bytes.
    Binary,
}

impl EdmType {
    /// Its name in annotations.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "Edm.String",
            Self::Int32 => "Edm.Int32",
            Self::Int64 => "Edm.Int64",
            Self::Double => "Edm.Double",
            Self::Boolean => "Edm.Boolean",
            Self::DateTime => "Edm.DateTime",
            Self::Guid => "Edm.Guid",
            Self::Binary => "Edm.Binary",
        }
    }

    /// The type an annotation names.
    pub fn parse(name: &str) -> Option<Self> {
        const ALL: [EdmType; 8] = [
            EdmType::String,
            EdmType::Int32,
            EdmType::Int64,
            EdmType::Double,
            EdmType::Boolean,
            EdmType::DateTime,
            EdmType::Guid,
            EdmType::Binary,
        ];
        ALL.into_iter().find(|one| one.name() == name)
    }
}

/// The value of a property.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Text.
    String(String),
    /// A 32-bit integer.
    Int32(i32),
    /// A 64-bit integer.
    Int64(i64),
    /// A 64-bit floating point number.
    Double(f64),
    /// True or false.
    Boolean(bool),
    /// An instant.
    DateTime(Timestamp),
    /// A GUID.
    Guid(Guid),
    /// Bytes.
    Binary(Vec<u8>),
}

impl Value {
    /// Its type.
    pub fn edm_type(&self) -> EdmType {
        match self {
            Self::String(_) => EdmType::String,
            Self::Int32(_) => EdmType::Int32,
            Self::Int64(_) => EdmType::Int64,
            Self::Double(_) => EdmType::Double,
            Self::Boolean(_) => EdmType::Boolean,
            Self::DateTime(_) => EdmType::DateTime,
            Self::Guid(_) => EdmType::Guid,
            Self::Binary(_) => EdmType::Binary,
        }
    }

    /// Reads a value of type `edm` from its text form; `name` is for the message.
    pub fn parse(edm: EdmType, text: &str, name: &str) -> Result<Self, TableRefusal> {
        let value = match edm {
            EdmType::String => Some(Self::String(text.to_string())),
            EdmType::Int32 => text.parse().ok().map(Self::Int32),
            EdmType::Int64 => text.parse().ok().map(Self::Int64),
            EdmType::Double => parse_double(text).map(Self::Double),
            EdmType::Boolean if text.eq_ignore_ascii_case("true") => Some(Self::Boolean(true)),
            EdmType::Boolean if text.eq_ignore_ascii_case("false") => Some(Self::Boolean(false)),
            EdmType::Boolean => None,
            EdmType::DateTime => return date(text, name),
            EdmType::Guid => Guid::parse(text).map(Self::Guid),
            EdmType::Binary => base64::decode(text).map(Self::Binary),
        };
        value.ok_or(TableRefusal::InvalidValue)
    }

    /// What counts towards the size of an entity, by the service's own estimate.
    pub fn size(&self) -> usize {
        match self {
            Self::String(text) => 2 * units(text) + 4,
            Self::Int32(_) => 4,
            Self::Int64(_) | Self::Double(_) | Self::DateTime(_) => 8,
            Self::Boolean(_) => 1,
            Self::Guid(_) => 16,
            Self::Binary(bytes) => bytes.len() + 4,
        }
    }

    /// Bytes in the value alone, for the limit of one property.
    pub fn payload(&self) -> usize {
        match self {
            Self::String(text) => 2 * units(text),
            Self::Binary(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

/// UTF-16 units in a text.
pub fn units(text: &str) -> usize {
    // Most texts are ASCII, which is told much faster than units are counted.
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// A floating point number in any of its text forms.
pub fn parse_double(text: &str) -> Option<f64> {
    match text {
        "NaN" => return Some(f64::NAN),
        "Infinity" | "INF" => return Some(f64::INFINITY),
        "-Infinity" | "-INF" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    // Rust reads more than OData writes: words and a leading plus are none of its numbers.
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    let starts = text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
    text.parse().ok().filter(|number: &f64| plain && starts && number.is_finite())
}

fn date(text: &str, name: &str) -> Result<Value, TableRefusal> {
    let instant = parse_date(text).ok_or(TableRefusal::InvalidValue)?;
    if instant.0 < FIRST_DATE {
        let (name, value) = (name.to_string(), text.to_string());
        return Err(TableRefusal::OutOfRange { name, value });
    }
    Ok(Value::DateTime(instant))
}

/// An instant in ISO 8601; without a zone it is UTC.
pub fn parse_date(text: &str) -> Option<Timestamp> {
    Timestamp::parse_iso(text).or_else(|| Timestamp::parse_iso(&format!("{text}Z")))
}

/// `2026-11-15T04:42:16.12Z`: the fraction without trailing zeros.
pub fn date_text(instant: Timestamp) -> String {
    let bytes = instant.iso7().bytes();
    let shown = without_zeros(&bytes);
    let mut text = String::with_capacity(shown.len() + 1);
    text.push_str(shown);
    text.push('Z');
    text
}

/// The same without its last letter, of the bytes of all digits.
pub(super) fn without_zeros(bytes: &[u8; 28]) -> &str {
    let text = core::str::from_utf8(bytes).unwrap_or_default();
    // The point keeps the zeros of the seconds.
    text.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(edm: EdmType, text: &str) -> Option<Value> {
        Value::parse(edm, text, "p").ok()
    }

    #[test]
    fn texts() {
        let guid = Guid(0xc9da_6455_213d_42c9_9a79_3e91_49a5_7833);
        for (edm, text, want) in [
            (EdmType::Int32, "2147483647", Some(Value::Int32(i32::MAX))),
            (EdmType::Int32, "2147483648", None),
            (EdmType::Int32, "1.0", None),
            (EdmType::Int64, "-9223372036854775808", Some(Value::Int64(i64::MIN))),
            (EdmType::Int64, "9223372036854775808", None),
            (EdmType::Double, "5", Some(Value::Double(5.0))),
            (EdmType::Double, "-1.5e-300", Some(Value::Double(-1.5e-300))),
            (EdmType::Double, "-Infinity", Some(Value::Double(f64::NEG_INFINITY))),
            (EdmType::Double, "1e999", None),
            (EdmType::Double, "Infinity", Some(Value::Double(f64::INFINITY))),
            (EdmType::Double, "INF", Some(Value::Double(f64::INFINITY))),
            (EdmType::Double, "-Infinity", Some(Value::Double(f64::NEG_INFINITY))),
            (EdmType::Double, "-INF", Some(Value::Double(f64::NEG_INFINITY))),
            (EdmType::Double, "inf", None),
            (EdmType::Double, "+1", None),
            (EdmType::Double, "", None),
            (EdmType::Boolean, "false", Some(Value::Boolean(false))),
            (EdmType::Boolean, "True", Some(Value::Boolean(true))),
            (EdmType::Boolean, "FALSE", Some(Value::Boolean(false))),
            (EdmType::Boolean, "1", None),
            (EdmType::Guid, "c9da6455-213d-42c9-9a79-3e9149a57833", Some(Value::Guid(guid))),
            (EdmType::Guid, "c9da6455", None),
            (EdmType::Binary, "YmluYXJ5", Some(Value::Binary(b"binary".to_vec()))),
            (EdmType::Binary, "YmluYX", None),
            (EdmType::DateTime, "tomorrow", None),
        ] {
            assert_eq!(read(edm, text), want, "{edm:?} {text}");
        }
        assert!(matches!(read(EdmType::Double, "NaN"), Some(Value::Double(n)) if n.is_nan()));
    }

    #[test]
    fn dates() {
        for (text, want) in [
            ("1973-10-04T00:00:00Z", "1973-10-04T00:00:00Z"),
            ("1973-10-04T00:00:00", "1973-10-04T00:00:00Z"),
            ("1973-10-04", "1973-10-04T00:00:00Z"),
            ("2022-05-06T00:34:41.8204980Z", "2022-05-06T00:34:41.820498Z"),
            ("2022-05-06T02:34:40.0000001+02:00", "2022-05-06T00:34:40.0000001Z"),
            ("1601-01-01T00:00:00Z", "1601-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"),
        ] {
            let read = parse_date(text).map(date_text);
            assert_eq!(read.as_deref(), Some(want), "{text}");
        }
        let first = Value::parse(EdmType::DateTime, "1601-01-01T00:00:00Z", "born");
        assert!(matches!(first, Ok(Value::DateTime(_))));
        let early = Value::parse(EdmType::DateTime, "1600-12-31T23:59:59Z", "born");
        assert!(matches!(early, Err(TableRefusal::OutOfRange { name, .. }) if name == "born"));
    }

    #[test]
    fn types_have_names() {
        for name in ["Edm.String", "Edm.Int32", "Edm.Int64", "Edm.Double", "Edm.Boolean"] {
            assert_eq!(EdmType::parse(name).map(EdmType::name), Some(name));
        }
        for name in ["Edm.Decimal", "String", "edm.string", ""] {
            assert_eq!(EdmType::parse(name), None, "{name}");
        }
    }

    #[test]
    fn sizes() {
        for (value, size, payload) in [
            (Value::String("aé".to_string()), 8, 4),
            (Value::String("\u{1F600}".to_string()), 8, 4),
            (Value::String(String::new()), 4, 0),
            (Value::Int32(1), 4, 0),
            (Value::Int64(1), 8, 0),
            (Value::Double(1.0), 8, 0),
            (Value::DateTime(Timestamp(1)), 8, 0),
            (Value::Boolean(true), 1, 0),
            (Value::Guid(Guid(1)), 16, 0),
            (Value::Binary(alloc::vec![1; 5]), 9, 5),
        ] {
            assert_eq!((value.size(), value.payload()), (size, payload), "{value:?}");
        }
    }
}
