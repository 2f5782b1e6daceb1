//! A disk that remembers every changing call in order, so that the moment after each of them can be
//! made again.
//!
//! Must never let two calls pass in another order than it notes them.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zaffre_store::disk::{CrashDisk, Disk, File, OpenMode};

/// One changing call. Files are numbered by their creation: a name may be used again.
#[derive(Clone, Debug)]
enum Call {
    Create(String),
    Rename(String, String),
    Remove(String),
    SyncDir(String),
    Write(usize, u64, Vec<u8>),
    SetLen(usize, u64),
    Allocate(usize, u64, u64),
    Punch(usize, u64, u64),
    Sync(usize),
}

#[derive(Debug, Default)]
struct Notes {
    calls: Vec<Call>,
    numbers: BTreeMap<String, usize>,
    files: usize,
}

/// The disk; clones share the notes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    disk: CrashDisk,
    notes: Arc<Mutex<Notes>>,
}

impl Recorder {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many changing calls there were.
    pub(crate) fn calls(&self) -> usize {
        self.notes().calls.len()
    }

    /// The calls, to be made again.
    pub(crate) fn tape(&self) -> Tape {
        Tape(self.notes().calls.clone().into())
    }
}

impl Disk for Recorder {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut notes = self.notes();
        let known = notes.numbers.get(name).copied();
        let inner = self.disk.open(name, mode)?;
        let number = known.unwrap_or_else(|| {
            let number = notes.files;
            notes.files += 1;
            notes.numbers.insert(name.to_owned(), number);
            notes.calls.push(Call::Create(name.to_owned()));
            number
        });
        Ok(Arc::new(Recorded { inner, number, recorder: self.clone() }))
    }

    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.disk.create_dir(name)
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.disk.list(dir)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut notes = self.notes();
        self.disk.rename(from, to)?;
        if let Some(number) = notes.numbers.remove(from) {
            notes.numbers.insert(to.to_owned(), number);
        }
        notes.calls.push(Call::Rename(from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut notes = self.notes();
        self.disk.remove(name)?;
        notes.numbers.remove(name);
        notes.calls.push(Call::Remove(name.to_owned()));
        Ok(())
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        let mut notes = self.notes();
        self.disk.sync_dir(dir)?;
        notes.calls.push(Call::SyncDir(dir.to_owned()));
        Ok(())
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        self.disk.lock()
    }
}

#[derive(Debug)]
struct Recorded {
    inner: Arc<dyn File>,
    number: usize,
    recorder: Recorder,
}

impl Recorded {
    fn note(&self, call: Call, make: impl FnOnce(&dyn File) -> io::Result<()>) -> io::Result<()> {
        let mut notes = self.recorder.notes();
        make(&*self.inner)?;
        notes.calls.push(call);
        Ok(())
    }
}

impl File for Recorded {
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read_at(offset, out)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let call = Call::Write(self.number, offset, data.to_vec());
        self.note(call, |file| file.write_at(offset, data))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.note(Call::SetLen(self.number, len), |file| file.set_len(len))
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.note(Call::Allocate(self.number, offset, len), |file| file.allocate(offset, len))
    }

    fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        self.note(Call::Punch(self.number, offset, len), |file| file.punch(offset, len))
    }

    fn allocated(&self) -> io::Result<u64> {
        self.inner.allocated()
    }

    fn sync(&self) -> io::Result<()> {
        self.note(Call::Sync(self.number), |file| file.sync())
    }
}

/// Everything a recorder noted.
#[derive(Clone, Debug)]
pub(crate) struct Tape(Arc<[Call]>);

impl Tape {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// As on a disk that says it has synced a file and has not. Names are kept, and what was there
    /// before the first step.
    pub(crate) fn lying_after(&self, calls: usize) -> Self {
        let kept = self
            .0
            .iter()
            .enumerate()
            .filter(|(index, call)| *index < calls || !matches!(call, Call::Sync(_)));
        Self(kept.map(|(_, call)| call.clone()).collect())
    }

    /// Starts at the beginning, with an empty disk.
    pub(crate) fn play(&self) -> Player {
        Player { tape: self.clone(), disk: CrashDisk::new(), files: Vec::new(), made: 0 }
    }
}

/// A disk on which the calls of a tape are made one after the other.
pub(crate) struct Player {
    tape: Tape,
    disk: CrashDisk,
    files: Vec<Arc<dyn File>>,
    made: usize,
}

impl Player {
    /// The disk right after the first `calls` calls, which must not be fewer than before.
    pub(crate) fn at(&mut self, calls: usize) -> CrashDisk {
        while self.made < calls {
            let call = self.tape.0[self.made].clone();
            self.make(call).unwrap_or_else(|error| panic!("call {}: {error}", self.made));
            self.made += 1;
        }
        self.disk.fork()
    }

    fn make(&mut self, call: Call) -> io::Result<()> {
        match call {
            Call::Create(name) => {
                self.files.push(self.disk.open(&name, OpenMode::New)?);
                Ok(())
            }
            Call::Rename(from, to) => self.disk.rename(&from, &to),
            Call::Remove(name) => self.disk.remove(&name),
            Call::SyncDir(dir) => self.disk.sync_dir(&dir),
            Call::Write(file, offset, data) => self.files[file].write_at(offset, &data),
            Call::SetLen(file, len) => self.files[file].set_len(len),
            Call::Allocate(file, offset, len) => self.files[file].allocate(offset, len),
            Call::Punch(file, offset, len) => self.files[file].punch(offset, len),
            Call::Sync(file) => self.files[file].sync(),
        }
    }
}
