//! Which API version a request is answered in.
//!
//! Any well-formed version passes, newer ones than we know included: an SDK upgrade must never
//! break a user.

use crate::error::ApiError;
use crate::headers;
use crate::message::RequestHead;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use zaffre_auth::{VersionError, default_version, effective_version};
use zaffre_base::ApiVersion;

const HEADER: HeaderName = HeaderName::from_static("x-ms-version");
const PARAMETER: &str = "api-version";
const SIGNED: &str = "sv";
const SIGNATURE: &str = "sig";

/// The version to answer in. Which source wins is decided by `zaffre_auth`.
pub fn effective(head: &RequestHead) -> Result<ApiVersion, ApiError> {
    effective_or(head, None)
}

/// The same, where the account has chosen a version for requests that name none.
pub fn effective_or(
    head: &RequestHead,
    default: Option<ApiVersion>,
) -> Result<ApiVersion, ApiError> {
    let sent = head.headers.get_all(HEADER).iter().map(HeaderValue::as_bytes);
    let header = headers::single_of(sent, HEADER.as_str())?;
    // Nearly every request names its version there, and has no parameters that may do so as well.
    let by_header = || head.headers.contains_key(AUTHORIZATION);
    let sv = head.parameter(SIGNED).filter(|_| !by_header());
    let named = effective_version(header, head.parameter(PARAMETER), sv)?;
    let has_credential = || by_header() || head.parameter(SIGNATURE).is_some();
    Ok(named.or(default).unwrap_or_else(|| default_version(has_credential())))
}

impl From<VersionError> for ApiError {
    fn from(error: VersionError) -> Self {
        match error {
            VersionError::Header(value) => Self::invalid_header_value(HEADER.as_str(), &value),
            VersionError::Parameter(value) => {
                Self::invalid_query_parameter(PARAMETER, &value, "Not a service version.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources() {
        let latest = ApiVersion::LATEST.to_string();
        for (header, query, want) in [
            (None, "", "2009-09-19"),
            (Some("2019-12-12"), "", "2019-12-12"),
            (Some("2099-01-01"), "", "2099-01-01"),
            (None, "sv=2018-11-09&sig=x", "2018-11-09"),
            (Some("2021-12-02"), "sv=2018-11-09&sig=x", "2021-12-02"),
            (Some("2021-12-02"), "sv=2018-11-09&sig=x&api-version=2020-02-10", "2020-02-10"),
            (None, "sv=garbage&sig=x", latest.as_str()),
            (Some("2019-13-12"), "", "InvalidHeaderValue"),
            (Some("2008-10-27"), "", "InvalidHeaderValue"),
            (None, "sv=2018-11-09&sig=x&api-version=1", "InvalidQueryParameterValue"),
        ] {
            let mut head = RequestHead::sample("GET", &format!("/a/c?{query}"));
            if let Some(value) = header {
                head.headers.insert(HEADER, value.parse().expect("a test's header"));
            }
            let shown = match effective(&head) {
                Ok(version) => version.to_string(),
                Err(error) => error.code.to_owned(),
            };
            assert_eq!(shown, want, "{header:?} {query}");
        }
    }
}
