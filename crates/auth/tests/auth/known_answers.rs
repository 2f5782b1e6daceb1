//! Requests and tokens that real SDKs signed must be let in; with anything changed, they must not.

use crate::fixture::{ACCOUNT, DATE, Op, Request, SNAPSHOT, accounts, blocks, now};
use zaffre_auth::{Action, AuthError, Failure, ResponseOverrides, authenticate, authorize};
use zaffre_base::{ApiVersion, Timestamp};

fn sdk_requests() -> Vec<(&'static str, Request, Timestamp)> {
    let requests: Vec<_> = blocks(include_str!("../data/sdk_requests.txt"))
        .into_iter()
        .map(|(title, lines)| {
            let (first, headers) = lines.split_first().expect("a request line");
            let (method, target) = first.split_once(' ').expect("method and target");
            let mut request = Request::new(method, target);
            for line in headers {
                let (name, value) = line.split_once(": ").expect("a header");
                request = request.header(name, value);
            }
            let named = |wanted: &str| {
                let found = request.headers.iter().find(|(name, _)| name == wanted);
                found.map(|(_, value)| value.as_str()).expect("the header")
            };
            let date = Timestamp::parse_http(named("x-ms-date")).expect("a date");
            request.version = ApiVersion::parse(named("x-ms-version")).expect("a version");
            (title, request, date)
        })
        .collect();
    assert!(requests.len() >= 25, "only {} requests", requests.len());
    requests
}

fn sdk_tokens() -> Vec<(&'static str, Request)> {
    let tokens: Vec<_> = blocks(include_str!("../data/sdk_tokens.txt"))
        .into_iter()
        .map(|(title, lines)| (title, Request::new("GET", lines.first().expect("a URL"))))
        .collect();
    assert!(tokens.len() >= 50, "only {} tokens", tokens.len());
    tokens
}

#[test]
fn sdk_requests_are_let_in() {
    for (title, request, date) in sdk_requests() {
        let claim = request.authenticate_at(date);
        assert_eq!(claim.map(|c| c.scheme()), Ok("SharedKey"), "{title}");
    }
}

fn assert_mac_mismatch(request: &Request, date: Timestamp, what: &str) {
    match request.authenticate_at(date) {
        Err(AuthError::AuthenticationFailed { detail: Failure::MacMismatch { .. } }) => {}
        other => panic!("{what}: {:?}", other.map(|c| c.scheme())),
    }
}

#[test]
fn changed_sdk_requests_are_not() {
    let mut cells = 0;
    for (title, request, date) in sdk_requests() {
        let mut changed = request.clone();
        changed.method = "POST".to_owned();
        assert_mac_mismatch(&changed, date, title);
        let mut changed = request.clone();
        changed.raw_path.push('x');
        assert_mac_mismatch(&changed, date, title);
        let mut changed = request.clone();
        changed.raw_path = changed.raw_path.replacen("/cont", "/%63ont", 1);
        if changed.raw_path != request.raw_path {
            assert_mac_mismatch(&changed, date, title);
        }
        let mut changed = request.clone();
        changed.set("comp", "acl2");
        assert_mac_mismatch(&changed, date, title);
        for index in 0..request.query.len() {
            let mut changed = request.clone();
            changed.query[index].1.push('x');
            assert_mac_mismatch(&changed, date, title);
            changed.query.remove(index);
            assert_mac_mismatch(&changed, date, title);
            cells += 2;
        }
        for (index, (name, _)) in request.headers.iter().enumerate() {
            if matches!(name.as_str(), "Authorization" | "x-ms-date") {
                continue;
            }
            let mut changed = request.clone();
            changed.headers[index].1.push('1');
            assert_mac_mismatch(&changed, date, &format!("{title}: {name}"));
            cells += 1;
        }
        for name in ["x-ms-extra", "Range", "If-Match2", "Content-Encoding"] {
            let changed = request.clone().header(name, "1");
            if name == "If-Match2" {
                assert!(changed.authenticate_at(date).is_ok(), "{title}: {name} is not signed");
            } else {
                assert_mac_mismatch(&changed, date, &format!("{title}: {name}"));
            }
            cells += 1;
        }
    }
    assert!(cells >= 250, "only {cells} cells");
}

#[test]
fn sdk_tokens_are_let_in() {
    for (title, request) in sdk_tokens() {
        let claim = request.authenticate().unwrap_or_else(|e| panic!("{title}: {e:?}"));
        let want = if title.starts_with("account") { "AccountSAS" } else { "ServiceSAS" };
        assert_eq!(claim.scheme(), want, "{title}");
        assert_eq!(claim.needs_container_access(), title.contains("policy"), "{title}");
        assert!(!claim.is_anonymous());
    }
}

#[test]
fn overrides_come_from_service_tokens_alone() {
    for (title, mut request) in sdk_tokens() {
        let signs_overrides = title.contains("overrides");
        if !signs_overrides {
            request.set("rscd", "attachment; filename=evil.html");
        }
        let refused_or_empty = |request: &Request| {
            let Ok(claim) = request.authenticate() else { return true };
            if claim.needs_container_access() {
                return true;
            }
            let op = Op::on(request, Action::GetBlob);
            let admitted = request.with_facts(|f| authorize(&claim, op, None, f, now()));
            admitted.is_ok_and(|(_, overrides)| overrides == ResponseOverrides::default())
        };
        if !signs_overrides {
            assert!(refused_or_empty(&request), "{title}");
            continue;
        }
        let (_, overrides) = request
            .admit(Op::on(&request, Action::GetBlob), None)
            .unwrap_or_else(|e| panic!("{title}: {e:?}"));
        assert_eq!(overrides.cache_control.as_deref(), Some("no-cache"), "{title}");
        assert_eq!(overrides.content_encoding.as_deref(), Some("gzip"), "{title}");
        assert_eq!(overrides.content_language.as_deref(), Some("de"), "{title}");
        assert_eq!(overrides.content_type.as_deref(), Some("text/plain"), "{title}");
        assert!(overrides.content_disposition.is_some(), "{title}");
    }
}

/// A plausible other value for a parameter, so that parsing alone does not refuse it.
fn other_value(name: &str, value: &str) -> String {
    match name {
        "st" => "2025-12-31".to_owned(),
        "se" => "2031-01-01T00:00:00Z".to_owned(),
        "sip" => "10.0.0.0-10.0.0.255".to_owned(),
        "spr" if value == "https" => "https,http".to_owned(),
        "spr" => "https".to_owned(),
        "sv" if value == "2021-02-12" => "2021-04-10".to_owned(),
        "sv" => "2021-02-12".to_owned(),
        "sr" if value == "c" => "b".to_owned(),
        "sr" => "c".to_owned(),
        "sdd" => "1".to_owned(),
        "snapshot" | "versionid" => "2026-01-02T00:00:00.0000000Z".to_owned(),
        "srt" => "o".to_owned(),
        _ => format!("{value}w"),
    }
}

#[test]
fn changed_sdk_tokens_are_not() {
    let mut cells = 0;
    for (title, request) in sdk_tokens() {
        for (name, value) in request.query.clone() {
            let mut changed = request.clone();
            changed.set(&name, &other_value(&name, &value));
            assert!(changed.authenticate().is_err(), "{title}: {name} changed");
            let mut removed = request.clone();
            removed.query.retain(|(n, _)| *n != name);
            assert!(removed.authenticate().is_err(), "{title}: {name} removed");
            let mut doubled = request.clone();
            doubled.query.push((name.clone(), value.clone()));
            assert!(doubled.authenticate().is_err(), "{title}: {name} doubled");
            let mut shouted = request.clone();
            shouted.query.retain(|(n, _)| *n != name);
            shouted.query.push((name.to_uppercase(), value.clone()));
            assert!(shouted.authenticate().is_err(), "{title}: {name} in upper case");
            cells += 4;
        }
        let mut elsewhere = request.clone();
        elsewhere.account = zaffre_base::AccountName::parse("other").expect("a name");
        assert!(elsewhere.authenticate().is_err(), "{title}: other account");
        if !title.starts_with("account") {
            let mut elsewhere = request.clone();
            elsewhere.container = Some("cont2".to_owned());
            assert!(elsewhere.authenticate().is_err(), "{title}: other container");
        }
    }
    assert!(cells >= 1_000, "only {cells} cells");
}

/// The vectors the specification of the other services gives for the parts they share.
#[test]
fn shared_vectors() {
    let date = "Thu, 01 Jan 2026 00:00:00 GMT";
    let at = Timestamp::parse_http(date).expect("a date");
    let queue = |target: &str, authorization: &str| {
        let mut request = Request::new("GET", &format!("/{ACCOUNT}{target}"))
            .header("x-ms-date", date)
            .header("x-ms-version", "2021-02-12")
            .header("authorization", authorization);
        request.version = ApiVersion::new(2021, 2, 12);
        request
    };
    for request in [
        queue(
            "/myqueue/messages?numofmessages=2&visibilitytimeout=10",
            "SharedKey devstoreaccount1:4HHGpm1uU+f1vcK+ZVeU2eWxYf5n8bXy3YRw1K/KgsE=",
        ),
        queue(
            "/myqueue?comp=metadata",
            "SharedKeyLite devstoreaccount1:gp3C05oCa47QNLNDKojlAhZ4n7Aq6ALj6F/5mKzZphI=",
        ),
    ] {
        assert_eq!(request.authenticate_at(at).map(|c| c.scheme()), Ok("SharedKey"));
    }
    for (sv, sig) in [
        ("2019-02-02", "2Uc6QoQq0ZKFSrxzF1qHifMp7DFZanTDZ7iJ1scuQTU="),
        ("2021-02-12", "5oBnqMsFaGsP0Wyq2MbdAptlWmFw9Gm6urGw82RbWJc="),
    ] {
        let mut request = Request::new("GET", "/?comp=list");
        for (name, value) in [
            ("sp", "rwdlacup"),
            ("ss", "qt"),
            ("srt", "sco"),
            ("se", "2030-01-01T00:00:00Z"),
            ("sv", sv),
            ("sig", sig),
        ] {
            request.set(name, value);
        }
        let admitted = request.admit(Op::on(&request, Action::ListContainers), None);
        assert_eq!(admitted.map(|_| ()), Err(AuthError::AuthorizationServiceMismatch), "{sv}");
    }
}

#[test]
fn forms_that_sdks_disagree_about() {
    let base = Request::new("PUT", "/devstoreaccount1-secondary/cont?comp=a+b")
        .dated()
        .header("x-ms-meta-a-b", "1")
        .header("x-ms-meta-aa", "2  3")
        .header("Content-Length", "0");
    let start = "PUT\n\n\n\n\n\n\n\n\n\n\n\n";
    let ordinal = "x-ms-meta-a-b:1\nx-ms-meta-aa:2  3\n";
    let culture = "x-ms-meta-aa:2 3\nx-ms-meta-a-b:1\n";
    let stock = format!("x-ms-date:{DATE}\n");
    let key = crate::fixture::key();
    let mut strings = Vec::new();
    for meta in [ordinal, culture] {
        for path in ["devstoreaccount1-secondary", "devstoreaccount1"] {
            for comp in ["a+b", "a b"] {
                strings.push(format!(
                    "{start}{stock}{meta}x-ms-version:2026-10-06\n/{ACCOUNT}/{path}/cont\ncomp:{comp}"
                ));
            }
        }
    }
    for string in strings {
        let signature = hmac_of(&key, &string);
        let authorization = format!("SharedKey {ACCOUNT}:{signature}");
        let request = base.clone().header("Authorization", &authorization);
        assert_eq!(request.authenticate().map(|c| c.scheme()), Ok("SharedKey"), "{string}");
    }
}

/// A string signed by hand is let in for exactly one of the two versions.
#[test]
fn rules_that_changed_with_a_version() {
    let base = Request::new("PUT", "/cont/x").header("x-ms-date", DATE);
    let empty = base.clone().header("x-ms-meta-a", "");
    let length = base.clone().header("Content-Length", "0");
    let tail = |length: &str, headers: &str| {
        let headers = format!("x-ms-date:{DATE}\n{headers}");
        format!("PUT\n\n\n{length}\n\n\n\n\n\n\n\n\n{headers}/{ACCOUNT}/cont/x")
    };
    let lite = format!("PUT\n\n\n\nx-ms-date:{DATE}\n/{ACCOUNT}/cont/x");
    for (request, string, before, from, holds_from) in [
        (&empty, tail("", "x-ms-meta-a:\n"), "2015-12-11", "2016-05-31", true),
        (&empty, tail("", ""), "2015-12-11", "2016-05-31", false),
        (&length, tail("", ""), "2014-02-14", "2015-02-21", true),
        (&length, tail("0", ""), "2014-02-14", "2015-02-21", false),
        (&base, tail("", ""), "2009-07-17", "2009-09-19", true),
        (&base, lite, "2009-07-17", "2009-09-19", false),
    ] {
        let signature = hmac_of(&crate::fixture::key(), &string);
        let mut request =
            request.clone().header("Authorization", &format!("SharedKey {ACCOUNT}:{signature}"));
        for (version, want) in [(before, !holds_from), (from, holds_from)] {
            request.version = ApiVersion::parse(version).expect("a version");
            assert_eq!(request.authenticate().is_ok(), want, "{version} {string}");
        }
    }
}

/// With both dates, the line of `Date` is empty.
#[test]
fn x_ms_date_wins() {
    for (line, want) in [("", true), (DATE, false)] {
        let string =
            format!("GET\n\n\n\n\n\n{line}\n\n\n\n\n\nx-ms-date:{DATE}\n/{ACCOUNT}/cont/x");
        let signature = hmac_of(&crate::fixture::key(), &string);
        let request = Request::new("GET", "/cont/x")
            .header("x-ms-date", DATE)
            .header("Date", DATE)
            .header("Authorization", &format!("SharedKey {ACCOUNT}:{signature}"));
        assert_eq!(request.authenticate().is_ok(), want);
    }
}

/// SDKs sign the root directory with a slash at its end (see the data file) or without.
#[test]
fn the_root_directory_has_two_names() {
    for (resource, want) in [("cont", true), ("cont/", true), ("cont//", false), ("con", false)] {
        let string = format!(
            "r\n\n2030-01-01\n/blob/{ACCOUNT}/{resource}\n\n\n\n2021-02-12\nd\n\n\n\n\n\n\n"
        );
        let mut request = Request::new("GET", "/cont/dir/x");
        for (name, value) in
            [("sv", "2021-02-12"), ("sr", "d"), ("sdd", "0"), ("sp", "r"), ("se", "2030-01-01")]
        {
            request.set(name, value);
        }
        request.set("sig", &hmac_of(&crate::fixture::key(), &string));
        assert_eq!(request.authenticate().is_ok(), want, "{resource}");
    }
}

/// Only a path-style URL names the account; elsewhere such a segment is a container.
#[test]
fn secondary_is_stripped_from_the_account_alone() {
    let mut request = Request::new("GET", "/devstoreaccount1-secondary/cont").dated();
    let string = format!(
        "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{DATE}\nx-ms-version:2026-10-06\n/{ACCOUNT}/{ACCOUNT}/cont"
    );
    let authorization = format!("SharedKey {ACCOUNT}:{}", hmac_of(&crate::fixture::key(), &string));
    request = request.header("Authorization", &authorization);
    assert!(request.authenticate().is_ok());
    request.path_style = false;
    assert!(request.authenticate().is_err());
}

/// Computed here, apart from the code under test.
fn hmac_of(key: &zaffre_base::Secret<Vec<u8>>, text: &str) -> String {
    use hmac::{Hmac, KeyInit, Mac};
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key.expose()).expect("any length");
    mac.update(text.as_bytes());
    zaffre_base::base64::encode(&mac.finalize().into_bytes())
}

#[test]
fn either_key_will_do() {
    let two = format!("{ACCOUNT}:b3RoZXI=:{}", zaffre_auth::accounts::DEVELOPMENT_KEY);
    let rotated = zaffre_auth::Accounts::parse_env(&two).expect("well formed");
    let none =
        zaffre_auth::Accounts::parse_env(&format!("{ACCOUNT}:b3RoZXI=")).expect("well formed");
    let key_request = Request::new("GET", "/?comp=list").dated().sign_shared_key();
    let sas_request = Request::new("GET", "/cont/x").sign_service_sas(&[
        ("sv", "2026-04-06"),
        ("sr", "bs"),
        ("sp", "r"),
        ("se", crate::fixture::EXPIRY),
        ("snapshot", SNAPSHOT),
    ]);
    for request in [key_request, sas_request] {
        for (accounts, want) in [(&accounts(), true), (&rotated, true), (&none, false)] {
            let claim = request.with_facts(|f| authenticate(f, accounts, now(), now()));
            assert_eq!(claim.is_ok(), want);
        }
    }
}
