//! Every change of tier, as a table.

use super::AccessTier::{Archive, Cold, Cool, Hot, P4, P10, P80};
use super::RehydratePriority::{High, Standard};
use super::*;

const SECOND: u64 = 10_000_000;
const NOW: Timestamp = Timestamp(1_000 * SECOND);
const TAKES: Duration = Duration::from_secs(150);

fn after(seconds: u64) -> Timestamp {
    NOW.plus(Duration::from_secs(seconds))
}

fn block() -> Tiered {
    Tiered { kind: BlobKind::Block, length: 5, premium_account: false, current: true }
}

fn set(tier: AccessTier) -> Tier {
    Tier::named(tier, Timestamp(1))
}

fn on_its_way(to: AccessTier, priority: RehydratePriority, seconds: u64) -> Tier {
    Tier { rehydration: Some(Rehydration { to, priority, ends: after(seconds) }), ..set(Archive) }
}

fn ask(tier: AccessTier, priority: Option<RehydratePriority>) -> TierChange {
    TierChange { tier, priority, may_hurry: true }
}

#[test]
fn changes() {
    use TierSet::{Done, Pending};
    let named = |tier| Tier::named(tier, NOW);
    for (was, asked, want) in [
        (Tier::default(), ask(Hot, None), Ok((named(Hot), Done))),
        (Tier::default(), ask(Archive, None), Ok((named(Archive), Done))),
        (set(Hot), ask(Cool, Some(High)), Ok((named(Cool), Done))),
        (set(Cold), ask(Hot, None), Ok((named(Hot), Done))),
        (set(Cool), ask(Cool, None), Ok((set(Cool), Done))),
        (set(Archive), ask(Archive, None), Ok((set(Archive), Done))),
        (set(Archive), ask(Hot, None), Ok((on_its_way(Hot, Standard, 150), Pending))),
        (set(Archive), ask(Cold, Some(High)), Ok((on_its_way(Cold, High, 10), Pending))),
        (on_its_way(Hot, Standard, 9), ask(Hot, None), Ok((on_its_way(Hot, Standard, 9), Pending))),
        (
            on_its_way(Hot, Standard, 90),
            ask(Hot, Some(High)),
            Ok((on_its_way(Hot, High, 10), Pending)),
        ),
        (
            on_its_way(Hot, Standard, 5),
            ask(Hot, Some(High)),
            Ok((on_its_way(Hot, High, 5), Pending)),
        ),
        (
            on_its_way(Hot, Standard, 90),
            TierChange { may_hurry: false, ..ask(Hot, Some(High)) },
            Err(KeptRefusal::BlobBeingRehydrated.into()),
        ),
        (
            on_its_way(Hot, Standard, 90),
            TierChange { may_hurry: false, ..ask(Hot, Some(Standard)) },
            Ok((on_its_way(Hot, Standard, 90), Pending)),
        ),
        (
            on_its_way(Hot, High, 9),
            ask(Hot, Some(Standard)),
            Err(KeptRefusal::BlobBeingRehydrated.into()),
        ),
        (
            on_its_way(Hot, Standard, 9),
            ask(Cool, None),
            Err(KeptRefusal::BlobBeingRehydrated.into()),
        ),
        (
            on_its_way(Hot, Standard, 9),
            ask(Archive, None),
            Err(KeptRefusal::BlobBeingRehydrated.into()),
        ),
        (on_its_way(Hot, Standard, 0), ask(Cool, None), Ok((named(Cool), Done))),
        (set(Hot), ask(P10, None), Err(KeptRefusal::AccessTierNotSupportedForBlobType.into())),
    ] {
        assert_eq!(was.change(asked, block(), NOW, TAKES), want, "{was:?} {asked:?}");
    }
}

#[test]
fn snapshots_do_not_come_back() {
    let past = Tiered { current: false, ..block() };
    let refused = Err(KeptRefusal::BlobOperationNotSupported.into());
    assert_eq!(set(Archive).change(ask(Hot, None), past, NOW, TAKES), refused);
    assert!(set(Hot).change(ask(Archive, None), past, NOW, TAKES).is_ok());
    assert!(set(Archive).change(ask(Archive, None), past, NOW, TAKES).is_ok());
}

#[test]
fn kinds_and_sizes() {
    let page = |premium_account, length| Tiered {
        kind: BlobKind::Page,
        length,
        premium_account,
        current: true,
    };
    let append = Tiered { kind: BlobKind::Append, ..block() };
    let other = Err(KeptRefusal::AccessTierNotSupportedForBlobType.into());
    let gib = 1 << 30;
    for (blob, tier, want) in [
        (append, Hot, other.clone()),
        (append, P4, other.clone()),
        (page(false, 512), Hot, other.clone()),
        (page(false, 512), P4, other.clone()),
        (page(true, 512), Archive, other),
        (page(true, 32 * gib), P4, Ok(())),
        (
            page(true, 32 * gib + 512),
            P4,
            Err(KeptRefusal::BlobTierInadequateForContentLength.into()),
        ),
        (page(true, 128 * gib), P10, Ok(())),
        (page(true, 8192 * gib), P80, Ok(())),
    ] {
        assert_eq!(tier.fits(blob), want, "{blob:?} {tier:?}");
    }
    let lower = set(P10).change(ask(P4, None), page(true, 512), NOW, TAKES);
    assert_eq!(lower, Err(KeptRefusal::CannotChangeToLowerTier.into()));
    let higher = set(P10).change(ask(P80, None), page(true, 512), NOW, TAKES);
    assert_eq!(higher, Ok((Tier::named(P80, NOW), TierSet::Done)));
}

#[test]
fn time_brings_the_bytes_back() {
    let tier = on_its_way(Cool, Standard, 10);
    assert!(tier.is_archived(after(9)) && !tier.is_archived(after(10)));
    assert_eq!(tier.at(after(11)), Tier::named(Cool, after(10)));
    assert_eq!(tier.at(NOW), tier);
    assert!(!Tier::default().is_archived(NOW) && set(Archive).is_archived(NOW));
}

#[test]
fn names() {
    for tier in AccessTier::ALL {
        assert_eq!(AccessTier::parse(&tier.text().to_ascii_lowercase()), Some(*tier));
    }
    assert_eq!(AccessTier::parse("Warm"), None);
    assert_eq!(RehydratePriority::parse("HIGH"), Some(High));
    assert_eq!(RehydratePriority::parse(""), None);
}

#[test]
fn conditions_on_the_change() {
    let changed = Timestamp(NOW.0 + 5);
    for (since, until, want) in [
        (None, None, Ok(())),
        (Some(after(0)), None, Err(Refusal::ConditionNotMet)),
        (Some(Timestamp(NOW.0 - SECOND)), None, Ok(())),
        (None, Some(after(0)), Ok(())),
        (None, Some(Timestamp(NOW.0 - SECOND)), Err(Refusal::ConditionNotMet)),
        (Some(Timestamp(NOW.0 - SECOND)), Some(after(1)), Ok(())),
        (Some(after(1)), Some(after(1)), Err(Refusal::ConditionNotMet)),
    ] {
        let sent = TierConditions { if_modified_since: since, if_unmodified_since: until };
        assert_eq!(sent.check(changed), want, "{since:?} {until:?}");
    }
}
