//! What each kind of resource does when it is asked one thing at a time.
//!
//! Must never be taken from the server's own rules: a mistake shared by both would be no mistake.

pub(crate) mod append;
pub(crate) mod batch;
pub(crate) mod blob;
pub(crate) mod container_lease;
pub(crate) mod lease;
pub(crate) mod queue;
pub(crate) mod range_lock;
pub(crate) mod share_mode;

use crate::linear::Word;

/// What must be the case for an operation to be done.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum When {
    Always,
    Absent,
    Present,
    Tag(String),
}

/// The ETag that the server chose. `None` if the answer that named it was lost: then nobody can have
/// named it before it was seen, and it is whatever is seen first.
pub(crate) type Etag = Option<String>;

impl When {
    /// Whether it is met by what is there, which has this ETag.
    pub(crate) fn is_met(&self, there: Option<&Etag>) -> bool {
        match (self, there) {
            (Self::Always, _) | (Self::Absent, None) | (Self::Present, Some(_)) => true,
            (Self::Tag(etag), Some(Some(known))) => etag == known,
            (Self::Absent | Self::Present | Self::Tag(_), _) => false,
        }
    }
}

/// So that a condition can be a word among the words of an operation.
impl Word for When {
    fn to_word(&self) -> String {
        match self {
            Self::Always => "always".to_owned(),
            Self::Absent => "absent".to_owned(),
            Self::Present => "present".to_owned(),
            Self::Tag(etag) => format!("={etag}"),
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        match word {
            "always" => Some(Self::Always),
            "absent" => Some(Self::Absent),
            "present" => Some(Self::Present),
            _ => Some(Self::Tag(word.strip_prefix('=')?.to_owned())),
        }
    }
}
