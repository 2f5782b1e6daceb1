//! What can be wrong with a batch before any of its parts is looked at.

use crate::error::ApiError;

/// Why a multipart body, or a request inside it, could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MultipartError {
    /// The content type is not `multipart/mixed` with a legal boundary.
    ContentType,
    /// There is no part, or text where a delimiter should be.
    NoParts,
    /// The last delimiter is missing, so that the body may be cut off.
    Unfinished,
    /// More parts than the operation allows.
    TooManyParts {
        /// How many it allows.
        limit: usize,
    },
    /// A part's own headers cannot be read.
    PartHeaders,
    /// A part holds no request line, or one that cannot be read.
    RequestLine,
    /// The headers of a part's request cannot be read.
    RequestHeaders,
}

impl std::fmt::Display for MultipartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::ContentType => "The content type must be multipart/mixed with a boundary.",
            Self::NoParts => "The batch has no parts.",
            Self::Unfinished => "The last delimiter of the batch is missing.",
            Self::TooManyParts { limit } => {
                return write!(f, "The batch has more than {limit} parts.");
            }
            Self::PartHeaders => "The headers of a part cannot be read.",
            Self::RequestLine => "The request line of a part cannot be read.",
            Self::RequestHeaders => "The headers of a part's request cannot be read.",
        })
    }
}

impl std::error::Error for MultipartError {}

impl From<MultipartError> for ApiError {
    fn from(error: MultipartError) -> Self {
        Self::invalid_input().detail("Reason", error.to_string())
    }
}
