//! Conditional headers into [`Conditions`], kept to those the operation takes.
//!
//! Must never decide whether a condition holds or which may stand together: the domain does.

use crate::fields::Fields;
use zaffre_base::{ETag, Timestamp};
use zaffre_domain::blob::tier::TierConditions;
use zaffre_domain::conditions::{ConditionalOperation, Conditions, TagCondition};
use zaffre_http::ApiError;

/// Most tags one header can name; beyond it is abuse, not caching.
const TAGS: usize = 64;

/// The conditions of a request for `operation`.
pub(super) fn conditions(
    fields: &Fields<'_>,
    operation: ConditionalOperation,
) -> Result<Conditions, ApiError> {
    let sent = Conditions {
        if_match: tags(fields, "if-match")?,
        if_none_match: tags(fields, "if-none-match")?,
        if_modified_since: date(fields, "if-modified-since")?,
        if_unmodified_since: date(fields, "if-unmodified-since")?,
        if_tags: super::tags::condition(fields)?,
    };
    Ok(sent.taken_by(operation))
}

/// The conditions that the operations on tags take under names of their own.
pub(super) fn on_blob(fields: &Fields<'_>) -> Result<Conditions, ApiError> {
    Ok(Conditions {
        if_match: tags(fields, "x-ms-blob-if-match")?,
        if_none_match: tags(fields, "x-ms-blob-if-none-match")?,
        if_modified_since: date(fields, "x-ms-blob-if-modified-since")?,
        if_unmodified_since: date(fields, "x-ms-blob-if-unmodified-since")?,
        if_tags: None,
    })
}

/// The conditions on the change of a blob's tier.
pub(super) fn on_tier(fields: &Fields<'_>) -> Result<TierConditions, ApiError> {
    Ok(TierConditions {
        if_modified_since: date(fields, "x-ms-access-tier-if-modified-since")?,
        if_unmodified_since: date(fields, "x-ms-access-tier-if-unmodified-since")?,
    })
}

fn tags(fields: &Fields<'_>, name: &str) -> Result<Option<TagCondition>, ApiError> {
    let Some(text) = fields.header(name)? else { return Ok(None) };
    let wildcard = |tag: &str| tag == "*" || tag == "\"*\"";
    if wildcard(text) {
        return Ok(Some(TagCondition::Any));
    }
    let sent: Vec<&str> = text.split(',').map(str::trim).collect();
    if sent.len() > TAGS || sent.iter().any(|tag| wildcard(tag)) {
        return Err(ApiError::invalid_header_value(name, text));
    }
    Ok(Some(TagCondition::Tags(sent.into_iter().map(ETag::parse).collect())))
}

/// A date that cannot be read counts as not sent: that is what the service does.
fn date(fields: &Fields<'_>, name: &str) -> Result<Option<Timestamp>, ApiError> {
    Ok(fields.header(name)?.and_then(Timestamp::parse_http))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::Ask;
    use zaffre_base::Stamp;

    fn parsed(headers: &[(&str, &str)], op: ConditionalOperation) -> Result<Conditions, String> {
        let ask = Ask::get("/c/b").with(headers);
        conditions(&ask.fields(), op).map_err(|e| e.code.to_owned())
    }

    #[test]
    fn entity_tags() {
        let tag = |ticks| Some(ETag(Stamp(ticks)));
        let a = "\"0x8DE240000000001\"";
        let tags = |list: &[Option<ETag>]| Ok(Some(TagCondition::Tags(list.to_vec())));
        let first = tag(0x08DE_2400_0000_0001);
        for (text, want) in [
            (a, tags(&[first])),
            ("0x8DE240000000001", tags(&[first])),
            ("*", Ok(Some(TagCondition::Any))),
            ("\"*\"", Ok(Some(TagCondition::Any))),
            ("\"other\"", tags(&[None])),
            ("\"0x8DE240000000001\", \"0x8DE240000000002\"", {
                tags(&[first, tag(0x08DE_2400_0000_0002)])
            }),
            ("*, \"a\"", Err("InvalidHeaderValue".to_owned())),
            ("", Ok(None)),
        ] {
            let got = parsed(&[("if-match", text)], ConditionalOperation::GetBlob);
            assert_eq!(got.map(|c| c.if_match), want, "{text}");
        }
    }

    #[test]
    fn unreadable_dates_are_ignored_and_repeated_headers_are_not() {
        let op = ConditionalOperation::GetBlob;
        let date = "Sun, 15 Nov 2026 04:42:16 GMT";
        let sent = parsed(&[("if-modified-since", date)], op);
        assert_eq!(sent.map(|c| c.if_modified_since), Ok(Timestamp::parse_http(date)));
        let sent = parsed(&[("if-modified-since", "yesterday")], op);
        assert_eq!(sent, Ok(Conditions::default()));
        let twice = parsed(&[("if-modified-since", date), ("if-modified-since", date)], op);
        assert_eq!(twice, Err("InvalidHeaderValue".to_owned()));
    }

    #[test]
    fn what_an_operation_does_not_take_is_dropped() {
        let all = [("if-match", "*"), ("if-unmodified-since", "Sun, 15 Nov 2026 04:42:16 GMT")];
        let kept = parsed(&all, ConditionalOperation::DeleteContainer).expect("readable");
        assert!(kept.if_match.is_none() && kept.if_unmodified_since.is_some());
        let kept = parsed(&all, ConditionalOperation::PutBlock);
        assert_eq!(kept, Ok(Conditions::default()));
    }
}
