//! Text that goes into an element comes out of it unchanged, and any document is read to an end or
//! an error.

use zaffre_http::xml::{Event, Reader, Writer};

/// More events than any document of this size can have.
const EVENTS: usize = 1 << 20;

/// The target.
pub fn run(input: &[u8]) {
    walk(input);
    let Ok(text) = std::str::from_utf8(input) else { return };
    let legal = |c: char| matches!(c, '\t' | '\n' | ' '..='\u{FFFD}' | '\u{10000}'..);
    let text: String = text.chars().filter(|c| legal(*c)).take(1000).collect();
    let mut xml = Writer::default();
    xml.open_with("Root", &[("At", &text)]).element("Name", &text).close("Root");
    let document = xml.finish();
    let mut reader = Reader::new(&document).expect("our own document");
    reader.root("Root").expect("our own root");
    assert_eq!(reader.next_tag().ok(), Some(Event::Start("Name".to_owned())));
    assert_eq!(reader.element_text().ok(), Some(text));
}

fn walk(document: &[u8]) {
    let Ok(mut reader) = Reader::new(document) else { return };
    for _ in 0..EVENTS {
        match reader.next_event() {
            Ok(Event::Eof) | Err(_) => return,
            Ok(_) => {}
        }
    }
    panic!("the document does not end");
}
