//! A disk whose files are encrypted with the operator's key; wraps any other disk.
//!
//! Every file begins with a header that holds a random salt, from which and the key its own keys
//! follow, and a proof that the key is the right one. Behind it the bytes lie where they would lie
//! without encryption. Must never write a plain byte, nor treat a damaged header as a new file.

use super::{Disk, File, OpenMode};
use crate::directory::OpenError;
use crate::xts::{BLOCK, Xts};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use zaffre_base::Secret;
use zaffre_base::secret::same_bytes;

/// What every encrypted file begins with.
pub(crate) const MAGIC: &[u8; 16] = b"zaffre sealed 1\n";
const SALT: usize = 32;
const PROOF: usize = 32;
const HEADER_USED: usize = MAGIC.len() + SALT + PROOF;
/// Space of the header: a whole page, so that what is aligned stays aligned.
const HEADER: u64 = 4096;
/// Bytes that are encrypted at a time: what a writer needs besides the caller's buffer.
const STEP: usize = 256 * 1024;

/// The operator's key for everything at rest.
pub type DiskKey = Secret<[u8; 32]>;

/// Encrypts all files of the disk below.
#[derive(Debug)]
pub struct EncryptedDisk {
    inner: Arc<dyn Disk>,
    key: DiskKey,
}

impl EncryptedDisk {
    /// Covers `inner`, whose files must be encrypted with `key` if there are any.
    pub fn new(inner: Arc<dyn Disk>, key: DiskKey) -> Result<Self, OpenError> {
        let disk = Self { inner, key };
        match disk.inner.open(crate::directory::FORMAT, OpenMode::Existing) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(disk),
            Err(error) => Err(crate::directory::io_error("reading FORMAT")(error)),
            Ok(file) => match disk.unlock(&*file) {
                Ok(_) => Ok(disk),
                Err(Locked::Plain) => Err(OpenError::NotEncrypted),
                Err(Locked::Key) => Err(OpenError::WrongKey),
                Err(Locked::Io(error)) => Err(crate::directory::io_error("reading FORMAT")(error)),
            },
        }
    }

    fn mac(&self, what: &str, parts: &[&[u8]]) -> [u8; 32] {
        // HMAC takes keys of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.key.expose()) else {
            unreachable!("HMAC takes a key of any length")
        };
        mac.update(what.as_bytes());
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    fn keys(&self, salt: &[u8]) -> Xts {
        let data = Secret::new(self.mac("zaffre file data\0", &[salt]));
        let tweak = Secret::new(self.mac("zaffre file place\0", &[salt]));
        Xts::new(&data, &tweak)
    }

    fn proof(&self, head: &[u8]) -> [u8; 32] {
        self.mac("zaffre file head\0", &[head])
    }

    /// The keys of a file that has a header.
    fn unlock(&self, file: &dyn File) -> Result<Xts, Locked> {
        let mut head = [0; HEADER_USED];
        file.read_at(0, &mut head).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Locked::Plain,
            _ => Locked::Io(error),
        })?;
        let (signed, proof) = head.split_at(MAGIC.len() + SALT);
        let Some(salt) = signed.strip_prefix(MAGIC.as_slice()) else { return Err(Locked::Plain) };
        if same_bytes(proof, &self.proof(signed)) { Ok(self.keys(salt)) } else { Err(Locked::Key) }
    }

    /// Gives an empty file its header. It is durable before the first byte is: a file with bytes
    /// and without a header is damaged, never new.
    fn begin(&self, file: &dyn File) -> io::Result<Xts> {
        let mut page = vec![0; usize::try_from(HEADER).unwrap_or(0)];
        page[..MAGIC.len()].copy_from_slice(MAGIC);
        let signed = MAGIC.len() + SALT;
        getrandom::fill(&mut page[MAGIC.len()..signed]).map_err(io::Error::other)?;
        let proof = self.proof(&page[..signed]);
        page[signed..HEADER_USED].copy_from_slice(&proof);
        file.set_len(0)?;
        file.write_at(0, &page)?;
        file.sync()?;
        Ok(self.keys(&page[MAGIC.len()..signed]))
    }
}

/// Why a file cannot be read with the key.
enum Locked {
    /// It is not encrypted.
    Plain,
    /// It is encrypted with another key, or its header is damaged.
    Key,
    Io(io::Error),
}

impl From<Locked> for io::Error {
    fn from(locked: Locked) -> Self {
        let text = match locked {
            Locked::Plain => "the file has no header of an encrypted file",
            Locked::Key => "the file is encrypted with another key, or its header is damaged",
            Locked::Io(error) => return error,
        };
        Self::new(io::ErrorKind::InvalidData, text)
    }
}

impl Disk for EncryptedDisk {
    fn open(&self, name: &str, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let inner = self.inner.open(name, mode)?;
        // Nothing was ever written behind a header that was not durable yet.
        let keys = if inner.len()? > HEADER || mode == OpenMode::Existing {
            self.unlock(&*inner)?
        } else {
            match self.unlock(&*inner) {
                Ok(keys) => keys,
                Err(Locked::Io(error)) => return Err(error),
                Err(Locked::Plain | Locked::Key) => self.begin(&*inner)?,
            }
        };
        Ok(Arc::new(EncryptedFile { inner, keys, edges: RwLock::new(()) }))
    }

    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.inner.create_dir(name)
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.inner.list(dir)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.inner.sync_dir(dir)
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock()
    }
}

/// One encrypted file.
struct EncryptedFile {
    inner: Arc<dyn File>,
    keys: Xts,
    /// Taken alone by what rewrites a block in part, shared by everything else: a block is never
    /// read while half of it is new.
    edges: RwLock<()>,
}

impl std::fmt::Debug for EncryptedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("EncryptedFile").field(&self.inner).finish()
    }
}

fn down(offset: u64) -> u64 {
    offset - offset % BLOCK as u64
}

fn up(offset: u64) -> u64 {
    offset.next_multiple_of(BLOCK as u64)
}

/// Whether it is between two blocks.
fn between(offset: u64) -> bool {
    offset.is_multiple_of(BLOCK as u64)
}

fn size(length: u64) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX)
}

impl EncryptedFile {
    fn logical_len(&self) -> io::Result<u64> {
        Ok(self.inner.len()?.saturating_sub(HEADER))
    }

    /// Plain bytes of `from..to`; `from` begins a block, `to` ends one or the file (`len`).
    fn plain(&self, from: u64, to: u64, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; size(to - from)];
        self.inner.read_at(HEADER + from, &mut bytes)?;
        let whole = size(down(to) - from);
        self.keys.decrypt(from / BLOCK as u64, &mut bytes[..whole]);
        if !between(to) {
            debug_assert_eq!(to, len, "only the file's end is no end of a block");
            self.pad_tail(down(to), &mut bytes[whole..]);
        }
        Ok(bytes)
    }

    /// Encrypts `bytes`, which begin a block at `from` and end one or the file, and writes them.
    fn seal(&self, from: u64, mut bytes: Vec<u8>) -> io::Result<()> {
        let whole = bytes.len() - bytes.len() % BLOCK;
        self.keys.encrypt(from / BLOCK as u64, &mut bytes[..whole]);
        if whole < bytes.len() {
            self.pad_tail(from + whole as u64, &mut bytes[whole..]);
        }
        self.inner.write_at(HEADER + from, &bytes)
    }

    /// The bytes behind the last whole block, both ways. Zeros stay zeros only where the file was
    /// extended: such a tail is written anew when it is.
    fn pad_tail(&self, at: u64, bytes: &mut [u8]) {
        for (byte, pad) in bytes.iter_mut().zip(self.keys.tail_pad(at / BLOCK as u64)) {
            *byte ^= pad;
        }
    }

    /// Puts `data` at `offset` and keeps what else is in the first and last block.
    fn merge(&self, offset: u64, data: &[u8], len: u64) -> io::Result<()> {
        let end = offset + data.len() as u64;
        if offset > len && !between(len) {
            self.complete_tail(len, offset.min(up(len)))?;
        }
        let len = if offset > len { offset.min(up(len)).max(len) } else { len };
        let from = down(offset);
        let to = if end >= len { end } else { up(end).min(len) };
        let mut bytes = vec![0; size(to - from)];
        let head_end = offset.min(len);
        if head_end > from {
            let old = self.plain(from, up(head_end).min(len), len)?;
            let keep = size(offset - from).min(old.len());
            bytes[..keep].copy_from_slice(&old[..keep]);
        }
        if to > end {
            let old = self.plain(down(end), to, len)?;
            bytes[size(end - from)..].copy_from_slice(&old[size(end - down(end))..]);
        }
        bytes[size(offset - from)..size(end - from)].copy_from_slice(data);
        // What was the file's incomplete end is a whole block from now on, or a longer end.
        self.seal(from, bytes)
    }

    /// Encodes the file's incomplete last block as one that ends at `to`, with zeros behind it.
    fn complete_tail(&self, len: u64, to: u64) -> io::Result<()> {
        let from = down(len);
        let mut bytes = self.plain(from, len, len)?;
        bytes.resize(size(to - from), 0);
        self.seal(from, bytes)
    }

    fn zero_edge(&self, from: u64, to: u64, len: u64) -> io::Result<()> {
        let to = to.min(len);
        if from < to { self.merge(from, &vec![0; size(to - from)], len) } else { Ok(()) }
    }
}

impl File for EncryptedFile {
    fn len(&self) -> io::Result<u64> {
        self.logical_len()
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let _shared = self.edges.read().unwrap_or_else(PoisonError::into_inner);
        let end = offset.saturating_add(out.len() as u64);
        // Past the end is the file below's own error.
        let len = if between(end) { end } else { self.logical_len()? };
        if end > len {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        if between(offset) && out.len().is_multiple_of(BLOCK) {
            self.inner.read_at(HEADER + offset, out)?;
            self.keys.decrypt(offset / BLOCK as u64, out);
            return Ok(());
        }
        let mut at = offset;
        while at < end {
            let stop = end.min(down(at) + STEP as u64);
            let bytes = self.plain(down(at), up(stop).min(len), len)?;
            let skip = size(at - down(at));
            let length = size(stop - at);
            let target = size(at - offset);
            out[target..target + length].copy_from_slice(&bytes[skip..skip + length]);
            at = stop;
        }
        Ok(())
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let end = offset.saturating_add(data.len() as u64);
        if data.is_empty() {
            return Ok(());
        }
        if between(offset) && between(end) {
            let shared = self.edges.read().unwrap_or_else(PoisonError::into_inner);
            let len = self.logical_len()?;
            if offset <= len || between(len) {
                let mut at = offset;
                for step in data.chunks(STEP) {
                    self.seal(at, step.to_vec())?;
                    at += step.len() as u64;
                }
                return Ok(());
            }
            drop(shared);
        }
        let _alone = self.edges.write().unwrap_or_else(PoisonError::into_inner);
        self.merge(offset, data, self.logical_len()?)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let _alone = self.edges.write().unwrap_or_else(PoisonError::into_inner);
        let old = self.logical_len()?;
        if len > old && !between(old) {
            self.complete_tail(old, len.min(up(old)))?;
        }
        if len > up(old) && !between(len) {
            // The new end is an incomplete block that was never written: zeros, in its own form.
            self.inner.set_len(HEADER + down(len))?;
            return self.seal(down(len), vec![0; size(len - down(len))]);
        }
        if len < old && !between(len) {
            let mut bytes = self.plain(down(len), up(len).min(old), old)?;
            bytes.truncate(size(len - down(len)));
            self.inner.set_len(HEADER + down(len))?;
            return self.seal(down(len), bytes);
        }
        self.inner.set_len(HEADER + len)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let end = offset.saturating_add(len);
        let old = self.logical_len()?;
        if end > old && (!between(old) || !between(end)) {
            self.set_len(end)?;
        }
        self.inner.allocate(HEADER + offset, len)
    }

    fn punch(&self, offset: u64, len: u64) -> io::Result<()> {
        let _alone = self.edges.write().unwrap_or_else(PoisonError::into_inner);
        let end = offset.saturating_add(len);
        let whole = self.logical_len()?;
        let (from, to) = (up(offset), down(end));
        if from >= to {
            return self.zero_edge(offset, end, whole);
        }
        self.zero_edge(offset, from, whole)?;
        self.zero_edge(to, end, whole)?;
        // An incomplete last block may not become a hole: its form has no zeros for "never written".
        let to = to.min(down(whole)).max(from);
        if from < to { self.inner.punch(HEADER + from, to - from) } else { Ok(()) }
    }

    fn allocated(&self) -> io::Result<u64> {
        self.inner.allocated()
    }

    fn sync(&self) -> io::Result<()> {
        self.inner.sync()
    }
}

#[cfg(test)]
mod tests;
