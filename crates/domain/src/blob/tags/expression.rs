//! The predicate of `x-ms-if-tags`: comparisons joined by AND and OR, with parentheses.
//!
//! Must never fail once it is parsed: any tags are either matched or not.

use super::Tags;
use super::lexer::{Lexer, ParseError, Word};
use alloc::boxed::Box;
use alloc::string::String;
use zaffre_base::limits::{TAG_PREDICATE_DEPTH, TAG_PREDICATE_OPERATORS};

/// How a tag's value is compared, ordinally.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`, only in conditions.
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// Whether `left` compares so with `right`.
    pub fn holds(self, left: &str, right: &str) -> bool {
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }
}

/// One comparison of a tag with a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TagComparison {
    /// The tag's name.
    pub name: String,
    /// How.
    pub comparison: Comparison,
    /// With what.
    pub value: String,
}

impl TagComparison {
    /// Whether these tags fit; a tag that is not there fits no comparison.
    pub fn matches(&self, tags: &Tags) -> bool {
        tags.get(&self.name).is_some_and(|value| self.comparison.holds(value, &self.value))
    }

    /// Reads `name op 'value'`.
    pub(super) fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        let position = lexer.position();
        let Some(Word::Name(name)) = lexer.next()? else {
            return Err(ParseError { position, reason: "expected a tag name" });
        };
        let Some(Word::Compare(comparison)) = lexer.next()? else {
            return Err(ParseError { position, reason: "expected an operator" });
        };
        let at = lexer.position();
        let Some(Word::Value(value)) = lexer.next()? else {
            return Err(ParseError { position: at, reason: "expected a quoted value" });
        };
        Ok(Self { name, comparison, value })
    }
}

/// A condition on the tags of one blob.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Predicate {
    /// One comparison.
    Compare(TagComparison),
    /// Both sides.
    And(Box<Predicate>, Box<Predicate>),
    /// Either side.
    Or(Box<Predicate>, Box<Predicate>),
}

impl Predicate {
    /// Reads a predicate; AND binds closer than OR.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser { lexer: Lexer::new(text), operators: 0, depth: 0 };
        let predicate = parser.any_of()?;
        match parser.lexer.peek()? {
            None => Ok(predicate),
            Some(_) => Err(parser.lexer.error("expected a logical operator")),
        }
    }

    /// Whether these tags fit.
    pub fn matches(&self, tags: &Tags) -> bool {
        match self {
            Self::Compare(comparison) => comparison.matches(tags),
            Self::And(left, right) => left.matches(tags) && right.matches(tags),
            Self::Or(left, right) => left.matches(tags) || right.matches(tags),
        }
    }
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    operators: usize,
    depth: usize,
}

impl Parser<'_> {
    fn any_of(&mut self) -> Result<Predicate, ParseError> {
        let mut left = self.all_of()?;
        while self.takes(&Word::Or)? {
            left = Predicate::Or(Box::new(left), Box::new(self.all_of()?));
        }
        Ok(left)
    }

    fn all_of(&mut self) -> Result<Predicate, ParseError> {
        let mut left = self.one()?;
        while self.takes(&Word::And)? {
            left = Predicate::And(Box::new(left), Box::new(self.one()?));
        }
        Ok(left)
    }

    fn one(&mut self) -> Result<Predicate, ParseError> {
        if self.lexer.peek()? != Some(Word::Open) {
            return TagComparison::parse(&mut self.lexer).map(Predicate::Compare);
        }
        if self.depth == TAG_PREDICATE_DEPTH {
            return Err(self.lexer.error("too many nested parentheses"));
        }
        self.lexer.next()?;
        self.depth += 1;
        let inside = self.any_of()?;
        self.depth -= 1;
        let position = self.lexer.position();
        match self.lexer.next()? {
            Some(Word::Close) => Ok(inside),
            _ => Err(ParseError { position, reason: "expected a closing parenthesis" }),
        }
    }

    /// Takes a logical operator if it comes next.
    fn takes(&mut self, operator: &Word) -> Result<bool, ParseError> {
        if self.lexer.peek()?.as_ref() != Some(operator) {
            return Ok(false);
        }
        if self.operators == TAG_PREDICATE_OPERATORS {
            return Err(self.lexer.error("too many logical operators"));
        }
        self.operators += 1;
        self.lexer.next()?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::tags::collect;
    use alloc::format;
    use alloc::string::ToString;
    use alloc::vec;

    #[test]
    fn predicates() {
        let tags = collect([("a", "1"), ("b", "x y"), ("Long-name", "2026-11-15")]);
        let tags = tags.unwrap_or_default();
        for (text, want) in [
            ("a = '1'", true),
            ("a='1'", true),
            ("\"a\" = '1'", true),
            ("A = '1'", false),
            ("a = '2'", false),
            ("a <> '2'", true),
            ("a <> '1'", false),
            ("missing <> '1'", false),
            ("missing = ''", false),
            ("a > '0' AND a < '2'", true),
            ("a < '1'", false),
            ("a > '1'", false),
            ("a <= '0'", false),
            ("a >= '2'", false),
            ("a >= '1' and a <= '1'", true),
            ("a > '1' OR b = 'x y'", true),
            ("a = '2' OR a = '3'", false),
            ("\"Long-name\" >= '2026-01-01'", true),
            // AND binds closer than OR.
            ("a = '1' OR a = '2' AND b = 'z'", true),
            ("(a = '1' OR a = '2') AND b = 'z'", false),
            ("((a = '1'))", true),
            ("a = 'it''s'", false),
        ] {
            let got = Predicate::parse(text).map(|p| p.matches(&tags));
            assert_eq!(got, Ok(want), "{text}");
        }
    }

    #[test]
    fn errors_say_where() {
        for (text, want) in [
            ("", "1: expected a tag name"),
            ("garbage", "1: expected an operator"),
            ("a = 1", "5: expected a quoted value"),
            ("a = \"1\"", "5: expected a quoted value"),
            ("a = '1' b = '2'", "9: expected a logical operator"),
            ("a = '1' AND", "12: expected a tag name"),
            ("a = '1", "5: unclosed quote"),
            ("(a = '1'", "9: expected a closing parenthesis"),
            ("a ! '1'", "3: unexpected character"),
            ("@container = 'c'", "1: expected a tag name"),
            ("é = '1'", "1: unexpected character"),
        ] {
            let got = Predicate::parse(text).err().map(|e| e.to_string());
            let want = format!("Error parsing query at or near character position {want}");
            assert_eq!(got.as_deref(), Some(want.as_str()), "{text}");
        }
    }

    #[test]
    fn limits() {
        let joined = |n: usize| vec!["a = '1'"; n].join(" OR ");
        assert!(Predicate::parse(&joined(TAG_PREDICATE_OPERATORS + 1)).is_ok());
        assert!(Predicate::parse(&joined(TAG_PREDICATE_OPERATORS + 2)).is_err());
        let nested = |n: usize| format!("{}a='1'{}", "(".repeat(n), ")".repeat(n));
        assert!(Predicate::parse(&nested(TAG_PREDICATE_DEPTH)).is_ok());
        assert!(Predicate::parse(&nested(TAG_PREDICATE_DEPTH + 1)).is_err());
        assert!(Predicate::parse(&"(".repeat(100_000)).is_err());
        let beside = ["((a='1'))"; TAG_PREDICATE_OPERATORS + 1].join(" AND ");
        assert!(Predicate::parse(&beside).is_ok(), "beside each other, not nested");
    }
}
