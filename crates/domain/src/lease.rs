//! Leases: one state machine for blobs and containers.
//!
//! Must never read a clock: every instant is an argument, every stored instant absolute.

use zaffre_base::Guid;

/// What a lease request asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaseCommand {
    /// Take the lease.
    Acquire {
        /// 15..=60 seconds, or `None` for ever.
        seconds: Option<u64>,
        /// The id the client proposes.
        proposed: Option<Guid>,
        /// The id used when the client proposes none; drawn by the protocol.
        fallback: Guid,
    },
    /// Start the lease's time again.
    Renew {
        /// Its id.
        id: Guid,
    },
    /// Swap the id.
    Change {
        /// Its id.
        id: Guid,
        /// The id it gets.
        proposed: Guid,
    },
    /// Give it up.
    Release {
        /// Its id.
        id: Guid,
    },
    /// End it without the id.
    Break {
        /// 0..=60 seconds, if given.
        period: Option<u64>,
    },
}

/// A lease as a reader sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaseView {
    /// Free.
    Available,
    /// Held.
    Leased {
        /// For ever (`infinite`) rather than `fixed`.
        infinite: bool,
    },
    /// Being broken, still held.
    Breaking,
    /// Broken.
    Broken,
    /// Run out.
    Expired,
}
