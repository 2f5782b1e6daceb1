//! `spec/ranges.csv`.

use crate::table::{Answer, run, same};
use zaffre_domain::blob::range::{Span, clip, parse};

#[test]
fn ranges() {
    run("ranges", include_str!("../../../../spec/ranges.csv"), 49, |row| {
        let text = row.optional("range").unwrap_or_default().replace('|', ",");
        let length = row.number("length").expect("a length");
        let asked = parse(&text, row.version());
        let answer = match asked.map(|asked| clip(asked, length, row.version())) {
            None | Some(Ok(None)) => ("200".to_owned(), None),
            Some(Ok(Some(Span { offset, length }))) => {
                ("206".to_owned(), Some((offset, offset + length - 1)))
            }
            Some(Err(refusal)) => (Answer::refused(&refusal).status, None),
        };
        let want = row.number("first").zip(row.number("last"));
        same("answer", &answer, &(row.text("status").to_owned(), want)).map(|()| 1)
    });
}
