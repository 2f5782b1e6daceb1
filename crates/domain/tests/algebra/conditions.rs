//! Conditions against a naive model: the documentation's sentences, word by word.

use proptest::prelude::*;
use zaffre_base::time::{Stamp, TICKS_PER_SECOND};
use zaffre_base::{ApiVersion, ETag, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::tags::{NO_TAGS, Predicate};
use zaffre_domain::conditions::{
    Access, Conditions, TagCondition, Validators, check_combination, evaluate,
};

const VERSIONS: [ApiVersion; 6] = [
    ApiVersion::OLDEST,
    ApiVersion::new(2012, 2, 12),
    ApiVersion::new(2013, 8, 15),
    ApiVersion::new(2015, 12, 11),
    ApiVersion::new(2016, 5, 31),
    ApiVersion::LATEST,
];

fn version() -> impl Strategy<Value = ApiVersion> {
    prop::sample::select(&VERSIONS[..])
}

/// Few enough tags and instants that equal ones are common.
fn tag() -> impl Strategy<Value = Option<ETag>> {
    prop::option::weighted(0.9, (1_u64..4).prop_map(|n| ETag(Stamp(n))))
}

fn instant() -> impl Strategy<Value = Timestamp> {
    (100_u64..104, 0..TICKS_PER_SECOND).prop_map(|(s, f)| Timestamp(s * TICKS_PER_SECOND + f))
}

fn tags() -> impl Strategy<Value = Option<TagCondition>> {
    prop_oneof![
        3 => Just(None),
        1 => Just(Some(TagCondition::Any)),
        4 => prop::collection::vec(tag(), 1..4).prop_map(|tags| Some(TagCondition::Tags(tags))),
    ]
}

fn conditions() -> impl Strategy<Value = Conditions> {
    let dates = (prop::option::of(instant()), prop::option::of(instant()));
    (tags(), tags(), dates).prop_map(|(if_match, if_none_match, dates)| Conditions {
        if_match,
        if_none_match,
        if_modified_since: dates.0,
        if_unmodified_since: dates.1,
        if_tags: None,
    })
}

/// Conditions that a write takes: one, none, or a tag with the date it outranks.
fn writable() -> impl Strategy<Value = Conditions> {
    let one_tag =
        prop_oneof![Just(TagCondition::Any), tag().prop_map(|tag| TagCondition::Tags(vec![tag])),];
    (one_tag, instant(), 0..7).prop_map(|(tags, date, shape)| Conditions {
        if_match: matches!(shape, 1 | 5).then(|| tags.clone()),
        if_none_match: matches!(shape, 2 | 6).then_some(tags),
        if_modified_since: matches!(shape, 3 | 6).then_some(date),
        if_unmodified_since: matches!(shape, 4 | 5).then_some(date),
        if_tags: None,
    })
}

fn write_access() -> impl Strategy<Value = Access> {
    access().prop_map(|access| match access {
        Access::Read { .. } => Access::Modify,
        write => write,
    })
}

fn current() -> impl Strategy<Value = Validators<'static>> {
    let validators =
        |(n, last_modified)| Validators { etag: ETag(Stamp(n)), last_modified, tags: &NO_TAGS };
    (1_u64..4, instant()).prop_map(validators)
}

fn access() -> impl Strategy<Value = Access> {
    prop_oneof![
        version().prop_map(|version| Access::Read { version }),
        any::<bool>().prop_map(|holds_lease| Access::CreateOrReplace { holds_lease }),
        Just(Access::Modify),
    ]
}

fn seconds(at: Timestamp) -> u64 {
    at.0 / TICKS_PER_SECOND
}

/// "If-Match: the tag is equal to one of those given."
fn is_match(given: &TagCondition, current: &Validators<'_>) -> bool {
    match given {
        TagCondition::Any => true,
        TagCondition::Tags(tags) => tags.contains(&Some(current.etag)),
    }
}

/// The answer to a read from 2013-08-15 on, by the published expression.
fn naive_read(c: &Conditions, now: &Validators<'_>, version: ApiVersion) -> Result<(), Refusal> {
    let if_match = c.if_match.as_ref().is_none_or(|tags| is_match(tags, now));
    let unmodified =
        c.if_unmodified_since.is_none_or(|date| seconds(now.last_modified) <= seconds(date));
    let wildcard = matches!(c.if_none_match, Some(TagCondition::Any));
    if wildcard && version >= ApiVersion::new(2016, 5, 31) {
        return Err(Refusal::UnsatisfiableCondition);
    }
    let mut or_group = Vec::new();
    if let (Some(tags), false) = (&c.if_none_match, wildcard) {
        or_group.push(!is_match(tags, now));
    }
    if let Some(date) = c.if_modified_since {
        or_group.push(seconds(now.last_modified) > seconds(date));
    }
    if !(if_match && unmodified) {
        Err(Refusal::ConditionNotMet)
    } else if !or_group.is_empty() && or_group.iter().all(|holds| !holds) {
        Err(Refusal::NotModified)
    } else {
        Ok(())
    }
}

proptest! {
    #![proptest_config(crate::config())]

    #[test]
    fn reads_follow_the_published_expression(
        c in conditions(),
        now in current(),
        version in prop::sample::select(&VERSIONS[2..]),
    ) {
        let got = evaluate(&c, Some(&now), Access::Read { version });
        prop_assert_eq!(got, naive_read(&c, &now, version));
    }

    #[test]
    fn a_forbidden_combination_is_refused_whatever_is_there(
        c in conditions(),
        now in prop::option::of(current()),
        access in access(),
    ) {
        let multiple = Err(Refusal::MultipleConditionHeadersNotSupported);
        let got = evaluate(&c, now.as_ref(), access);
        prop_assert_eq!(got == multiple, check_combination(&c, access) == multiple);
    }

    #[test]
    fn a_write_with_a_false_if_match_never_passes(
        c in conditions(),
        now in prop::option::of(current()),
        access in access(),
    ) {
        let matched = |tags: &TagCondition| now.as_ref().is_some_and(|now| is_match(tags, now));
        if evaluate(&c, now.as_ref(), access).is_ok() {
            prop_assert!(c.if_match.as_ref().is_none_or(matched));
        }
    }

    #[test]
    fn a_single_condition_decides_a_write_by_itself(
        c in writable(),
        now in current(),
        access in write_access(),
    ) {
        prop_assert_eq!(check_combination(&c, access), Ok(()));
        let after = |date| seconds(now.last_modified) > seconds(date);
        let wildcard = matches!(c.if_none_match, Some(TagCondition::Any));
        let waived = wildcard && access == Access::CreateOrReplace { holds_lease: true };
        let met = match &c {
            Conditions { if_match: Some(tags), .. } => is_match(tags, &now),
            Conditions { if_none_match: Some(tags), .. } => waived || !is_match(tags, &now),
            Conditions { if_modified_since: Some(date), .. } => after(*date),
            Conditions { if_unmodified_since: Some(date), .. } => !after(*date),
            _ => true,
        };
        prop_assert_eq!(evaluate(&c, Some(&now), access).is_ok(), met);
    }

    #[test]
    fn fractions_of_a_second_never_count(
        c in conditions(),
        now in current(),
        access in access(),
        fraction in 0..TICKS_PER_SECOND,
    ) {
        let again = Validators {
            last_modified: Timestamp(now.last_modified.whole_seconds().0 + fraction),
            ..now
        };
        prop_assert_eq!(evaluate(&c, Some(&now), access), evaluate(&c, Some(&again), access));
    }

    #[test]
    fn a_condition_on_tags_that_are_not_there_never_lets_anything_happen(
        c in conditions(),
        now in prop::option::of(current()),
        access in access(),
    ) {
        let c = Conditions { if_tags: Predicate::parse("\"a\"='b'").ok(), ..c };
        prop_assert!(evaluate(&c, now.as_ref(), access).is_err());
    }

    #[test]
    fn only_reads_answer_not_modified_and_only_creations_already_exists(
        c in conditions(),
        now in prop::option::of(current()),
        access in access(),
    ) {
        match evaluate(&c, now.as_ref(), access) {
            Err(Refusal::NotModified | Refusal::UnsatisfiableCondition) => {
                let is_read = matches!(access, Access::Read { .. });
                prop_assert!(is_read);
            }
            Err(Refusal::BlobAlreadyExists) => {
                prop_assert_eq!(access, Access::CreateOrReplace { holds_lease: false });
            }
            _ => {}
        }
    }
}
