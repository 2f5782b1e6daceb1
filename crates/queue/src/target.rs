//! The part of a decoded path after the account: the service, a queue, its messages or one of them.
//!
//! Must never decode anything: it gets text that was decoded once and makes typed names of it.

use zaffre_auth::action::Scope;
use zaffre_base::{AccountName, Guid, QueueName};
use zaffre_core::queue::op::QueuePath;
use zaffre_http::ApiError;

/// What a path names inside an account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The account's Queue service.
    Service,
    /// A queue.
    Queue(QueueName),
    /// The messages of a queue.
    Messages(QueueName),
    /// One message; `None` = an id that no message can have.
    Message(QueueName, Option<Guid>),
}

/// What comes between a queue and a message.
const MESSAGES: &str = "messages";

impl Target {
    /// Reads the decoded path after the account, without its leading slash.
    pub fn parse(path: &str) -> Result<Self, ApiError> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let mut segments = path.split('/');
        let queue = segments.next().unwrap_or_default();
        if path.is_empty() {
            return Ok(Self::Service);
        }
        let queue = QueueName::parse(queue)?;
        match (segments.next(), segments.next(), segments.next()) {
            (None, ..) => Ok(Self::Queue(queue)),
            (Some(MESSAGES), None, _) => Ok(Self::Messages(queue)),
            (Some(MESSAGES), Some(id), None) => Ok(Self::Message(queue, Guid::parse(id))),
            _ => Err(ApiError::invalid_uri()),
        }
    }

    fn name(&self) -> Option<&QueueName> {
        match self {
            Self::Service => None,
            Self::Queue(queue) | Self::Messages(queue) | Self::Message(queue, _) => Some(queue),
        }
    }

    /// The queue's full name.
    pub fn queue(&self, account: &AccountName) -> Result<QueuePath, ApiError> {
        let queue = self.name().ok_or_else(ApiError::invalid_uri)?.clone();
        Ok(QueuePath { account: account.clone(), queue })
    }

    /// The message's id, if a message can have it.
    pub fn message(&self) -> Option<Guid> {
        match self {
            Self::Service | Self::Queue(_) | Self::Messages(_) => None,
            Self::Message(_, id) => *id,
        }
    }

    /// The same as the permission rules see it.
    pub fn scope<'a>(&'a self, account: &'a AccountName) -> Scope<'a> {
        match self.name() {
            None => Scope::account(account),
            Some(queue) => Scope::container(account, queue.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let id = "97b09622-0cf2-494e-bf3a-ea9c2842a7b6";
        for (path, want) in [
            ("", "service"),
            ("abc", "queue abc"),
            ("abc/", "queue abc"),
            ("abc/messages", "messages abc"),
            ("abc/messages/", "messages abc"),
            (&format!("abc/messages/{id}"), &format!("message abc {id}")),
            ("abc/messages/nonsense", "message abc -"),
            ("abc/messages/x/y", "InvalidUri"),
            ("abc/other", "InvalidUri"),
            ("abc//messages", "InvalidUri"),
            ("ABC", "InvalidResourceName"),
            ("a_b/messages", "InvalidResourceName"),
            ("ab", "OutOfRangeInput"),
        ] {
            let shown = match Target::parse(path) {
                Ok(Target::Service) => "service".to_owned(),
                Ok(Target::Queue(queue)) => format!("queue {queue}"),
                Ok(Target::Messages(queue)) => format!("messages {queue}"),
                Ok(Target::Message(queue, id)) => {
                    format!("message {queue} {}", id.map_or("-".to_owned(), |id| id.to_string()))
                }
                Err(error) => error.code.to_owned(),
            };
            assert_eq!(shown, want, "{path}");
        }
    }
}
