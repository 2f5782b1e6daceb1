//! Byte-range locks of one file: what each admits, how they stack, who may read and write under them.
//!
//! Must never wait: a lock that is not granted is the caller's to queue, and so is the answer to one that
//! is only promised. An owner is one open.

use alloc::vec::Vec;
use zaffre_base::planted::{Bug, planted};

/// Locks that one open may hold.
pub const LOCKS_PER_OPEN: usize = 4_096;

/// A range of bytes; `len` 0 is a point between two bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The first byte.
    pub offset: u64,
    /// How many.
    pub len: u64,
}

impl Range {
    /// A range that does not reach beyond the largest offset.
    pub fn new(offset: u64, len: u64) -> Option<Self> {
        let ends = len == 0 || offset.checked_add(len - 1).is_some();
        ends.then_some(Self { offset, len })
    }

    fn end(self) -> u128 {
        u128::from(self.offset) + u128::from(self.len)
    }

    /// Whether they have a byte in common; a point overlaps only what has bytes on both its sides.
    pub fn overlaps(self, other: Self) -> bool {
        u128::from(self.offset) < other.end() && u128::from(other.offset) < self.end()
    }
}

/// How a range is locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockKind {
    /// Others may read and lock it shared; nobody may write.
    Shared,
    /// Only the owner reads and writes.
    Exclusive,
}

/// What one wants to do to bytes that may be locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    /// Read them.
    Read,
    /// Write them.
    Write,
}

/// Why a lock was not granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockRefusal {
    /// Another lock is in the way.
    NotGranted,
    /// The owner holds as many as one may.
    TooMany,
}

/// An unlock that names no lock of its owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotLocked;

/// The locks of one file.
#[derive(Clone, Debug)]
pub struct LockTable<O> {
    locks: Vec<Lock<O>>,
}

#[derive(Clone, Copy, Debug)]
struct Lock<O> {
    owner: O,
    range: Range,
    kind: LockKind,
    standing: Standing,
}

/// How far a lock is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Standing {
    /// Its owner knows of it.
    Held,
    /// Granted to a request whose owner does not know it yet.
    Granted(u64),
    /// Put in for a request that is not granted yet: nobody may hear of it, and nobody comes in.
    Promised(u64),
}

impl<O> Default for LockTable<O> {
    fn default() -> Self {
        Self { locks: Vec::new() }
    }
}

impl<O: Copy + PartialEq> LockTable<O> {
    /// Whether nothing is locked.
    pub fn is_empty(&self) -> bool {
        self.locks.is_empty()
    }

    /// Whether anybody but `owner` holds a lock.
    pub fn held_by_others(&self, owner: O) -> bool {
        self.locks.iter().any(|lock| lock.owner != owner)
    }

    /// Whether any lock is at or beyond `offset`, or covers it.
    pub fn reach_beyond(&self, offset: u64) -> bool {
        let beyond = |at: Range| at.offset >= offset || at.end() > u128::from(offset);
        self.locks.iter().any(|lock| beyond(lock.range))
    }

    /// How many locks `owner` holds.
    pub fn held_by(&self, owner: O) -> usize {
        self.locks.iter().filter(|lock| lock.owner == owner).count()
    }

    /// Locks a range.
    pub fn lock(&mut self, owner: O, range: Range, kind: LockKind) -> Result<(), LockRefusal> {
        self.put(Lock { owner, range, kind, standing: Standing::Held })
    }

    fn put(&mut self, lock: Lock<O>) -> Result<(), LockRefusal> {
        let Lock { owner, range, kind, .. } = lock;
        if self.in_the_way(owner, range, kind) {
            return Err(LockRefusal::NotGranted);
        }
        if self.held_by(owner) >= LOCKS_PER_OPEN {
            return Err(LockRefusal::TooMany);
        }
        self.locks.push(lock);
        Ok(())
    }

    /// Locks all of the ranges or none.
    pub fn lock_all(&mut self, owner: O, wanted: &[(Range, LockKind)]) -> Result<(), LockRefusal> {
        self.put_all(owner, wanted, Standing::Held)
    }

    /// Puts in all of the ranges or none for `request`, which is granted later. They are in the way of
    /// others like any lock; only that whoever meets them waits, see [`LockTable::granted`].
    pub fn promise_all(
        &mut self,
        owner: O,
        wanted: &[(Range, LockKind)],
        request: u64,
    ) -> Result<(), LockRefusal> {
        self.put_all(owner, wanted, Standing::Promised(request))
    }

    fn put_all(
        &mut self,
        owner: O,
        wanted: &[(Range, LockKind)],
        standing: Standing,
    ) -> Result<(), LockRefusal> {
        let before = self.locks.len();
        for &(range, kind) in wanted {
            if let Err(refusal) = self.put(Lock { owner, range, kind, standing }) {
                self.locks.truncate(before);
                return Err(refusal);
            }
        }
        Ok(())
    }

    /// What was promised to `request` is granted; whether anything was.
    pub fn grant(&mut self, request: u64) -> bool {
        self.advance(Standing::Promised(request), Standing::Granted(request))
    }

    /// What was granted to `request` is held: its owner knows. Whether anything was.
    pub fn keep(&mut self, request: u64) -> bool {
        self.advance(Standing::Granted(request), Standing::Held)
    }

    fn advance(&mut self, from: Standing, to: Standing) -> bool {
        let mut any = false;
        for lock in self.locks.iter_mut().filter(|lock| lock.standing == from) {
            lock.standing = to;
            any = true;
        }
        any
    }

    /// Takes out what was promised or granted to `request` and is not held; whether anything was.
    pub fn withdraw(&mut self, request: u64) -> bool {
        let before = self.locks.len();
        self.locks.retain(|lock| match lock.standing {
            Standing::Held => true,
            Standing::Granted(of) | Standing::Promised(of) => of != request,
        });
        self.locks.len() != before
    }

    /// The same without what is only promised. Whom only a promise keeps out has to wait and is not
    /// refused: it may still be withdrawn.
    #[must_use]
    pub fn granted(&self) -> Self {
        let granted = |lock: &&Lock<O>| !matches!(lock.standing, Standing::Promised(_));
        Self { locks: self.locks.iter().filter(granted).copied().collect() }
    }

    /// Unlocks exactly one lock of `owner` with exactly this range; of stacked ones the exclusive. What
    /// its owner does not know of cannot be unlocked: who is answered later must find it.
    pub fn unlock(&mut self, owner: O, range: Range) -> Result<(), NotLocked> {
        let mine = |lock: &Lock<O>| {
            lock.owner == owner && lock.range == range && lock.standing == Standing::Held
        };
        let exclusive = |lock: &Lock<O>| mine(lock) && lock.kind == LockKind::Exclusive;
        let at = self.locks.iter().position(exclusive);
        let at = at.or_else(|| self.locks.iter().position(mine)).ok_or(NotLocked)?;
        self.locks.remove(at);
        if planted(Bug::EarlyUnlock) {
            self.release(owner);
        }
        Ok(())
    }

    /// Drops all locks of `owner`; whether there were any.
    pub fn release(&mut self, owner: O) -> bool {
        let before = self.locks.len();
        self.locks.retain(|lock| lock.owner != owner);
        self.locks.len() != before
    }

    /// Whether `owner` (`None` = one without an open) may not touch all of `range`.
    pub fn forbids(&self, owner: Option<O>, range: Range, touch: Touch) -> bool {
        let forbids = |lock: &Lock<O>| match (lock.kind, touch) {
            (LockKind::Exclusive, Touch::Read | Touch::Write) => Some(lock.owner) != owner,
            (LockKind::Shared, Touch::Read) => false,
            // Even the owner's own: a shared lock promises that nobody writes.
            (LockKind::Shared, Touch::Write) => true,
        };
        // Whoever touches nothing is in nobody's way.
        range.len > 0 && self.locks.iter().any(|lock| lock.range.overlaps(range) && forbids(lock))
    }

    fn in_the_way(&self, owner: O, range: Range, kind: LockKind) -> bool {
        let stands = |lock: &Lock<O>| match (lock.kind, kind) {
            (LockKind::Shared, LockKind::Shared) => false,
            (LockKind::Exclusive, LockKind::Shared) => lock.owner != owner,
            (_, LockKind::Exclusive) => true,
        };
        self.locks.iter().any(|lock| lock.range.overlaps(range) && stands(lock))
    }
}

/// What a durable open remembers of numbered lock requests, so that one sent twice acts once.
#[derive(Clone, Debug, Default)]
pub struct LockSequences(Vec<(u8, u8)>);

impl LockSequences {
    /// Whether `number` in bucket `index` (1 to 64) is the request that was last done there. If
    /// not, the bucket forgets what it had.
    pub fn is_replay(&mut self, index: u8, number: u8) -> bool {
        let known = self.0.contains(&(index, number));
        if !known {
            self.0.retain(|(bucket, _)| *bucket != index);
        }
        known
    }

    /// Remembers a request that was done.
    pub fn done(&mut self, index: u8, number: u8) {
        if (1..=64).contains(&index) {
            self.0.retain(|(bucket, _)| *bucket != index);
            self.0.push((index, number));
        }
    }
}

#[cfg(test)]
#[path = "locks_tests.rs"]
mod tests;
