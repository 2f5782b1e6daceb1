//! Records of results as CSV or JSON.

use crate::csv::CsvFormat;
use crate::evaluate::Row;
use crate::json::{Json, write_text};
use crate::value::Value;

/// How results are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// Delimited text.
    Csv(CsvFormat),
    /// One object per record, each followed by this.
    Json {
        /// Between records.
        record: Vec<u8>,
    },
}

impl Output {
    /// Writes the names of the columns, if this output has them.
    pub(crate) fn header<'a>(&self, out: &mut Vec<u8>, names: impl Iterator<Item = &'a str>) {
        if let Self::Csv(format) = self
            && format.header
        {
            format.write(out, names.map(str::as_bytes));
        }
    }

    /// Writes a record whole.
    pub(crate) fn row(&self, out: &mut Vec<u8>, row: Row<'_>) {
        match (self, row) {
            (Self::Csv(format), Row::Csv { fields, .. }) => {
                format.write(out, fields.iter().map(Vec::as_slice));
            }
            (Self::Csv(format), Row::Json(json)) => {
                let values: Vec<String> = match json {
                    Json::Object(members) => {
                        members.iter().map(|(_, value)| value.value().text()).collect()
                    }
                    other => vec![other.value().text()],
                };
                format.write(out, values.iter().map(String::as_bytes));
            }
            (Self::Json { record }, Row::Json(json)) => {
                json.write(out);
                out.extend_from_slice(record);
            }
            (Self::Json { record }, Row::Csv { fields, header }) => {
                let named = fields.iter().enumerate().map(|(at, field)| {
                    let name = header.and_then(|header| header.name(at));
                    let name = name.map_or_else(|| format!("_{}", at + 1), str::to_owned);
                    (name, Value::Text(String::from_utf8_lossy(field).into_owned()))
                });
                object(out, named, record);
            }
        }
    }

    /// Writes a record of these values.
    pub(crate) fn values(&self, out: &mut Vec<u8>, values: Vec<(String, Value)>) {
        match self {
            Self::Csv(format) => {
                let texts: Vec<String> = values.iter().map(|(_, value)| value.text()).collect();
                format.write(out, texts.iter().map(String::as_bytes));
            }
            Self::Json { record } => object(out, values.into_iter(), record),
        }
    }
}

/// What is missing is left out.
fn object(out: &mut Vec<u8>, members: impl Iterator<Item = (String, Value)>, record: &[u8]) {
    out.push(b'{');
    let mut first = true;
    for (name, value) in members.filter(|(_, value)| *value != Value::Missing) {
        if !first {
            out.push(b',');
        }
        first = false;
        write_text(out, &name);
        out.push(b':');
        match &value {
            Value::Text(_) | Value::Time(_) => write_text(out, &value.text()),
            Value::Json(json) => json.write(out),
            Value::Null | Value::Missing => out.extend_from_slice(b"null"),
            other => out.extend_from_slice(other.text().as_bytes()),
        }
    }
    out.push(b'}');
    out.extend_from_slice(record);
}
