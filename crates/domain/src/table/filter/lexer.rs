//! The words of a filter: names, operators, constants, parentheses.

use super::super::value::{parse_date, parse_double};
use super::{FilterError, Value};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use zaffre_base::Guid;

/// One word.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Open,
    Close,
    /// Only functions have commas, and those are not served.
    Comma,
    Word(String),
    Literal(Value),
    End,
}

/// Reads words from a text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The text is wrong up to here.
    pub(super) fn error(&self) -> FilterError {
        let read = self.text.get(..self.at).unwrap_or(self.text);
        FilterError::Syntax { position: read.chars().count(), text: self.text.to_string() }
    }

    pub(super) fn next(&mut self) -> Result<Token, FilterError> {
        self.at += self.rest().len() - self.rest().trim_start().len();
        let Some(first) = self.rest().chars().next() else { return Ok(Token::End) };
        let single = match first {
            '(' => Some(Token::Open),
            ')' => Some(Token::Close),
            ',' => Some(Token::Comma),
            _ => None,
        };
        if let Some(token) = single {
            self.at += 1;
            return Ok(token);
        }
        match first {
            '\'' => Ok(Token::Literal(Value::String(self.quoted()?))),
            '-' | '0'..='9' => self.number(),
            c if is_name(c) => self.word(),
            c => {
                self.at += c.len_utf8();
                Err(self.error())
            }
        }
    }

    /// Whether an opening parenthesis follows without space: then the word before is a function.
    pub(super) fn calls(&self) -> bool {
        self.rest().starts_with('(')
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    /// A text in quotes; a quote inside is doubled.
    fn quoted(&mut self) -> Result<String, FilterError> {
        let mut out = String::new();
        self.at += 1;
        loop {
            out.push_str(self.take(|c| c != '\''));
            if self.rest().is_empty() {
                return Err(self.error());
            }
            self.at += 1;
            if !self.rest().starts_with('\'') {
                return Ok(out);
            }
            out.push('\'');
            self.at += 1;
        }
    }

    fn word(&mut self) -> Result<Token, FilterError> {
        let word = self.take(is_name);
        if self.rest().starts_with('\'') {
            return self.typed(word);
        }
        Ok(match word {
            "true" => Token::Literal(Value::Boolean(true)),
            "false" => Token::Literal(Value::Boolean(false)),
            "NaN" => Token::Literal(Value::Double(f64::NAN)),
            "INF" | "Infinity" => Token::Literal(Value::Double(f64::INFINITY)),
            _ => Token::Word(word.to_string()),
        })
    }

    /// `datetime'…'` and its like.
    fn typed(&mut self, kind: &str) -> Result<Token, FilterError> {
        let text = self.quoted()?;
        let value = match kind {
            "datetime" => parse_date(&text).map(Value::DateTime),
            "guid" => Guid::parse(&text).map(Value::Guid),
            "X" | "binary" => hex(&text).map(Value::Binary),
            _ => None,
        };
        value.map(Token::Literal).ok_or_else(|| self.error())
    }

    fn number(&mut self) -> Result<Token, FilterError> {
        let start = self.at;
        if self.rest().starts_with('-') {
            self.at += 1;
        }
        if self.rest().starts_with("INF") || self.rest().starts_with("Infinity") {
            self.take(is_name);
            return Ok(Token::Literal(Value::Double(f64::NEG_INFINITY)));
        }
        let mut last = ' ';
        while let Some(c) = self.rest().chars().next() {
            // A sign belongs to the number only right after its exponent's mark.
            let sign = matches!(c, '+' | '-') && matches!(last, 'e' | 'E');
            if !(c.is_alphanumeric() || c == '.' || sign) {
                break;
            }
            last = c;
            self.at += c.len_utf8();
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        number(text).map(Token::Literal).ok_or_else(|| self.error())
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn number(text: &str) -> Option<Value> {
    if let Some(digits) = text.strip_suffix(['L', 'l']) {
        return digits.parse().ok().map(Value::Int64);
    }
    if let Some(digits) = text.strip_suffix(['D', 'd', 'F', 'f']) {
        return parse_double(digits).map(Value::Double);
    }
    if text.contains(['.', 'e', 'E']) {
        return parse_double(text).map(Value::Double);
    }
    let small = text.parse().ok().map(Value::Int32);
    small.or_else(|| text.parse().ok().map(Value::Int64))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    if rest.is_empty() { bytes } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use zaffre_base::Timestamp;

    #[test]
    fn constants() {
        let noon = parse_date("2026-11-15T12:00:00Z").unwrap_or(Timestamp(0));
        for (text, want) in [
            ("'a''b'", Some(Value::String("a'b".to_string()))),
            ("''", Some(Value::String(String::new()))),
            ("'open", None),
            ("5", Some(Value::Int32(5))),
            ("-5", Some(Value::Int32(-5))),
            ("123456789012", Some(Value::Int64(123_456_789_012))),
            ("99999999999999999999", None),
            ("5L", Some(Value::Int64(5))),
            ("5l", Some(Value::Int64(5))),
            ("5.0", Some(Value::Double(5.0))),
            ("1e3", Some(Value::Double(1000.0))),
            ("1.5E-3", Some(Value::Double(0.0015))),
            ("5-3", Some(Value::Int32(5))),
            ("1.5E+3", Some(Value::Double(1500.0))),
            ("2D", Some(Value::Double(2.0))),
            ("-INF", Some(Value::Double(f64::NEG_INFINITY))),
            ("-Infinity", Some(Value::Double(f64::NEG_INFINITY))),
            ("INF", Some(Value::Double(f64::INFINITY))),
            ("Infinity", Some(Value::Double(f64::INFINITY))),
            ("5x", None),
            ("-", None),
            ("true", Some(Value::Boolean(true))),
            ("datetime'2026-11-15T12:00:00Z'", Some(Value::DateTime(noon))),
            ("datetime'noon'", None),
            ("guid'00000000-0000-0000-0000-000000000001'", Some(Value::Guid(Guid(1)))),
            ("X'00ff'", Some(Value::Binary(Vec::from([0, 255])))),
            ("binary'0A'", Some(Value::Binary(Vec::from([10])))),
            ("X'0'", None),
            ("X'zz'", None),
            ("time'1'", None),
        ] {
            let read = match Lexer::new(text).next() {
                Ok(Token::Literal(value)) => Some(value),
                _ => None,
            };
            assert_eq!(read, want, "{text}");
        }
        let nan = Lexer::new("NaN").next();
        assert!(matches!(nan, Ok(Token::Literal(Value::Double(number))) if number.is_nan()));
    }

    #[test]
    fn words() {
        let mut lexer = Lexer::new(" Name\teq (größe_1,\n not)");
        let mut shown = Vec::new();
        loop {
            match lexer.next() {
                Ok(Token::End) => break,
                Ok(Token::Word(word)) => shown.push(word),
                Ok(token) => shown.push(format!("{token:?}")),
                Err(_) => shown.push("error".to_string()),
            }
        }
        assert_eq!(shown.join(";"), "Name;eq;Open;größe_1;Comma;not;Close");
    }
}
