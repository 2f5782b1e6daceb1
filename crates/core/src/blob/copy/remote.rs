//! Sources on other servers, as the copies see them; who talks to them is given from outside.

use crate::blob::ByteStream;
use std::future::Future;
use std::pin::Pin;
use zaffre_domain::blob::{BlobKind, HttpProperties, Metadata};

/// Talks to other servers.
pub trait Remote: Send + Sync + 'static {
    /// Reads on from `offset`, as long as the source is still the one with this ETag.
    fn read_on<'a>(
        &'a self,
        url: &'a str,
        etag: Option<&'a str>,
        offset: u64,
    ) -> Pin<Box<dyn Future<Output = Result<RemotePart, RemoteError>> + Send + 'a>>;
}

/// The rest of a source.
pub struct RemotePart {
    /// Bytes from the offset to the end.
    pub length: u64,
    /// They themselves.
    pub body: ByteStream,
}

/// Why a source cannot be read on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemoteError {
    /// It is not what it was.
    Changed,
    /// It is not there any more.
    Gone,
    /// Its server, or the operator of this one, refuses.
    Refused,
    /// Its server cannot be reached, now.
    Unreachable,
}

/// A source on another server, as it described itself.
#[derive(Clone, Debug)]
pub struct RemoteBlob {
    /// The whole URL.
    pub url: String,
    /// Its ETag as sent.
    pub etag: Option<String>,
    /// Its size.
    pub length: u64,
    /// What it is; anything that does not say is a block blob.
    pub kind: BlobKind,
    /// Its content headers.
    pub properties: HttpProperties,
    /// Its metadata.
    pub metadata: Metadata,
    /// Its sequence number, if it is a page blob.
    pub sequence_number: u64,
}
