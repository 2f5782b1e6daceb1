//! The closed list of what the Queue service can be asked, first as a name, then as parsed data.
//!
//! Must never have a default arm: a new operation does not compile until every match handles it.

use crate::parse::Listing;
use zaffre_auth::action::Action;
use zaffre_core::queue::op;
use zaffre_core::service_properties::{
    GetServiceProperties, GetServiceStats, SetServiceProperties,
};

macro_rules! operations {
    ($($(#[$doc:meta])* $kind:ident($data:ty),)*) => {
        /// Which operation a request asks for.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            /// Its name, for the log.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => stringify!($kind),)* }
            }

            /// The row of the permission table.
            pub fn action(self) -> Action {
                match self { $(Self::$kind => Action::$kind,)* }
            }
        }

        /// A request whose head was parsed; what comes with the body is filled in later.
        #[derive(Clone, Debug)]
        pub enum QueueOperation { $($(#[$doc])* $kind($data),)* }
    };
}

operations! {
    /// Get Service Properties
    GetServiceProperties(GetServiceProperties),
    /// Set Service Properties
    SetServiceProperties(SetServiceProperties),
    /// Get Service Stats
    GetServiceStats(GetServiceStats),
    /// Get User Delegation Key; all it says comes with the body
    GetUserDelegationKey(()),
    /// List Queues
    ListQueues(Listing),
    /// Create Queue
    CreateQueue(op::CreateQueue),
    /// Delete Queue
    DeleteQueue(op::DeleteQueue),
    /// Get Queue Metadata
    GetQueueMetadata(op::GetQueueMetadata),
    /// Set Queue Metadata
    SetQueueMetadata(op::SetQueueMetadata),
    /// Get Queue ACL
    GetQueueAcl(op::GetQueueAcl),
    /// Set Queue ACL
    SetQueueAcl(op::SetQueueAcl),
    /// Put Message
    PutMessage(op::PutMessage),
    /// Get Messages
    GetMessages(op::GetMessages),
    /// Peek Messages
    PeekMessages(op::PeekMessages),
    /// Update Message
    UpdateMessage(op::UpdateMessage),
    /// Delete Message
    DeleteMessage(op::DeleteMessage),
    /// Clear Messages
    ClearMessages(op::ClearMessages),
}
