//! The parts of a Shared Key string-to-sign: canonical headers, resource and query.
//!
//! Where SDKs are known to differ from each other, every form is offered as a candidate. Must never
//! offer a form that leaves out something the request carries.

use crate::error::{AuthError, Failure};
use crate::request::RequestFacts;
use std::borrow::Cow;
use std::collections::BTreeMap;
use zaffre_base::ApiVersion;
use zaffre_base::text::trimmed;

/// From this version on, headers without a value are signed too.
const SIGNS_EMPTY_HEADERS: ApiVersion = ApiVersion::new(2016, 5, 31);
/// Sorts after every header made of ordinary characters of the same weight.
const HYPHEN: u8 = 2;
const APOSTROPHE: u8 = 1;
const ORDINARY: u8 = 0;

/// `x-ms-*` headers as `name:value` lines; the service's own form first.
pub(crate) fn header_forms(facts: &RequestFacts<'_>) -> Vec<String> {
    let mut headers: Vec<(String, &str)> = facts
        .headers
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim()))
        .filter(|(name, value)| {
            let signed = !value.is_empty() || facts.version >= SIGNS_EMPTY_HEADERS;
            name.starts_with("x-ms-") && signed
        })
        .collect();
    let mut forms = Vec::new();
    headers.sort_by_cached_key(|(name, _)| collation_key(name));
    push_header_forms(&headers, &mut forms);
    headers.sort();
    push_header_forms(&headers, &mut forms);
    forms
}

/// The form of [`header_forms`] in the order of bytes, values as they are.
pub(crate) fn push_usual_headers(facts: &RequestFacts<'_>, text: &mut String) {
    let is_signed = |(name, value): &&(&str, &str)| {
        let starts = name.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("x-ms-"));
        starts && (!trimmed(value).is_empty() || facts.version >= SIGNS_EMPTY_HEADERS)
    };
    let signed = facts.headers.iter().filter(is_signed);
    let mut headers: Vec<(Cow<'_, str>, &str)> =
        signed.map(|(name, value)| (lower(name), trimmed(value))).collect();
    headers.sort();
    for (name, value) in &headers {
        push_line(text, name, value);
    }
}

/// A name in lower case; most come in it.
fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|b| b.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

/// The first of [`path_forms`].
pub(crate) fn push_usual_path(facts: &RequestFacts<'_>, text: &mut String) {
    let path = if facts.raw_path.is_empty() { "/" } else { facts.raw_path };
    for part in ["/", facts.account.as_str(), path] {
        text.push_str(part);
    }
}

/// With runs of white space folded, as the service documents, and as they are, as SDKs sign.
fn push_header_forms(headers: &[(String, &str)], forms: &mut Vec<String>) {
    let (mut folded, mut plain) = (String::new(), String::new());
    for (name, value) in headers {
        push_line(&mut folded, name, &fold_spaces(value));
        push_line(&mut plain, name, value);
    }
    push_new(forms, folded);
    push_new(forms, plain);
}

fn push_line(lines: &mut String, name: &str, value: &str) {
    for part in [name, ":", value, "\n"] {
        lines.push_str(part);
    }
}

fn push_new(forms: &mut Vec<String>, form: String) {
    if !forms.contains(&form) {
        forms.push(form);
    }
}

/// One space for every run of white space outside quotes.
fn fold_spaces(value: &str) -> String {
    let mut folded = String::with_capacity(value.len());
    let mut quoted = false;
    let mut pending = false;
    for c in value.chars() {
        if !quoted && matches!(c, ' ' | '\t' | '\r' | '\n') {
            pending = true;
            continue;
        }
        if pending {
            folded.push(' ');
            pending = false;
        }
        quoted ^= c == '"';
        folded.push(c);
    }
    folded
}

/// The service compares header names by culture: hyphens and apostrophes only break ties, and
/// punctuation sorts before digits before letters. A key rather than a comparison, because a
/// comparison that is not a total order may panic in `sort`.
fn collation_key(name: &str) -> (Vec<u16>, Vec<u8>) {
    let weights = name.bytes().map(weight).filter(|w| *w != 0).collect();
    let ties = name.bytes().map(tie_weight).collect();
    (weights, ties)
}

/// The order of all characters a header name can have; 0 for those that only break ties.
fn weight(byte: u8) -> u16 {
    const ORDER: &[u8] = b"!#$%&*.^_`|~+0123456789abcdefghijklmnopqrstuvwxyz";
    let place = ORDER.iter().position(|b| *b == byte);
    place.and_then(|p| u16::try_from(p + 1).ok()).unwrap_or(0)
}

fn tie_weight(byte: u8) -> u8 {
    match byte {
        b'-' => HYPHEN,
        b'\'' => APOSTROPHE,
        _ => ORDINARY,
    }
}

/// `/account/path`; a path-style path names the account itself, so there it comes twice.
///
/// SDKs given a path-style secondary URL sign its first segment with or without `-secondary`.
pub(crate) fn path_forms(facts: &RequestFacts<'_>) -> Vec<String> {
    let account = facts.account;
    let path = if facts.raw_path.is_empty() { "/" } else { facts.raw_path };
    let mut forms = vec![format!("/{account}{path}")];
    if facts.path_style {
        let stripped = path.strip_prefix(&format!("/{account}-secondary"));
        forms.extend(stripped.map(|rest| format!("/{account}/{account}{rest}")));
    }
    forms
}

/// All query parameters as `\nname:value` lines, sorted.
///
/// A literal `+` is a space to some SDKs and a plus to others, so both readings are offered.
/// A query whose lines could be read as those of another query is refused: nobody else may drop
/// or add a parameter under this signature.
pub(crate) fn query_forms(facts: &RequestFacts<'_>) -> Result<Vec<String>, AuthError> {
    if facts.query.iter().any(|(n, v)| n.contains([':', '\n']) || v.contains('\n')) {
        return Err(Failure::QueryAmbiguous.into());
    }
    // ASCII alone, as routing does: some other letters have an ASCII letter as their lower case.
    let decoded = facts.query.iter().map(|(n, v)| (n.to_ascii_lowercase(), v.clone()));
    let mut forms = vec![query_lines(decoded)];
    if facts.raw_query.contains('+') {
        let literal: Option<Vec<_>> = facts
            .raw_query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                Some((percent_decode(name)?.to_ascii_lowercase(), percent_decode(value)?))
            })
            .collect();
        if let Some(literal) = literal {
            push_new(&mut forms, query_lines(literal.into_iter()));
        }
    }
    Ok(forms)
}

fn query_lines(pairs: impl Iterator<Item = (String, String)>) -> String {
    let mut by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in pairs {
        by_name.entry(name).or_default().push(value);
    }
    let mut lines = String::new();
    for (name, mut values) in by_name {
        values.sort();
        lines.push('\n');
        lines.push_str(&name);
        lines.push(':');
        lines.push_str(&values.join(","));
    }
    lines
}

/// The query as SharedKeyLite signs it: `comp` alone, of which there may be only one.
pub(crate) fn comp_suffix(facts: &RequestFacts<'_>) -> Result<String, AuthError> {
    let mut comps = facts.query.iter().filter(|(name, _)| name.eq_ignore_ascii_case("comp"));
    match (comps.next(), comps.next()) {
        (Some((_, value)), None) => Ok(format!("?comp={value}")),
        (None, _) => Ok(String::new()),
        (Some(_), Some(_)) => Err(Failure::FieldRepeated { name: "comp" }.into()),
    }
}

fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
            let (high, low) = (digit(rest.next())?, digit(rest.next())?);
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collation_orders_as_the_service() {
        let sorted = [
            "x-ms-meta-a!b",
            "x-ms-meta-a#b",
            "x-ms-meta-a.b",
            "x-ms-meta-a_b",
            "x-ms-meta-a1",
            "x-ms-meta-aa",
            "x-ms-meta-ab",
            "x-ms-meta-a'b",
            "x-ms-meta-a-b",
            "x-ms-meta-abc",
            "x-ms-meta-ab'c",
            "x-ms-meta-ab-c",
            "x-ms-meta-a'bc",
            "x-ms-meta-a-bc",
            "x-ms-meta-b",
        ];
        let mut names = sorted;
        names.reverse();
        names.sort_by_cached_key(|n| collation_key(n));
        assert_eq!(names, sorted);
    }

    #[test]
    fn white_space() {
        for (value, want) in [
            ("a", "a"),
            ("a  b", "a b"),
            ("a\t b", "a b"),
            ("a \"b  c\"  d", "a \"b  c\" d"),
            ("", ""),
        ] {
            assert_eq!(fold_spaces(value), want);
        }
    }

    #[test]
    fn repeated_parameters_sort_and_join() {
        let pairs = [("b", "2"), ("a", "y"), ("a", "x"), ("c", "")];
        let pairs = pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        assert_eq!(query_lines(pairs), "\na:x,y\nb:2\nc:");
    }

    #[test]
    fn percent_decoding_is_strict_and_single() {
        for (text, want) in [
            ("a+b", Some("a+b")),
            ("%2B%20", Some("+ ")),
            ("%252F", Some("%2F")),
            ("%C3%BC", Some("ü")),
            ("%", None),
            ("%4", None),
            ("%zz", None),
            ("%FF", None),
        ] {
            assert_eq!(percent_decode(text).as_deref(), want, "{text}");
        }
    }
}
