//! Which API version a request is answered in.
//!
//! Any well-formed version passes, newer ones than we know included: an SDK upgrade must never
//! break a user.

use crate::error::ApiError;
use crate::headers;
use crate::message::RequestHead;
use zaffre_base::ApiVersion;

const HEADER: &str = "x-ms-version";
const PARAMETER: &str = "api-version";
const SIGNED: &str = "sv";
const SIGNATURE: &str = "sig";

/// The version to answer in: `api-version` when the request is signed by its URL, then the
/// header, then `api-version`, then `sv`, and without any of them the latest.
pub fn effective(head: &RequestHead) -> Result<ApiVersion, ApiError> {
    let header = match headers::single(&head.headers, HEADER)? {
        Some(text) => Some(
            ApiVersion::parse(text).ok_or_else(|| ApiError::invalid_header_value(HEADER, text))?,
        ),
        None => None,
    };
    let parameter = match head.parameter(PARAMETER) {
        Some(text) => Some(ApiVersion::parse(text).ok_or_else(|| {
            ApiError::invalid_query_parameter(PARAMETER, text, "Not a service version.")
        })?),
        None => None,
    };
    let by_url = head.parameter(SIGNATURE).is_some();
    let chosen = if by_url { parameter.or(header) } else { header.or(parameter) };
    // A malformed `sv` is the authentication's to refuse.
    let signed = || head.parameter(SIGNED).and_then(ApiVersion::parse);
    Ok(chosen.or_else(signed).unwrap_or(ApiVersion::LATEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::RequestHead;

    #[test]
    fn sources() {
        let latest = ApiVersion::LATEST.to_string();
        for (header, query, want) in [
            (None, "", latest.as_str()),
            (Some("2019-12-12"), "", "2019-12-12"),
            (Some("2099-01-01"), "", "2099-01-01"),
            (Some("2019-12-12"), "api-version=2020-02-10", "2019-12-12"),
            (None, "api-version=2020-02-10", "2020-02-10"),
            (None, "sv=2018-11-09&sig=x", "2018-11-09"),
            (Some("2021-12-02"), "sv=2018-11-09&sig=x", "2021-12-02"),
            (Some("2021-12-02"), "sv=2018-11-09&sig=x&api-version=2020-02-10", "2020-02-10"),
            (None, "sv=garbage&sig=x", latest.as_str()),
            (Some("2019-13-12"), "", "InvalidHeaderValue"),
            (Some("latest"), "", "InvalidHeaderValue"),
            (Some("2008-10-27"), "", "InvalidHeaderValue"),
            (None, "api-version=1", "InvalidQueryParameterValue"),
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
