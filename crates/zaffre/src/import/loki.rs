//! Azurite's data folder as it is on the disk: collections of JSON documents, and files of bytes
//! that they point into.
//!
//! Must never write there.

use super::send::Part;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// One of Azurite's databases.
pub(super) struct Database(Value);

impl Database {
    /// Reads `__azurite_db_<name>__.json`; nothing if Azurite never wrote one.
    pub(super) fn read(folder: &Path, name: &str) -> Result<Self, String> {
        let path = folder.join(format!("__azurite_db_{name}__.json"));
        match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self(Value::Null)),
            Err(error) => Err(format!("{}: {error}", path.display())),
            Ok(text) => match serde_json::from_slice(&text) {
                Ok(value) => Ok(Self(value)),
                Err(error) => {
                    Err(format!("{} is not what Azurite writes: {error}", path.display()))
                }
            },
        }
    }

    /// Whether there is anything in it.
    pub(super) fn is_there(&self) -> bool {
        self.0.get("collections").is_some()
    }

    /// The documents of a collection, in the order they were made.
    pub(super) fn rows(&self, collection: &str) -> Vec<&Value> {
        let all = self.0.get("collections").and_then(Value::as_array).into_iter().flatten();
        let named = all.filter(|each| text(each, "name") == Some(collection));
        let mut rows: Vec<&Value> =
            named.filter_map(|each| each.get("data")?.as_array()).flatten().collect();
        rows.sort_by_key(|row| row.get("$loki").and_then(Value::as_u64));
        rows
    }
}

/// The files of bytes of one service.
pub(super) struct Extents(PathBuf);

impl Extents {
    pub(super) fn of(folder: &Path, name: &str) -> Self {
        Self(folder.join(name))
    }

    /// Where the bytes of a document are.
    pub(super) fn part(&self, row: &Value) -> Result<Option<Part>, String> {
        let Some(at) = row.get("persistency").filter(|at| !at.is_null()) else { return Ok(None) };
        let number = |name: &str| at.get(name).and_then(Value::as_u64);
        let (Some(id), Some(offset), Some(count)) =
            (text(at, "id"), number("offset"), number("count"))
        else {
            return Err("its bytes are nowhere".to_owned());
        };
        // An id is a name that Azurite made; anything else could lead out of the folder.
        if !id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'*') {
            return Err(format!("`{id}` is not the name of a file of bytes"));
        }
        // Azurite's name for bytes that are all zero.
        if id.starts_with('*') {
            return Ok(None);
        }
        Ok(Some(Part { file: self.0.join(id), offset, count }))
    }
}

/// A field that is text and not empty.
pub(super) fn text<'a>(row: &'a Value, name: &str) -> Option<&'a str> {
    row.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// A field that is true.
pub(super) fn flag(row: &Value, name: &str) -> bool {
    row.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// A field of bytes: `{"0": 93, "1": 65, …}`, `{"type": "Buffer", "data": […]}` or Base64.
pub(super) fn bytes(row: &Value, name: &str) -> Option<String> {
    let value = row.get(name)?;
    let one = |value: &Value| u8::try_from(value.as_u64()?).ok();
    let read: Vec<u8> = match value {
        Value::String(text) => return Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Object(fields) => match fields.get("data").and_then(Value::as_array) {
            Some(list) => list.iter().map(one).collect::<Option<_>>()?,
            None => (0..fields.len())
                .map(|at| one(fields.get(&at.to_string())?))
                .collect::<Option<_>>()?,
        },
        _ => return None,
    };
    (!read.is_empty()).then(|| zaffre_base::base64::encode(&read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_of_bytes() {
        for (value, want) in [
            (json!({ "0": 1, "1": 255 }), Some("Af8=")),
            (json!({ "type": "Buffer", "data": [1, 255] }), Some("Af8=")),
            (json!("Af8="), Some("Af8=")),
            (json!({ "0": 1, "2": 255 }), None),
            (json!({ "0": 256 }), None),
            (json!({}), None),
            (json!(null), None),
        ] {
            assert_eq!(bytes(&json!({ "m": value }), "m").as_deref(), want);
        }
    }

    #[test]
    fn files_stay_in_their_folder() {
        let extents = Extents::of(Path::new("/d"), "e");
        let row = |id: &str| json!({ "persistency": { "id": id, "offset": 1, "count": 2 } });
        assert!(extents.part(&row("../secret")).is_err());
        let part = extents.part(&row("a-1")).expect("legal").expect("there");
        assert_eq!(part.file, Path::new("/d/e/a-1"));
        assert!(extents.part(&json!({})).expect("nothing").is_none());
    }
}
