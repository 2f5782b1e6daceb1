//! Writes XML documents as Azure does: BOM, declaration, no white space between elements.
//!
//! Must never write text unescaped; names of elements are ours, or checked identifiers.

use std::borrow::Cow;
use std::fmt::Display;

/// What every document starts with; the first character is the byte order mark Azure sends.
const PROLOGUE: &str = "\u{FEFF}<?xml version=\"1.0\" encoding=\"utf-8\"?>";

/// A document being written.
pub struct Writer {
    out: String,
}

impl Default for Writer {
    fn default() -> Self {
        Self { out: PROLOGUE.to_owned() }
    }
}

impl Writer {
    /// Opens an element.
    pub fn open(&mut self, name: &str) -> &mut Self {
        self.open_with(name, &[])
    }

    /// Opens an element with attributes.
    pub fn open_with(&mut self, name: &str, attributes: &[(&str, &str)]) -> &mut Self {
        self.start_tag(name, attributes);
        self.out.push('>');
        self
    }

    /// Closes the element `name`.
    pub fn close(&mut self, name: &str) -> &mut Self {
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
        self
    }

    /// One element with text.
    pub fn element(&mut self, name: &str, text: impl Display) -> &mut Self {
        self.element_with(name, &[], text)
    }

    /// One element with attributes and text.
    pub fn element_with(
        &mut self,
        name: &str,
        attributes: &[(&str, &str)],
        text: impl Display,
    ) -> &mut Self {
        let text = text.to_string();
        if text.is_empty() && attributes.is_empty() {
            return self.empty(name);
        }
        self.open_with(name, attributes);
        self.out.push_str(&escape(&text));
        self.close(name)
    }

    /// One element with text, if there is any text to show.
    pub fn optional(&mut self, name: &str, text: Option<impl Display>) -> &mut Self {
        match text {
            Some(text) => self.element(name, text),
            None => self,
        }
    }

    /// One empty element, written as Azure writes it.
    pub fn empty(&mut self, name: &str) -> &mut Self {
        self.start_tag(name, &[]);
        self.out.push_str(" />");
        self
    }

    /// The document.
    pub fn finish(self) -> Vec<u8> {
        self.out.into_bytes()
    }

    fn start_tag(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.out.push('<');
        self.out.push_str(name);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            self.out.push_str(&escape(value));
            self.out.push('"');
        }
    }
}

/// Escapes text for elements and attributes. What XML 1.0 cannot hold at all becomes U+FFFD, so
/// that the document stays readable.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| replacement(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match replacement(c) {
            Some(with) => out.push_str(with),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn replacement(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\r' => Some("&#xD;"),
        '\t' | '\n' => None,
        '\u{0}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => Some("\u{FFFD}"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents() {
        let mut xml = Writer::default();
        xml.open_with("List", &[("At", "http://x/?a=1&b=\"2\"")])
            .element("Name", "a<b>&c")
            .element("Prefix", "")
            .optional("Marker", None::<&str>)
            .element_with("Name", &[("Encoded", "true")], "")
            .close("List");
        let text = String::from_utf8(xml.finish()).unwrap_or_default();
        assert_eq!(
            text.strip_prefix(PROLOGUE),
            Some(
                "<List At=\"http://x/?a=1&amp;b=&quot;2&quot;\"><Name>a&lt;b&gt;&amp;c</Name>\
                 <Prefix /><Name Encoded=\"true\"></Name></List>"
            )
        );
    }

    #[test]
    fn escapes() {
        for (text, want) in [
            ("plain é", "plain é"),
            ("a\u{1}b", "a\u{FFFD}b"),
            ("a\rb\n", "a&#xD;b\n"),
            ("\u{FFFF}", "\u{FFFD}"),
        ] {
            assert_eq!(escape(text), want);
        }
    }
}
