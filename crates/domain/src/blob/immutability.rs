//! Immutability policies and legal holds: what keeps a state of a blob as it is, and for how long.
//!
//! Must never depend on what an account allows today: what was promised once holds until its time
//! is over, whatever is chosen later.

use super::KeptRefusal;
use crate::Refusal;
use zaffre_base::Timestamp;

/// How firm a policy is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PolicyMode {
    /// It can be changed and taken away.
    #[default]
    Unlocked,
    /// It can only be extended.
    Locked,
}

impl PolicyMode {
    /// As answers spell it.
    pub fn text(self) -> &'static str {
        match self {
            Self::Unlocked => "unlocked",
            Self::Locked => "locked",
        }
    }

    /// Reads a name in any case.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Unlocked, Self::Locked].into_iter().find(|m| m.text().eq_ignore_ascii_case(text))
    }
}

/// A promise that a state stays as it is until some time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImmutabilityPolicy {
    /// When it ends.
    pub until: Timestamp,
    /// How firm it is.
    pub mode: PolicyMode,
}

/// What keeps one state of a blob.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Protection {
    /// Until some time.
    pub policy: Option<ImmutabilityPolicy>,
    /// Until it is taken away; `None` = nobody has ever said.
    pub legal_hold: Option<bool>,
}

impl Protection {
    /// Whether there is anything to store.
    pub fn is_some(self) -> bool {
        self != Self::default()
    }

    /// Whether the state must stay as it is at `now`.
    pub fn holds(self, now: Timestamp) -> bool {
        self.check(now).is_err()
    }

    /// Refuses a change of the state at `now`.
    pub fn check(self, now: Timestamp) -> Result<(), Refusal> {
        if self.legal_hold == Some(true) {
            return Err(KeptRefusal::BlobImmutableDueToLegalHold.into());
        }
        match self.policy {
            Some(policy) if now < policy.until => Err(KeptRefusal::BlobImmutableDueToPolicy.into()),
            _ => Ok(()),
        }
    }

    /// With a policy set at `now`.
    pub fn with_policy(self, asked: ImmutabilityPolicy, now: Timestamp) -> Result<Self, Refusal> {
        if asked.until <= now {
            return Err(KeptRefusal::ImmutabilityPolicyInThePast.into());
        }
        match self.policy {
            Some(ImmutabilityPolicy { until, mode: PolicyMode::Locked })
                if asked.mode != PolicyMode::Locked || asked.until < until =>
            {
                Err(KeptRefusal::BlobImmutableDueToPolicy.into())
            }
            _ => Ok(Self { policy: Some(asked), ..self }),
        }
    }

    /// Without a policy.
    pub fn without_policy(self) -> Result<Self, Refusal> {
        match self.policy {
            Some(ImmutabilityPolicy { mode: PolicyMode::Locked, .. }) => {
                Err(KeptRefusal::ImmutabilityPolicyDeleteOnLockedPolicy.into())
            }
            _ => Ok(Self { policy: None, ..self }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PolicyMode::{Locked, Unlocked};
    use super::*;

    const NOW: Timestamp = Timestamp(100);

    fn policy(until: u64, mode: PolicyMode) -> ImmutabilityPolicy {
        ImmutabilityPolicy { until: Timestamp(until), mode }
    }

    fn under(until: u64, mode: PolicyMode) -> Protection {
        Protection { policy: Some(policy(until, mode)), legal_hold: None }
    }

    #[test]
    fn what_holds() {
        let hold = |on| Protection { legal_hold: Some(on), ..Protection::default() };
        let both = Protection { legal_hold: Some(true), ..under(200, Locked) };
        for (protection, want) in [
            (Protection::default(), Ok(())),
            (hold(false), Ok(())),
            (hold(true), Err(KeptRefusal::BlobImmutableDueToLegalHold.into())),
            (under(101, Unlocked), Err(KeptRefusal::BlobImmutableDueToPolicy.into())),
            (under(101, Locked), Err(KeptRefusal::BlobImmutableDueToPolicy.into())),
            (under(100, Locked), Ok(())),
            (both, Err(KeptRefusal::BlobImmutableDueToLegalHold.into())),
        ] {
            assert_eq!(protection.check(NOW), want, "{protection:?}");
            assert_eq!(protection.holds(NOW), want.is_err());
        }
    }

    #[test]
    fn policies_change() {
        let locked = Err(KeptRefusal::BlobImmutableDueToPolicy.into());
        let past = Err(KeptRefusal::ImmutabilityPolicyInThePast.into());
        for (was, asked, want) in [
            (Protection::default(), policy(200, Unlocked), Ok(under(200, Unlocked))),
            (Protection::default(), policy(200, Locked), Ok(under(200, Locked))),
            (Protection::default(), policy(100, Unlocked), past.clone()),
            (under(200, Unlocked), policy(150, Unlocked), Ok(under(150, Unlocked))),
            (under(200, Unlocked), policy(150, Locked), Ok(under(150, Locked))),
            (under(200, Locked), policy(300, Locked), Ok(under(300, Locked))),
            (under(200, Locked), policy(200, Locked), Ok(under(200, Locked))),
            (under(200, Locked), policy(199, Locked), locked.clone()),
            (under(200, Locked), policy(300, Unlocked), locked),
            (under(200, Locked), policy(99, Locked), past),
        ] {
            assert_eq!(was.with_policy(asked, NOW), want, "{was:?} {asked:?}");
        }
        assert_eq!(under(200, Unlocked).without_policy(), Ok(Protection::default()));
        assert_eq!(Protection::default().without_policy(), Ok(Protection::default()));
        let refused = Err(KeptRefusal::ImmutabilityPolicyDeleteOnLockedPolicy.into());
        assert_eq!(under(50, Locked).without_policy(), refused);
    }

    #[test]
    fn modes_have_names() {
        for (text, want) in [
            ("Unlocked", Some(Unlocked)),
            ("locked", Some(Locked)),
            ("LOCKED", Some(Locked)),
            ("", None),
            ("Mutable", None),
        ] {
            assert_eq!(PolicyMode::parse(text), want, "{text}");
        }
        assert_eq!([Unlocked, Locked].map(PolicyMode::text), ["unlocked", "locked"]);
    }

    #[test]
    fn what_is_stored() {
        for (protection, want) in [
            (Protection::default(), false),
            (under(1, Unlocked), true),
            (Protection { policy: None, legal_hold: Some(false) }, true),
            (Protection { policy: None, legal_hold: Some(true) }, true),
        ] {
            assert_eq!(protection.is_some(), want, "{protection:?}");
        }
    }
}
