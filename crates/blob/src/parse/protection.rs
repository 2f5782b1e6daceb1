//! Immutability policies and legal holds: their headers on uploads, and operations of their own.
//!
//! Must never decide what a policy allows: the domain does.

use super::conditions::conditions;
use super::moment;
use crate::fields::Fields;
use zaffre_base::Timestamp;
use zaffre_core::blob::op::{self, BlobPath};
use zaffre_domain::blob::immutability::{ImmutabilityPolicy, PolicyMode, Protection};
use zaffre_domain::conditions::ConditionalOperation as Op;
use zaffre_http::ApiError;

const UNTIL: &str = "x-ms-immutability-policy-until-date";
const MODE: &str = "x-ms-immutability-policy-mode";
const HOLD: &str = "x-ms-legal-hold";

/// What a new blob is protected by from the start.
pub(super) fn given(fields: &Fields<'_>) -> Result<Protection, ApiError> {
    let policy = match (fields.header(UNTIL)?, fields.header(MODE)?) {
        (None, None) => None,
        _ => Some(policy(fields)?),
    };
    // On a new blob "no hold" says nothing.
    let legal_hold = fields.flag(HOLD)?.then_some(true);
    Ok(Protection { policy, legal_hold })
}

fn policy(fields: &Fields<'_>) -> Result<ImmutabilityPolicy, ApiError> {
    let text = fields.required(UNTIL)?;
    let until = Timestamp::parse_http(text);
    let until = until.ok_or_else(|| ApiError::invalid_header_value(UNTIL, text))?;
    let mode = match fields.header(MODE)? {
        None => PolicyMode::default(),
        Some(text) => {
            PolicyMode::parse(text).ok_or_else(|| ApiError::invalid_header_value(MODE, text))?
        }
    };
    Ok(ImmutabilityPolicy { until, mode })
}

pub(super) fn set_policy(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<op::SetBlobImmutabilityPolicy, ApiError> {
    let at = moment::of(fields, at)?;
    let conditions = conditions(fields, Op::SetBlobImmutabilityPolicy)?;
    Ok(op::SetBlobImmutabilityPolicy { at, policy: policy(fields)?, conditions })
}

pub(super) fn delete_policy(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<op::DeleteBlobImmutabilityPolicy, ApiError> {
    Ok(op::DeleteBlobImmutabilityPolicy { at: moment::of(fields, at)? })
}

pub(super) fn set_hold(
    fields: &Fields<'_>,
    at: BlobPath,
) -> Result<op::SetBlobLegalHold, ApiError> {
    fields.required(HOLD)?;
    Ok(op::SetBlobLegalHold { at: moment::of(fields, at)?, hold: fields.flag(HOLD)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::{Ask, Headers};

    const DATE: &str = "Sun, 15 Nov 2026 12:00:00 GMT";

    #[test]
    fn headers_of_uploads() {
        let until = Timestamp::parse_http(DATE).expect("a date");
        let policy = |mode| Some(ImmutabilityPolicy { until, mode });
        let rows: [(Headers<'_>, _); 9] = [
            (&[], Ok((None, None))),
            (&[(UNTIL, DATE)], Ok((policy(PolicyMode::Unlocked), None))),
            (&[(UNTIL, DATE), (MODE, "Locked")], Ok((policy(PolicyMode::Locked), None))),
            (&[(UNTIL, DATE), (MODE, "Firm")], Err("InvalidHeaderValue")),
            (&[(UNTIL, "tomorrow")], Err("InvalidHeaderValue")),
            (&[(MODE, "Locked")], Err("MissingRequiredHeader")),
            (&[(HOLD, "true")], Ok((None, Some(true)))),
            (&[(HOLD, "false")], Ok((None, None))),
            (&[(HOLD, "yes")], Err("InvalidHeaderValue")),
        ];
        for (headers, want) in rows {
            let ask = Ask::put("/c/b").with(headers);
            let got = given(&ask.fields()).map_err(|e| e.code);
            assert_eq!(got.map(|p| (p.policy, p.legal_hold)), want, "{headers:?}");
        }
    }
}
