//! Copies: what a head says about the one it is the destination of, and the row of one under way.

use super::{Content, Record, fields};
use minicbor::{Decode, Encode};
use zaffre_base::{ContentId, Guid, Incarnation, Stamp, Timestamp};
use zaffre_domain::blob::copy::CopyStatus;

/// What a head says about the copy that made it.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct CopyState {
    #[cbor(n(0), with = "fields")]
    pub(crate) id: Guid,
    /// The URL that was given, without its signature.
    #[n(1)]
    pub(crate) source: String,
    #[n(2)]
    status: Status,
    #[n(3)]
    pub(crate) done: u64,
    #[n(4)]
    pub(crate) total: u64,
    /// When it came to its end.
    #[cbor(n(5), with = "fields", has_nil)]
    pub(crate) completed: Option<Timestamp>,
    /// Why it failed.
    #[n(6)]
    pub(crate) description: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(index_only)]
enum Status {
    #[n(0)]
    Pending,
    #[n(1)]
    Success,
    #[n(2)]
    Aborted,
    #[n(3)]
    Failed,
}

impl CopyState {
    /// A copy that begins.
    pub(crate) fn pending(id: Guid, source: String, total: u64) -> Self {
        let status = Status::Pending;
        Self { id, source, status, done: 0, total, completed: None, description: None }
    }

    pub(crate) fn status(&self) -> CopyStatus {
        match self.status {
            Status::Pending => CopyStatus::Pending,
            Status::Success => CopyStatus::Success,
            Status::Aborted => CopyStatus::Aborted,
            Status::Failed => CopyStatus::Failed,
        }
    }

    /// The same copy at its end.
    pub(crate) fn ended(
        mut self,
        status: CopyStatus,
        at: Timestamp,
        description: Option<String>,
    ) -> Self {
        self.status = match status {
            CopyStatus::Pending => Status::Pending,
            CopyStatus::Success => Status::Success,
            CopyStatus::Aborted => Status::Aborted,
            CopyStatus::Failed => Status::Failed,
        };
        if status == CopyStatus::Success {
            self.done = self.total;
        }
        self.completed = Some(at);
        self.description = description;
        self
    }
}

/// What a head says about incremental copies, if it is what they made.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Incremental {
    /// The blob whose snapshots are copied: account, container and name.
    #[n(0)]
    pub(crate) source: String,
    /// The snapshot copied last, or being copied.
    #[cbor(n(1), with = "fields")]
    pub(crate) last: Timestamp,
    /// What the content was last made equal to.
    #[n(2)]
    pub(crate) equals: Option<Equals>,
    /// The snapshot that the last copy made.
    #[cbor(n(3), with = "fields", has_nil)]
    pub(crate) snapshot: Option<Stamp>,
}

/// A state of the source that a destination equals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Equals {
    #[cbor(n(0), with = "fields")]
    pub(crate) content: ContentId,
    #[cbor(n(1), with = "fields")]
    pub(crate) written: Stamp,
    #[cbor(n(2), with = "fields")]
    pub(crate) incarnation: Incarnation,
}

/// A copy under way. What it has written so far is named by the content it makes, all of it.
#[derive(Clone, PartialEq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct PendingCopy {
    #[n(0)]
    pub(crate) from: CopyFrom,
    /// What is made; of a list of blocks, the pages so far.
    #[n(1)]
    pub(crate) content: Content,
    /// Bytes copied. Of pages: everything before this offset of the source is.
    #[n(2)]
    pub(crate) done: u64,
    /// Blocks finished.
    #[n(3)]
    pub(crate) blocks: u32,
    /// Whether a head waits for it. If not, it ends with the request that started it.
    #[n(4)]
    pub(crate) attached: bool,
    #[cbor(n(5), with = "fields")]
    pub(crate) started: Timestamp,
    /// Only what differs from this is copied.
    #[n(6)]
    pub(crate) since: Option<Equals>,
}

/// Where a copy comes from.
#[derive(Clone, PartialEq, Debug, Encode, Decode)]
pub(crate) enum CopyFrom {
    /// A blob of this server, as it was.
    #[n(0)]
    Here(#[n(0)] Origin),
    /// Something on another server.
    #[n(1)]
    There(#[n(0)] Elsewhere),
}

/// One state of a blob of this server.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Origin {
    #[n(0)]
    pub(crate) account: String,
    #[n(1)]
    pub(crate) container: String,
    #[cbor(n(2), with = "fields")]
    pub(crate) incarnation: Incarnation,
    #[n(3)]
    pub(crate) blob: String,
    /// 1 a snapshot, 2 a version; absent = the current state.
    #[n(4)]
    pub(crate) moment: Option<u8>,
    #[cbor(n(5), with = "fields", has_nil)]
    pub(crate) moment_at: Option<Timestamp>,
    /// The commit whose state is copied.
    #[cbor(n(6), with = "fields")]
    pub(crate) written: Stamp,
}

/// Something on another server.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(crate) struct Elsewhere {
    /// The whole URL, signature and all: it is needed to go on after a restart.
    #[n(0)]
    pub(crate) url: String,
    /// What it must not change from.
    #[n(1)]
    pub(crate) etag: Option<String>,
}

impl Record for PendingCopy {
    const WHAT: &'static str = "copy under way";
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::*;

    #[test]
    fn round_trip() {
        let here = Origin {
            account: "a".to_owned(),
            container: "c".to_owned(),
            incarnation: Incarnation(3),
            blob: "b".to_owned(),
            moment: Some(1),
            moment_at: Some(Timestamp(9)),
            written: Stamp(8),
        };
        let there = Elsewhere { url: "http://h/x".to_owned(), etag: None };
        for from in [CopyFrom::Here(here), CopyFrom::There(there)] {
            let copy = PendingCopy {
                from,
                content: Content { id: ContentId(1), length: 7, shape: Shape::Sparse },
                done: 5,
                blocks: 2,
                attached: true,
                started: Timestamp(4),
                since: Some(Equals {
                    content: ContentId(6),
                    written: Stamp(7),
                    incarnation: Incarnation(1),
                }),
            };
            assert_eq!(PendingCopy::from_bytes(&copy.to_bytes()).ok(), Some(copy));
        }
    }
}
