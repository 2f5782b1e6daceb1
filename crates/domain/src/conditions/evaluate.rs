//! Whether conditions hold, and what to answer when they do not.
//!
//! Must never be the only copy of these tables: `spec/conditions_*.csv` are the vendor's.

use super::{Access, Conditions, TagCondition, Validators};
use crate::Refusal;
use zaffre_base::planted::{Bug, planted};
use zaffre_base::{ApiVersion, Timestamp};

/// From here on reads take any combination of headers, and lists of tags.
const FREE_COMBINATIONS: ApiVersion = ApiVersion::new(2013, 8, 15);
/// From here on a read refuses `If-None-Match: *`, which it ignored before.
const WILDCARD_REFUSED: ApiVersion = ApiVersion::new(2016, 5, 31);

/// Whether the headers may be sent together at all; needs no look at the blob.
pub fn check_combination(conditions: &Conditions, access: Access) -> Result<(), Refusal> {
    if matches!(access, Access::Read { version } if version >= FREE_COMBINATIONS) {
        return Ok(());
    }
    let several = |tags: &Option<TagCondition>| match tags {
        Some(TagCondition::Tags(tags)) => tags.len() > 1,
        Some(TagCondition::Any) | None => false,
    };
    let sent = (
        conditions.if_match.is_some(),
        conditions.if_none_match.is_some(),
        conditions.if_modified_since.is_some(),
        conditions.if_unmodified_since.is_some(),
    );
    let allowed = matches!(
        sent,
        (_, false, false, false)
            | (false, _, false, false)
            | (false, false, _, false)
            | (false, false, false, _)
            | (false, true, true, false)
            | (true, false, false, true)
    );
    if !allowed || several(&conditions.if_match) || several(&conditions.if_none_match) {
        return Err(Refusal::MultipleConditionHeadersNotSupported);
    }
    Ok(())
}

/// Whether the operation may go on, given what is there now (`None` = no committed blob).
///
/// The lease is checked before, so that its holder is told about the lease first.
pub fn evaluate(
    conditions: &Conditions,
    current: Option<&Validators<'_>>,
    access: Access,
) -> Result<(), Refusal> {
    check_combination(conditions, access)?;
    match (access, current) {
        (_, None) => missing(conditions, access),
        (Access::Read { version }, Some(current)) => read(conditions, current, version),
        (Access::CreateOrReplace { holds_lease }, Some(current)) => {
            create_or_replace(conditions, current, holds_lease)
        }
        (Access::Modify, Some(current)) => write(conditions, current),
    }
}

/// Whether an operation on a container may go on. Containers know only the two dates, and a false
/// one is a failed precondition whichever it is; tags sent along are ignored.
pub fn evaluate_container(
    conditions: &Conditions,
    current: &Validators<'_>,
) -> Result<(), Refusal> {
    let dates = Conditions {
        if_modified_since: conditions.if_modified_since,
        if_unmodified_since: conditions.if_unmodified_since,
        ..Conditions::default()
    };
    check_combination(&dates, Access::Modify)?;
    write(&dates, current)
}

fn missing(conditions: &Conditions, access: Access) -> Result<(), Refusal> {
    let wants_existing = conditions.if_match.is_some();
    match access {
        Access::Read { .. } if wants_existing => Err(Refusal::ConditionNotMet),
        Access::Read { .. } | Access::Modify => Err(Refusal::BlobNotFound),
        Access::CreateOrReplace { .. } if wants_existing || conditions.if_tags.is_some() => {
            Err(Refusal::ConditionNotMet)
        }
        Access::CreateOrReplace { .. } => Ok(()),
    }
}

fn read(
    conditions: &Conditions,
    current: &Validators<'_>,
    version: ApiVersion,
) -> Result<(), Refusal> {
    let wildcard = conditions.if_none_match == Some(TagCondition::Any);
    if wildcard && version >= WILDCARD_REFUSED {
        return Err(Refusal::UnsatisfiableCondition);
    }
    let is = Truth::of(conditions, current);
    let none_match = is.none_match.filter(|_| !wildcard);
    let pairs_combine = version >= FREE_COMBINATIONS;
    let (matches, unmodified) = match (is.matches, is.unmodified) {
        (Some(matches), _) if !pairs_combine => (Some(matches), None),
        both => both,
    };
    if [matches, unmodified, is.tags].contains(&Some(false)) {
        return Err(Refusal::ConditionNotMet);
    }
    let news = match (none_match, is.modified) {
        (Some(differs), Some(modified)) if pairs_combine => differs || modified,
        (Some(differs), _) => differs,
        (None, Some(modified)) => modified,
        (None, None) => true,
    };
    if news { Ok(()) } else { Err(Refusal::NotModified) }
}

fn create_or_replace(
    conditions: &Conditions,
    current: &Validators<'_>,
    holds_lease: bool,
) -> Result<(), Refusal> {
    if conditions.if_none_match != Some(TagCondition::Any) {
        return write(conditions, current);
    }
    if !holds_lease {
        return Err(Refusal::BlobAlreadyExists);
    }
    // If-Modified-Since beside If-None-Match never counts, so nothing is left but the tags.
    let rest = Conditions { if_tags: conditions.if_tags.clone(), ..Conditions::default() };
    write(&rest, current)
}

/// One condition, or a pair of which only the ETag counts; other combinations were refused before.
fn write(conditions: &Conditions, current: &Validators<'_>) -> Result<(), Refusal> {
    let is = Truth::of(conditions, current);
    let decisive = is.matches.or(is.none_match).or(is.modified).or(is.unmodified);
    if [decisive, is.tags].contains(&Some(false)) {
        return Err(Refusal::ConditionNotMet);
    }
    Ok(())
}

/// Each condition by itself; `None` = not sent.
struct Truth {
    matches: Option<bool>,
    none_match: Option<bool>,
    modified: Option<bool>,
    unmodified: Option<bool>,
    tags: Option<bool>,
}

impl Truth {
    fn of(conditions: &Conditions, current: &Validators<'_>) -> Self {
        let changed = current.last_modified.whole_seconds();
        let after = |date: Timestamp| changed > date.whole_seconds();
        Self {
            matches: conditions
                .if_match
                .as_ref()
                .map(|tags| tags.names(current.etag) || planted(Bug::LostUpdate)),
            none_match: conditions.if_none_match.as_ref().map(|tags| !tags.names(current.etag)),
            modified: conditions.if_modified_since.map(after),
            unmodified: conditions.if_unmodified_since.map(|date| !after(date)),
            tags: conditions.if_tags.as_ref().map(|predicate| predicate.matches(current.tags)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::blob::tags::{Predicate, Tags, collect};
    use zaffre_base::{ETag, Stamp};

    /// `If-None-Match: *` of who holds the lease lets them replace; what tags say counts still.
    #[test]
    fn tags_count_for_who_holds_the_lease() {
        let tags: Tags = collect([("a", "1")]).unwrap_or_default();
        let current = Validators { etag: ETag(Stamp(1)), last_modified: Timestamp(0), tags: &tags };
        for (holds_lease, predicate, want) in [
            (true, None, Ok(())),
            (true, Some("a = '1'"), Ok(())),
            (true, Some("a = '2'"), Err(Refusal::ConditionNotMet)),
            (false, None, Err(Refusal::BlobAlreadyExists)),
            (false, Some("a = '1'"), Err(Refusal::BlobAlreadyExists)),
        ] {
            let conditions = Conditions {
                if_none_match: Some(TagCondition::Any),
                if_tags: predicate.and_then(|text| Predicate::parse(text).ok()),
                ..Conditions::default()
            };
            let access = Access::CreateOrReplace { holds_lease };
            assert_eq!(evaluate(&conditions, Some(&current), access), want, "{predicate:?}");
        }
    }
}
