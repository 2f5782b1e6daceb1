//! The limits and the choice of CORS rules as tables.

use super::*;
use alloc::format;
use alloc::vec;

fn texts(list: &str) -> Vec<String> {
    list.split(',').filter(|text| !text.is_empty()).map(String::from).collect()
}

fn rule(origins: &str, methods: &str, allowed: &str, exposed: &str) -> CorsRule {
    CorsRule {
        origins: texts(origins),
        methods: texts(methods),
        allowed_headers: texts(allowed),
        exposed_headers: texts(exposed),
        max_age_seconds: 5,
    }
}

#[test]
fn limits() {
    let many = |n: usize, suffix: &str| {
        (0..n).map(|i| format!("h{i}{suffix}")).collect::<Vec<_>>().join(",")
    };
    let ok = || rule("*", "GET", "", "");
    for (rules, want) in [
        (vec![], Ok(())),
        (vec![ok(); 5], Ok(())),
        (vec![ok(); 6], Err(CorsFault::TooManyRules)),
        (vec![rule("", "GET", "", "")], Err(CorsFault::Origins)),
        (vec![rule(&many(64, ""), "GET", "", "")], Ok(())),
        (vec![rule(&many(65, ""), "GET", "", "")], Err(CorsFault::Origins)),
        (vec![rule(&"o".repeat(256), "GET", "", "")], Ok(())),
        (vec![rule(&"o".repeat(257), "GET", "", "")], Err(CorsFault::Origins)),
        (vec![rule("*", "", "", "")], Err(CorsFault::Methods)),
        (vec![rule("*", "get", "", "")], Err(CorsFault::Methods)),
        (vec![rule("*", "TRACE", "", "")], Err(CorsFault::Methods)),
        (vec![rule("*", "DELETE,GET,HEAD,MERGE,PATCH,POST,OPTIONS,PUT", "", "")], Ok(())),
        (vec![rule("*", "GET", &many(64, ""), &many(64, ""))], Ok(())),
        (vec![rule("*", "GET", &many(65, ""), "")], Err(CorsFault::Headers)),
        (vec![rule("*", "GET", "", &many(65, ""))], Err(CorsFault::Headers)),
        (vec![rule("*", "GET", &many(2, "*"), &many(2, "*"))], Ok(())),
        (vec![rule("*", "GET", &many(3, "*"), "")], Err(CorsFault::Headers)),
        (vec![rule("*", "GET", &format!("{},x-*,y-*", many(64, "")), "")], Ok(())),
        (vec![rule("*", "GET", &"h".repeat(257), "")], Err(CorsFault::Headers)),
        (vec![rule(&"o".repeat(210), "GET", &"h".repeat(210), ""); 5], Err(CorsFault::TooLarge)),
    ] {
        assert_eq!(check(&rules), want, "{rules:?}");
    }
    // "GET" and "5" are 4 bytes of each rule.
    let exact = |n: usize| vec![rule(&"o".repeat(252), "GET", &"h".repeat(n), ""); 4];
    assert_eq!(check(&exact(256)), Ok(()));
    let mut over = exact(256);
    over[0].max_age_seconds = 10;
    assert_eq!(check(&over), Err(CorsFault::TooLarge));
    // A comma counts too.
    let listed = |n: usize| {
        let origins = format!("{},{}", "o".repeat(125), "o".repeat(n));
        vec![rule(&origins, "GET", &"h".repeat(256), ""); 4]
    };
    assert_eq!(check(&listed(126)), Ok(()));
    assert_eq!(check(&listed(127)), Err(CorsFault::TooLarge));
}

#[test]
fn a_sample_names_its_origin_and_verb() {
    let made = CorsRule::sample("http://a", "PUT");
    assert_eq!(made, CorsRule { max_age_seconds: 0, ..rule("http://a", "PUT", "", "") });
}

#[test]
fn rules_are_tried_in_order() {
    let rules = [
        rule("http://a.com,http://*.b.com", "GET,PUT", "", ""),
        rule("http://a.com", "DELETE", "", ""),
        rule("*", "GET", "", ""),
    ];
    for (origin, method, want) in [
        (Some("http://a.com"), "GET", Some((0, false))),
        (Some("http://A.com"), "PUT", None),
        (Some("http://a.com"), "DELETE", Some((1, false))),
        (Some("http://a.com"), "POST", None),
        (Some("http://x.b.com"), "PUT", Some((0, false))),
        (Some("http://x.y.b.com"), "PUT", Some((0, false))),
        (Some("https://x.b.com"), "PUT", None),
        (Some("http://b.com"), "PUT", None),
        (Some("http://.b.com"), "PUT", None),
        (Some("http://xb.com"), "PUT", None),
        (Some("null"), "PUT", None),
        (Some("http://c.com"), "GET", Some((2, true))),
        (None, "GET", Some((2, true))),
        (None, "PUT", None),
    ] {
        let found = find(&rules, origin, method).map(|found| {
            let at = rules.iter().position(|rule| rule == found.rule);
            (at.unwrap_or(usize::MAX), found.any_origin)
        });
        assert_eq!(found, want, "{origin:?} {method}");
    }
}

#[test]
fn headers() {
    for (allowed, sent, want) in [
        ("", "", true),
        ("", "x", false),
        ("x-ms-date,X-MS-Meta-*", "X-ms-Date,x-ms-meta-a,x-ms-meta-", true),
        ("x-ms-date,x-ms-meta-*", "x-ms-met", false),
        ("*", "anything,é", true),
    ] {
        let rule = rule("*", "GET", allowed, "");
        let sent = sent.split(',').filter(|text| !text.is_empty());
        assert_eq!(rule.allows_headers(sent), want, "{allowed}");
    }
    for (exposed, sent, want) in [
        ("", "a,b", ""),
        ("x,b", "a,b", "x,b"),
        ("B,a*", "ab,b,A,c", "B,ab,A"),
        ("*", "date,etag", "date,etag"),
    ] {
        let rule = rule("*", "GET", "", exposed);
        assert_eq!(rule.exposed(sent.split(',')).join(","), want, "{exposed}");
    }
}

#[test]
fn faults_say_what_to_change() {
    for (fault, named) in [
        (CorsFault::TooManyRules, "number of CORS rules"),
        (CorsFault::TooLarge, "2 KiB"),
        (CorsFault::Origins, "AllowedOrigins"),
        (CorsFault::Methods, "AllowedMethods"),
        (CorsFault::Headers, "AllowedHeaders and ExposedHeaders"),
    ] {
        assert!(fault.reason().contains(named), "{fault:?}");
    }
}
