//! Any body ends as parts within the limit or an error, and parts written down are read back.

use zaffre_http::RequestHead;
use zaffre_http::multipart::{Boundary, Parts};

/// More than any seed has, so that the limit is met only by generated input.
const LIMIT: usize = 16;

/// The target: the first line is the content type, the rest the body.
pub fn run(input: &[u8]) {
    let end = input.iter().position(|b| *b == b'\n').unwrap_or(input.len());
    let (first, body) = input.split_at(end);
    let body = body.get(1..).unwrap_or_default();
    round_trip(body);
    let Ok(content_type) = std::str::from_utf8(first) else { return };
    let Ok(boundary) = Boundary::of_content_type(content_type) else { return };
    walk(body, &boundary, 2);
}

fn walk(body: &[u8], boundary: &Boundary, depth: usize) {
    let Ok(parts) = Parts::read(body, boundary, LIMIT) else { return };
    assert!((1..=LIMIT).contains(&parts.0.len()));
    let parent = RequestHead::sample("POST", "/acct?comp=batch");
    for part in parts.0 {
        assert!(part.content.len() <= body.len());
        if let Some(inner) = part.nested().filter(|_| depth > 0) {
            walk(part.content, &inner, depth - 1);
        }
        if let Ok(request) = part.request(None) {
            assert!(request.body.len() <= part.content.len());
            let _ = request.head(&parent);
        }
    }
}

/// Content that holds no delimiter comes back as it went in, but for the blank lines around it.
fn round_trip(content: &[u8]) {
    const DELIMITER: &[u8] = b"--only-here";
    if content.windows(DELIMITER.len()).any(|window| window == DELIMITER) {
        return;
    }
    let body = [DELIMITER, b"\r\nA: 1\r\n\r\n", content, b"\r\n", DELIMITER, b"--"].concat();
    let boundary = Boundary::of_content_type("multipart/mixed; boundary=only-here");
    let boundary = boundary.expect("a legal boundary");
    let parts = Parts::read(&body, &boundary, 1).expect("one part");
    let is_end = |b: &u8| matches!(*b, b'\r' | b'\n');
    let start = content.iter().position(|b| !is_end(b)).unwrap_or(content.len());
    let end = content.iter().rposition(|b| !is_end(b)).map_or(start, |last| last + 1);
    assert_eq!(parts.0[0].content, &content[start..end]);
}
