//! `x-ms-lease-*` headers into a [`LeaseCommand`], for shares and for files.
//!
//! Must never know whether there is a lease: only what the request asks for.

use crate::fields;
use zaffre_base::Guid;
use zaffre_domain::lease::{BREAK_SECONDS, LEASE_SECONDS, LeaseCommand};
use zaffre_http::{ApiError, Asked};

const ACTION: &str = "x-ms-lease-action";
const DURATION: &str = "x-ms-lease-duration";
const BREAK_PERIOD: &str = "x-ms-lease-break-period";
const PROPOSED: &str = "x-ms-proposed-lease-id";
const ID: &str = "x-ms-lease-id";

/// Whether the request is to break a lease, which needs less permission than the other actions.
pub(crate) fn breaks(asked: &Asked<'_>) -> bool {
    matches!(asked.header(ACTION), Ok(Some(action)) if action.eq_ignore_ascii_case("break"))
}

/// What the request asks of a share's lease; `fallback` is the id when an acquire proposes none.
pub(crate) fn of_share(asked: &Asked<'_>, fallback: Guid) -> Result<LeaseCommand, ApiError> {
    let action = fields::required(asked, ACTION)?;
    Ok(match action.to_ascii_lowercase().as_str() {
        "acquire" => LeaseCommand::Acquire {
            seconds: duration(asked)?,
            proposed: fields::guid(asked, PROPOSED)?,
            fallback,
        },
        "renew" => LeaseCommand::Renew { id: required_guid(asked, ID)? },
        "break" => {
            let (least, most) = BREAK_SECONDS.into_inner();
            LeaseCommand::Break { period: fields::number(asked, BREAK_PERIOD, least, most)? }
        }
        _ => change_or_release(asked, action)?,
    })
}

/// What the request asks of a file's lease, which is for ever or not at all.
pub(crate) fn of_file(asked: &Asked<'_>, fallback: Guid) -> Result<LeaseCommand, ApiError> {
    let action = fields::required(asked, ACTION)?;
    Ok(match action.to_ascii_lowercase().as_str() {
        "acquire" => {
            let text = fields::required(asked, DURATION)?;
            if text != "-1" {
                return Err(ApiError::invalid_header_value(DURATION, text));
            }
            let proposed = fields::guid(asked, PROPOSED)?;
            LeaseCommand::Acquire { seconds: None, proposed, fallback }
        }
        // A lease without end has no time left.
        "break" => LeaseCommand::Break { period: Some(0) },
        _ => change_or_release(asked, action)?,
    })
}

fn change_or_release(asked: &Asked<'_>, action: &str) -> Result<LeaseCommand, ApiError> {
    let id = || required_guid(asked, ID);
    match action.to_ascii_lowercase().as_str() {
        "change" => {
            Ok(LeaseCommand::Change { id: id()?, proposed: required_guid(asked, PROPOSED)? })
        }
        "release" => Ok(LeaseCommand::Release { id: id()? }),
        _ => Err(ApiError::invalid_header_value(ACTION, action)),
    }
}

/// 15 to 60 seconds, or -1 for ever, which is `None`.
fn duration(asked: &Asked<'_>) -> Result<Option<u64>, ApiError> {
    let text = fields::required(asked, DURATION)?;
    match text.parse::<u64>() {
        Ok(seconds) if LEASE_SECONDS.contains(&seconds) => Ok(Some(seconds)),
        _ if text == "-1" => Ok(None),
        _ => Err(ApiError::invalid_header_value(DURATION, text)),
    }
}

fn required_guid(asked: &Asked<'_>, name: &str) -> Result<Guid, ApiError> {
    fields::guid(asked, name)?.ok_or_else(|| ApiError::missing_required_header(name))
}
