//! What each operation needs permission for, and where.

use super::op::{
    ClearMessages, CreateQueue, DeleteMessage, DeleteQueue, GetMessages, GetQueueAcl,
    GetQueueMetadata, ListQueues, PeekMessages, PutMessage, SetQueueAcl, SetQueueMetadata,
    UpdateMessage,
};
use zaffre_auth::action::{Action, Guarded, Scope};

macro_rules! guarded {
    ($($op:ident),* $(,)?) => {$(
        impl Guarded for $op {
            fn action(&self) -> Action {
                Action::$op
            }

            fn scope(&self) -> Scope<'_> {
                Scope::container(&self.at.account, self.at.queue.as_str())
            }
        }
    )*};
}

guarded!(
    CreateQueue,
    DeleteQueue,
    GetQueueMetadata,
    SetQueueMetadata,
    GetQueueAcl,
    SetQueueAcl,
    PutMessage,
    GetMessages,
    PeekMessages,
    UpdateMessage,
    DeleteMessage,
    ClearMessages,
);

impl Guarded for ListQueues {
    fn action(&self) -> Action {
        Action::ListQueues
    }

    fn scope(&self) -> Scope<'_> {
        Scope::account(&self.account)
    }
}
