//! A request once its URL was taken apart: account, target, version, headers and parameters.
//!
//! Must never decode anything again, and never look at a credential.

use crate::fields::Fields;
use crate::target::Target;
use zaffre_auth::{AuthError, Hidden, Scope};
use zaffre_base::{AccountName, ApiVersion};
use zaffre_http::{ApiError, RequestHead, address};

/// Where a request goes, before anything else of it is looked at.
pub struct Place {
    /// The account.
    pub account: AccountName,
    secondary: bool,
    path_style: bool,
    path: String,
}

impl Place {
    /// Takes host and path apart.
    pub fn read(head: &RequestHead, always_path_style: bool) -> Result<Self, ApiError> {
        let address = address::parse(&head.host, &head.raw_path, always_path_style)?;
        // A name that no account can have is an account that is not there.
        let account = AccountName::parse(&address.account)
            .map_err(|_| AuthError::ResourceNotFound(Hidden::UnknownAccount))?;
        let address::Address { secondary, path_style, path, .. } = address;
        Ok(Self { account, secondary, path_style, path })
    }

    /// The path inside the account, decoded, without its leading slash.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Where a page of the account's website is.
    pub(crate) fn of_page(account: &AccountName, blob: &str) -> Self {
        let path = format!("$web/{blob}");
        Self { account: account.clone(), secondary: false, path_style: false, path }
    }
}

/// What is asked, where, and in which version to answer.
pub struct Asked<'a> {
    /// The head it came from.
    pub head: &'a RequestHead,
    /// The account.
    pub account: AccountName,
    /// What in it.
    pub target: Target,
    /// Asked of the `-secondary` endpoint.
    pub secondary: bool,
    /// The account is in the path rather than in the host.
    pub path_style: bool,
    /// The version to answer in.
    pub version: ApiVersion,
    /// Headers and parameters.
    pub fields: Fields<'a>,
}

impl<'a> Asked<'a> {
    /// Takes the head of a request to `place` apart, which is answered in `version`.
    pub fn read(
        head: &'a RequestHead,
        content_length: Option<u64>,
        place: Place,
        version: ApiVersion,
    ) -> Result<Self, ApiError> {
        let Place { account, secondary, path_style, path } = place;
        let fields = Fields::new(head, content_length, version)?;
        let target = Target::parse(&path, fields.query("restype"))?;
        Ok(Self { head, account, target, secondary, path_style, version, fields })
    }

    /// What it touches, as the permission rules see it.
    pub fn scope(&self) -> Scope<'_> {
        Scope {
            snapshot: self.fields.query("snapshot"),
            version: self.fields.query("versionid"),
            ..self.target.scope(&self.account)
        }
    }

    /// The service's URL as the client wrote it, for listings.
    pub fn endpoint(&self) -> String {
        let scheme = if self.head.secure { "https" } else { "http" };
        let host = &self.head.host;
        let suffix = if self.secondary { "-secondary" } else { "" };
        if self.path_style {
            format!("{scheme}://{host}/{}{suffix}/", self.account)
        } else {
            format!("{scheme}://{host}/")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(head: &RequestHead) -> Result<Asked<'_>, ApiError> {
        Asked::read(head, None, Place::read(head, false)?, ApiVersion::LATEST)
    }

    #[test]
    fn endpoints() {
        for (host, path, secure, want) in [
            ("127.0.0.1:10000", "/acct/c", false, "http://127.0.0.1:10000/acct/"),
            ("127.0.0.1", "/acct-secondary/c", true, "https://127.0.0.1/acct-secondary/"),
            ("acct.blob.localhost:1", "/c", false, "http://acct.blob.localhost:1/"),
            ("acct-secondary.blob.localhost", "/c", false, "http://acct-secondary.blob.localhost/"),
        ] {
            let mut head = RequestHead::sample("GET", path);
            host.clone_into(&mut head.host);
            head.secure = secure;
            assert_eq!(read(&head).expect("a good URL").endpoint(), want);
        }
    }

    #[test]
    fn bad_urls() {
        for (path, want) in [
            ("/", "InvalidUri"),
            ("/Upper/abc/b", "ResourceNotFound"),
            ("/acct/c/%", "RequestUrlFailedToParse"),
            ("/acct/A_B/b", "InvalidResourceName"),
            ("/acct/abc/b?snapshot=1&SNAPSHOT=2", "InvalidQueryParameterValue"),
        ] {
            let head = RequestHead::sample("GET", path);
            let error = read(&head).map(|_| ()).map_err(|e| e.code);
            assert_eq!(error, Err(want), "{path}");
        }
    }
}
