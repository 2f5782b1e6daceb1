//! The expression of Find Blobs by Tags: comparisons joined by AND, and where to look.
//!
//! Must never need to see a blob that no comparison could fit: [`FindExpression::sought`] says which
//! run of an index ordered by name and value holds every match.

use super::lexer::{Lexer, ParseError, Word};
use super::{Comparison, TagComparison, Tags};
use alloc::string::String;
use alloc::vec::Vec;
use zaffre_base::limits::FIND_COMPARISONS;

/// Where an expression is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FindScope {
    /// Of the whole account: `@container` may narrow it down.
    Account,
    /// Of one container.
    Container,
}

/// What to find.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FindExpression {
    /// The container that `@container` names.
    pub container: Option<String>,
    /// All of these must fit; at least one.
    comparisons: Vec<TagComparison>,
}

/// A run of the values of one tag; every match lies in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sought<'a> {
    /// The tag's name.
    pub name: &'a str,
    /// The least value, and whether it counts itself.
    pub from: Option<(&'a str, bool)>,
    /// The greatest value, and whether it counts itself.
    pub to: Option<(&'a str, bool)>,
}

impl FindExpression {
    /// Reads an expression.
    pub fn parse(text: &str, scope: FindScope) -> Result<Self, ParseError> {
        let mut lexer = Lexer::new(text);
        let mut found = Self { container: None, comparisons: Vec::new() };
        loop {
            let position = lexer.position();
            found.one(&mut lexer, scope, position)?;
            match lexer.peek()? {
                None => break,
                Some(Word::And) => lexer.next()?,
                Some(_) => return Err(lexer.error("expected AND")),
            };
        }
        if found.comparisons.is_empty() {
            return Err(ParseError { position: 1, reason: "expected a tag comparison" });
        }
        Ok(found)
    }

    fn one(
        &mut self,
        lexer: &mut Lexer<'_>,
        scope: FindScope,
        position: usize,
    ) -> Result<(), ParseError> {
        let fail = |reason| Err(ParseError { position, reason });
        if lexer.peek()? == Some(Word::Container) {
            if scope == FindScope::Container {
                return fail("@container is not allowed here");
            }
            lexer.next()?;
            let (Some(Word::Compare(Comparison::Equal)), Some(Word::Value(name))) =
                (lexer.next()?, lexer.next()?)
            else {
                return fail("@container can only be equal to a quoted name");
            };
            if self.container.replace(name).is_some() {
                return fail("@container is given twice");
            }
            return Ok(());
        }
        let one = TagComparison::parse(lexer)?;
        if one.comparison == Comparison::NotEqual {
            return fail("the operator <> is not supported");
        }
        let direction = direction(one.comparison);
        let same = |other: &TagComparison| {
            other.name == one.name && self::direction(other.comparison) == direction
        };
        if direction.is_some() && self.comparisons.iter().any(same) {
            return fail("a tag has two ranges in the same direction");
        }
        if self.comparisons.len() == FIND_COMPARISONS {
            return fail("too many comparisons");
        }
        self.comparisons.push(one);
        Ok(())
    }

    /// Whether these tags fit.
    pub fn matches(&self, tags: &Tags) -> bool {
        self.comparisons.iter().all(|one| one.matches(tags))
    }

    /// The tags that the expression names: what its results show.
    pub fn shown(&self, tags: &Tags) -> Tags {
        let named = |name: &str| self.comparisons.iter().any(|one| one.name == name);
        let kept = tags.iter().filter(|(name, _)| named(name));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The narrowest run of one tag's values that holds every match: an equal value if there is
    /// one, else a run closed on both sides, else any.
    pub fn sought(&self) -> Sought<'_> {
        let of = |one: &TagComparison| self.run_of(&one.name);
        let mut best: Option<Sought<'_>> = None;
        for one in &self.comparisons {
            let Some(run) = of(one) else { continue };
            if best.as_ref().is_none_or(|best| width(&run) < width(best)) {
                best = Some(run);
            }
        }
        best.unwrap_or(Sought { name: "", from: None, to: None })
    }

    fn run_of(&self, name: &str) -> Option<Sought<'_>> {
        let mut run: Option<Sought<'_>> = None;
        for one in self.comparisons.iter().filter(|one| one.name == name) {
            let value = one.value.as_str();
            let run = run.get_or_insert(Sought { name: &one.name, from: None, to: None });
            match one.comparison {
                Comparison::Equal => {
                    return Some(Sought {
                        from: Some((value, true)),
                        to: Some((value, true)),
                        ..*run
                    });
                }
                Comparison::Greater => run.from = Some((value, false)),
                Comparison::GreaterOrEqual => run.from = Some((value, true)),
                Comparison::Less => run.to = Some((value, false)),
                Comparison::LessOrEqual => run.to = Some((value, true)),
                Comparison::NotEqual => {}
            }
        }
        run
    }
}

/// How wide a run may be, roughly: nothing is known about what is stored.
fn width(run: &Sought<'_>) -> u8 {
    match (run.from, run.to) {
        (Some(from), Some(to)) if from == to => 0,
        (Some(_), Some(_)) => 1,
        (Some(_), None) | (None, Some(_)) => 2,
        (None, None) => 3,
    }
}

/// Which side a range is open to; `None` = it is no range.
fn direction(comparison: Comparison) -> Option<bool> {
    match comparison {
        Comparison::Less | Comparison::LessOrEqual => Some(false),
        Comparison::Greater | Comparison::GreaterOrEqual => Some(true),
        Comparison::Equal | Comparison::NotEqual => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blob::tags::collect;
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn expressions() {
        let tags = collect([("a", "1"), ("date", "2026-11-15")]).unwrap_or_default();
        for (text, want) in [
            ("a = '1'", true),
            ("\"a\"='1' and \"date\">'2026-01-01' AND date <= '2026-12-31'", true),
            ("a = '1' AND b = '1'", false),
            ("a > '1'", false),
            ("@container = 'photos' AND a = '1'", true),
            ("a = '1' AND @Container = 'photos'", true),
        ] {
            let found = FindExpression::parse(text, FindScope::Account);
            assert_eq!(found.map(|f| f.matches(&tags)), Ok(want), "{text}");
        }
    }

    #[test]
    fn errors_say_where() {
        let both = [FindScope::Account, FindScope::Container];
        for (text, want) in [
            ("", "1: expected a tag name"),
            ("garbage", "1: expected an operator"),
            ("a = '1' OR b = '2'", "9: expected AND"),
            ("a <> '1'", "1: the operator <> is not supported"),
            ("(a = '1')", "1: expected a tag name"),
            ("a > '1' AND a >= '2'", "13: a tag has two ranges in the same direction"),
            ("a < '1' AND a < '2'", "13: a tag has two ranges in the same direction"),
        ] {
            for scope in both {
                let got = FindExpression::parse(text, scope).err().map(|e| e.to_string());
                let want = format!("Error parsing query at or near character position {want}");
                assert_eq!(got.as_deref(), Some(want.as_str()), "{text}");
            }
        }
        for (text, account) in [
            ("@container = 'c' AND a = '1'", true),
            ("@container = 'c'", false),
            ("@container > 'c' AND a = '1'", false),
            ("@container = 'c' AND @container = 'd' AND a = '1'", false),
            ("@other = 'c' AND a = '1'", false),
        ] {
            assert_eq!(FindExpression::parse(text, FindScope::Account).is_ok(), account, "{text}");
            assert!(FindExpression::parse(text, FindScope::Container).is_err(), "{text}");
        }
        let many = |n| {
            let each = (0..n).map(|i| format!("t{i} = ''"));
            each.collect::<Vec<_>>().join(" AND ")
        };
        assert!(FindExpression::parse(&many(FIND_COMPARISONS), FindScope::Account).is_ok());
        assert!(FindExpression::parse(&many(FIND_COMPARISONS + 1), FindScope::Account).is_err());
    }

    #[test]
    fn the_narrowest_run_is_sought() {
        for (text, name, from, to) in [
            ("a = '1'", "a", Some(("1", true)), Some(("1", true))),
            ("a > '1' AND b = '2'", "b", Some(("2", true)), Some(("2", true))),
            ("a > '1'", "a", Some(("1", false)), None),
            ("a > '1' AND b <= '9' AND b > '2'", "b", Some(("2", false)), Some(("9", true))),
            ("a > '1' AND a < '9' AND b = '3'", "b", Some(("3", true)), Some(("3", true))),
            ("a > '1' AND a = '5'", "a", Some(("5", true)), Some(("5", true))),
            ("a < '1'", "a", None, Some(("1", false))),
        ] {
            let found = FindExpression::parse(text, FindScope::Account);
            let found = found.unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(found.sought(), Sought { name, from, to }, "{text}");
        }
    }

    #[test]
    fn only_named_tags_are_shown() {
        let tags = collect([("a", "1"), ("b", "2"), ("c", "3")]).unwrap_or_default();
        for (text, want) in [
            ("a = '1'", &["a"][..]),
            ("c > '1' AND a = '1'", &["a", "c"]),
            ("d = '1'", &[]),
            ("@container = 'x' AND b = '2'", &["b"]),
        ] {
            let found = FindExpression::parse(text, FindScope::Account);
            let shown = found.map(|found| found.shown(&tags)).unwrap_or_default();
            let shown: Vec<&str> = shown.keys().map(String::as_str).collect();
            assert_eq!(shown, want, "{text}");
        }
    }
}
