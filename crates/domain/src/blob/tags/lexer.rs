//! The words of tag expressions: names, quoted values, comparisons, AND, OR, parentheses.
//!
//! Must never look beyond the text it is given, and never allocate more than that text.

use super::Comparison;
use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

/// Why an expression cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The character the trouble is at or near, counted from one.
    pub position: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, reason } = self;
        write!(f, "Error parsing query at or near character position {position}: {reason}")
    }
}

/// One word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Word {
    Name(String),
    Value(String),
    Container,
    Compare(Comparison),
    And,
    Or,
    Open,
    Close,
}

/// A cursor over an expression.
pub(super) struct Lexer<'a> {
    text: &'a str,
    /// Byte offset of the next unread character.
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The character the next word starts at, counted from one.
    pub(super) fn position(&mut self) -> usize {
        self.skip_space();
        self.text.get(..self.at).map_or(0, |before| before.chars().count()) + 1
    }

    /// The next word without taking it.
    pub(super) fn peek(&mut self) -> Result<Option<Word>, ParseError> {
        let at = self.at;
        let word = self.next()?;
        self.at = at;
        Ok(word)
    }

    /// The next word; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Word>, ParseError> {
        self.skip_space();
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let symbols = [
            ("<>", Word::Compare(Comparison::NotEqual)),
            ("<=", Word::Compare(Comparison::LessOrEqual)),
            (">=", Word::Compare(Comparison::GreaterOrEqual)),
            ("<", Word::Compare(Comparison::Less)),
            (">", Word::Compare(Comparison::Greater)),
            ("=", Word::Compare(Comparison::Equal)),
            ("(", Word::Open),
            (")", Word::Close),
        ];
        if let Some((symbol, word)) = symbols.into_iter().find(|(s, _)| rest.starts_with(s)) {
            self.at += symbol.len();
            return Ok(Some(word));
        }
        match first {
            '\'' => self.quoted('\'').map(|text| Some(Word::Value(text))),
            '"' => self.quoted('"').map(|text| Some(Word::Name(text))),
            '@' => self.container().map(Some),
            c if is_name(c) => Ok(Some(self.bare())),
            _ => Err(self.error("unexpected character")),
        }
    }

    /// An error at the next word.
    pub(super) fn error(&mut self, reason: &'static str) -> ParseError {
        ParseError { position: self.position(), reason }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Text between quotes, in which a doubled quote stands for itself.
    fn quoted(&mut self, quote: char) -> Result<String, ParseError> {
        let mut text = String::new();
        let mut rest = self.rest().chars().peekable();
        let mut taken = rest.next().map_or(0, char::len_utf8);
        while let Some(c) = rest.next() {
            taken += c.len_utf8();
            if c != quote {
                text.push(c);
            } else if rest.next_if_eq(&quote).is_some() {
                taken += quote.len_utf8();
                text.push(quote);
            } else {
                self.at += taken;
                return Ok(text);
            }
        }
        Err(self.error("unclosed quote"))
    }

    fn container(&mut self) -> Result<Word, ParseError> {
        const NAME: &str = "@container";
        let length = self.rest().find(|c: char| c != '@' && !is_name(c));
        let word = self.rest().get(..length.unwrap_or(self.rest().len())).unwrap_or("");
        if !word.eq_ignore_ascii_case(NAME) {
            return Err(self.error("unknown attribute"));
        }
        self.at += NAME.len();
        Ok(Word::Container)
    }

    fn bare(&mut self) -> Word {
        let rest = self.rest();
        let length = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or(rest);
        self.at += length;
        if word.eq_ignore_ascii_case("and") {
            Word::And
        } else if word.eq_ignore_ascii_case("or") {
            Word::Or
        } else {
            Word::Name(word.to_owned())
        }
    }
}

/// What a name without quotes is made of.
fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
