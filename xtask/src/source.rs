//! A Rust file as the checks see it: code apart from comments and strings, tests apart from the
//! rest, functions with their lengths.
//!
//! Must never need to understand types or macros: it reads shapes, not meaning.

/// A file taken apart. `code` and `comments` keep the line structure of the text.
pub(crate) struct Source {
    /// The code, with comments and the inside of literals blanked.
    pub(crate) code: String,
    /// The comments, with everything else blanked.
    pub(crate) comments: String,
    /// For each line, whether it belongs to an item under `#[cfg(test)]`.
    in_test: Vec<bool>,
    /// Names of modules declared as `#[cfg(test)] mod name;`.
    pub(crate) test_modules: Vec<String>,
}

/// A function with a body.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Line of `fn`, counted from one.
    pub(crate) line: usize,
    /// Lines from `fn` to the closing brace.
    pub(crate) lines: usize,
}

impl Source {
    pub(crate) fn new(text: &str) -> Self {
        let (code, comments) = split(text);
        let mut source = Self {
            in_test: vec![false; code.lines().count()],
            code,
            comments,
            test_modules: Vec::new(),
        };
        source.find_tests();
        source
    }

    /// Whether the line (counted from one) is test code.
    pub(crate) fn is_test(&self, line: usize) -> bool {
        self.in_test.get(line.wrapping_sub(1)).copied().unwrap_or(false)
    }

    /// Every function that has a body, in order.
    pub(crate) fn functions(&self) -> Vec<Function> {
        let bytes = self.code.as_bytes();
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices("fn ") {
            let name: String = self.code[at + 3..].chars().take_while(|c| is_word(*c)).collect();
            let starts_word = at == 0 || !is_word(char::from(bytes[at - 1]));
            if !starts_word || name.is_empty() {
                continue;
            }
            if let Item::Block { end } = item_end(bytes, at) {
                let line = line_of(bytes, at);
                found.push(Function { name, line, lines: line_of(bytes, end) - line + 1 });
            }
        }
        found
    }

    fn find_tests(&mut self) {
        const MARKS: [&str; 2] = ["#[cfg(test)]", "#[cfg(all(test"];
        let bytes = self.code.as_bytes();
        if self.code.contains("#![cfg(test)]") {
            self.in_test.fill(true);
        }
        for mark in MARKS {
            for (at, _) in self.code.match_indices(mark) {
                let item = skip_attributes(bytes, at);
                let end = match item_end(bytes, item) {
                    Item::Block { end } => end,
                    Item::Line { end } => {
                        let words: Vec<&str> = self.code[item..end].split_whitespace().collect();
                        if let Some(mod_at) = words.iter().position(|w| *w == "mod") {
                            self.test_modules.extend(words.get(mod_at + 1).map(|w| (*w).into()));
                        }
                        end
                    }
                };
                let last = line_of(bytes, end).min(self.in_test.len());
                self.in_test[line_of(bytes, at) - 1..last].fill(true);
            }
        }
    }
}

/// Where an item ends: at the brace that closes its block, or at its semicolon.
enum Item {
    Block { end: usize },
    Line { end: usize },
}

fn item_end(code: &[u8], from: usize) -> Item {
    let mut round = 0_i32;
    let mut curly = 0_i32;
    for (at, byte) in code.iter().enumerate().skip(from) {
        match byte {
            b'(' | b'[' => round += 1,
            b')' | b']' => round -= 1,
            b'{' if round == 0 => curly += 1,
            b'}' if round == 0 => {
                curly -= 1;
                if curly <= 0 {
                    return Item::Block { end: at };
                }
            }
            b';' if round == 0 && curly == 0 => return Item::Line { end: at },
            _ => {}
        }
    }
    Item::Line { end: code.len() }
}

/// The first byte after the attributes that start at `from`.
fn skip_attributes(code: &[u8], mut from: usize) -> usize {
    while code.get(from) == Some(&b'#') {
        let mut depth = 0_i32;
        while let Some(byte) = code.get(from) {
            from += 1;
            match byte {
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            if *byte == b']' && depth == 0 {
                break;
            }
        }
        while code.get(from).is_some_and(u8::is_ascii_whitespace) {
            from += 1;
        }
    }
    from
}

fn line_of(code: &[u8], at: usize) -> usize {
    code.iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What the reader is in the middle of.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Code,
    LineComment,
    BlockComment(u32),
    Text,
    RawText(usize),
    Character,
}

/// Splits a text into (code, comments), each as long as the text, blanks in place of the other.
fn split(text: &str) -> (String, String) {
    let bytes = text.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    let mut comments = Vec::with_capacity(bytes.len());
    let mut state = State::Code;
    let mut at = 0;
    while at < bytes.len() {
        let (next, taken, kind) = advance(state, bytes, at);
        for byte in &bytes[at..at + taken] {
            let keep = |wanted| if kind == wanted || *byte == b'\n' { *byte } else { b' ' };
            code.push(keep(Kind::Code));
            comments.push(keep(Kind::Comment));
        }
        at += taken;
        state = next;
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(code), text(comments))
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// One move of the reader: the state that follows, how many bytes it took, what they were.
fn advance(state: State, bytes: &[u8], at: usize) -> (State, usize, Kind) {
    let rest = &bytes[at..];
    match state {
        State::Code => start(bytes, at),
        State::LineComment if rest[0] == b'\n' => (State::Code, 1, Kind::Comment),
        State::BlockComment(depth) if rest.starts_with(b"*/") => {
            let next = if depth == 1 { State::Code } else { State::BlockComment(depth - 1) };
            (next, 2, Kind::Comment)
        }
        State::BlockComment(depth) if rest.starts_with(b"/*") => {
            (State::BlockComment(depth + 1), 2, Kind::Comment)
        }
        State::LineComment | State::BlockComment(_) => (state, 1, Kind::Comment),
        State::Text | State::Character if rest[0] == b'\\' => {
            (state, rest.len().min(2), Kind::Literal)
        }
        State::Text if rest[0] == b'"' => (State::Code, 1, Kind::Code),
        State::Character if rest[0] == b'\'' => (State::Code, 1, Kind::Code),
        State::RawText(hashes) if closes_raw(rest, hashes) => {
            (State::Code, 1 + hashes, Kind::Literal)
        }
        State::Text | State::RawText(_) | State::Character => (state, 1, Kind::Literal),
    }
}

/// One move from plain code: does a comment or a literal start here?
fn start(bytes: &[u8], at: usize) -> (State, usize, Kind) {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return (State::LineComment, 2, Kind::Comment);
    }
    if rest.starts_with(b"/*") {
        return (State::BlockComment(1), 2, Kind::Comment);
    }
    match rest[0] {
        b'"' => (State::Text, 1, Kind::Code),
        b'r' if !continues_word(bytes, at) => {
            let hashes = rest[1..].iter().take_while(|byte| **byte == b'#').count();
            if rest.get(1 + hashes) == Some(&b'"') {
                (State::RawText(hashes), 2 + hashes, Kind::Literal)
            } else {
                (State::Code, 1, Kind::Code)
            }
        }
        b'\'' if is_character(rest) => (State::Character, 1, Kind::Code),
        _ => (State::Code, 1, Kind::Code),
    }
}

/// Whether the letter at `at` is in the middle of a name (`br"` and `cr"` still start a literal).
fn continues_word(bytes: &[u8], at: usize) -> bool {
    let word_before = |at: usize| at > 0 && is_word(char::from(bytes[at - 1]));
    word_before(at) && (!matches!(bytes[at - 1], b'b' | b'c') || word_before(at - 1))
}

fn closes_raw(rest: &[u8], hashes: usize) -> bool {
    rest[0] == b'"' && rest.len() > hashes && rest[1..=hashes].iter().all(|byte| *byte == b'#')
}

/// Tells a character literal from a lifetime.
fn is_character(rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'\\') => true,
        Some(first) => {
            let width = match first {
                0..0x80 => 1,
                0x80..0xe0 => 2,
                0xe0..0xf0 => 3,
                _ => 4,
            };
            rest.get(1 + width) == Some(&b'\'')
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Function, Source};

    #[test]
    fn code_and_comments_apart() {
        let cases = [
            ("a // b\nc", "a     \nc", "  // b\n "),
            ("a /* b /* c */ d */ e", "a                   e", "  /* b /* c */ d */  "),
            (r#"f("x // y", z)"#, r#"f("      ", z)"#, "              "),
            (r##"r#"a"b"# + c"##, "         + c", "            "),
            (r"'\'' + '/' + 'a", r"'  ' + ' ' + 'a", "               "),
            (r#""\"" x"#, r#""  " x"#, "      "),
            ("for r in r#type", "for r in r#type", "               "),
        ];
        for (text, code, comments) in cases {
            let source = Source::new(text);
            assert_eq!(source.code, code, "code of {text}");
            assert_eq!(source.comments, comments, "comments of {text}");
        }
    }

    #[test]
    fn functions_and_their_lengths() {
        let text = "fn one() { 1 }\n\
                    trait T { fn declared(&self) -> u8; }\n\
                    pub async fn two<T>(a: [u8; 2], b: fn(u8) -> u8)\nwhere T: X,\n{\n  if a {}\n}\n";
        let expected = [
            Function { name: "one".into(), line: 1, lines: 1 },
            Function { name: "two".into(), line: 3, lines: 5 },
        ];
        assert_eq!(Source::new(text).functions(), expected);
    }

    #[test]
    fn test_code_is_told_apart() {
        let text = "fn a() {}\n\
                    #[cfg(test)]\n\
                    mod far;\n\
                    fn b() {}\n\
                    #[cfg(test)]\n\
                    #[allow(x[0])]\n\
                    mod tests {\n\
                    fn c() {}\n\
                    }\n\
                    fn d() {}\n";
        let source = Source::new(text);
        let tests: Vec<usize> = (1..=10).filter(|line| source.is_test(*line)).collect();
        assert_eq!(tests, [2, 3, 5, 6, 7, 8, 9]);
        assert_eq!(source.test_modules, ["far"]);
        assert!(Source::new("#![cfg(test)]\nfn a() {}").is_test(2));
    }
}
