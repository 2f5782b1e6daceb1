//! Headers and query into one typed operation, every syntax error found on the way.
//!
//! Must never read a body, look anything up, or check a permission.

use crate::operation::{Kind, QueueOperation};
use crate::target::Target;
use std::time::Duration;
use zaffre_auth::Service;
use zaffre_base::AccountName;
use zaffre_base::limits::{
    DEFAULT_MESSAGE_SECONDS, DEFAULT_VISIBILITY_SECONDS, LIST_PAGE, MESSAGES_AT_ONCE,
    OLD_VISIBILITY_SECONDS, VISIBILITY_SECONDS,
};
use zaffre_core::queue::op;
use zaffre_core::service_properties::{
    GetServiceProperties, GetServiceStats, SetServiceProperties,
};
use zaffre_domain::queue::Lifetime;
use zaffre_domain::service::ServicePropertiesUpdate;
use zaffre_http::{ApiError, Asked, codes};

/// From which version on things are as they are today.
pub mod since {
    use zaffre_base::ApiVersion;

    /// Update Message, invisible puts, 64 KiB of text, a week of invisibility.
    pub const UPDATES: ApiVersion = ApiVersion::new(2011, 8, 18);
    /// `ServiceEndpoint` instead of `AccountName` and `Url`.
    pub const PRESENT_LISTINGS: ApiVersion = ApiVersion::new(2013, 8, 15);
    /// Put Message answers with the message.
    pub const PUT_ANSWERS: ApiVersion = ApiVersion::new(2016, 5, 31);
    /// Messages may live for any time, or for ever.
    pub const ANY_LIFETIME: ApiVersion = ApiVersion::new(2017, 7, 29);
}

const VISIBILITY: &str = "visibilitytimeout";
const LIFETIME: &str = "messagettl";

/// List Queues with what its answer repeats.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The operation.
    pub op: op::ListQueues,
    /// `prefix` as sent.
    pub prefix: Option<String>,
    /// `marker` as sent.
    pub marker: Option<String>,
    /// `maxresults` as sent.
    pub max_results: Option<u64>,
}

/// Parses the head of a request that was routed to `kind`.
pub fn operation(
    kind: Kind,
    target: &Target,
    asked: &Asked<'_>,
) -> Result<QueueOperation, ApiError> {
    use QueueOperation as Q;
    asked.check_timeout()?;
    let account = &asked.to.account;
    let queue = || target.queue(account);
    Ok(match kind {
        Kind::GetServiceProperties => Q::GetServiceProperties(GetServiceProperties {
            account: account.clone(),
            service: Service::Queue,
        }),
        Kind::SetServiceProperties => Q::SetServiceProperties(SetServiceProperties {
            account: account.clone(),
            service: Service::Queue,
            update: ServicePropertiesUpdate::default(),
        }),
        Kind::GetServiceStats => Q::GetServiceStats(GetServiceStats { account: account.clone() }),
        Kind::GetUserDelegationKey => Q::GetUserDelegationKey(()),
        Kind::ListQueues => Q::ListQueues(list(account, asked)?),
        Kind::CreateQueue => {
            Q::CreateQueue(op::CreateQueue { at: queue()?, metadata: asked.metadata()? })
        }
        Kind::DeleteQueue => Q::DeleteQueue(op::DeleteQueue { at: queue()? }),
        Kind::GetQueueMetadata => Q::GetQueueMetadata(op::GetQueueMetadata { at: queue()? }),
        Kind::SetQueueMetadata => {
            Q::SetQueueMetadata(op::SetQueueMetadata { at: queue()?, metadata: asked.metadata()? })
        }
        Kind::GetQueueAcl => Q::GetQueueAcl(op::GetQueueAcl { at: queue()? }),
        Kind::SetQueueAcl => Q::SetQueueAcl(op::SetQueueAcl { at: queue()?, policies: Vec::new() }),
        Kind::PutMessage => Q::PutMessage(put(queue()?, asked)?),
        Kind::GetMessages => Q::GetMessages(op::GetMessages {
            at: queue()?,
            count: count(asked)?,
            hold: visibility(asked, 1)?.unwrap_or(Duration::from_secs(DEFAULT_VISIBILITY_SECONDS)),
        }),
        Kind::PeekMessages => {
            Q::PeekMessages(op::PeekMessages { at: queue()?, count: count(asked)? })
        }
        Kind::UpdateMessage => Q::UpdateMessage(op::UpdateMessage {
            at: queue()?,
            id: target.message(),
            receipt: asked.required_query("popreceipt")?.to_owned(),
            delay: visibility(asked, 0)?
                .ok_or_else(|| ApiError::missing_required_query(VISIBILITY))?,
            text: None,
        }),
        Kind::DeleteMessage => Q::DeleteMessage(op::DeleteMessage {
            at: queue()?,
            id: target.message(),
            receipt: asked.required_query("popreceipt")?.to_owned(),
        }),
        Kind::ClearMessages => Q::ClearMessages(op::ClearMessages { at: queue()? }),
    })
}

fn list(account: &AccountName, asked: &Asked<'_>) -> Result<Listing, ApiError> {
    let text = |name| asked.query(name).map(str::to_owned);
    // More than a page is a page, whatever number was sent.
    let most = u64::try_from(i64::MAX).unwrap_or(u64::MAX);
    let max_results = asked.number("maxresults", 1, most).map_err(|mut error| {
        error.details.retain(|(name, _)| *name != "MaximumAllowed");
        error.detail("MaximumAllowed", LIST_PAGE.to_string())
    })?;
    let page = max_results.map_or(LIST_PAGE, |n| u32::try_from(n).unwrap_or(LIST_PAGE));
    let (prefix, marker) = (text("prefix"), text("marker"));
    let op = op::ListQueues {
        account: account.clone(),
        prefix: prefix.clone().unwrap_or_default(),
        marker: marker.clone().filter(|marker| !marker.is_empty()),
        max_results: page.min(LIST_PAGE),
        include_metadata: includes_metadata(asked)?,
    };
    Ok(Listing { op, prefix, marker, max_results })
}

fn includes_metadata(asked: &Asked<'_>) -> Result<bool, ApiError> {
    const NAME: &str = "include";
    let mut found = false;
    let values = asked.query_all(NAME).flat_map(|list| list.split(','));
    for value in values.map(str::trim).filter(|value| !value.is_empty()) {
        if !value.eq_ignore_ascii_case("metadata") {
            let reason = "Invalid query parameter value.";
            return Err(ApiError::invalid_query_parameter(NAME, value, reason));
        }
        found = true;
    }
    Ok(found)
}

/// The text comes with the body.
fn put(at: op::QueuePath, asked: &Asked<'_>) -> Result<op::PutMessage, ApiError> {
    if asked.version < since::UPDATES && asked.query(VISIBILITY).is_some() {
        return Err(ApiError::from(codes::UNSUPPORTED_QUERY_PARAMETER)
            .detail("QueryParameterName", VISIBILITY));
    }
    let delay = visibility(asked, 0)?.unwrap_or_default();
    Ok(op::PutMessage { at, text: String::new(), lifetime: lifetime(asked)?, delay })
}

fn lifetime(asked: &Asked<'_>) -> Result<Lifetime, ApiError> {
    if asked.version < since::ANY_LIFETIME {
        let seconds = asked.number(LIFETIME, 1, DEFAULT_MESSAGE_SECONDS)?;
        return Ok(Lifetime::Seconds(seconds.unwrap_or(DEFAULT_MESSAGE_SECONDS)));
    }
    match asked.integer(LIFETIME)? {
        None => Ok(Lifetime::Seconds(DEFAULT_MESSAGE_SECONDS)),
        Some(-1) => Ok(Lifetime::Forever),
        Some(seconds) => match u64::try_from(seconds) {
            Ok(seconds @ 1..) => Ok(Lifetime::Seconds(seconds)),
            _ => Err(ApiError::invalid_query_parameter(
                LIFETIME,
                &seconds.to_string(),
                "Value must be greater than or equal to 1, or -1 to indicate an infinite TTL.",
            )),
        },
    }
}

fn count(asked: &Asked<'_>) -> Result<usize, ApiError> {
    let count = asked.number("numofmessages", 1, MESSAGES_AT_ONCE)?.unwrap_or(1);
    Ok(usize::try_from(count).unwrap_or(1))
}

fn visibility(asked: &Asked<'_>, least: u64) -> Result<Option<Duration>, ApiError> {
    let most =
        if asked.version < since::UPDATES { OLD_VISIBILITY_SECONDS } else { VISIBILITY_SECONDS };
    Ok(asked.number(VISIBILITY, least, most)?.map(Duration::from_secs))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_base::ApiVersion;
    use zaffre_http::{Destination, RequestHead};

    fn parsed(kind: Kind, path: &str, version: ApiVersion) -> String {
        let head = RequestHead::sample("GET", &format!("/acct{path}"));
        let parsed = Destination::read(&head, false).and_then(|to| {
            let target = Target::parse(&to.path)?;
            operation(kind, &target, &Asked::new(&head, to, None, version)?)
        });
        match parsed {
            Ok(QueueOperation::PutMessage(op)) => format!("{:?} {:?}", op.lifetime, op.delay),
            Ok(QueueOperation::GetMessages(op)) => format!("{} {:?}", op.count, op.hold),
            Ok(QueueOperation::PeekMessages(op)) => format!("{}", op.count),
            Ok(QueueOperation::UpdateMessage(op)) => format!("{} {:?}", op.receipt, op.delay),
            Ok(QueueOperation::DeleteMessage(op)) => op.receipt,
            Ok(QueueOperation::ListQueues(list)) => {
                format!("{} {}", list.op.max_results, list.op.include_metadata)
            }
            Ok(other) => format!("{other:?}"),
            Err(error) => error.code.to_owned(),
        }
    }

    #[test]
    fn parameters() {
        use Kind as K;
        let (range, invalid) = ("OutOfRangeQueryParameterValue", "InvalidQueryParameterValue");
        let missing = "MissingRequiredQueryParameter";
        for (kind, query, want) in [
            (K::PutMessage, "", "Seconds(604800) 0ns"),
            (K::PutMessage, "messagettl=-1&visibilitytimeout=604800", "Forever 604800s"),
            (K::PutMessage, "messagettl=1", "Seconds(1) 0ns"),
            (K::PutMessage, "messagettl=99999999999", "Seconds(99999999999) 0ns"),
            (K::PutMessage, "messagettl=0", invalid),
            (K::PutMessage, "messagettl=-2", invalid),
            (K::PutMessage, "messagettl=x", invalid),
            (K::PutMessage, "visibilitytimeout=-1", range),
            (K::PutMessage, "visibilitytimeout=604801", range),
            (K::GetMessages, "", "1 30s"),
            (K::GetMessages, "numofmessages=32&visibilitytimeout=1", "32 1s"),
            (K::GetMessages, "numofmessages=33", range),
            (K::GetMessages, "numofmessages=0", range),
            (K::GetMessages, "numofmessages=two", invalid),
            (K::GetMessages, "visibilitytimeout=0", range),
            (K::PeekMessages, "numofmessages=2&visibilitytimeout=0", "2"),
            (K::UpdateMessage, "popreceipt=r&visibilitytimeout=0", "r 0ns"),
            (K::UpdateMessage, "popreceipt=r", missing),
            (K::UpdateMessage, "visibilitytimeout=1", missing),
            (K::UpdateMessage, "popreceipt=r&visibilitytimeout=604801", range),
            (K::DeleteMessage, "popreceipt=r", "r"),
            (K::DeleteMessage, "", missing),
            (K::ListQueues, "maxresults=6000&include=metadata", "5000 true"),
            (K::ListQueues, "maxresults=7", "7 false"),
            (K::ListQueues, "maxresults=0", range),
            (K::ListQueues, "include=everything", invalid),
            (K::ListQueues, "timeout=soon", invalid),
        ] {
            let path = format!("/abc/messages/x?{query}");
            assert_eq!(parsed(kind, &path, ApiVersion::LATEST), want, "{kind:?} {query}");
        }
    }

    #[test]
    fn old_versions() {
        use Kind as K;
        let range = "OutOfRangeQueryParameterValue";
        let (first, middle) = (ApiVersion::new(2009, 9, 19), ApiVersion::new(2016, 5, 31));
        for (kind, query, version, want) in [
            (K::PutMessage, "messagettl=604800", middle, "Seconds(604800) 0ns"),
            (K::PutMessage, "messagettl=604801", middle, range),
            (K::PutMessage, "messagettl=-1", middle, range),
            (K::PutMessage, "visibilitytimeout=1", first, "UnsupportedQueryParameter"),
            (K::GetMessages, "visibilitytimeout=7200", first, "1 7200s"),
            (K::GetMessages, "visibilitytimeout=7201", first, range),
        ] {
            let path = format!("/abc/messages?{query}");
            assert_eq!(parsed(kind, &path, version), want, "{kind:?} {query} {version}");
        }
    }
}
