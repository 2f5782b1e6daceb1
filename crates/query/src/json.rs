//! JSON values with the order of their names and the text of their numbers kept.
//!
//! Must never nest deeper than its limit: the reader calls itself.

use crate::Fault;
use crate::limits::JSON_DEPTH;
use crate::value::Value;
use std::fmt;

/// One JSON value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// The number as it was written.
    Number(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads one whole document.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, Fault> {
        let text = std::str::from_utf8(text).map_err(|error| {
            Fault::syntax(format!("Not UTF-8 at byte {}.", error.valid_up_to()))
        })?;
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at == text.len() { Ok(value) } else { Err(reader.unexpected()) }
    }

    pub(crate) fn get(&self, name: &str, exact: bool) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        let same = |other: &str| other == name || !exact && other.eq_ignore_ascii_case(name);
        members.iter().find(|(other, _)| same(other)).map(|(_, value)| value)
    }

    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(text) => match text.parse() {
                Ok(value) => Value::Int(value),
                Err(_) => text.parse().map_or(Value::Null, Value::Float),
            },
            Self::Text(text) => Value::Text(text.clone()),
            Self::Array(_) | Self::Object(_) => Value::Json(self.clone()),
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Self::Number(text) => out.extend_from_slice(text.as_bytes()),
            Self::Text(text) => write_text(out, text),
            Self::Array(items) => {
                out.push(b'[');
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        out.push(b',');
                    }
                    item.write(out);
                }
                out.push(b']');
            }
            Self::Object(members) => {
                out.push(b'{');
                for (n, (name, value)) in members.iter().enumerate() {
                    if n > 0 {
                        out.push(b',');
                    }
                    write_text(out, name);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

/// A text with its quotes and escapes.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    for c in text.chars() {
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            c if c < ' ' => out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes()),
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'"');
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn unexpected(&self) -> Fault {
        match self.rest().chars().next() {
            Some(c) => Fault::syntax(format!("Unexpected token '{c}' at [byte: {}].", self.at)),
            None => Fault::syntax("The document ends too early."),
        }
    }

    fn eat(&mut self, byte: u8) -> Result<(), Fault> {
        self.space();
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, Fault> {
        if depth > JSON_DEPTH {
            return Err(Fault::syntax("The document nests too deeply."));
        }
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let words = [
                    ("true", Json::Bool(true)),
                    ("false", Json::Bool(false)),
                    ("null", Json::Null),
                ];
                for (word, value) in words {
                    if self.rest().starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.unexpected())
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, Fault> {
        self.eat(b'{')?;
        let mut members = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            let name = self.string()?;
            self.eat(b':')?;
            members.push((name, self.value(depth + 1)?));
            self.space();
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            self.eat(b'}')?;
            return Ok(Json::Object(members));
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, Fault> {
        self.eat(b'[')?;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            self.eat(b']')?;
            return Ok(Json::Array(items));
        }
    }

    fn number(&mut self) -> Result<Json, Fault> {
        let rest = self.rest();
        let legal = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
        let end = rest.find(|c| !legal(c)).unwrap_or(rest.len());
        let text = rest.get(..end).unwrap_or("").to_owned();
        if !text.parse::<f64>().is_ok_and(f64::is_finite) || text.ends_with('.') {
            return Err(self.unexpected());
        }
        self.at += end;
        Ok(Json::Number(text))
    }

    fn string(&mut self) -> Result<String, Fault> {
        self.eat(b'"')?;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let end = rest.find(|c: char| c == '"' || c == '\\' || c < ' ');
            let end = end.ok_or_else(|| Fault::syntax("A string does not end."))?;
            out.push_str(rest.get(..end).unwrap_or(""));
            self.at += end;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    self.at += 1;
                    let c = self.escape()?;
                    out.push(c);
                }
                _ => return Err(self.unexpected()),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Fault> {
        let c = self.peek().ok_or_else(|| self.unexpected())?;
        let plain = match c {
            b'"' | b'\\' | b'/' => char::from(c),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(plain)
    }

    /// Half a surrogate pair reads as the replacement character.
    fn unicode(&mut self) -> Result<char, Fault> {
        let high = self.hex4()?;
        if (0xD800..0xDC00).contains(&high) && self.rest().starts_with("\\u") {
            let back = self.at;
            self.at += 2;
            let low = self.hex4()?;
            if (0xDC00..0xE000).contains(&low) {
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or('\u{FFFD}'));
            }
            self.at = back;
        }
        Ok(char::from_u32(high).unwrap_or('\u{FFFD}'))
    }

    fn hex4(&mut self) -> Result<u32, Fault> {
        let digits = self.text.get(self.at..self.at + 4).filter(|d| !d.starts_with('+'));
        let code = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
        let code = code.ok_or_else(|| self.unexpected())?;
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents() {
        for (text, want) in [
            ("{}", Some("{}")),
            (" {\"b\" : 1.50, \"a\":[true,null,\"x\\n\\u0041\\ud83d\\ude00\"]} ", {
                Some("{\"b\":1.50,\"a\":[true,null,\"x\\nA\u{1F600}\"]}")
            }),
            ("[1,2,[]]", Some("[1,2,[]]")),
            ("\"\\ud800x\"", Some("\"\u{FFFD}x\"")),
            ("{\"a\":1,}", None),
            ("[1,]", None),
            ("1 2", None),
            ("01e", None),
            ("nul", None),
            ("\"a", None),
            ("\"\\u+123\"", None),
            ("", None),
        ] {
            let got = Json::parse(text.as_bytes()).ok().map(|json| json.to_string());
            assert_eq!(got.as_deref(), want, "{text}");
        }
        let deep = "[".repeat(10_000);
        assert!(Json::parse(deep.as_bytes()).is_err());
    }
}
