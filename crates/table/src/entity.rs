//! The JSON of an entity in a request: typed properties and, where they are given, its keys.
//!
//! Must never decide what may be stored: the domain does, by `Properties::new`.

use crate::json::{Member, Members, members};
use std::borrow::Cow;
use std::collections::HashMap;
use zaffre_domain::table::key::{PARTITION_KEY, ROW_KEY, TIMESTAMP};
use zaffre_domain::table::{EdmType, Properties, TableRefusal, Value};
use zaffre_http::ApiError;

/// What follows a property's name in the name of its annotation.
const TYPE: &str = "@odata.type";

/// An entity as a request sends it.
#[derive(Clone, PartialEq, Debug)]
pub struct Sent<'a> {
    /// Its PartitionKey, if given.
    pub partition: Option<Cow<'a, str>>,
    /// Its RowKey, if given.
    pub row: Option<Cow<'a, str>>,
    /// Everything else but what the service sets itself.
    pub properties: Properties,
}

/// The types that annotations give to properties, by their names.
type Types = HashMap<String, EdmType>;

fn types(members: &Members<'_>) -> Result<Types, ApiError> {
    // Makes nothing where nothing is annotated.
    let mut types = HashMap::new();
    for (name, value) in members {
        if let (Some(property), Member::Text(edm)) = (name.strip_suffix(TYPE), value) {
            let edm = EdmType::parse(edm).ok_or_else(|| refused(TableRefusal::InvalidValue))?;
            types.insert(property.to_owned(), edm);
        }
    }
    Ok(types)
}

/// Reads the body of a write.
pub fn read(document: &[u8]) -> Result<Sent<'_>, ApiError> {
    let members = members(document).map_err(|_| refused(TableRefusal::InvalidValue))?;
    let types = types(&members)?;
    let (mut partition, mut row) = (None, None);
    let mut properties = Vec::with_capacity(members.len());
    for (name, value) in members {
        if is_ours(&name) {
            continue;
        }
        let edm = if types.is_empty() { None } else { types.get(&*name).copied() };
        match &*name {
            PARTITION_KEY => set_key(&mut partition, PARTITION_KEY, edm, value)?,
            ROW_KEY => set_key(&mut row, ROW_KEY, edm, value)?,
            _ => {
                if let Some(value) = typed(&name, value, edm)? {
                    properties.push((name.into_owned(), value));
                }
            }
        }
    }
    let properties = Properties::new(properties).map_err(refused)?;
    Ok(Sent { partition, row, properties })
}

/// Whether a member is an annotation, or what the service sets itself.
fn is_ours(name: &str) -> bool {
    // Names of properties have neither; looking for single bytes first is quick.
    let may_annotate = name.bytes().any(|b| matches!(b, b'@' | b'.'));
    name == TIMESTAMP || may_annotate && (name.contains('@') || name.contains("odata."))
}

fn set_key<'a>(
    slot: &mut Option<Cow<'a, str>>,
    name: &'static str,
    edm: Option<EdmType>,
    value: Member<'a>,
) -> Result<(), ApiError> {
    if slot.is_some() {
        return Err(refused(TableRefusal::DuplicateProperty));
    }
    match value {
        Member::Null => Ok(()),
        Member::Text(text) if edm.is_none_or(|edm| edm == EdmType::String) => {
            *slot = Some(text);
            Ok(())
        }
        _ => Err(refused(TableRefusal::KeyNotText { name })),
    }
}

/// The value of a property; `None` for null, which is never stored.
fn typed(name: &str, value: Member<'_>, edm: Option<EdmType>) -> Result<Option<Value>, ApiError> {
    let parse = |edm, text: &str| Value::parse(edm, text, name).map(Some).map_err(refused);
    match (value, edm) {
        (Member::Null, _) => Ok(None),
        (Member::Bool(is), None | Some(EdmType::Boolean)) => Ok(Some(Value::Boolean(is))),
        (Member::Text(text), None | Some(EdmType::String)) => {
            Ok(Some(Value::String(text.into_owned())))
        }
        (Member::Text(text), Some(edm)) => parse(edm, &text),
        (Member::Number(digits), Some(EdmType::Int32 | EdmType::Int64 | EdmType::Double)) => {
            parse(edm.unwrap_or(EdmType::Double), digits)
        }
        (Member::Bool(_) | Member::Number(_), Some(_)) => Err(refused(TableRefusal::InvalidValue)),
        // A whole number that fits is an Int32; anything else is a Double.
        (Member::Number(digits), None) => match digits.parse() {
            Ok(number) => Ok(Some(Value::Int32(number))),
            Err(_) => parse(EdmType::Double, digits),
        },
    }
}

fn refused(refusal: TableRefusal) -> ApiError {
    zaffre_domain::Refusal::from(refusal).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(document: &str) -> String {
        match read(document.as_bytes()) {
            Err(error) => error.code.to_owned(),
            Ok(sent) => {
                let keys = format!("{:?}|{:?}", sent.partition, sent.row);
                let all = sent.properties.iter().map(|(name, value)| format!(" {name}={value:?}"));
                keys + &all.collect::<String>()
            }
        }
    }

    #[test]
    fn entities() {
        for (document, want) in [
            (r#"{"PartitionKey":"p","RowKey":"r"}"#, r#"Some("p")|Some("r")"#),
            (r#"{"PartitionKey@odata.type":"Edm.String","PartitionKey":"p"}"#, r#"Some("p")|None"#),
            (r#"{"a":1,"b":1.5,"c":true,"d":"x","e":null}"#, {
                r#"None|None a=Int32(1) b=Double(1.5) c=Boolean(true) d=String("x")"#
            }),
            (r#"{"a":5000000000}"#, "None|None a=Double(5000000000.0)"),
            (r#"{"a@odata.type":"Edm.Int64","a":"5000000000"}"#, "None|None a=Int64(5000000000)"),
            (r#"{"a":7,"a@odata.type":"Edm.Int64"}"#, "None|None a=Int64(7)"),
            (r#"{"a@odata.type":"Edm.Double","a":"NaN"}"#, "None|None a=Double(NaN)"),
            (r#"{"a@odata.type":"Edm.Boolean","a":"false"}"#, "None|None a=Boolean(false)"),
            (r#"{"odata.etag":"x","Timestamp":null,"a":1}"#, "None|None a=Int32(1)"),
            (r#"{"PartitionKey":1}"#, "PrimaryKeyPropertyIsInvalidType"),
            (r#"{"a@odata.type":"Edm.Int32","a":"x"}"#, "InvalidInput"),
            (r#"{"a@odata.type":"Edm.Nonsense","a":"x"}"#, "InvalidInput"),
            (r#"{"a":[1]}"#, "InvalidInput"),
            (r#"{"a":1,"a":2}"#, "DuplicatePropertiesSpecified"),
            (r#"{"PartitionKey":"a","PartitionKey":"b"}"#, "DuplicatePropertiesSpecified"),
            (r#"{"a-b":1}"#, "PropertyNameInvalid"),
            ("", "InvalidInput"),
        ] {
            assert_eq!(show(document), want, "{document}");
        }
    }
}
