//! The open table driven directly: every cell of the tables in `spec/` about REST beside SMB, and
//! the lives of handles, caches and locks.

mod cells;
mod durable;
mod lives;
mod promised;
mod streams;

use super::*;
use std::sync::Mutex as StdMutex;
use zaffre_base::{Incarnation, Timestamp};
use zaffre_domain::fs::FileId;
use zaffre_domain::fs::access::{AccessMask, Classes};
use zaffre_domain::fs::locks::{Range, Touch};
use zaffre_domain::fs::oplock::Caching;
use zaffre_domain::fs::rest::RestOp;
use zaffre_domain::fs::share_mode::OpenMode;

pub(super) const SECOND: Duration = Duration::from_secs(1);

/// A client that writes down what it hears.
#[derive(Default)]
pub(super) struct Ear(StdMutex<Vec<Event>>);

impl Listener for Ear {
    fn tell(&self, event: Event) {
        self.0.lock().expect("no panic").push(event);
    }
}

impl Ear {
    pub(super) fn take(&self) -> Vec<Event> {
        std::mem::take(&mut *self.0.lock().expect("no panic"))
    }
}

/// A table and a client.
pub(super) struct Rig {
    pub(super) opens: Opens,
    pub(super) ear: Arc<Ear>,
}

impl Rig {
    pub(super) fn new() -> Self {
        Self { opens: Opens::new(Clock::default()), ear: Arc::default() }
    }

    pub(super) fn owner(&self) -> Owner {
        Owner {
            listener: self.ear.clone(),
            session: 1,
            tree: 1,
            client_address: Arc::from("127.0.0.1:1"),
            client_name: Arc::from("client"),
        }
    }

    /// An open of file 7 that shares everything and caches nothing.
    pub(super) fn request(&self, access: &str) -> OpenRequest {
        let access = mask(access);
        OpenRequest {
            base: None,
            file: file(7),
            place: Place { above: Arc::from([FileId::ROOT]), path: "seven".to_owned() },
            directory: false,
            access,
            mode: OpenMode { access: access.classes(), share: Classes::ALL },
            overwrites: false,
            delete_on_close: false,
            wanted: Wanted::Nothing,
            rest_leased: false,
            owner: self.owner(),
        }
    }

    pub(super) fn attempt(&self, request: &OpenRequest) -> Result<Attempt<Opened>, Refused> {
        self.opens.try_open(request, false, self.opens.monotonic(), Timestamp(0))
    }

    pub(super) fn open(&self, request: &OpenRequest) -> Opened {
        match self.attempt(request) {
            Ok(Attempt::Done(opened)) => opened,
            other => panic!("not opened: {other:?}"),
        }
    }

    pub(super) fn touch(
        &self,
        handle: HandleId,
        range: Range,
        touch: Touch,
    ) -> Result<Attempt<Touching>, Refused> {
        self.opens.try_touch(handle, range, touch, self.opens.monotonic())
    }

    /// Reads or writes from now on.
    pub(super) fn touching(&self, handle: HandleId, range: Range, touch: Touch) -> Touching {
        match self.touch(handle, range, touch) {
            Ok(Attempt::Done(touching)) => touching,
            other => panic!("not let in: {other:?}"),
        }
    }

    pub(super) fn enter(&self, op: RestOp) -> Result<Attempt<Guard>, Refused> {
        self.opens.try_enter(file(7), op, self.opens.monotonic())
    }
}

pub(super) fn file(id: u64) -> FileKey {
    FileKey { share: Incarnation(1), file: FileId(id) }
}

pub(super) fn lease(key: u128, caching: Caching) -> Wanted {
    let lease = LeaseId { client: 1, key };
    Wanted::Lease { lease, caching, epoch: 0, second_version: true }
}

pub(super) fn mask(classes: &str) -> AccessMask {
    let bits = [('R', AccessMask::READ_DATA), ('W', AccessMask::WRITE_DATA)];
    let bits = bits.into_iter().chain([('D', AccessMask::DELETE)]);
    let attributes = AccessMask::READ_ATTRIBUTES;
    match classes {
        "attributes" | "none" => attributes,
        _ => bits
            .filter(|(class, _)| classes.contains(*class))
            .fold(attributes, |mask, (_, bit)| mask.union(bit)),
    }
}

pub(super) fn caching(text: &str) -> Caching {
    match text {
        "none" => Caching::NONE,
        "R" => Caching::R,
        "RH" => Caching::RH,
        "RW" => Caching::RW,
        "RWH" => Caching::RWH,
        other => panic!("no caching {other}"),
    }
}

/// The operation of a row; reads are of bytes 100 to 199.
pub(super) fn operation(name: &str) -> RestOp {
    let inside = Range { offset: 150, len: 10 };
    let beside = Range { offset: 200, len: 10 };
    match name {
        "List" => RestOp::List,
        "Get File" | "Get File inside" => RestOp::GetFile(inside),
        "Get File beside" => RestOp::GetFile(beside),
        "List Ranges" | "List Ranges inside" => RestOp::ListRanges(inside),
        "List Ranges beside" => RestOp::ListRanges(beside),
        "Get File Properties" => RestOp::GetProperties,
        "Put Range" => RestOp::PutRange,
        "Set File Properties" => RestOp::SetProperties { size: None },
        "Set File Size below" => RestOp::SetProperties { size: Some(150) },
        "Set File Size above" => RestOp::SetProperties { size: Some(200) },
        "Create File" => RestOp::Overwrite,
        "Delete File" => RestOp::Delete,
        "Lease File" => RestOp::AcquireLease,
        "Rename File" => RestOp::Rename,
        "Delete Directory" => RestOp::DeleteDirectory,
        "Rename Directory" => RestOp::RenameDirectory,
        other => panic!("no operation {other}"),
    }
}

/// What a try comes to, in the words of the tables.
pub(super) fn outcome<T>(tried: &Result<Attempt<T>, Refused>) -> &'static str {
    match tried {
        Ok(Attempt::Done(_)) => "ok",
        Ok(Attempt::Wait(_)) => "wait",
        Err(Refused::SharingViolation) => "SharingViolation",
        Err(Refused::LockConflict) => "FileLockConflict",
        Err(Refused::DeletePending) => "DeletePending",
        Err(_) => "another refusal",
    }
}
