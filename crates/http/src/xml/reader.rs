//! Reads request XML under limits: size, depth, attributes, text; no DTD, no entities but the
//! five of XML itself and characters by number.
//!
//! Must never expand anything a client defines, nor look at a byte beyond the size limit.

use crate::error::ApiError;
use crate::limits::{XML_ATTRIBUTES, XML_TEXT_BYTES};
use crate::message::{BodyError, BodyStream};
use futures_util::StreamExt;
use quick_xml::events::{BytesRef, BytesStart, Event as Raw};
use zaffre_base::limits::{XML_BODY_BYTES, XML_DEPTH};

/// Collects an XML body. The only bodies ever held whole; `XML_BODY_BYTES` bounds them.
pub async fn collect(mut body: BodyStream, announced: Option<u64>) -> Result<Vec<u8>, ApiError> {
    let too_large = || ApiError::request_body_too_large(XML_BODY_BYTES);
    if announced.is_some_and(|length| length > XML_BODY_BYTES) {
        return Err(too_large());
    }
    let limit = usize::try_from(XML_BODY_BYTES).unwrap_or(usize::MAX);
    let mut whole = Vec::new();
    while let Some(piece) = body.next().await {
        let piece = piece.map_err(|error: BodyError| ApiError::from(error))?;
        if piece.len() > limit - whole.len() {
            return Err(too_large());
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole)
}

/// One step through a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// An element begins.
    Start(String),
    /// All text up to the next tag.
    Text(String),
    /// The innermost element ends.
    End,
    /// The document is over.
    Eof,
}

/// A cursor over a document.
pub struct Reader<'a> {
    text: &'a str,
    inner: quick_xml::Reader<&'a [u8]>,
    depth: usize,
    roots: usize,
    /// The next event if it was already seen while gathering text.
    ahead: Option<Event>,
    /// `<a/>` is given out as a start and an end.
    close_next: bool,
}

impl<'a> Reader<'a> {
    /// A cursor before the root element; a byte order mark is skipped.
    pub fn new(document: &'a [u8]) -> Result<Self, ApiError> {
        let text = std::str::from_utf8(document)
            .map_err(|_| ApiError::invalid_xml(1, 0, "The document is not UTF-8."))?;
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let inner = quick_xml::Reader::from_str(text);
        Ok(Self { text, inner, depth: 0, roots: 0, ahead: None, close_next: false })
    }

    /// The next event. White space alone is text too, except outside the root.
    pub fn next_event(&mut self) -> Result<Event, ApiError> {
        if let Some(event) = self.ahead.take() {
            return Ok(event);
        }
        let mut text = String::new();
        loop {
            let event = self.step(&mut text)?;
            let Some(event) = event else { continue };
            if text.is_empty() {
                return Ok(event);
            }
            self.ahead = Some(event);
            return Ok(Event::Text(text));
        }
    }

    /// Skips white space up to the next element or end; other text is an error.
    pub fn next_tag(&mut self) -> Result<Event, ApiError> {
        loop {
            match self.next_event()? {
                Event::Text(text) if text.trim().is_empty() => {}
                Event::Text(_) => return Err(self.error("Text is not expected here.")),
                event => return Ok(event),
            }
        }
    }

    /// Enters the root element, which must be called `name`.
    pub fn root(&mut self, name: &str) -> Result<(), ApiError> {
        match self.next_tag()? {
            Event::Start(found) if found == name => Ok(()),
            Event::Start(_) | Event::Text(_) | Event::End => {
                Err(self.error(format!("The root element must be {name}.")))
            }
            Event::Eof => Err(self.error("Root element is missing.")),
        }
    }

    /// The text of the element just entered, which must have no elements inside; leaves it.
    pub fn element_text(&mut self) -> Result<String, ApiError> {
        match self.next_event()? {
            Event::End => Ok(String::new()),
            Event::Text(text) => match self.next_event()? {
                Event::End => Ok(text),
                _ => Err(self.error("An element is not expected here.")),
            },
            _ => Err(self.error("An element is not expected here.")),
        }
    }

    /// Leaves the element just entered, whatever is inside.
    pub fn skip(&mut self) -> Result<(), ApiError> {
        let mut inside = 1;
        while inside > 0 {
            match self.next_event()? {
                Event::Start(_) => inside += 1,
                Event::End => inside -= 1,
                Event::Text(_) => {}
                Event::Eof => return Err(self.error("The document ends inside an element.")),
            }
        }
        Ok(())
    }

    /// Makes sure that nothing follows the root element.
    pub fn finish(&mut self) -> Result<(), ApiError> {
        match self.next_tag()? {
            Event::Eof => Ok(()),
            _ => Err(self.error("The document goes on after its root element.")),
        }
    }

    /// An InvalidXmlDocument error at the cursor.
    pub fn error(&self, reason: impl Into<String>) -> ApiError {
        let at = usize::try_from(self.inner.buffer_position()).unwrap_or(usize::MAX);
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1);
        let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        ApiError::invalid_xml(number(line), number(column), reason)
    }

    /// Reads one raw event: gathers text, or gives out what is not text.
    fn step(&mut self, text: &mut String) -> Result<Option<Event>, ApiError> {
        if self.close_next {
            self.close_next = false;
            self.depth -= 1;
            return Ok(Some(Event::End));
        }
        let raw = match self.inner.read_event() {
            Ok(raw) => raw,
            Err(error) => return Err(self.error(error.to_string())),
        };
        match raw {
            Raw::Start(tag) => self.enter(&tag).map(Some),
            Raw::Empty(tag) => {
                self.close_next = true;
                self.enter(&tag).map(Some)
            }
            Raw::End(_) => {
                self.depth = self.depth.saturating_sub(1);
                Ok(Some(Event::End))
            }
            Raw::Text(piece) => self.gather(text, &piece.xml10_content()),
            Raw::CData(piece) => self.gather(text, &piece.xml10_content()),
            Raw::GeneralRef(entity) => {
                let c = resolve(&entity).ok_or_else(|| self.error("Unknown entity."))?;
                self.gather(text, c.encode_utf8(&mut [0; 4]))
            }
            Raw::Comment(_) | Raw::Decl(_) => Ok(None),
            Raw::DocType(_) => Err(self.error("A DTD is not allowed.")),
            Raw::PI(_) => Err(self.error("A processing instruction is not allowed.")),
            Raw::Eof if self.depth > 0 => Err(self.error("The document ends inside an element.")),
            Raw::Eof => Ok(Some(Event::Eof)),
        }
    }

    fn enter(&mut self, tag: &BytesStart<'_>) -> Result<Event, ApiError> {
        if self.depth == XML_DEPTH {
            return Err(self.error("The document nests too deeply."));
        }
        if self.depth == 0 {
            self.roots += 1;
        }
        if self.roots > 1 {
            return Err(self.error("There are multiple root elements."));
        }
        self.depth += 1;
        for (count, attribute) in tag.attributes().enumerate() {
            if attribute.is_err() || count >= XML_ATTRIBUTES {
                return Err(self.error("Bad attribute."));
            }
        }
        Ok(Event::Start(tag.local_name().as_ref().to_owned()))
    }

    fn gather(&self, text: &mut String, piece: &str) -> Result<Option<Event>, ApiError> {
        if self.depth == 0 {
            let blank = piece.trim().is_empty();
            let reason = "Data at the root level is invalid.";
            return if blank { Ok(None) } else { Err(self.error(reason)) };
        }
        if text.len() + piece.len() > XML_TEXT_BYTES {
            return Err(self.error("Too much text in one element."));
        }
        text.push_str(piece);
        Ok(None)
    }
}

fn resolve(entity: &BytesRef<'_>) -> Option<char> {
    if entity.is_char_ref() {
        let c = entity.resolve_char_ref().ok().flatten()?;
        let legal = matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..);
        return Some(c).filter(|_| legal);
    }
    match &*entity.xml10_content() {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks a document to its end and shows it as `<a>text</>`, or the reason it was refused.
    fn show(document: &[u8]) -> String {
        let mut reader = match Reader::new(document) {
            Ok(reader) => reader,
            Err(error) => return reason(&error),
        };
        let mut shown = String::new();
        loop {
            match reader.next_event() {
                Ok(Event::Start(name)) => shown.extend(["<", &name, ">"]),
                Ok(Event::Text(text)) => shown += &text,
                Ok(Event::End) => shown += "</>",
                Ok(Event::Eof) => return shown,
                Err(error) => return reason(&error),
            }
        }
    }

    fn reason(error: &ApiError) -> String {
        assert_eq!(error.code, "InvalidXmlDocument");
        error.details.last().map(|(_, reason)| reason.clone()).unwrap_or_default()
    }

    #[test]
    fn documents() {
        let deep = |n: usize| format!("{}{}", "<a>".repeat(n), "</a>".repeat(n));
        let many = |n: usize| {
            format!(
                "<a{}/>",
                (0..n).fold(String::new(), |all, i| all + " x" + &i.to_string() + "=''")
            )
        };
        let big = format!("<a>{}</a>", "x".repeat(XML_TEXT_BYTES + 1));
        for (document, want) in [
            ("\u{FEFF}<?xml version='1.0' encoding='utf-8'?>\r\n<a>x</a>\n", "<a>x</>"),
            ("<a><b/><c>1</c></a>", "<a><b></><c>1</></>"),
            ("<a>1 &lt;&#x41;&amp;<![CDATA[<&]]><!-- no --> 2</a>", "<a>1 <A&<& 2</>"),
            ("<p:a xmlns:p='urn:x'>1</p:a>", "<a>1</>"),
            ("", ""),
            (&deep(8), "<a><a><a><a><a><a><a><a></></></></></></></></>"),
            (&deep(9), "The document nests too deeply."),
            (&many(16), "<a></>"),
            (&many(17), "Bad attribute."),
            ("<a x='1' x='2'/>", "Bad attribute."),
            (&big, "Too much text in one element."),
            ("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "A DTD is not allowed."),
            ("<a>&x;</a>", "Unknown entity."),
            ("<a>&#0;</a>", "Unknown entity."),
            ("<?php x?><a/>", "A processing instruction is not allowed."),
            ("<a/><b/>", "There are multiple root elements."),
            ("<a/>x", "Data at the root level is invalid."),
            ("x", "Data at the root level is invalid."),
        ] {
            assert_eq!(show(document.as_bytes()), want, "{document}");
        }
        assert_eq!(show(b"<a>\xFF</a>"), "The document is not UTF-8.");
        for broken in ["<a>", "<a", "</a>", "<a></b>", "<a>&</a>", "<a x=1/>", "<a><![CDATA[</a>"] {
            let shown = show(broken.as_bytes());
            assert!(!shown.is_empty() && !shown.starts_with('<'), "{broken}: {shown}");
        }
    }

    #[test]
    fn helpers() {
        let mut reader = Reader::new(b"<List> <A>1</A> <B><C/></B> </List>").expect("UTF-8");
        assert!(reader.root("List").is_ok());
        assert_eq!(reader.next_tag().ok(), Some(Event::Start("A".to_owned())));
        assert_eq!(reader.element_text().ok().as_deref(), Some("1"));
        assert_eq!(reader.next_tag().ok(), Some(Event::Start("B".to_owned())));
        assert!(reader.skip().is_ok());
        assert_eq!(reader.next_tag().ok(), Some(Event::End));
        assert!(reader.finish().is_ok());
    }

    #[test]
    fn positions() {
        let mut reader = Reader::new(b"<a>\n <b>&x;").expect("UTF-8");
        let error = loop {
            if let Err(error) = reader.next_event() {
                break error;
            }
        };
        assert_eq!(error.details[0], ("LineNumber", "2".to_owned()));
    }
}
