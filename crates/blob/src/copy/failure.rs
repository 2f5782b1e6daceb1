//! What a source that cannot be read looks like to whoever asked for the copy.
//!
//! Must never tell more about a source than reading it directly would.

use hyper::StatusCode;
use zaffre_http::{ApiError, codes};

/// Which kind of copy failed; the answers differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Copying {
    /// Copy Blob.
    Later,
    /// Copy Blob From URL, Put Blob From URL, Put Block From URL.
    Whole,
    /// Append Block From URL, Put Page From URL.
    Part,
}

/// How the source was read, and on which of the source's conditions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    pub(crate) copying: Copying,
    /// By the right of the destination's owner, not by what the URL grants.
    pub(crate) by_owner: bool,
    /// `x-ms-source-if-match` was sent.
    pub(crate) if_match: bool,
    /// `x-ms-source-if-tags` was sent.
    pub(crate) if_tags: bool,
}

/// The answer to a copy whose source answered `error`.
pub(crate) fn of_source(error: ApiError, read: Read) -> ApiError {
    let (status, condition) = (error.status, error.code == codes::CONDITION_NOT_MET.name);
    if condition && status == StatusCode::NOT_MODIFIED {
        return match read.copying {
            Copying::Later => codes::SOURCE_CONDITION_NOT_MET.into(),
            Copying::Whole | Copying::Part => cannot_verify(status, ""),
        };
    }
    if condition {
        return match read.copying {
            Copying::Later if read.if_tags && !read.if_match => codes::CONDITION_NOT_MET.into(),
            Copying::Later => codes::SOURCE_CONDITION_NOT_MET.into(),
            Copying::Whole if read.if_match => codes::SOURCE_CONDITION_NOT_MET.into(),
            Copying::Whole | Copying::Part => cannot_verify(status, &error.message),
        };
    }
    match status {
        _ if status.is_server_error() => error,
        StatusCode::NOT_FOUND if read.by_owner => codes::BLOB_NOT_FOUND.into(),
        StatusCode::NOT_FOUND => cannot_verify(status, codes::RESOURCE_NOT_FOUND.message),
        // A state of the source, not a right of the caller.
        StatusCode::CONFLICT if error.code != codes::PUBLIC_ACCESS_NOT_PERMITTED.name => error,
        StatusCode::RANGE_NOT_SATISFIABLE => error,
        _ => cannot_verify(status, &error.message),
    }
}

/// `CannotVerifyCopySource` in the status of the source.
pub(crate) fn cannot_verify(status: StatusCode, message: &str) -> ApiError {
    let mut error = ApiError::from(codes::CANNOT_VERIFY_COPY_SOURCE);
    error.status = status;
    if !message.is_empty() {
        message.clone_into(&mut error.message);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::Copying::{Later, Part, Whole};
    use super::*;
    use zaffre_http::codes::Code;

    #[test]
    fn rows() {
        let read =
            |copying, by_owner, if_match| Read { copying, by_owner, if_match, if_tags: false };
        let unmodified = || {
            let mut error = ApiError::from(codes::CONDITION_NOT_MET);
            error.status = StatusCode::NOT_MODIFIED;
            error
        };
        let plain = |code: Code| ApiError::from(code);
        for (error, read, want) in [
            (
                plain(codes::CONDITION_NOT_MET),
                read(Later, true, true),
                (412, "SourceConditionNotMet"),
            ),
            (
                plain(codes::CONDITION_NOT_MET),
                read(Whole, false, true),
                (412, "SourceConditionNotMet"),
            ),
            (
                plain(codes::CONDITION_NOT_MET),
                read(Whole, false, false),
                (412, "CannotVerifyCopySource"),
            ),
            (
                plain(codes::CONDITION_NOT_MET),
                read(Part, false, true),
                (412, "CannotVerifyCopySource"),
            ),
            (unmodified(), read(Later, true, false), (412, "SourceConditionNotMet")),
            (unmodified(), read(Whole, false, false), (304, "CannotVerifyCopySource")),
            (unmodified(), read(Part, false, false), (304, "CannotVerifyCopySource")),
            (plain(codes::BLOB_NOT_FOUND), read(Later, true, false), (404, "BlobNotFound")),
            (
                plain(codes::CONTAINER_NOT_FOUND),
                read(Whole, false, false),
                (404, "CannotVerifyCopySource"),
            ),
            (
                plain(codes::AUTHENTICATION_FAILED),
                read(Whole, false, false),
                (403, "CannotVerifyCopySource"),
            ),
        ] {
            let answer = of_source(error.clone(), read);
            assert_eq!((answer.status.as_u16(), answer.code), want, "{} {read:?}", error.code);
        }
    }
}
