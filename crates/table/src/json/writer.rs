//! JSON objects written on one line, as the clients' batch readers need them.

use std::fmt::Write as _;

/// An object under way.
#[derive(Clone, Debug, Default)]
pub struct Object(String);

impl Object {
    /// Adds a member whose value is JSON already.
    pub fn raw(&mut self, name: &str, json: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        push_quoted(&mut self.0, name);
        self.0.push(':');
        self.0.push_str(json);
    }

    /// Adds a text.
    pub fn text(&mut self, name: &str, text: &str) {
        self.raw(name, &quoted(text));
    }

    /// The object.
    pub fn finish(mut self) -> String {
        if self.0.is_empty() {
            self.0.push('{');
        }
        self.0.push('}');
        self.0
    }
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // These two end a line in places where JSON is read as a script.
            '\0'..='\u{1F}' | '\u{7F}' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects() {
        assert_eq!(Object::default().finish(), "{}");
        let mut object = Object::default();
        object.text("a", "x\"\\\n\u{1}é");
        object.raw("b", "[1]");
        assert_eq!(object.finish(), r#"{"a":"x\"\\\n\u0001é","b":[1]}"#);
    }
}
