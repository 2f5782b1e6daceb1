//! Operations and answers as lines of words, to be read by people and read back by us.
//!
//! Must never lose anything: what was written comes back equal.

/// A value without spaces.
pub(crate) trait Word: Sized {
    fn to_word(&self) -> String;
    fn from_word(word: &str) -> Option<Self>;
}

/// A value of several words.
pub(crate) trait Line: Sized {
    fn to_line(&self) -> String;
    fn from_line(line: &str) -> Option<Self>;
}

impl Word for u64 {
    fn to_word(&self) -> String {
        self.to_string()
    }

    fn from_word(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

impl Word for bool {
    fn to_word(&self) -> String {
        self.to_string()
    }

    fn from_word(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

impl Word for String {
    fn to_word(&self) -> String {
        assert!(!self.contains(char::is_whitespace), "one word: {self}");
        format!("\"{self}\"")
    }

    fn from_word(word: &str) -> Option<Self> {
        Some(word.strip_prefix('"')?.strip_suffix('"')?.to_owned())
    }
}

impl<T: Word> Word for Option<T> {
    fn to_word(&self) -> String {
        self.as_ref().map_or_else(|| "-".to_owned(), Word::to_word)
    }

    fn from_word(word: &str) -> Option<Self> {
        if word == "-" { Some(None) } else { T::from_word(word).map(Some) }
    }
}

impl<T: Word> Word for Vec<T> {
    fn to_word(&self) -> String {
        let words: Vec<_> = self.iter().map(Word::to_word).collect();
        format!("[{}]", words.join(","))
    }

    fn from_word(word: &str) -> Option<Self> {
        let inside = word.strip_prefix('[')?.strip_suffix(']')?;
        if inside.is_empty() {
            return Some(Vec::new());
        }
        inside.split(',').map(T::from_word).collect()
    }
}

/// Makes an enum whose values are lines: the variant's name, then `field=word` for each field.
macro_rules! worded {
    ($(#[$meta:meta])* enum $name:ident { $(
        $(#[$on_variant:meta])* $variant:ident { $(
            $(#[$on_field:meta])* $field:ident : $type:ty
        ),* $(,)? }
    ),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub(crate) enum $name { $(
            $(#[$on_variant])* $variant { $( $(#[$on_field])* $field: $type ),* }
        ),* }

        impl $crate::linear::Line for $name {
            fn to_line(&self) -> String {
                match self { $(
                    Self::$variant { $($field),* } => {
                        #[allow(unused_mut, reason = "some variants have no fields")]
                        let mut line = stringify!($variant).to_owned();
                        $(
                            line += concat!(" ", stringify!($field), "=");
                            line += &$crate::linear::Word::to_word($field);
                        )*
                        line
                    }
                ),* }
            }

            fn from_line(line: &str) -> Option<Self> {
                let mut words = line.split(' ');
                match words.next()? {
                    $( stringify!($variant) => {
                        let made = Self::$variant { $(
                            $field: $crate::linear::Word::from_word(
                                words.next()?.strip_prefix(concat!(stringify!($field), "="))?,
                            )?
                        ),* };
                        words.next().is_none().then_some(made)
                    } )*
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use worded;
