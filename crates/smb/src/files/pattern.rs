//! Patterns of names: `*`, `?` and the three that DOS programs' patterns are turned into.
//!
//! Must never take more time than the name's length times the pattern's.

use zaffre_domain::fs::name::fold;

/// A pattern, ready to be matched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pattern {
    text: String,
    folded: Vec<char>,
}

impl Pattern {
    /// Names match whatever their case is. Nothing at all matches everything.
    pub(crate) fn new(text: &str) -> Self {
        let text = if text.is_empty() { "*" } else { text };
        Self { text: text.to_owned(), folded: fold(text).chars().collect() }
    }

    /// The only name that can match, if there is no wildcard.
    pub(crate) fn exact(&self) -> Option<&str> {
        let wild = |c: char| matches!(c, '*' | '?' | '<' | '>' | '"');
        (!self.text.contains(wild)).then_some(self.text.as_str())
    }

    /// Whether a name matches.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = fold(name).chars().collect();
        let last_dot = name.iter().rposition(|c| *c == '.');
        // Which positions of the name the pattern so far can have reached.
        let mut reached = vec![false; name.len() + 1];
        reached[0] = true;
        for symbol in &self.folded {
            reached = step(*symbol, &name, last_dot, &reached);
        }
        reached[name.len()]
    }
}

fn step(symbol: char, name: &[char], last_dot: Option<usize>, reached: &[bool]) -> Vec<bool> {
    let end = name.len();
    let mut next = vec![false; end + 1];
    for at in (0..=end).filter(|at| reached[*at]) {
        match symbol {
            '*' => next[at..].fill(true),
            // Everything up to the last dot, which it does not pass over.
            '<' => {
                let limit = last_dot.filter(|dot| *dot >= at).unwrap_or(end);
                next[at..=limit].fill(true);
                if last_dot.is_none_or(|dot| dot < at) {
                    next[at..].fill(true);
                }
            }
            '?' => {
                if at < end {
                    next[at + 1] = true;
                }
            }
            // One character; at a dot or at the end, none.
            '>' => {
                if at == end || name[at] == '.' {
                    next[at] = true;
                } else {
                    next[at + 1] = true;
                }
            }
            // A dot, or the end.
            '"' => {
                if at == end {
                    next[at] = true;
                } else if name[at] == '.' {
                    next[at + 1] = true;
                }
            }
            plain => {
                if at < end && name[at] == plain {
                    next[at + 1] = true;
                }
            }
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matches() {
        for (pattern, name, want) in [
            ("*", "", true),
            ("", "anything.txt", true),
            ("*", "a.b.c", true),
            ("*.*", "a", false),
            ("*.*", "a.b", true),
            ("A*", "abc", true),
            ("?", "a", true),
            ("?", "", false),
            ("?", "ab", false),
            ("a?c", "abc", true),
            ("*.txt", "A.TXT", true),
            ("*.txt", "a.txt.bak", false),
            ("*c", "abcabc", true),
            ("straße", "STRASSE", false),
            ("ä*", "ÄB", true),
            ("<.txt", "a.b.txt", true),
            ("<.b", "a.b.txt", false),
            ("<", "a.b", false),
            ("<", "ab", true),
            ("<\"*", "a.b", true),
            ("<\"*", "ab", true),
            (">>>", "ab", true),
            (">>>", "abcd", false),
            ("a>>.t", "ab.t", true),
            ("a\"b", "a.b", true),
            ("a\"", "a", true),
            ("a\"", "ab", false),
            ("a", "a", true),
            ("a", "ab", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), want, "{pattern} {name}");
        }
        assert_eq!(Pattern::new("plain").exact(), Some("plain"));
        assert_eq!(Pattern::new("pl?in").exact(), None);
    }

    #[test]
    fn long_patterns_take_no_long_time() {
        let pattern = "*a".repeat(120);
        assert!(!Pattern::new(&pattern).matches(&"b".repeat(255)));
    }
}
