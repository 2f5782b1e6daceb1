//! `x-ms-lease-*` headers into a [`LeaseCommand`].
//!
//! Must never know whether there is a lease: only what the request asks for.

use crate::fields::Fields;
use zaffre_base::{ApiVersion, Guid};
use zaffre_domain::lease::LeaseCommand;
use zaffre_http::ApiError;

const ACTION: &str = "x-ms-lease-action";
const DURATION: &str = "x-ms-lease-duration";
const BREAK_PERIOD: &str = "x-ms-lease-break-period";
const PROPOSED: &str = "x-ms-proposed-lease-id";
const ID: &str = "x-ms-lease-id";
/// From here on clients say how long they want a lease; before it was always a minute.
const DURATIONS: ApiVersion = ApiVersion::new(2012, 2, 12);
const OLD_SECONDS: u64 = 60;

/// Whether the request is to break a lease, which needs less permission than the other actions.
pub(crate) fn breaks(fields: &Fields<'_>) -> bool {
    matches!(fields.header(ACTION), Ok(Some(action)) if action.eq_ignore_ascii_case("break"))
}

/// What the request asks of the lease; `fallback` is the id when an acquire proposes none.
pub(super) fn command(fields: &Fields<'_>, fallback: Guid) -> Result<LeaseCommand, ApiError> {
    let action = fields.required(ACTION)?;
    let id = || required_guid(fields, ID);
    Ok(match action.to_ascii_lowercase().as_str() {
        "acquire" => LeaseCommand::Acquire {
            seconds: duration(fields)?,
            proposed: fields.guid(PROPOSED)?,
            fallback,
        },
        "renew" => LeaseCommand::Renew { id: id()? },
        "change" => LeaseCommand::Change { id: id()?, proposed: required_guid(fields, PROPOSED)? },
        "release" => LeaseCommand::Release { id: id()? },
        "break" => LeaseCommand::Break { period: break_period(fields)? },
        _ => return Err(ApiError::invalid_header_value(ACTION, action)),
    })
}

/// 15 to 60 seconds, or -1 for ever, which is `None`.
fn duration(fields: &Fields<'_>) -> Result<Option<u64>, ApiError> {
    if fields.version() < DURATIONS {
        return Ok(Some(OLD_SECONDS));
    }
    let text = fields.required(DURATION)?;
    match text.parse::<i64>().map(u64::try_from) {
        Ok(Ok(seconds @ 15..=60)) => Ok(Some(seconds)),
        _ if text == "-1" => Ok(None),
        _ => Err(ApiError::invalid_header_value(DURATION, text)),
    }
}

fn break_period(fields: &Fields<'_>) -> Result<Option<u64>, ApiError> {
    let Some(text) = fields.header(BREAK_PERIOD)? else { return Ok(None) };
    match text.parse::<u64>() {
        Ok(seconds @ 0..=60) => Ok(Some(seconds)),
        _ => Err(ApiError::invalid_header_value(BREAK_PERIOD, text)),
    }
}

fn required_guid(fields: &Fields<'_>, name: &str) -> Result<Guid, ApiError> {
    fields.guid(name)?.ok_or_else(|| ApiError::missing_required_header(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::{Ask, Headers};

    const A: &str = "11111111-1111-1111-1111-111111111111";
    const B: &str = "{22222222-2222-2222-2222-222222222222}";

    fn parsed(headers: &[(&str, &str)]) -> Result<LeaseCommand, String> {
        let ask = Ask::put("/c/b?comp=lease").with(headers);
        command(&ask.fields(), Guid(7)).map_err(|e| e.code.to_owned())
    }

    #[test]
    fn commands() {
        let a = Guid::parse(A).expect("a guid");
        let b = Guid::parse(B).expect("a guid");
        let acquire =
            |seconds, proposed| Ok(LeaseCommand::Acquire { seconds, proposed, fallback: Guid(7) });
        let missing = || Err("MissingRequiredHeader".to_owned());
        let invalid = || Err("InvalidHeaderValue".to_owned());
        let rows: [(Headers<'_>, Result<LeaseCommand, String>); 21] = [
            (&[(ACTION, "acquire"), (DURATION, "15")], acquire(Some(15), None)),
            (&[(ACTION, "Acquire"), (DURATION, "-1"), (PROPOSED, B)], acquire(None, Some(b))),
            (&[(ACTION, "acquire")], missing()),
            (&[(ACTION, "acquire"), (DURATION, "14")], invalid()),
            (&[(ACTION, "acquire"), (DURATION, "61")], invalid()),
            (&[(ACTION, "acquire"), (DURATION, "-2")], invalid()),
            (&[(ACTION, "acquire"), (DURATION, "x")], invalid()),
            (&[(ACTION, "acquire"), (DURATION, "15"), (PROPOSED, "x")], invalid()),
            (&[(ACTION, "renew"), (ID, A)], Ok(LeaseCommand::Renew { id: a })),
            (&[(ACTION, "renew")], missing()),
            (&[(ACTION, "renew"), (ID, "nonsense")], invalid()),
            (&[(ACTION, "release"), (ID, A)], Ok(LeaseCommand::Release { id: a })),
            (&[(ACTION, "release")], missing()),
            (&[(ACTION, "change"), (ID, A), (PROPOSED, B)], {
                Ok(LeaseCommand::Change { id: a, proposed: b })
            }),
            (&[(ACTION, "change"), (ID, A)], missing()),
            (&[(ACTION, "change"), (PROPOSED, A)], missing()),
            (&[(ACTION, "break")], Ok(LeaseCommand::Break { period: None })),
            (&[(ACTION, "break"), (BREAK_PERIOD, "60")], {
                Ok(LeaseCommand::Break { period: Some(60) })
            }),
            (&[(ACTION, "break"), (BREAK_PERIOD, "61")], invalid()),
            (&[(ACTION, "steal")], invalid()),
            (&[], missing()),
        ];
        for (headers, want) in rows {
            assert_eq!(parsed(headers), want, "{headers:?}");
        }
    }

    #[test]
    fn old_versions_lease_for_a_minute() {
        let ask = Ask::put("/c/b?comp=lease").with(&[(ACTION, "acquire")]).version("2011-08-18");
        let command = command(&ask.fields(), Guid(7)).ok();
        let want = LeaseCommand::Acquire { seconds: Some(60), proposed: None, fallback: Guid(7) };
        assert_eq!(command, Some(want));
    }
}
