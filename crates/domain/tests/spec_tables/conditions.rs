//! `spec/conditions_*.csv` and `spec/operation_headers.csv`.

use crate::table::{Answer, Row, run, same};
use core::time::Duration;
use zaffre_base::time::{Stamp, TICKS_PER_SECOND};
use zaffre_base::{ETag, Timestamp};
use zaffre_domain::Refusal;
use zaffre_domain::blob::tags::{NO_TAGS, Predicate};
use zaffre_domain::conditions::{
    Access, ConditionalOperation, Conditions, LeaseHeader, TagCondition, Validators, accepted,
    check_combination, evaluate, evaluate_container,
};

const DAY: u64 = 86_400;
/// Not a whole second, so that a comparison which forgets to cut the fraction shows.
const CHANGED: Timestamp = Timestamp(638_000_000_000_000_000 + TICKS_PER_SECOND / 3);
const CURRENT: Validators<'static> =
    Validators { etag: ETag(Stamp(CHANGED.0)), last_modified: CHANGED, tags: &NO_TAGS };

fn tags(text: &str) -> TagCondition {
    if text == "*" {
        return TagCondition::Any;
    }
    let one = |word: &str| match word {
        "current" => Some(CURRENT.etag),
        "other" => Some(ETag(Stamp(CHANGED.0 + 1))),
        "garbage" => None,
        _ => panic!("not a tag: {word}"),
    };
    TagCondition::Tags(text.split('|').map(one).collect())
}

fn date(text: &str) -> Timestamp {
    let shown = CHANGED.whole_seconds();
    let earlier = |seconds: u64| Timestamp(shown.0 - seconds * TICKS_PER_SECOND);
    let later = |seconds: u64| shown.plus(Duration::from_secs(seconds));
    match text {
        "same" => shown,
        "second_before" => earlier(1),
        "second_after" => later(1),
        "before" => earlier(DAY),
        "after" => later(DAY),
        _ => panic!("not a date: {text}"),
    }
}

fn conditions(row: &Row) -> Conditions {
    Conditions {
        if_match: row.optional("if_match").map(tags),
        if_none_match: row.optional("if_none_match").map(tags),
        if_modified_since: row.optional("if_modified_since").map(date),
        if_unmodified_since: row.optional("if_unmodified_since").map(date),
        if_tags: None,
    }
}

fn current(row: &Row) -> Option<&'static Validators<'static>> {
    match row.text("blob") {
        "exists" => Some(&CURRENT),
        "missing" => None,
        text => panic!("exists or missing: {text}"),
    }
}

fn check(row: &Row, access: Access, success: &str) -> Result<usize, String> {
    let conditions = conditions(row);
    let result = evaluate(&conditions, current(row), access);
    let multiple = Err(Refusal::MultipleConditionHeadersNotSupported);
    let combination = check_combination(&conditions, access);
    same("combination", &(combination == multiple), &(result == multiple))?;
    same("answer", &answer(&result, success), &row.expected()).map(|()| 1)
}

fn answer(result: &Result<(), Refusal>, success: &str) -> Answer {
    match result {
        Ok(()) => Answer::ok(success),
        Err(refusal) => Answer::refused(refusal),
    }
}

#[test]
fn reads() {
    run("conditions_read", include_str!("../../../../spec/conditions_read.csv"), 197, |row| {
        check(row, Access::Read { version: row.version() }, "200")
    });
}

#[test]
fn writes() {
    run("conditions_write", include_str!("../../../../spec/conditions_write.csv"), 129, |row| {
        let holds_lease = row.text("lease") == "holder";
        let access = match row.text("kind") {
            "create" => Access::CreateOrReplace { holds_lease },
            "modify" => Access::Modify,
            text => panic!("create or modify: {text}"),
        };
        check(row, access, "ok")
    });
}

#[test]
fn containers() {
    let table = include_str!("../../../../spec/conditions_container.csv");
    run("conditions_container", table, 11, |row| {
        let conditions = Conditions {
            if_modified_since: row.optional("if_modified_since").map(date),
            if_unmodified_since: row.optional("if_unmodified_since").map(date),
            // Containers take no tags: these would fail.
            if_match: Some(tags("other")),
            if_none_match: Some(tags("current")),
            if_tags: None,
        };
        let result = evaluate_container(&conditions, &CURRENT);
        same("answer", &answer(&result, "ok"), &row.expected()).map(|()| 1)
    });
}

fn operation(name: &str) -> ConditionalOperation {
    use ConditionalOperation as Op;
    let all = [
        Op::GetBlob,
        Op::GetBlobProperties,
        Op::GetBlobMetadata,
        Op::GetBlockList,
        Op::AppendBlock,
        Op::SealBlob,
        Op::PutPage,
        Op::CopyBlob,
        Op::IncrementalCopyBlob,
        Op::AbortCopyBlob,
        Op::GetPageRanges,
        Op::QueryBlobContents,
        Op::GetBlobTags,
        Op::SetBlobTags,
        Op::SetBlobTier,
        Op::SetBlobImmutabilityPolicy,
        Op::PutBlob,
        Op::PutBlock,
        Op::PutBlockList,
        Op::SetBlobMetadata,
        Op::SetBlobProperties,
        Op::DeleteBlob,
        Op::SnapshotBlob,
        Op::LeaseBlob,
        Op::CreateContainer,
        Op::DeleteContainer,
        Op::GetContainerProperties,
        Op::GetContainerMetadata,
        Op::SetContainerMetadata,
        Op::GetContainerAcl,
        Op::SetContainerAcl,
        Op::LeaseContainer,
        Op::ListBlobs,
        Op::ListContainers,
    ];
    let named = all.into_iter().find(|op| format!("{op:?}") == name);
    named.unwrap_or_else(|| panic!("no operation {name}"))
}

#[test]
fn operations() {
    let table = include_str!("../../../../spec/operation_headers.csv");
    run("operation_headers", table, 31 * 6, |row| {
        let operation = operation(row.text("operation"));
        let takes = accepted(operation);
        let lease = match row.text("lease") {
            "ignored" => LeaseHeader::Ignored,
            "optional" => LeaseHeader::Optional,
            "required" => LeaseHeader::Required,
            "subject" => LeaseHeader::Subject,
            text => panic!("not a use of a lease: {text}"),
        };
        same("lease", &takes.lease, &lease)?;
        let sent = Conditions {
            if_match: Some(TagCondition::Any),
            if_none_match: Some(TagCondition::Any),
            if_modified_since: Some(CHANGED),
            if_unmodified_since: Some(CHANGED),
            if_tags: Predicate::parse("\"a\"='b'").ok(),
        };
        let kept = sent.taken_by(operation);
        let cells = [
            ("if_match", takes.if_match, kept.if_match.is_some()),
            ("if_none_match", takes.if_none_match, kept.if_none_match.is_some()),
            ("if_modified_since", takes.if_modified_since, kept.if_modified_since.is_some()),
            ("if_unmodified_since", takes.if_unmodified_since, kept.if_unmodified_since.is_some()),
            ("if_tags", takes.if_tags, kept.if_tags.is_some()),
        ];
        for (column, takes, keeps) in cells {
            let want = row.text(column) == "yes";
            same(column, &(takes, keeps), &(want, want))?;
        }
        Ok(1 + cells.len())
    });
}
