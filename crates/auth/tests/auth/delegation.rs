//! User delegation keys and the SAS tokens they sign, in every layout, whole and tampered with.

use crate::bearer::{OBJECT, TENANT, claimed};
use crate::fixture::{EXPIRY, Op, Request, SNAPSHOT, accounts, now};
use std::sync::Arc;
use zaffre_auth::accounts::parse_key;
use zaffre_auth::{
    Account, Accounts, Action, AuthError, Claim, Failure, GetUserDelegationKey, Service,
    TokenTrust, UserDelegationKey, authenticate, authorize, delegation, sign,
};
use zaffre_base::{AccountName, ApiVersion, Secret, Timestamp};

const OTHER: &str = "33333333-3333-3333-3333-333333333333";
/// One version of each layout.
const VERSIONS: [&str; 9] = [
    "2018-11-09",
    "2019-12-12",
    "2020-02-10",
    "2020-10-02",
    "2020-12-06",
    "2025-05-05",
    "2025-07-05",
    "2026-02-06",
    "2026-04-06",
];
const KEY_START: &str = "2026-11-15T00:00:00Z";
const KEY_EXPIRY: &str = "2026-11-16T00:00:00Z";

fn trusting(accounts: Accounts) -> Accounts {
    accounts.trusting(Some(Arc::new(TokenTrust::claimed())))
}

fn authenticate_with(accounts: &Accounts, request: &Request) -> Result<Claim, AuthError> {
    request.with_facts(|f| authenticate(f, accounts, now(), now()))
}

/// Asks for a key as the bearer of a token does.
fn key_of(accounts: &Accounts, service: Service, delegated: Option<&str>) -> UserDelegationKey {
    let authorization = format!("Bearer {}", claimed(OBJECT, TENANT));
    let request = Request::new("POST", "/").of(service).header("Authorization", &authorization);
    let claim = authenticate_with(accounts, &request).expect("a good token");
    let time = |text| Timestamp::parse_iso(text).expect("a time");
    let op = GetUserDelegationKey {
        account: request.account.clone(),
        service,
        start: time(KEY_START),
        expiry: time(KEY_EXPIRY),
        version: ApiVersion::new(2026, 4, 6),
        delegated_tenant: delegated.map(str::to_owned),
    };
    let authorized = request.with_facts(|f| authorize(&claim, op, None, f, now())).expect("ok").0;
    delegation::issue(authorized, &claim, accounts).expect("a key")
}

fn key(delegated: Option<&str>) -> UserDelegationKey {
    key_of(&trusting(accounts()), Service::Blob, delegated)
}

type Pairs<'a> = Vec<(&'a str, &'a str)>;

/// Signs a token as an SDK does with a key it was given.
fn signed(request: Request, key: &UserDelegationKey, more: &[(&str, &str)]) -> Request {
    let service = key.service.to_string();
    let mut parameters: Pairs<'_> = vec![
        ("skoid", &key.object),
        ("sktid", &key.tenant),
        ("skt", &key.start),
        ("ske", &key.expiry),
        ("sks", &service),
        ("skv", &key.version),
    ];
    parameters.extend(key.delegated_tenant.as_deref().map(|tenant| ("skdutid", tenant)));
    parameters.extend(more);
    let secret = parse_key(key.value.expose()).expect("Base64");
    let token = request.with_facts(|f| sign::service_sas(f, &secret, &parameters));
    let query = request.query.iter().cloned().chain(token.expect("signable")).collect();
    request.with_query(query)
}

fn blob_sas<'a>(sv: &'a str, more: &[(&'a str, &'a str)]) -> Pairs<'a> {
    [&[("sv", sv), ("sr", "b"), ("sp", "r"), ("se", EXPIRY)], more].concat()
}

fn blob() -> Request {
    Request::new("GET", "/cont/dir/x")
}

fn check(request: &Request) -> Result<&'static str, AuthError> {
    authenticate_with(&trusting(accounts()), request).map(|claim| claim.scheme())
}

fn is_mismatch(result: &Result<&'static str, AuthError>) -> bool {
    matches!(result, Err(AuthError::AuthenticationFailed { detail: Failure::SasMismatch { .. } }))
}

#[test]
fn keys_depend_on_all_that_is_said_of_them() {
    let base = key(None);
    assert_eq!((base.object.as_str(), base.tenant.as_str()), (OBJECT, TENANT));
    assert_eq!((base.start.as_str(), base.expiry.as_str()), (KEY_START, KEY_EXPIRY));
    assert_eq!((base.service, base.version.as_str()), ('b', "2026-04-06"));
    assert_eq!(base.value.expose(), key(None).value.expose(), "the same for the same");
    assert_ne!(base.value.expose(), key(Some(OTHER)).value.expose());
    let queue = key_of(&trusting(accounts()), Service::Queue, None);
    assert_ne!(base.value.expose(), queue.value.expose());
    let name = AccountName::parse("devstoreaccount1").expect("a name");
    let other = Account::new(name, Secret::new(b"other".to_vec()));
    let other = key_of(&trusting([other].into_iter().collect()), Service::Blob, None);
    assert_ne!(base.value.expose(), other.value.expose());
    assert!(!format!("{base:?}").contains(base.value.expose().as_str()));
}

#[test]
fn every_field_of_every_layout_is_signed() {
    let mut cells = 0;
    for sv in VERSIONS {
        let overrides = [("rscc", "a"), ("rscd", "b"), ("rsce", "c"), ("rscl", "d"), ("rsct", "e")];
        let mut more: Pairs<'_> = vec![("st", "2026-11-15"), ("sip", "10.0.0.1")];
        more.extend([("spr", "https")]);
        more.extend(overrides);
        let ids = [("saoid", OTHER), ("scid", OTHER)];
        more.extend(ids.into_iter().filter(|_| sv >= "2020-02-10"));
        more.extend([("ses", "scope")].into_iter().filter(|_| sv >= "2020-12-06"));
        let good = signed(blob(), &key(None), &blob_sas(sv, &more));
        assert_eq!(check(&good), Ok("UserDelegationSAS"), "{sv}");
        for index in 0..good.query.len() {
            let (name, value) = good.query[index].clone();
            let mut changed = good.clone();
            changed.query[index].1 = format!("{value}1");
            assert!(check(&changed).is_err(), "{sv}: {name}");
            changed.query.remove(index);
            assert!(check(&changed).is_err(), "{sv}: without {name}");
            cells += 2;
        }
        for (name, value) in [
            ("skoid", OTHER),
            ("sktid", OTHER),
            ("skt", "2026-11-14T00:00:00Z"),
            ("ske", "2026-11-20T00:00:00Z"),
            ("skv", "2020-02-10"),
            ("sp", "rw"),
            ("se", "2031-01-01T00:00:00Z"),
            ("st", "2026-01-01"),
            ("sip", "10.0.0.0-10.0.0.9"),
            ("spr", "https,http"),
            ("rscd", "attachment"),
        ] {
            let mut changed = good.clone();
            changed.set(name, value);
            assert!(is_mismatch(&check(&changed)), "{sv}: {name} {:?}", check(&changed));
            cells += 1;
        }
        let mut elsewhere = good.clone();
        elsewhere.object = Some("dir/y".to_owned());
        assert!(is_mismatch(&check(&elsewhere)), "{sv}");
        let key_signed = blob().sign_service_sas(&blob_sas(sv, &[]));
        let mut stripped = good.clone();
        stripped.query.retain(|(name, _)| !name.starts_with("sk"));
        assert!(check(&stripped).is_err() && check(&key_signed).is_ok(), "{sv}");
    }
    assert!(cells >= 400, "only {cells}");
}

#[test]
fn fields_that_a_version_does_not_sign_are_refused() {
    for (sv, field) in [
        ("2019-12-12", "saoid"),
        ("2019-12-12", "suoid"),
        ("2019-12-12", "scid"),
        ("2025-05-05", "sduoid"),
        ("2025-05-05", "skdutid"),
        ("2026-02-06", "srh"),
        ("2026-02-06", "srq"),
    ] {
        let mut request = signed(blob(), &key(None), &blob_sas(sv, &[]));
        assert!(check(&request).is_ok());
        request.set(field, OTHER);
        let name = request.query.last().map(|(name, _)| name.clone()).expect("a field");
        match check(&request) {
            Err(AuthError::AuthenticationFailed {
                detail: Failure::FieldMalformed { name: n },
            }) => {
                assert_eq!(n, name);
            }
            other => panic!("{sv} {field}: {other:?}"),
        }
    }
}

#[test]
fn rules_of_the_fields() {
    let bad = |name| Err(Failure::FieldMalformed { name }.into());
    let missing = |name| Err(Failure::FieldMissing { name }.into());
    let good = Ok("UserDelegationSAS");
    for (more, want) in [
        (&[][..], good.clone()),
        (&[("saoid", OTHER)], good.clone()),
        (&[("suoid", OTHER)], good.clone()),
        (&[("saoid", OTHER), ("suoid", OTHER)], bad("suoid")),
        (&[("saoid", "me")], bad("saoid")),
        (&[("suoid", "me")], bad("suoid")),
        (&[("scid", OTHER)], good),
        (&[("scid", "mine")], Err(Failure::CorrelationId.into())),
        (&[("si", "policy")], bad("si")),
    ] {
        let request = signed(blob(), &key(None), &blob_sas("2026-04-06", more));
        assert_eq!(check(&request), want, "{more:?}");
    }
    let base = signed(blob(), &key(None), &blob_sas("2026-04-06", &[]));
    for (field, want) in [
        ("sktid", missing("sktid")),
        ("skt", missing("skt")),
        ("ske", missing("ske")),
        ("sks", missing("sks")),
        ("skv", missing("skv")),
        ("se", missing("se")),
        ("sp", missing("sp")),
        ("sig", missing("sig")),
    ] {
        let mut request = base.clone();
        request.query.retain(|(name, _)| name != field);
        assert_eq!(check(&request), want, "{field}");
    }
    for (field, value, want) in [
        ("sks", "q", bad("sks")),
        ("sks", "bq", bad("sks")),
        ("skv", "new", bad("skv")),
        ("skt", "now", bad("skt")),
        ("ske", "never", bad("ske")),
        ("sv", "2018-03-28", bad("skoid")),
    ] {
        let mut request = base.clone();
        request.set(field, value);
        assert_eq!(check(&request), want, "{field}={value}");
    }
    let mut account = blob().sign_account_sas(&[
        ("sv", "2026-04-06"),
        ("ss", "b"),
        ("srt", "o"),
        ("sp", "r"),
        ("se", EXPIRY),
    ]);
    account.set("skoid", OBJECT);
    assert_eq!(check(&account), bad("skoid"));
    let table = base.of(Service::Table);
    assert!(check(&table).is_err());
}

#[test]
fn keys_have_their_time() {
    let request = signed(blob(), &key(None), &blob_sas("2026-04-06", &[]));
    let accounts = trusting(accounts());
    for (at, good) in [
        ("2026-11-14T23:59:59Z", false),
        (KEY_START, true),
        ("2026-11-15T23:59:59Z", true),
        (KEY_EXPIRY, false),
    ] {
        let at = Timestamp::parse_iso(at).expect("a time");
        let got = request.with_facts(|f| authenticate(f, &accounts, at, now()));
        match got {
            Ok(_) => assert!(good, "{at:?}"),
            Err(AuthError::AuthenticationFailed { detail }) => {
                assert!(!good && matches!(detail, Failure::KeyOutsideWindow { .. }), "{detail}");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    let key = Secret::new(b"replaced".to_vec());
    let name = AccountName::parse("devstoreaccount1").expect("a name");
    let replaced: Accounts = [Account::new(name, key)].into_iter().collect();
    assert!(authenticate_with(&replaced, &request).is_err(), "it ends with the account's key");
    let without_keys: Accounts = accounts.iter().map(|a| a.clone().without_key_access()).collect();
    assert!(authenticate_with(&without_keys, &request).is_ok(), "it is no access by key");
}

#[test]
fn tokens_for_one_user() {
    let bearer = |object: &str, tenant: &str| format!("Bearer {}", claimed(object, tenant));
    let refused = Err(AuthError::from(Failure::DelegatedUser));
    let good = Ok("UserDelegationSAS");
    for (delegated, who, want) in [
        (None, Some((OTHER, TENANT)), good.clone()),
        (None, Some((OBJECT, TENANT)), refused.clone()),
        (None, Some((OTHER, OTHER)), refused.clone()),
        (None, None, refused.clone()),
        (Some(OTHER), Some((OTHER, OTHER)), good),
        (Some(OTHER), Some((OTHER, TENANT)), refused.clone()),
        (Some(OTHER), None, refused),
    ] {
        let parameters = blob_sas("2026-04-06", &[("sduoid", OTHER)]);
        let mut request = signed(blob(), &key(delegated), &parameters);
        if let Some((object, tenant)) = who {
            request = request.header("Authorization", &bearer(object, tenant));
        }
        assert_eq!(check(&request), want, "{delegated:?} {who:?}");
        if want.is_ok() {
            let claim = authenticate_with(&trusting(accounts()), &request).expect("good");
            let admit = |action| {
                let op = Op::on(&request, action);
                request.with_facts(|f| authorize(&claim, op, None, f, now())).err()
            };
            assert_eq!(admit(Action::GetBlob), None);
            let narrowed = Some(AuthError::AuthorizationPermissionMismatch);
            assert_eq!(admit(Action::PutBlob), narrowed, "the token narrows what its user may do");
        }
    }
    let alone = signed(blob(), &key(Some(OTHER)), &blob_sas("2026-04-06", &[]));
    assert_eq!(check(&alone), Err(Failure::FieldMissing { name: "sduoid" }.into()));
}

#[test]
fn demanded_headers_and_parameters() {
    let asked = || {
        let request = Request::new("GET", "/cont/dir/x?comp=metadata&timeout=3");
        request.header("X-Ms-One", "a b").header("x-ms-two", "2")
    };
    let more = [("srh", "x-ms-one,x-ms-two"), ("srq", "comp,timeout")];
    let good = signed(asked(), &key(None), &blob_sas("2026-04-06", &more));
    assert_eq!(check(&good), Ok("UserDelegationSAS"));
    let mut changed = good.clone();
    changed.headers[0].1 = "a".to_owned();
    assert!(is_mismatch(&check(&changed)));
    let mut changed = good.clone();
    changed.headers.remove(1);
    assert_eq!(check(&changed), Err(Failure::FieldMalformed { name: "srh" }.into()));
    let mut changed = good.clone();
    changed.set("timeout", "4");
    assert!(is_mismatch(&check(&changed)));
    let mut changed = good.clone();
    changed.query.retain(|(name, _)| name != "timeout");
    assert_eq!(check(&changed), Err(Failure::FieldMalformed { name: "srq" }.into()));
    let mut changed = good.clone();
    changed.query.push(("COMP".to_owned(), "acl".to_owned()));
    assert_eq!(check(&changed), Err(Failure::FieldMalformed { name: "srq" }.into()));
    let mut changed = good.clone();
    changed.set("srh", "x-ms-one");
    assert!(is_mismatch(&check(&changed)), "nothing may be taken off the list");
    let mut changed = good;
    changed.query.retain(|(name, _)| name != "srq");
    assert!(is_mismatch(&check(&changed)));
    let all: Vec<String> = (0..65).map(|n| format!("x-ms-{n}")).collect();
    let request = all.iter().fold(blob(), |request, name| request.header(name, "1"));
    let most = all[..64].join(",");
    let good = signed(request, &key(None), &blob_sas("2026-04-06", &[("srh", &most)]));
    assert_eq!(check(&good), Ok("UserDelegationSAS"));
    let mut changed = good;
    changed.set("srh", &all.join(","));
    assert_eq!(check(&changed), Err(Failure::FieldMalformed { name: "srh" }.into()));
}

#[test]
fn resources_of_a_token() {
    let container = [("sv", "2026-04-06"), ("sr", "c"), ("sp", "rl"), ("se", EXPIRY)];
    let request = signed(Request::new("GET", "/cont"), &key(None), &container);
    let claim = authenticate_with(&trusting(accounts()), &request).expect("good");
    let admit = |op: Op| request.with_facts(|f| authorize(&claim, op, None, f, now())).err();
    assert_eq!(admit(Op::on(&request, Action::ListBlobs)), None);
    let elsewhere =
        Op { container: Some("other".to_owned()), ..Op::on(&request, Action::ListBlobs) };
    assert_eq!(admit(elsewhere), Some(Failure::ResourceLevel.into()));
    let bearer_only = Some(AuthError::from(Failure::BearerOnly));
    assert_eq!(admit(Op::on(&request, Action::GetUserDelegationKey)), bearer_only);
    let snapshot = Request::new("GET", &format!("/cont/x?snapshot={SNAPSHOT}"));
    let more = [("sv", "2020-02-10"), ("sr", "bs"), ("sp", "r"), ("se", EXPIRY)];
    let with_moment: Pairs<'_> = more.into_iter().chain([("snapshot", SNAPSHOT)]).collect();
    let token = signed(Request::new("GET", "/cont/x"), &key(None), &with_moment);
    assert_eq!(check(&token), Ok("UserDelegationSAS"));
    let mut other = token;
    other.set("snapshot", "2026-01-02T00:00:00.0000000Z");
    assert!(is_mismatch(&check(&other)));
    assert!(snapshot.object.is_some());
    let queue = key_of(&trusting(accounts()), Service::Queue, None);
    let sas = [("sv", "2026-02-06"), ("sp", "r"), ("se", EXPIRY)];
    let request = signed(Request::new("GET", "/cont").of(Service::Queue), &queue, &sas);
    assert_eq!(check(&request), Ok("UserDelegationSAS"));
    assert!(check(&request.of(Service::Blob)).is_err());
}
