//! Which API version a request is processed with.
//!
//! Must never decide how a SAS is parsed: `sv` alone does that.

use zaffre_base::ApiVersion;

/// From this `sv` on, a SAS request may choose its protocol version by `x-ms-version`.
const HEADER_WINS_FROM: ApiVersion = ApiVersion::new(2014, 2, 14);
/// What a request without any credential or version is answered as.
const ANONYMOUS: ApiVersion = ApiVersion::new(2009, 9, 19);

/// A version that is no version: 400 InvalidHeaderValue or InvalidQueryParameterValue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VersionError {
    /// `x-ms-version` is malformed; its value.
    Header(String),
    /// `api-version` is malformed; its value.
    Parameter(String),
}

/// The version a request names: `x-ms-version`, or with a SAS first `api-version`, then
/// `x-ms-version` (unless `sv` is too old for that), then `sv`. `None` if it names none.
///
/// `sv` is the parameter of a SAS; leave it out when the request has an Authorization header.
/// A malformed `sv` counts as absent here, because authentication reports it.
pub fn effective_version(
    header: Option<&str>,
    api_version: Option<&str>,
    sv: Option<&str>,
) -> Result<Option<ApiVersion>, VersionError> {
    let parsed = |text: &str| ApiVersion::parse(text).ok_or_else(|| text.to_owned());
    let header = header.map(parsed).transpose().map_err(VersionError::Header)?;
    let Some(sv) = sv.and_then(ApiVersion::parse) else {
        return Ok(header);
    };
    let parameter = api_version.map(parsed).transpose().map_err(VersionError::Parameter)?;
    let header = if sv >= HEADER_WINS_FROM { header } else { None };
    Ok(parameter.or(header).or(Some(sv)))
}

/// The version of a request that names none: with a credential the newest, so that hand-written
/// requests get current behaviour; without one the oldest that anonymous readers rely on.
pub fn default_version(has_credential: bool) -> ApiVersion {
    if has_credential { ApiVersion::LATEST } else { ANONYMOUS }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_in_order() {
        for (header, parameter, sv, want) in [
            (None, None, None, Ok(None)),
            (Some("2020-02-10"), None, None, Ok(Some("2020-02-10"))),
            (Some("2020-02-10"), Some("2019-02-02"), None, Ok(Some("2020-02-10"))),
            (None, None, Some("2018-11-09"), Ok(Some("2018-11-09"))),
            (Some("2020-02-10"), None, Some("2018-11-09"), Ok(Some("2020-02-10"))),
            (Some("2020-02-10"), Some("2019-02-02"), Some("2018-11-09"), Ok(Some("2019-02-02"))),
            (Some("2020-02-10"), None, Some("2012-02-12"), Ok(Some("2012-02-12"))),
            (Some("2020-02-10"), None, Some("2014-02-14"), Ok(Some("2020-02-10"))),
            (None, None, Some("garbled"), Ok(None)),
            (Some("x"), None, None, Err(VersionError::Header("x".to_owned()))),
            (Some("x"), None, Some("2018-11-09"), Err(VersionError::Header("x".to_owned()))),
            (None, Some("y"), Some("2018-11-09"), Err(VersionError::Parameter("y".to_owned()))),
        ] {
            let got = effective_version(header, parameter, sv);
            let got = got.map(|v| v.map(|v| v.to_string()));
            let want = want.map(|v: Option<&str>| v.map(str::to_owned));
            assert_eq!(got, want, "{header:?} {parameter:?} {sv:?}");
        }
    }

    #[test]
    fn without_any_version() {
        assert_eq!(default_version(true), ApiVersion::LATEST);
        assert_eq!(default_version(false).to_string(), "2009-09-19");
    }
}
