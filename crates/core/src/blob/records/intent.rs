//! What a commit left behind for the background to free.

use super::{Content, Record, fields};
use minicbor::{Decode, Encode};
use zaffre_base::ContentId;

/// Work that outlives the request that caused it, and a restart.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
pub(crate) enum Intent {
    /// Rows of a content are being written that no head names yet. The commit that names it removes
    /// this; if that never comes, the rows are freed.
    #[n(0)]
    Provisional {
        #[cbor(n(0), with = "fields")]
        content: ContentId,
    },
    /// A commit took something out of use.
    #[n(1)]
    Retired(#[n(0)] Retired),
}

/// What a commit replaced. What `successor` still refers to stays.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Retired {
    /// The blob; intents of one blob are worked off in their order.
    #[n(0)]
    pub(crate) blob: String,
    #[n(1)]
    pub(crate) content: Option<Content>,
    #[cbor(n(2), with = "fields", has_nil)]
    pub(crate) staging: Option<ContentId>,
    #[n(3)]
    pub(crate) successor: Option<Content>,
}

impl Record for Intent {
    const WHAT: &'static str = "intent";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        for intent in [
            Intent::Provisional { content: ContentId(9) },
            Intent::Retired(Retired {
                blob: "b".to_owned(),
                content: None,
                staging: Some(ContentId(3)),
                successor: None,
            }),
        ] {
            assert_eq!(Intent::from_bytes(&intent.to_bytes()).ok(), Some(intent));
        }
    }
}
