//! Where an object's bytes are. What a content showed as of one commit it shows for ever.

use super::fields;
use minicbor::{Decode, Encode};
use zaffre_base::ContentId;

/// One immutable piece of content.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
pub(crate) struct Content {
    /// Names its rows; never reused.
    #[cbor(n(0), with = "fields")]
    pub(crate) id: ContentId,
    /// Bytes in all.
    #[n(1)]
    pub(crate) length: u64,
    /// Which rows hold it.
    #[n(2)]
    pub(crate) shape: Shape,
}

/// Which rows hold a content.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
pub(crate) enum Shape {
    /// None: it has no bytes.
    #[n(0)]
    Empty,
    /// One `D` row.
    #[n(1)]
    Inline,
    /// One `X` row for every `size` bytes, the last one for the rest.
    #[n(2)]
    Pieces {
        #[n(0)]
        size: u32,
    },
    /// `M` pages that list blocks, each with a content of its own.
    #[n(3)]
    Blocks {
        #[n(0)]
        pages: u32,
    },
    /// Layers of chunks, small writes and wide clears; what none of them says is zeros.
    #[n(4)]
    Sparse,
}
