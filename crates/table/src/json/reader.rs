//! A flat JSON object, read once: member names in order, values as they were written.
//!
//! Must never nest: what is inside an array or an object is refused, because no property can be one.

use std::borrow::Cow;

/// A value as it was written; texts without escapes are where they came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Member<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, in the digits it came in.
    Number(&'a str),
    /// A text.
    Text(Cow<'a, str>),
}

/// It is not a JSON object of plain values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JsonError;

/// Room that is made at first.
const USUAL_MEMBERS: usize = 8;

type Read<T> = Result<T, JsonError>;

/// The members of an object, in their order.
pub type Members<'a> = Vec<(Cow<'a, str>, Member<'a>)>;

/// Reads the members of an object.
pub fn members(document: &[u8]) -> Read<Members<'_>> {
    let text = std::str::from_utf8(document).map_err(|_| JsonError)?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut reader = Reader { text, at: 0 };
    let members = reader.object()?;
    reader.space();
    if reader.at == text.len() { Ok(members) } else { Err(JsonError) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let is_space = |b: &&u8| matches!(b, b' ' | b'\t' | b'\r' | b'\n');
        self.at += rest.iter().take_while(is_space).count();
    }

    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.text.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Read<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(JsonError)
    }

    fn object(&mut self) -> Read<Members<'a>> {
        self.expect(b'{')?;
        let mut members = Vec::with_capacity(USUAL_MEMBERS);
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(members);
        }
        loop {
            self.space();
            let name = self.string()?;
            self.expect(b':')?;
            members.push((name, self.value()?));
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(members);
                }
                _ => return Err(JsonError),
            }
        }
    }

    fn value(&mut self) -> Read<Member<'a>> {
        match self.peek() {
            Some(b'"') => self.string().map(Member::Text),
            Some(b'-' | b'0'..=b'9') => self.number().map(Member::Number),
            Some(b't') => self.word("true", Member::Bool(true)),
            Some(b'f') => self.word("false", Member::Bool(false)),
            Some(b'n') => self.word("null", Member::Null),
            _ => Err(JsonError),
        }
    }

    fn word(&mut self, word: &str, member: Member<'a>) -> Read<Member<'a>> {
        if self.rest().starts_with(word) {
            self.at += word.len();
            return Ok(member);
        }
        Err(JsonError)
    }

    fn number(&mut self) -> Read<&'a str> {
        let rest = self.rest();
        let is_part = |b: &u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let end = rest.bytes().position(|b| !is_part(&b)).unwrap_or(rest.len());
        let text = &rest[..end];
        if !is_number(text) {
            return Err(JsonError);
        }
        self.at += text.len();
        Ok(text)
    }

    fn string(&mut self) -> Read<Cow<'a, str>> {
        self.expect(b'"')?;
        let (piece, ended) = self.piece()?;
        if ended {
            return Ok(Cow::Borrowed(piece));
        }
        let mut out = piece.to_owned();
        loop {
            out.push(self.escape()?);
            let (piece, ended) = self.piece()?;
            out.push_str(piece);
            if ended {
                return Ok(Cow::Owned(out));
            }
        }
    }

    /// The text up to the next quote or escape, and whether it was the quote.
    fn piece(&mut self) -> Read<(&'a str, bool)> {
        let rest = self.rest();
        let is_special = |b| matches!(b, b'"' | b'\\' | 0..b' ');
        let end = rest.bytes().position(is_special).ok_or(JsonError)?;
        let ended = match rest.as_bytes()[end] {
            b'"' => true,
            b'\\' => false,
            _ => return Err(JsonError),
        };
        self.at += end + 1;
        Ok((&rest[..end], ended))
    }

    fn escape(&mut self) -> Read<char> {
        let kind = self.text.as_bytes().get(self.at).copied().ok_or(JsonError)?;
        self.at += 1;
        Ok(match kind {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(JsonError),
        })
    }

    fn unicode(&mut self) -> Read<char> {
        let first = self.hex()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first).ok_or(JsonError);
        }
        if !self.rest().starts_with("\\u") {
            return Err(JsonError);
        }
        self.at += 2;
        let second = self.hex()?;
        if !(0xDC00..0xE000).contains(&second) {
            return Err(JsonError);
        }
        char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)).ok_or(JsonError)
    }

    fn hex(&mut self) -> Read<u32> {
        let digits = self.text.get(self.at..self.at + 4).ok_or(JsonError)?;
        if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(JsonError);
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| JsonError)
    }
}

/// The grammar of JSON numbers.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let exponent = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(document: &str) -> String {
        match members(document.as_bytes()) {
            Err(JsonError) => "no".to_owned(),
            Ok(members) => {
                let one = |(name, value): &(Cow<'_, str>, Member<'_>)| match value {
                    Member::Null => format!("{name}=null"),
                    Member::Bool(is) => format!("{name}={is}"),
                    Member::Number(digits) => format!("{name}=#{digits}"),
                    Member::Text(text) => format!("{name}='{text}'"),
                };
                members.iter().map(one).collect::<Vec<_>>().join(" ")
            }
        }
    }

    #[test]
    fn documents() {
        for (document, want) in [
            ("{}", ""),
            (" { } \r\n", ""),
            ("\u{FEFF}{\"a\":1}", "a=#1"),
            (r#"{"a":"x","b":null,"c":true,"d":false}"#, "a='x' b=null c=true d=false"),
            (
                r#"{"n":-1.50e+10,"m":0,"k":12345678901234567890}"#,
                "n=#-1.50e+10 m=#0 k=#12345678901234567890",
            ),
            (r#"{"a":"\"\\\/\b\f\n\r\t\u0041"}"#, "a='\"\\/\u{8}\u{c}\n\r\tA'"),
            (r#"{"a":"\ud83d\ude00é"}"#, "a='\u{1F600}é'"),
            (r#"{"a":1,"a":2}"#, "a=#1 a=#2"),
            (r#"{"a":"\ud83d"}"#, "no"),
            (r#"{"a":"\udc00"}"#, "no"),
            (r#"{"a":[]}"#, "no"),
            (r#"{"a":{}}"#, "no"),
            (r#"{"a":01}"#, "no"),
            (r#"{"a":1.}"#, "no"),
            (r#"{"a":.5}"#, "no"),
            (r#"{"a":1e}"#, "no"),
            (r#"{"a":--1}"#, "no"),
            (r#"{"a":NaN}"#, "no"),
            (r#"{"a" "b"}"#, "no"),
            (r#"{"a":1,}"#, "no"),
            (r#"{"a":1}x"#, "no"),
            (r#"{"a":"b"#, "no"),
            ("{\"a\":\"\u{1}\"}", "no"),
            ("[]", "no"),
            ("", "no"),
            ("null", "no"),
        ] {
            assert_eq!(show(document), want, "{document}");
        }
        assert_eq!(members(&[b'{', 0xFF, b'}']), Err(JsonError));
    }
}
