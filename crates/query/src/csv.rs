//! One record of delimited text: its fields, its header, and writing it again.

use crate::limits::SEPARATOR_BYTES;

/// How delimited text is delimited.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CsvFormat {
    /// Between fields.
    pub column: Vec<u8>,
    /// Around fields that hold a separator; `None` = nothing is.
    pub quote: Option<u8>,
    /// Between records.
    pub record: Vec<u8>,
    /// Makes the next byte stand for itself.
    pub escape: Option<u8>,
    /// The first record names the fields.
    pub header: bool,
}

impl Default for CsvFormat {
    fn default() -> Self {
        Self {
            column: b",".to_vec(),
            quote: Some(b'"'),
            record: b"\n".to_vec(),
            escape: None,
            header: false,
        }
    }
}

impl CsvFormat {
    /// Whether the separators can be told apart.
    pub fn is_sound(&self) -> bool {
        let sound = |separator: &[u8]| (1..=SEPARATOR_BYTES).contains(&separator.len());
        let special = [self.quote, self.escape].into_iter().flatten();
        let clash = |b: u8| self.column.contains(&b) || self.record.contains(&b);
        sound(&self.column)
            && sound(&self.record)
            && !self.column.starts_with(&self.record)
            && !self.record.starts_with(&self.column)
            && !special.into_iter().any(clash)
    }

    /// The fields of one record, its separator left out.
    pub(crate) fn fields(&self, record: &[u8]) -> Vec<Vec<u8>> {
        let mut fields = Vec::new();
        let mut field = Vec::new();
        let mut at = 0;
        let mut fresh = true;
        let mut quoted = false;
        while let Some(&byte) = record.get(at) {
            let rest = record.get(at..).unwrap_or(&[]);
            if Some(byte) == self.escape && rest.len() > 1 {
                field.extend(rest.get(1));
                at += 2;
            } else if quoted && Some(byte) == self.quote {
                if rest.get(1) == Some(&byte) {
                    field.push(byte);
                    at += 2;
                    continue;
                }
                quoted = false;
                at += 1;
            } else if !quoted && fresh && Some(byte) == self.quote {
                quoted = true;
                at += 1;
            } else if !quoted && rest.starts_with(&self.column) {
                fields.push(std::mem::take(&mut field));
                at += self.column.len();
                fresh = true;
                continue;
            } else {
                field.push(byte);
                at += 1;
            }
            fresh = false;
        }
        fields.push(field);
        fields
    }

    /// Appends one record.
    pub(crate) fn write<'a>(&self, out: &mut Vec<u8>, fields: impl Iterator<Item = &'a [u8]>) {
        for (n, field) in fields.enumerate() {
            if n > 0 {
                out.extend_from_slice(&self.column);
            }
            self.write_field(out, field);
        }
        out.extend_from_slice(&self.record);
    }

    fn write_field(&self, out: &mut Vec<u8>, field: &[u8]) {
        let holds = |separator: &[u8]| {
            separator.first().is_some_and(|first| field.contains(first))
                && field.windows(separator.len()).any(|window| window == separator)
        };
        let Some(quote) = self.quote else {
            return out.extend_from_slice(field);
        };
        let special = |b: &u8| *b == quote || matches!(*b, b'\n' | b'\r');
        if !field.iter().any(special) && !holds(&self.column) && !holds(&self.record) {
            return out.extend_from_slice(field);
        }
        out.push(quote);
        for &byte in field {
            if byte == quote {
                out.push(quote);
            }
            out.push(byte);
        }
        out.push(quote);
    }
}

/// The names of the fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Header(Vec<String>);

impl Header {
    pub(crate) fn new(fields: &[Vec<u8>]) -> Self {
        Self(fields.iter().map(|f| String::from_utf8_lossy(f).trim().to_owned()).collect())
    }

    pub(crate) fn find(&self, name: &str, exact: bool) -> Option<usize> {
        let same = |other: &String| other == name || !exact && other.eq_ignore_ascii_case(name);
        self.0.iter().position(same)
    }

    pub(crate) fn name(&self, at: usize) -> Option<&str> {
        self.0.get(at).map(String::as_str)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_back() {
        let format = CsvFormat::default();
        let escaped = CsvFormat { escape: Some(b'\\'), ..CsvFormat::default() };
        let piped = CsvFormat { column: b"||".to_vec(), quote: None, ..CsvFormat::default() };
        for (format, record, want) in [
            (&format, "a,b,c", "a;b;c"),
            (&format, "", ""),
            (&format, ",", ";"),
            (&format, "\"a,b\",c", "a,b;c"),
            (&format, "\"a\"\"b\"", "a\"b"),
            (&format, "a\"b,c", "a\"b;c"),
            (&format, "\"a\nb\",\"\"", "a\nb;"),
            (&format, "\"open", "open"),
            (&escaped, "a\\,b,\\\"c", "a,b;\"c"),
            (&piped, "a||b|c", "a;b|c"),
        ] {
            let fields = format.fields(record.as_bytes());
            let shown: Vec<_> = fields.iter().map(|f| String::from_utf8_lossy(f)).collect();
            assert_eq!(shown.join(";"), want, "{record}");
        }
        for record in ["a,b\n", "\"a,b\",c\n", "\"a\"\"b\",\n", "\"x\ny\"\n"] {
            let mut out = Vec::new();
            let fields = format.fields(&record.as_bytes()[..record.len() - 1]);
            format.write(&mut out, fields.iter().map(Vec::as_slice));
            assert_eq!(String::from_utf8_lossy(&out), record);
        }
    }

    #[test]
    fn separators_must_differ() {
        let base = CsvFormat::default();
        assert!(base.is_sound());
        assert!(!CsvFormat { column: b"\n".to_vec(), ..base.clone() }.is_sound());
        assert!(!CsvFormat { column: Vec::new(), ..base.clone() }.is_sound());
        assert!(!CsvFormat { quote: Some(b','), ..base.clone() }.is_sound());
        assert!(!CsvFormat { record: b"12345".to_vec(), ..base }.is_sound());
    }
}
