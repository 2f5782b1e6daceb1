//! Requests for tests, built from a line of text.

use crate::fields::Fields;
use hyper::header::{HeaderName, HeaderValue};
use zaffre_base::{AccountName, ApiVersion, BlobName, ContainerName};
use zaffre_core::blob::op::{BlobPath, Moment};
use zaffre_http::RequestHead;

/// Headers of a test's request.
pub(crate) type Headers<'a> = &'a [(&'a str, &'a str)];

/// A request's head and what goes with it.
pub(crate) struct Ask {
    head: RequestHead,
    content_length: Option<u64>,
    version: ApiVersion,
}

impl Ask {
    pub(crate) fn new(method: &str, url: &str) -> Self {
        let head = RequestHead::sample(method, url);
        Self { head, content_length: None, version: ApiVersion::new(2024, 8, 4) }
    }

    pub(crate) fn get(url: &str) -> Self {
        Self::new("GET", url)
    }

    pub(crate) fn put(url: &str) -> Self {
        Self::new("PUT", url)
    }

    pub(crate) fn with(mut self, headers: &[(&str, &str)]) -> Self {
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name");
            let value = HeaderValue::from_bytes(value.as_bytes()).expect("a header value");
            self.head.headers.append(name, value);
        }
        self
    }

    pub(crate) fn length(mut self, length: u64) -> Self {
        self.content_length = Some(length);
        self
    }

    pub(crate) fn version(mut self, version: &str) -> Self {
        self.version = ApiVersion::parse(version).expect("a version");
        self
    }

    pub(crate) fn fields(&self) -> Fields<'_> {
        Fields::new(&self.head, self.content_length, self.version).expect("no repeated parameters")
    }

    pub(crate) fn head(&self) -> &RequestHead {
        &self.head
    }
}

/// Where the operations of tests go.
pub(crate) fn blob_path() -> BlobPath {
    BlobPath {
        account: AccountName::parse("acct").expect("a name"),
        container: ContainerName::parse("abc").expect("a name"),
        blob: BlobName::parse("b").expect("a name"),
        moment: Moment::Current,
    }
}
