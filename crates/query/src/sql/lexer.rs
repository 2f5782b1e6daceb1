//! The words of a statement.
//!
//! Must never look beyond the text it is given.

use crate::Fault;

/// One word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Word {
    /// A keyword or a name without quotes, as written.
    Name(String),
    /// A name in double quotes.
    Quoted(String),
    /// A text in single quotes.
    Text(String),
    /// A number as written.
    Number(String),
    Symbol(&'static str),
}

const SYMBOLS: [&str; 18] =
    ["<>", "!=", "<=", ">=", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", "."];

/// All words of a statement with where they start.
pub(super) fn words(text: &str) -> Result<Vec<(Word, usize)>, Fault> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next().unwrap_or(' ');
        if first.is_whitespace() || first == ';' && rest.trim_end() == ";" {
            at += first.len_utf8();
            continue;
        }
        let (word, length) = word(rest, first).ok_or_else(|| {
            Fault::syntax(format!("Unexpected '{first}' at character {}.", at + 1))
        })?;
        words.push((word, at));
        at += length;
    }
    Ok(words)
}

fn word(rest: &str, first: char) -> Option<(Word, usize)> {
    if first == '\'' {
        return quoted(rest, '\'').map(|(text, length)| (Word::Text(text), length));
    }
    if first == '"' {
        return quoted(rest, '"').map(|(text, length)| (Word::Quoted(text), length));
    }
    if first.is_ascii_digit() {
        let length = number(rest);
        return Some((Word::Number(rest.get(..length)?.to_owned()), length));
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        return Some((Word::Name(rest.get(..length)?.to_owned()), length));
    }
    let symbol = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol))?;
    Some((Word::Symbol(symbol), symbol.len()))
}

/// Text between quotes, in which a doubled quote stands for itself, and how long it all is.
fn quoted(rest: &str, quote: char) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            text.push(c);
        } else if chars.next_if(|(_, next)| *next == quote).is_some() {
            text.push(quote);
        } else {
            return Some((text, at + quote.len_utf8()));
        }
    }
    None
}

/// Digits, a fraction, an exponent.
fn number(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let run =
        |from: usize| bytes.iter().skip(from).take_while(|b| b.is_ascii_digit()).count() + from;
    let mut end = run(0);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = run(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = run(end + 1 + sign);
        }
    }
    end
}
