//! Oplocks and leases: what a client may cache, when it must stop, and what its answer means.
//!
//! Must never wait or send: it says what is to be told to whom, and who has to wait for an answer.
//! `spec/file_smb_breaks.csv` and `spec/file_rest_breaks.csv` have every cell of [`to_break`].

use core::fmt;

/// What a client may cache of a file: reads, writes, and its handle after it was closed.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Caching(u8);

impl Caching {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Reads.
    pub const R: Self = Self(1);
    /// Reads and the handle.
    pub const RH: Self = Self(3);
    /// Reads and writes.
    pub const RW: Self = Self(5);
    /// Everything.
    pub const RWH: Self = Self(7);
    /// The handle.
    pub const H: Self = Self(2);
    /// Writes.
    pub const W: Self = Self(4);

    /// From the bits that are sent: 1 reads, 2 handle, 4 writes. Others mean nothing.
    pub const fn from_bits(bits: u32) -> Self {
        match bits & 7 {
            0 => Self(0),
            1 => Self(1),
            2 => Self(2),
            3 => Self(3),
            4 => Self(4),
            5 => Self(5),
            6 => Self(6),
            _ => Self(7),
        }
    }

    /// The bits that are sent.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether there is nothing in it.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` is in it.
    pub const fn contains(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether any of `other` is in it.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// It without `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// What both have.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What either has.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Caching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return f.write_str("none");
        }
        for (bit, name) in [(Self::R, "R"), (Self::W, "W"), (Self::H, "H")] {
            if self.contains(bit) {
                f.write_str(name)?;
            }
        }
        Ok(())
    }
}

/// How caching is held: the older way can be lowered only to reads or nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// By one open: level II is R, exclusive RW, batch RWH.
    Oplock,
    /// By a key that several opens of a client share.
    Lease,
}

/// What others do that may end caching.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Another open that is not only about attributes.
    Open,
    /// Another open that replaces the content.
    OpenOverwrite,
    /// Another open, refused for its share mode as long as the handle is there.
    SharingConflict,
    /// A write, a change of size or a lock through another open.
    Change,
    /// The file's name is about to change or go.
    NameChange,
    /// REST reads content or properties.
    RestRead,
    /// REST changes content or properties.
    RestWrite,
    /// REST deletes or renames.
    RestDelete,
    /// REST replaces the file.
    RestOverwrite,
    /// REST acquires a lease on the file.
    RestLease,
}

/// What is to be broken, and whether the cause waits until it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Break {
    /// What is left.
    pub to: Caching,
    /// Whether the one who caused it waits for the answer.
    pub wait: bool,
}

/// What `cause` does to caching that somebody else holds.
pub fn to_break(manner: Manner, held: Caching, cause: Cause) -> Option<Break> {
    let (drop, wait_for) = match cause {
        Cause::Open | Cause::RestRead | Cause::RestLease => (Caching::W, Caching::W),
        Cause::OpenOverwrite | Cause::RestWrite => (Caching::RWH, Caching::W),
        Cause::RestOverwrite => (Caching::RWH, Caching::W.or(Caching::H)),
        Cause::SharingConflict | Cause::NameChange | Cause::RestDelete => (Caching::H, Caching::H),
        Cause::Change => (Caching::RWH, Caching::NONE),
    };
    if !held.intersects(drop) {
        return None;
    }
    let to = match manner {
        Manner::Oplock => held.without(drop).and(Caching::R),
        Manner::Lease => held.without(drop),
    };
    Some(Break { to, wait: held.intersects(wait_for) })
}

/// What the other opens of a file mean for what a new one may cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Others {
    /// There is one that caches, or once did, or does more than look at attributes.
    pub any: bool,
    /// One caches writes: nobody else knows what the file is like.
    pub writes: bool,
    /// One caches its handle.
    pub handle: bool,
    /// One holds an oplock.
    pub oplock: bool,
    /// There are byte-range locks.
    pub locked: bool,
}

/// What is granted of `wanted`.
pub fn grant(manner: Manner, wanted: Caching, others: Others) -> Caching {
    // Everything rests on cached reads, which locks and cached writes of others would make wrong.
    if !wanted.contains(Caching::R) || others.locked || others.writes {
        return Caching::NONE;
    }
    let shared = if others.any { wanted.without(Caching::W) } else { wanted };
    match manner {
        Manner::Lease if others.oplock => shared.without(Caching::H),
        Manner::Lease => shared,
        Manner::Oplock if others.handle => Caching::NONE,
        Manner::Oplock if shared.contains(Caching::W) => shared,
        Manner::Oplock => Caching::R,
    }
}

/// What the holder of caching is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Notice {
    /// What it had.
    pub from: Caching,
    /// What it may keep.
    pub to: Caching,
    /// Whether it has to answer.
    pub answer: bool,
    /// The number of the change.
    pub epoch: u16,
}

/// Why an answer to a break is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerError {
    /// Nobody asked.
    NotBreaking,
    /// It would keep more than it may.
    TooMuch,
}

/// Caching that is held, and how far a break of it has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    manner: Manner,
    state: Caching,
    epoch: u16,
    breaking: Option<Breaking>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Breaking {
    /// What the holder was told.
    told: Caching,
    /// What it must come down to, in more steps than one.
    goal: Caching,
}

impl Held {
    /// Caching that was just granted; `epoch` is what its holder knows so far.
    pub const fn granted(manner: Manner, state: Caching, epoch: u16) -> Self {
        Self { manner, state, epoch: epoch.wrapping_add(1), breaking: None }
    }

    /// What may be cached.
    pub const fn state(&self) -> Caching {
        self.state
    }

    /// The number of the last change.
    pub const fn epoch(&self) -> u16 {
        self.epoch
    }

    /// Whether an answer is awaited.
    pub const fn is_breaking(&self) -> bool {
        self.breaking.is_some()
    }

    /// How it is held.
    pub const fn manner(&self) -> Manner {
        self.manner
    }

    /// Raises a lease to `granted` when that is all that was `wanted` and holds what there is.
    pub fn raise(&mut self, wanted: Caching, granted: Caching) {
        let more = wanted.contains(self.state) && granted == wanted && granted != self.state;
        if more && !self.is_breaking() {
            self.state = granted;
            self.epoch = self.epoch.wrapping_add(1);
        }
    }

    /// Starts a break, or deepens the one that is under way; what the holder is told now.
    pub fn start(&mut self, to: Caching) -> Option<Notice> {
        let to = to.and(self.state);
        if let Some(breaking) = &mut self.breaking {
            breaking.goal = breaking.goal.and(to);
            return None;
        }
        if to == self.state {
            return None;
        }
        let from = self.state;
        // Cached reads alone are simply gone; nothing can be waiting in them to be written.
        let answer = from != Caching::R;
        if answer {
            self.breaking = Some(Breaking { told: to, goal: to });
        } else {
            self.state = to;
        }
        self.epoch = self.epoch.wrapping_add(1);
        Some(Notice { from, to, answer, epoch: self.epoch })
    }

    /// The holder keeps `to`. Returns the next step when that is still too much.
    pub fn answer(&mut self, to: Caching) -> Result<Option<Notice>, AnswerError> {
        let breaking = self.breaking.ok_or(AnswerError::NotBreaking)?;
        if !breaking.told.contains(to) {
            return Err(AnswerError::TooMuch);
        }
        let from = to;
        self.state = to;
        self.breaking = None;
        if breaking.goal.contains(to) {
            return Ok(None);
        }
        // Clients know each lowering only step by step: writes and handle first, reads last.
        let deep = to.intersects(Caching::W.or(Caching::H));
        let told = if deep { breaking.goal.or(Caching::R) } else { breaking.goal };
        let answer = deep;
        if answer {
            self.breaking = Some(Breaking { told, goal: breaking.goal });
        } else {
            self.state = told;
        }
        // The steps of one break share its number.
        Ok(Some(Notice { from, to: told, answer, epoch: self.epoch }))
    }

    /// There is nobody to answer: what is left is left at once.
    pub fn settle(&mut self) {
        if let Some(breaking) = self.breaking.take() {
            self.state = self.state.and(breaking.goal);
        }
    }

    /// The holder did not answer in time: it keeps nothing.
    pub fn give_up(&mut self) {
        self.state = Caching::NONE;
        self.breaking = None;
    }
}

#[cfg(test)]
#[path = "oplock_tests.rs"]
mod tests;
