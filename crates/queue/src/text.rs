//! The XML body of Put and Update Message: one text, exactly as it was sent.
//!
//! Must never decode what the text holds: Base64 is the clients' own convention.

use zaffre_base::ApiVersion;
use zaffre_base::limits::{MESSAGE_TEXT_BYTES, OLD_MESSAGE_TEXT_BYTES};
use zaffre_domain::Refusal;
use zaffre_http::ApiError;
use zaffre_http::xml::{Event, Reader};

use crate::parse::since;

/// Bytes of a body that can hold a text of the largest size, were every character escaped.
const LARGEST_BODY: u64 = 1024 * 1024;

/// Refuses a body that cannot hold a legal text, before it is read.
pub fn check_length(announced: Option<u64>, version: ApiVersion) -> Result<(), ApiError> {
    if announced.is_some_and(|length| length > LARGEST_BODY) {
        return Err(too_large(version));
    }
    Ok(())
}

/// Reads the text.
pub fn parse(document: &[u8], version: ApiVersion) -> Result<String, ApiError> {
    let mut xml = Reader::new(document)?;
    xml.root("QueueMessage")?;
    let mut text = None;
    loop {
        match xml.next_tag()? {
            Event::Start(name) if name == "MessageText" && text.is_none() => {
                text = Some(xml.element_text()?);
            }
            Event::Start(_) => xml.skip()?,
            Event::End => break,
            Event::Text(_) | Event::Eof => {
                return Err(xml.error("The document is not complete."));
            }
        }
    }
    xml.finish()?;
    let text = text.ok_or_else(|| xml.error("Element is missing: MessageText."))?;
    if let Some(illegal) = text.chars().find(|c| !is_legal(*c)) {
        let code = u32::from(illegal);
        return Err(xml.error(format!("The character 0x{code:X} is not legal in XML.")));
    }
    if text.len() > largest(version) { Err(too_large(version)) } else { Ok(text) }
}

/// What XML 1.0 can hold, and so what can be handed out again.
fn is_legal(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)
}

fn largest(version: ApiVersion) -> usize {
    if version < since::UPDATES { OLD_MESSAGE_TEXT_BYTES } else { MESSAGE_TEXT_BYTES }
}

fn too_large(version: ApiVersion) -> ApiError {
    let limit = u64::try_from(largest(version)).unwrap_or(u64::MAX);
    Refusal::RequestBodyTooLarge { limit }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents() {
        let full =
            |text: &str| format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>");
        let (most, more) = ("x".repeat(65_536), "x".repeat(65_537));
        let invalid = Err("InvalidXmlDocument");
        for (document, want) in [
            (full("abc"), Ok("abc")),
            (full(""), Ok("")),
            (full(" a\t\nb "), Ok(" a\t\nb ")),
            (full("&lt;&amp;&gt;&quot;"), Ok("<&>\"")),
            (full("<![CDATA[<a>&]]>"), Ok("<a>&")),
            ("<QueueMessage><MessageText/></QueueMessage>".to_owned(), Ok("")),
            (format!("\u{FEFF}<?xml version=\"1.0\"?>\n{}\n", full("a")), Ok("a")),
            (
                "<QueueMessage> <Other><a/></Other> <MessageText>a</MessageText></QueueMessage>"
                    .to_owned(),
                Ok("a"),
            ),
            (full(&most), Ok(most.as_str())),
            (full(&more), Err("RequestBodyTooLarge")),
            (full("&#1;"), invalid),
            (full("\u{1}"), invalid),
            (full("\u{FFFE}"), invalid),
            (full("<a/>"), invalid),
            ("<QueueMessage/>".to_owned(), invalid),
            ("<Other/>".to_owned(), invalid),
            (String::new(), invalid),
            ("text".to_owned(), invalid),
            ("<QueueMessage><MessageText>a".to_owned(), invalid),
        ] {
            let got = parse(document.as_bytes(), ApiVersion::LATEST).map_err(|e| e.code);
            let short = &document[..document.len().min(80)];
            assert_eq!(got.as_deref(), want.as_deref(), "{short}");
        }
        assert!(parse(&[0xFF], ApiVersion::LATEST).is_err());
        let old = ApiVersion::new(2009, 9, 19);
        assert!(parse(full(&"x".repeat(8_192)).as_bytes(), old).is_ok());
        let refused = parse(full(&"x".repeat(8_193)).as_bytes(), old);
        assert_eq!(refused.map_err(|e| e.details), Err(vec![("MaxLimit", "8192".to_owned())]));
    }
}
