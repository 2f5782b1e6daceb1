//! The volume as a mounted file system.
//!
//! Must never let the kernel answer from a cache: attributes and names are valid for no time and
//! files are opened past the page cache, so that after a power loss nothing old is seen.
#![allow(clippy::too_many_arguments, reason = "the trait is the kernel's")]

use crate::volume::{About, Change, Fault, Volume};
use fuser::{
    AccessFlags, BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};
use std::ffi::OsStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const KEEP_SIZE: i32 = 1;
const PUNCH_HOLE: i32 = 2;
const NO_TIME: Duration = Duration::ZERO;
const BLOCK: u64 = 4096;
/// Blocks of a disk without a limit.
const MANY: u64 = 1 << 28;

/// The mounted volume.
#[derive(Clone, Debug, Default)]
pub struct Mounted(Arc<Mutex<Volume>>);

impl Mounted {
    /// The volume, for the kernel and for the commands.
    pub fn volume(&self) -> MutexGuard<'_, Volume> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attributes(&self, node: u64) -> Result<FileAttr, Fault> {
        self.volume().about(node).map(|about| attributes(node, about))
    }
}

fn attributes(node: u64, about: About) -> FileAttr {
    let (kind, perm) =
        if about.directory { (FileType::Directory, 0o755) } else { (FileType::RegularFile, 0o644) };
    FileAttr {
        ino: INodeNo(node),
        size: about.len,
        blocks: about.taken / 512,
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        flags: 0,
        blksize: 4096,
    }
}

fn errno(fault: Fault) -> Errno {
    match fault {
        Fault::Off => Errno::EIO,
        Fault::Missing => Errno::ENOENT,
        Fault::Exists => Errno::EEXIST,
        Fault::NotEmpty => Errno::ENOTEMPTY,
        Fault::Full => Errno::ENOSPC,
    }
}

fn text(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

fn empty(result: Result<(), Fault>, reply: ReplyEmpty) {
    match result {
        Ok(()) => reply.ok(),
        Err(fault) => reply.error(errno(fault)),
    }
}

fn entry(result: Result<FileAttr, Fault>, reply: ReplyEntry) {
    match result {
        Ok(found) => reply.entry(&NO_TIME, &found, Generation(0)),
        Err(fault) => reply.error(errno(fault)),
    }
}

impl Filesystem for Mounted {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.volume().find(parent.0, &text(name));
        entry(found.and_then(|node| self.attributes(node)), reply);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(ino.0) {
            Ok(found) => reply.attr(&NO_TIME, &found),
            Err(fault) => reply.error(errno(fault)),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _fh: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let cut = size.map_or(Ok(()), |len| self.volume().change(ino.0, Change::SetLen(len)));
        match cut.and_then(|()| self.attributes(ino.0)) {
            Ok(found) => reply.attr(&NO_TIME, &found),
            Err(fault) => reply.error(errno(fault)),
        }
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        _mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let made = self.volume().make(parent.0, &text(name), true);
        entry(made.and_then(|node| self.attributes(node)), reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self.volume().remove(parent.0, &text(name));
        empty(done, reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let done = self.volume().remove(parent.0, &text(name));
        empty(done, reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        newparent: INodeNo,
        newname: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        if !flags.is_empty() {
            return reply.error(Errno::EINVAL);
        }
        let (from, to) = (text(name), text(newname));
        let done = self.volume().rename((parent.0, &from), (newparent.0, &to));
        empty(done, reply);
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.volume().open(ino.0) {
            Ok(()) => reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO),
            Err(fault) => reply.error(errno(fault)),
        }
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        _mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        let mut volume = self.volume();
        let made = volume.make(parent.0, &text(name), false).and_then(|node| {
            volume.open(node)?;
            Ok(attributes(node, volume.about(node)?))
        });
        drop(volume);
        match made {
            Ok(found) => reply.created(
                &NO_TIME,
                &found,
                Generation(0),
                FileHandle(0),
                FopenFlags::FOPEN_DIRECT_IO,
            ),
            Err(fault) => reply.error(errno(fault)),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let got = self.volume().read(ino.0, offset, u64::from(size));
        match got {
            Ok(bytes) => reply.data(&bytes),
            Err(fault) => reply.error(errno(fault)),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let change = Change::Write { offset, data: data.to_vec() };
        let done = self.volume().change(ino.0, change);
        match done {
            Ok(()) => reply.written(u32::try_from(data.len()).unwrap_or(u32::MAX)),
            Err(fault) => reply.error(errno(fault)),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn release(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.volume().close(ino.0);
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _data: bool, reply: ReplyEmpty) {
        let done = self.volume().sync(ino.0);
        empty(done, reply);
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let listed = self.volume().list(ino.0);
        let names = match listed {
            Ok(names) => names,
            Err(fault) => return reply.error(errno(fault)),
        };
        let own = [".", ".."].map(|dots| (dots.to_owned(), ino.0, true));
        let after = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, (name, node, directory)) in own.into_iter().chain(names).enumerate().skip(after)
        {
            let kind = if directory { FileType::Directory } else { FileType::RegularFile };
            if reply.add(INodeNo(node), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, ino: INodeNo, _: FileHandle, _data: bool, reply: ReplyEmpty) {
        let done = self.volume().sync_names(ino.0);
        empty(done, reply);
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let (limit, used, _) = self.volume().state();
        let blocks = limit.map_or(MANY, |bytes| bytes / BLOCK);
        let free = blocks.saturating_sub(used / BLOCK);
        reply.statfs(blocks, free, free, MANY, MANY, 4096, 255, 4096);
    }

    fn access(&self, _: &Request, _: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let change = if mode & PUNCH_HOLE != 0 {
            Change::Punch { offset, len: length }
        } else {
            Change::Reserve { offset, len: length, keep_size: mode & KEEP_SIZE != 0 }
        };
        let done = self.volume().change(ino.0, change);
        empty(done, reply);
    }
}
