//! Access tiers: which there are, which a blob can have, and how it comes back from the archive.
//!
//! Must never move bytes: a tier is a promise about price. What is archived is refused to readers
//! until its rehydration has ended, which is computed from `now` and needs nobody to write it down.

use super::{BlobKind, KeptRefusal};
use crate::Refusal;
use core::time::Duration;
use zaffre_base::Timestamp;

macro_rules! tiers {
    ($($(#[$doc:meta])* $tier:ident,)*) => {
        /// A tier by name.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
        pub enum AccessTier { $($(#[$doc])* $tier,)* }

        impl AccessTier {
            /// All of them; the premium ones by rising size.
            pub const ALL: &'static [Self] = &[$(Self::$tier,)*];

            /// As the service spells it.
            pub fn text(self) -> &'static str {
                match self { $(Self::$tier => stringify!($tier),)* }
            }
        }
    };
}

tiers! {
    /// Online, read often.
    Hot,
    /// Online, read seldom.
    Cool,
    /// Online, read hardly ever.
    Cold,
    /// Offline.
    Archive,
    /// Premium pages, 32 GiB.
    P4,
    /// Premium pages, 64 GiB.
    P6,
    /// Premium pages, 128 GiB.
    P10,
    /// Premium pages, 256 GiB.
    P15,
    /// Premium pages, 512 GiB.
    P20,
    /// Premium pages, 1 TiB.
    P30,
    /// Premium pages, 2 TiB.
    P40,
    /// Premium pages, 4 TiB.
    P50,
    /// Premium pages, 8 TiB.
    P60,
    /// Premium pages, 16 TiB.
    P70,
    /// Premium pages, 32 TiB.
    P80,
}

impl AccessTier {
    /// Reads a name in any case; `None` if there is no such tier.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tier| tier.text().eq_ignore_ascii_case(text))
    }

    /// Whether it is a size of premium page blobs.
    pub fn is_premium(self) -> bool {
        self >= Self::P4
    }

    /// The largest blob that fits a premium tier; others take any.
    fn holds(self) -> u64 {
        const GIB: u64 = 1 << 30;
        let step = Self::ALL.iter().filter(|tier| tier.is_premium()).position(|t| *t == self);
        match step.and_then(|step| u32::try_from(step).ok()) {
            Some(step) => (32 * GIB) << step,
            None => u64::MAX,
        }
    }

    /// Whether a new blob of this kind and size may have the tier.
    pub fn fits(self, blob: Tiered) -> Result<(), Refusal> {
        let pages = blob.kind == BlobKind::Page && blob.premium_account;
        let fits = if self.is_premium() { pages } else { blob.kind == BlobKind::Block };
        if !fits {
            return Err(KeptRefusal::AccessTierNotSupportedForBlobType.into());
        }
        if self.holds() < blob.length {
            return Err(KeptRefusal::BlobTierInadequateForContentLength.into());
        }
        Ok(())
    }
}

/// How soon a blob is wanted back from the archive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum RehydratePriority {
    /// When there is time.
    #[default]
    Standard,
    /// Soon.
    High,
}

impl RehydratePriority {
    /// As the service spells it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Standard => "Standard",
            Self::High => "High",
        }
    }

    /// Reads a name in any case.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Standard, Self::High].into_iter().find(|p| p.text().eq_ignore_ascii_case(text))
    }

    /// How long it takes, where the usual way takes `standard`: the service promises 15 hours for
    /// one and an hour for the other.
    fn takes(self, standard: Duration) -> Duration {
        const FASTER: u32 = 15;
        match self {
            Self::Standard => standard,
            Self::High => standard / FASTER,
        }
    }
}

/// The way back from the archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rehydration {
    /// The tier it ends in.
    pub to: AccessTier,
    /// How soon.
    pub priority: RehydratePriority,
    /// When it is over.
    pub ends: Timestamp,
}

/// The tier of a blob: what was set, and what is under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tier {
    /// What was set by name, and when; without it a block blob is taken for hot.
    pub set: Option<(AccessTier, Timestamp)>,
    /// Only of an archived blob.
    pub rehydration: Option<Rehydration>,
}

/// Conditions on when a blob's tier changed last; both may be sent together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TierConditions {
    /// It must have changed after this.
    pub if_modified_since: Option<Timestamp>,
    /// It must not have changed after this.
    pub if_unmodified_since: Option<Timestamp>,
}

impl TierConditions {
    /// Whether they hold for a tier that was set at `changed`, told in whole seconds as in headers.
    pub fn check(self, changed: Timestamp) -> Result<(), Refusal> {
        let second = changed.whole_seconds();
        let too_old = self.if_modified_since.is_some_and(|since| second <= since);
        let too_new = self.if_unmodified_since.is_some_and(|since| second > since);
        if too_old || too_new { Err(Refusal::ConditionNotMet) } else { Ok(()) }
    }
}

/// What kind of blob a tier is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tiered {
    /// Its kind.
    pub kind: BlobKind,
    /// Its size.
    pub length: u64,
    /// Whether its account is one for premium page blobs.
    pub premium_account: bool,
    /// Whether it is the blob itself and no snapshot or former version.
    pub current: bool,
}

/// What is asked of Set Blob Tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TierChange {
    /// The tier.
    pub tier: AccessTier,
    /// `x-ms-rehydrate-priority`
    pub priority: Option<RehydratePriority>,
    /// Whether the version asked for lets a rehydration be hurried.
    pub may_hurry: bool,
}

/// Whether the change has happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TierSet {
    /// It has.
    Done,
    /// The blob is on its way back from the archive.
    Pending,
}

impl Tier {
    /// A tier that is set at `now`.
    pub fn named(tier: AccessTier, now: Timestamp) -> Self {
        Self { set: Some((tier, now)), rehydration: None }
    }

    /// As it is at `now`: a rehydration that is over has set the tier.
    #[must_use]
    pub fn at(self, now: Timestamp) -> Self {
        match self.rehydration {
            Some(Rehydration { to, ends, .. }) if ends <= now => Self::named(to, ends),
            _ => self,
        }
    }

    /// Whether the bytes are offline at `now`.
    pub fn is_archived(self, now: Timestamp) -> bool {
        matches!(self.at(now).set, Some((AccessTier::Archive, _)))
    }

    /// The tier after Set Blob Tier at `now`, where a rehydration usually takes `standard`.
    pub fn change(
        self,
        asked: TierChange,
        blob: Tiered,
        now: Timestamp,
        standard: Duration,
    ) -> Result<(Self, TierSet), Refusal> {
        asked.tier.fits(blob)?;
        let before = self.at(now);
        if let Some(under_way) = before.rehydration {
            let under_way = under_way.hurried(asked, now, standard)?;
            return Ok((Self { rehydration: Some(under_way), ..before }, TierSet::Pending));
        }
        match before.set {
            Some((was, _)) if was == asked.tier => Ok((before, TierSet::Done)),
            Some((AccessTier::Archive, _)) if !blob.current => {
                Err(KeptRefusal::BlobOperationNotSupported.into())
            }
            Some((AccessTier::Archive, _)) => {
                let priority = asked.priority.unwrap_or_default();
                let ends = now.plus(priority.takes(standard));
                let rehydration = Some(Rehydration { to: asked.tier, priority, ends });
                Ok((Self { rehydration, ..before }, TierSet::Pending))
            }
            Some((was, _)) if was.is_premium() && was > asked.tier => {
                Err(KeptRefusal::CannotChangeToLowerTier.into())
            }
            _ => Ok((Self::named(asked.tier, now), TierSet::Done)),
        }
    }
}

impl Rehydration {
    /// Asked for again while it is under way: at most sooner.
    fn hurried(
        self,
        asked: TierChange,
        now: Timestamp,
        standard: Duration,
    ) -> Result<Self, Refusal> {
        let priority = asked.priority.unwrap_or(self.priority);
        let raised = priority > self.priority;
        if asked.tier != self.to || priority < self.priority || (raised && !asked.may_hurry) {
            return Err(KeptRefusal::BlobBeingRehydrated.into());
        }
        let ends =
            if raised { self.ends.min(now.plus(priority.takes(standard))) } else { self.ends };
        Ok(Self { priority, ends, ..self })
    }
}

#[cfg(test)]
mod tests;
