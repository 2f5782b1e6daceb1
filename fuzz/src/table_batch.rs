//! `$batch`: whatever comes as its body ends as operations of one account, or as errors.

use zaffre_base::AccountName;
use zaffre_http::multipart::{Boundary, Parts};
use zaffre_http::{Destination, RequestHead};
use zaffre_table::format::{Prefer, negotiate};
use zaffre_table::operation::Kind;
use zaffre_table::read_entity;
use zaffre_table::route::{TUNNEL, resource, verb};
use zaffre_table::target::Target;

/// As many as a changeset may have, and one that is too much.
const LIMIT: usize = 101;

/// The target: the first line is the content type, the rest the body.
pub fn run(input: &[u8]) {
    let end = input.iter().position(|b| *b == b'\n').unwrap_or(input.len());
    let (first, body) = input.split_at(end);
    let body = body.get(1..).unwrap_or_default();
    let Ok(content_type) = std::str::from_utf8(first) else { return };
    let Ok(boundary) = Boundary::of_content_type(content_type) else { return };
    let Ok(outer) = Parts::read(body, &boundary, 2) else { return };
    for part in &outer.0 {
        let Some(inner) = part.nested() else {
            operations(&outer);
            continue;
        };
        let Ok(parts) = Parts::read(part.content, &inner, LIMIT) else { continue };
        assert!((1..=LIMIT).contains(&parts.0.len()));
        operations(&parts);
    }
}

fn operations(parts: &Parts<'_>) {
    let account = AccountName::parse("acct").unwrap_or_else(|_| panic!("a legal name"));
    let parent = RequestHead::sample("POST", "/acct/$batch");
    for part in &parts.0 {
        let Ok(request) = part.request(None) else { continue };
        assert!(request.body.len() <= part.content.len());
        let _ = request.headers.single("accept").map(negotiate);
        let _ = request.headers.single("prefer").map(Prefer::parse);
        let _ = read_entity(request.body);
        let Ok(head) = request.head(&parent) else { continue };
        let Ok(to) = Destination::read(&head, true) else { continue };
        let Ok(target) = Target::parse(&to.path, &account) else { continue };
        let Ok(verb) = verb(&request.method, request.headers.all(TUNNEL)) else { continue };
        for conditional in [false, true] {
            check(&target, resource(&target, verb.as_str(), conditional).ok(), conditional);
        }
    }
}

/// Which operation it is must fit what the URL names and whether it has a condition.
fn check(target: &Target, kind: Option<Kind>, conditional: bool) {
    match kind {
        Some(Kind::UpdateEntity | Kind::MergeEntity) => assert!(conditional),
        Some(Kind::InsertOrReplaceEntity | Kind::InsertOrMergeEntity) => assert!(!conditional),
        Some(Kind::InsertEntity | Kind::QueryEntities) => {
            assert!(matches!(target, Target::Entities(_)));
        }
        Some(Kind::DeleteEntity | Kind::GetEntity) => {}
        _ => return,
    }
    if let Target::Entity { partition, row, .. } = target {
        assert!(![partition, row].into_iter().any(|key| key.contains(['/', '\\'])));
    }
}
