//! The data directory: its lock, its format version, and how it comes into being.
//!
//! ```text
//! LOCK        held by the one process that uses the directory
//! FORMAT      two lines of text: what this is, and the format version with its checksum
//! meta.redb   the tree: all metadata up to the last checkpoint
//! journal.0/1 the commits since then
//! segments/   all larger bytes
//! ```
//!
//! Must never create an empty store where there was one: a directory without FORMAT is only taken
//! if nothing in it could be ours, and meta.redb gets its name only after FORMAT is durable.

use crate::disk::{Disk, OpenMode, SEALED};
use crate::error::StoreError;
use crate::meta::JOURNALS;
use std::io;
use std::sync::Arc;
use zaffre_base::checksum::crc32c;

/// The version this program writes. What it means for a directory to be of an older version that it
/// reads is that some kinds of rows are not in it yet.
pub const FORMAT_VERSION: u32 = 3;
/// The oldest version this program reads; such a directory becomes one of the newest when it is
/// opened, before anything is written that older programs would misread.
const OLDEST_VERSION: u32 = 1;

const TITLE: &str = "zaffre data directory";
pub(crate) const FORMAT: &str = "FORMAT";
const FORMAT_NEW: &str = "FORMAT.new";
pub(crate) const META: &str = "meta.redb";
const META_NEW: &str = "meta.new";
/// Where segments live.
pub(crate) const SEGMENTS: &str = "segments";

/// Why a data directory could not be opened; each text says what to do.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error(
        "another zaffre is already using this data directory; stop it, or give this one its own \
         with --location"
    )]
    Locked,
    /// We may not write there.
    #[error(
        "the data directory cannot be written ({0}); check its owner and permissions, or choose \
         another with --location"
    )]
    NotWritable(String),
    /// There is something else in it.
    #[error(
        "the directory holds files that are not zaffre's ({0}); choose an empty or new directory \
         with --location"
    )]
    Foreign(String),
    /// It was written by another version.
    #[error(
        "the data directory has format {found}, this program reads formats {OLDEST_VERSION} to \
         {FORMAT_VERSION}; use the zaffre version that wrote it, or upgrade this program"
    )]
    Version {
        /// The version found.
        found: u32,
    },
    /// A file that must be there is missing or damaged.
    #[error(
        "the data directory is damaged: {0}; restore it from a backup, or run `zaffre check` on it"
    )]
    Damaged(String),
    /// It is encrypted, and no key was given.
    #[error("the data directory is encrypted; give its key with --encryption-key-file")]
    Encrypted,
    /// A key was given for a directory that is not encrypted.
    #[error(
        "the data directory is not encrypted; start without --encryption-key-file, or choose a new \
         directory with --location"
    )]
    NotEncrypted,
    /// It is encrypted with another key.
    #[error("the data directory is encrypted with another key than that of --encryption-key-file")]
    WrongKey,
    /// The disk failed.
    #[error("the data directory cannot be opened: {0}")]
    Store(#[from] StoreError),
}

pub(crate) fn io_error(doing: &'static str) -> impl Fn(io::Error) -> OpenError {
    move |error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            OpenError::NotWritable(error.to_string())
        }
        _ => OpenError::Store(StoreError::io(doing, error)),
    }
}

/// A lock held until its last clone is dropped. Whatever writes to the directory has one, so that
/// no other process can open it while a thread or a task of this one still writes. The default one
/// locks nothing.
#[derive(Clone, Default)]
pub(crate) struct Lock {
    _held: Option<Arc<dyn Send + Sync>>,
}

impl std::fmt::Debug for Lock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lock")
    }
}

/// Takes the directory's lock.
pub(crate) fn lock(disk: &dyn Disk) -> Result<Lock, OpenError> {
    match disk.lock() {
        Ok(guard) => Ok(Lock { _held: Some(Arc::from(guard)) }),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(OpenError::Locked),
        Err(error) => Err(io_error("locking the data directory")(error)),
    }
}

/// An error unless the directory is a store of our version.
pub(crate) fn require(disk: &dyn Disk) -> Result<(), OpenError> {
    let names = disk.list("").map_err(io_error("reading the data directory"))?;
    if names.iter().any(|n| n == FORMAT) {
        return format_of(disk).map(|_| ());
    }
    refuse_foreign(disk, &names)?;
    Err(OpenError::Damaged(format!("{FORMAT} is missing: this is not a zaffre data directory")))
}

/// Makes sure that the directory is a complete store of our version, creating it if it is new.
/// `create_meta` makes an empty, synced metadata file under the name it is given.
pub(crate) fn prepare(
    disk: &dyn Disk,
    create_meta: impl FnOnce(&str) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let fail = io_error("reading the data directory");
    let names = disk.list("").map_err(&fail)?;
    let has = |name: &str| names.iter().any(|n| n == name);
    if has(FORMAT) {
        if format_of(disk)? < FORMAT_VERSION {
            write_format(disk)?;
        }
    } else {
        refuse_foreign(disk, &names)?;
        create(disk, has(META_NEW), create_meta)?;
    }
    if has(META) {
        return Ok(());
    }
    // Creation was cut short after FORMAT, or this is the end of it.
    disk.rename(META_NEW, META).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => OpenError::Damaged(format!("{META} is missing")),
        _ => fail(error),
    })?;
    disk.sync_dir("").map_err(fail)
}

fn refuse_foreign(disk: &dyn Disk, names: &[String]) -> Result<(), OpenError> {
    if names.iter().any(|n| n == META) {
        return Err(OpenError::Damaged(format!("{FORMAT} is missing beside {META}")));
    }
    // No segment is made before FORMAT is durable, so these are somebody's data.
    let segments = match disk.list(SEGMENTS) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        other => other.map_err(io_error("reading the segments' folder"))?,
    };
    if !segments.is_empty() {
        return Err(OpenError::Damaged(format!("{FORMAT} and {META} are missing beside segments")));
    }
    let ours = ["LOCK", FORMAT_NEW, META_NEW, JOURNALS[0], JOURNALS[1]];
    match names.iter().find(|n| !ours.contains(&n.as_str())) {
        Some(foreign) => Err(OpenError::Foreign(foreign.clone())),
        None => Ok(()),
    }
}

fn create(
    disk: &dyn Disk,
    leftover: bool,
    create_meta: impl FnOnce(&str) -> Result<(), OpenError>,
) -> Result<(), OpenError> {
    let fail = io_error("creating the data directory");
    if leftover {
        disk.remove(META_NEW).map_err(&fail)?;
    }
    disk.create_dir(SEGMENTS).map_err(&fail)?;
    create_meta(META_NEW)?;
    disk.sync_dir("").map_err(&fail)?;
    write_format(disk)
}

/// Says that the directory is of our version; whole and durable, or not at all.
fn write_format(disk: &dyn Disk) -> Result<(), OpenError> {
    let fail = io_error("writing FORMAT");
    let file = disk.open(FORMAT_NEW, OpenMode::Create).map_err(&fail)?;
    let text = format_text(FORMAT_VERSION);
    file.set_len(0).map_err(&fail)?;
    file.write_at(0, text.as_bytes()).map_err(&fail)?;
    file.sync().map_err(&fail)?;
    disk.rename(FORMAT_NEW, FORMAT).map_err(&fail)?;
    disk.sync_dir("").map_err(&fail)
}

fn format_text(version: u32) -> String {
    let body = format!("{TITLE}\nformat {version}");
    format!("{body} {:08x}\n", crc32c(body.as_bytes()))
}

/// The version of the directory, if we read it.
fn format_of(disk: &dyn Disk) -> Result<u32, OpenError> {
    const LONGEST: u64 = 256;
    let fail = io_error("reading FORMAT");
    let damaged = || OpenError::Damaged(format!("{FORMAT} cannot be understood"));
    let file = disk.open(FORMAT, OpenMode::Existing).map_err(&fail)?;
    let len = file.len().map_err(&fail)?.min(LONGEST);
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    file.read_at(0, &mut bytes).map_err(&fail)?;
    if bytes.starts_with(SEALED) {
        return Err(OpenError::Encrypted);
    }
    let text = String::from_utf8(bytes).map_err(|_| damaged())?;
    let version = text
        .strip_prefix(TITLE)
        .and_then(|rest| rest.strip_prefix("\nformat "))
        .and_then(|rest| rest.split(' ').next())
        .and_then(|version| version.parse().ok())
        .ok_or_else(damaged)?;
    if text != format_text(version) {
        return Err(damaged());
    }
    if (OLDEST_VERSION..=FORMAT_VERSION).contains(&version) {
        Ok(version)
    } else {
        Err(OpenError::Version { found: version })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::MemDisk;

    fn file(disk: &MemDisk, name: &str, text: &str) {
        let file = disk.open(name, OpenMode::Create).expect("in memory");
        file.write_at(0, text.as_bytes()).expect("in memory");
    }

    fn prepared(disk: &MemDisk) -> Result<(), OpenError> {
        prepare(disk, |name| {
            file(disk, name, "meta");
            Ok(())
        })
    }

    #[test]
    fn a_new_directory_is_created_and_then_opened() {
        let disk = MemDisk::new();
        prepared(&disk).expect("created");
        let mut names = disk.names();
        names.sort();
        assert_eq!(names, [FORMAT, META]);
        prepare(&disk, |_| panic!("created twice")).expect("opened");
    }

    #[test]
    fn what_must_not_be_taken_is_refused() {
        type Case = (&'static [(&'static str, &'static str)], fn(&OpenError) -> bool);
        let newer = format_text(FORMAT_VERSION + 1);
        let newer: &'static str = Box::leak(newer.into_boxed_str());
        let cases: [Case; 6] = [
            (&[("photo.jpg", "")], |e| matches!(e, OpenError::Foreign(_))),
            (&[("segments/0000000001.seg", "")], |e| matches!(e, OpenError::Damaged(_))),
            (&[(META, "data")], |e| matches!(e, OpenError::Damaged(_))),
            (&[(FORMAT, "zaffre data directory\nformat 1 00000000\n")], |e| {
                matches!(e, OpenError::Damaged(_))
            }),
            (&[(FORMAT, "")], |e| matches!(e, OpenError::Damaged(_))),
            (
                Box::leak(Box::new([(FORMAT, newer)])),
                |e| matches!(e, OpenError::Version { found } if *found == FORMAT_VERSION + 1),
            ),
        ];
        for (files, want) in cases {
            let disk = MemDisk::new();
            for (name, text) in files {
                file(&disk, name, text);
            }
            let error = prepared(&disk).expect_err("refused");
            assert!(want(&error), "{files:?}: {error}");
        }
    }

    #[test]
    fn an_older_directory_becomes_one_of_today() {
        let disk = MemDisk::new();
        file(&disk, META, "meta");
        file(&disk, FORMAT, &format_text(OLDEST_VERSION));
        assert_eq!(format_of(&disk).ok(), Some(OLDEST_VERSION));
        require(&disk).expect("readable as it is");
        assert_eq!(format_of(&disk).ok(), Some(OLDEST_VERSION), "a look changes nothing");
        prepare(&disk, |_| panic!("created again")).expect("opened");
        assert_eq!(format_of(&disk).ok(), Some(FORMAT_VERSION));
    }

    #[test]
    fn a_missing_metadata_file_is_never_replaced_by_an_empty_one() {
        let disk = MemDisk::new();
        prepared(&disk).expect("created");
        disk.remove(META).expect("there");
        assert!(matches!(prepared(&disk), Err(OpenError::Damaged(_))));
    }

    #[test]
    fn an_interrupted_creation_is_finished() {
        let disk = MemDisk::new();
        file(&disk, META_NEW, "half");
        prepared(&disk).expect("created");
        let disk = MemDisk::new();
        file(&disk, META_NEW, "whole");
        file(&disk, FORMAT, &format_text(FORMAT_VERSION));
        prepare(&disk, |_| panic!("created again")).expect("finished");
        assert!(disk.names().contains(&META.to_owned()));
    }
}
