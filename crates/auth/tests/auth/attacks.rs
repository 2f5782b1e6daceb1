//! Every row of the service's table of refusals, each provoked on its own.

use crate::fixture::{ACCOUNT, DATE, EXPIRY, Op, Request, SNAPSHOT, account, now};
use std::net::IpAddr;
use std::time::Duration;
use zaffre_auth::{
    Accounts, Action, AuthError, ContainerAccess, Failure, Hidden, authenticate, authorize,
};
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_domain::blob::PublicAccess;

const ACCOUNT_SAS: &[(&str, &str)] =
    &[("sv", "2026-04-06"), ("ss", "b"), ("srt", "sco"), ("sp", "rwdlac"), ("se", EXPIRY)];
const BLOB_SAS: &[(&str, &str)] =
    &[("sv", "2026-04-06"), ("sr", "b"), ("sp", "racwd"), ("se", EXPIRY)];

fn with(
    base: &[(&'static str, &'static str)],
    name: &'static str,
    value: &'static str,
) -> Vec<(&'static str, &'static str)> {
    let others = base.iter().copied().filter(|(n, _)| *n != name);
    others.chain([(name, value)]).collect()
}

fn blob_request() -> Request {
    Request::new("GET", "/cont/dir/x")
}

fn refusal(request: &Request) -> Option<AuthError> {
    request.admit(Op::on(request, Action::GetBlob), None).err()
}

#[test]
fn shared_key_headers() {
    let signed = blob_request().dated().sign_shared_key();
    assert_eq!(refusal(&signed), None);
    let authorized = |value: &str| blob_request().dated().header("Authorization", value);
    let good = signed.headers.last().expect("the header").1.clone();
    let signature = good.rsplit(':').next().expect("a signature").to_owned();
    for (value, want) in [
        ("", AuthError::InvalidAuthenticationInfo),
        ("SharedKey", AuthError::InvalidAuthenticationInfo),
        ("SharedKey devstoreaccount1", AuthError::InvalidAuthenticationInfo),
        ("Basic dXNlcjpwYXNz", AuthError::InvalidAuthenticationInfo),
        (&good.replace("SharedKey", "sharedkey"), AuthError::InvalidAuthenticationInfo),
        ("Bearer abc", AuthError::BearerRejected),
        (&good.replace(ACCOUNT, "other"), Failure::AccountMismatch.into()),
        (&good.replace(ACCOUNT, "devstoreaccount1-secondary"), Failure::AccountMismatch.into()),
    ] {
        assert_eq!(refusal(&authorized(value)), Some(want), "{value}");
    }
    for presented in ["", "x", "AAAA", &signature.replace('=', ""), &format!("{signature}=")] {
        let refused = refusal(&authorized(&format!("SharedKey {ACCOUNT}:{presented}")));
        let Some(AuthError::AuthenticationFailed { detail: Failure::MacMismatch { .. } }) = refused
        else {
            panic!("{presented}: {refused:?}");
        };
    }
    let mut plain = authorized("Bearer abc");
    plain.secure = false;
    assert_eq!(refusal(&plain), Some(AuthError::InvalidAuthenticationInfo));
    let as_lite = authorized(&good.replace("SharedKey", "SharedKeyLite"));
    assert!(refusal(&as_lite).is_some());
}

#[test]
fn shared_key_dates() {
    let wall = now();
    let minutes = |m: u64| Duration::from_secs(m * 60);
    let dated = |header: &str, date: &str| blob_request().header(header, date).sign_shared_key();
    let at = |t: Timestamp| t.rfc1123().to_string();
    let early = Timestamp(wall.0 - 9_000_000_000);
    let too_old = at(Timestamp(early.0 - 10_000_000));
    for (request, want) in [
        (dated("x-ms-date", DATE), None),
        (dated("date", DATE), None),
        (dated("x-ms-date", &at(early)), None),
        (dated("x-ms-date", &at(wall.plus(minutes(15)))), None),
        (dated("x-ms-date", &too_old), Some(Failure::DateTooOld { sent: too_old.clone() }.into())),
        (
            dated("x-ms-date", &at(wall.plus(Duration::from_secs(901)))),
            Some(Failure::DateIncorrect.into()),
        ),
        (dated("x-ms-date", "yesterday"), Some(Failure::DateIncorrect.into())),
        (dated("x-ms-date", "2026-11-15T12:00:00Z"), Some(Failure::DateIncorrect.into())),
        (blob_request().sign_shared_key(), Some(Failure::DateMissing.into())),
        (
            blob_request().header("x-ms-date", &too_old).header("Date", DATE).sign_shared_key(),
            Some(Failure::DateTooOld { sent: too_old.clone() }.into()),
        ),
    ] {
        assert_eq!(refusal(&request), want);
    }
}

/// The service's clock may be frozen or advanced; the date of a request is held against real time.
#[test]
fn the_two_clocks() {
    let accounts = Accounts::development();
    let later = Timestamp::parse_iso("2036-11-15").expect("a time");
    let check = |request: &Request, service: Timestamp, wall: Timestamp| {
        request.with_facts(|f| authenticate(f, &accounts, service, wall)).is_ok()
    };
    let keyed = blob_request().dated().sign_shared_key();
    assert!(check(&keyed, later, now()) && !check(&keyed, now(), later));
    let token = blob_request().sign_service_sas(BLOB_SAS);
    assert!(check(&token, now(), later) && !check(&token, later, now()));
    let token = blob_request().sign_account_sas(ACCOUNT_SAS);
    assert!(check(&token, now(), later) && !check(&token, later, now()));
}

#[test]
fn duplicated_headers() {
    for name in ["x-ms-version", "X-MS-Date", "Content-Type", "date", "Range", "If-Match"] {
        let request = blob_request()
            .dated()
            .header("content-type", "a/b")
            .header("range", "bytes=0-1")
            .header("if-match", "*")
            .header("Date", DATE)
            .sign_shared_key();
        assert_eq!(refusal(&request), None);
        let value = request.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
        let value = value.expect("the header").1.clone();
        let want = AuthError::DuplicateHeader { name: name.to_ascii_lowercase() };
        assert_eq!(refusal(&request.header(name, &value)), Some(want));
    }
    let twice = blob_request().dated().sign_shared_key().header("authorization", "Basic x");
    let want = AuthError::DuplicateHeader { name: "authorization".to_owned() };
    assert_eq!(refusal(&twice), Some(want));
    let twice = Request::new("GET", "/cont?comp=list&comp=acl")
        .dated()
        .header("Authorization", "SharedKeyLite devstoreaccount1:AAAA");
    assert_eq!(refusal(&twice), Some(Failure::FieldRepeated { name: "comp" }.into()));
}

/// Lines of the string that a query can be split into in more than one way.
#[test]
fn a_query_is_signed_in_one_reading() {
    let list = "/cont?comp=list&prefix=a:b&restype=container";
    let signed = Request::new("GET", list).dated().sign_shared_key();
    assert!(signed.authenticate().is_ok());
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    for query in [
        vec![pair("comp:list\nprefix:a:b\nrestype", "container")],
        vec![pair("comp", "list\nprefix:a:b\nrestype:container")],
        vec![pair("comp", "list"), pair("prefix:a", "b"), pair("restype", "container")],
    ] {
        let refused = signed.clone().with_query(query.clone()).authenticate().err();
        assert_eq!(refused, Some(Failure::QueryAmbiguous.into()), "{query:?}");
    }
    let c1 = Request::new("GET", "/cont?prefix=%C2%81").dated().sign_shared_key();
    assert!(c1.authenticate().is_ok(), "names of blobs may have this character");
    let kelvin = "/cont?mar\u{212A}er=m";
    let marker = Request::new("GET", "/cont?marker=m").dated().sign_shared_key();
    let other = marker.clone().with_query(Request::new("GET", kelvin).query);
    assert!(marker.authenticate().is_ok() && other.authenticate().is_err());
}

#[test]
fn lite_signs_what_it_signs() {
    let request = Request::new("GET", "/cont?comp=list&prefix=a").dated();
    let value = request
        .with_facts(|f| zaffre_auth::sign::shared_key_lite(f, &crate::fixture::key()))
        .expect("signable");
    let signed = request.header("Authorization", &value);
    assert_eq!(signed.authenticate().map(|c| c.scheme()), Ok("SharedKey"));
    let mut other = signed.clone();
    other.set("comp", "acl");
    assert!(other.authenticate().is_err());
    let mut other = signed.clone();
    other.raw_path = "/cont2".to_owned();
    assert!(other.authenticate().is_err());
    assert!(signed.header("x-ms-meta-a", "b").authenticate().is_err());
}

#[test]
fn token_times() {
    let window = |start, expiry| Failure::OutsideWindow { start, expiry, now: now() };
    let time = |text| Timestamp::parse_iso(text).expect("a time");
    for (st, se, want) in [
        ("2026-11-15T12:00:00Z", EXPIRY, None),
        ("2026-11-15", "2026-11-15T12:00:00.0000001Z", None),
        ("2026-11-15T13:00:00+01:00", EXPIRY, None),
        ("2026-11-15T12:00:01Z", EXPIRY, Some(window(time("2026-11-15T12:00:01Z"), time(EXPIRY)))),
        (
            "2026-11-14",
            "2026-11-15T12:00:00Z",
            Some(window(time("2026-11-14"), time("2026-11-15T12:00:00Z"))),
        ),
        (
            "",
            "2026-11-15T12:00:00Z",
            Some(Failure::ExpiryBeforeStart { expiry: now(), start: now() }),
        ),
        (
            "2028-01-01",
            "2027-01-01",
            Some(Failure::ExpiryBeforeStart {
                expiry: time("2027-01-01"),
                start: time("2028-01-01"),
            }),
        ),
        ("", "tomorrow", Some(Failure::FieldMalformed { name: "se" })),
        ("now", EXPIRY, Some(Failure::FieldMalformed { name: "st" })),
        ("", "", Some(Failure::FieldMissing { name: "se" })),
    ] {
        let want = want.map(AuthError::from);
        let parameters = with(&with(ACCOUNT_SAS, "st", st), "se", se);
        assert_eq!(refusal(&blob_request().sign_account_sas(&parameters)), want, "{st} {se}");
        let parameters = with(&with(BLOB_SAS, "st", st), "se", se);
        assert_eq!(refusal(&blob_request().sign_service_sas(&parameters)), want, "{st} {se}");
    }
}

#[test]
fn token_addresses_and_protocols() {
    let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
    let wrong_ip = |text| Some(AuthError::AuthorizationSourceIpMismatch { ip: ip(text) });
    let bad = |name| Some(Failure::FieldMalformed { name }.into());
    for (sip, spr, peer, secure, want) in [
        ("10.0.0.1", "https", "10.0.0.1", true, None),
        ("10.0.0.1", "", "::ffff:10.0.0.1", true, None),
        ("10.0.0.1-10.0.0.3", "", "10.0.0.3", false, None),
        ("10.0.0.1-10.0.0.3", "", "10.0.0.4", false, wrong_ip("10.0.0.4")),
        ("10.0.0.1-10.0.0.3", "", "10.0.0.0", false, wrong_ip("10.0.0.0")),
        ("10.0.0.1", "", "::ffff:10.0.0.2", true, wrong_ip("10.0.0.2")),
        ("10.0.0.1", "", "::1", true, wrong_ip("::1")),
        ("0.0.0.0-255.255.255.255", "", "2001:db8::1", true, wrong_ip("2001:db8::1")),
        ("10.0.0.9-10.0.0.1", "", "10.0.0.5", true, bad("sip")),
        ("10.0.0.0/8", "", "10.0.0.5", true, bad("sip")),
        ("", "https", "10.0.0.1", false, Some(AuthError::AuthorizationProtocolMismatch)),
        ("", "https,http", "10.0.0.1", false, None),
        ("", "http", "10.0.0.1", false, bad("spr")),
        ("", "HTTPS", "10.0.0.1", true, bad("spr")),
        ("10.0.0.2", "https", "10.0.0.1", false, wrong_ip("10.0.0.1")),
    ] {
        let limited = |base| with(&with(base, "sip", sip), "spr", spr);
        let tokens = [
            blob_request().sign_account_sas(&limited(ACCOUNT_SAS)),
            blob_request().sign_service_sas(&limited(BLOB_SAS)),
        ];
        for mut request in tokens {
            request.peer = ip(peer);
            request.secure = secure;
            assert_eq!(refusal(&request), want, "{sip} {spr} {peer} {secure}");
        }
    }
}

#[test]
fn missing_and_garbled_fields() {
    let missing = |name| AuthError::from(Failure::FieldMissing { name });
    let bad = |name| AuthError::from(Failure::FieldMalformed { name });
    let level = || AuthError::from(Failure::ResourceLevel);
    for (target, query, want) in [
        ("/cont/x", "sig=AAAA", missing("sr")),
        ("/cont/x", "sr=b&sv=2026-04-06&sig=AAAA", missing("se")),
        ("/cont/x", "sr=b&sv=2026-04-06&se=2030-01-01&sig=AAAA", missing("sp")),
        ("/cont/x", "sr=b&sv=2026-04-06&se=2030-01-01&sp=r", missing("sig")),
        ("/cont/x", "sr=b&sv=2026&se=2030-01-01&sp=r&sig=AAAA", bad("sv")),
        ("/cont/x", "sr=z&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA", bad("sr")),
        ("/cont/x", "sr=bs&sv=2018-03-28&se=2030-01-01&sp=r&sig=AAAA&snapshot=x", bad("sr")),
        ("/cont/x", "sr=bv&sv=2018-03-28&se=2030-01-01&sp=r&sig=AAAA&versionid=x", bad("sr")),
        ("/cont/x", "sr=d&sdd=1&sv=2019-12-12&se=2030-01-01&sp=r&sig=AAAA", bad("sr")),
        ("/cont/x", "sr=d&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA", missing("sdd")),
        ("/cont/x", "sr=d&sdd=-1&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA", bad("sdd")),
        ("/cont/x", "sr=d&sdd=%2B1&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA", bad("sdd")),
        ("/cont/x", "sr=d&sdd=999&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA", bad("sdd")),
        ("/cont/x", "sr=d&sdd=2&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA", level()),
        ("/cont/x", "sr=bs&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA", level()),
        ("/cont/x", "sr=bv&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA&snapshot=x", level()),
        ("/cont", "sr=b&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA", level()),
        ("/", "sr=c&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA", level()),
        ("/cont/x", "ss=b&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA", missing("srt")),
        ("/cont/x", "srt=o&sv=2026-04-06&se=2030-01-01&sp=r&sig=AAAA", missing("ss")),
        ("/cont/x", "ss=b&srt=o&se=2030-01-01&sp=r&sig=AAAA", missing("sv")),
        ("/cont/x", "ss=b&srt=o&sv=2015-02-21&se=2030-01-01&sp=r&sig=AAAA", bad("sv")),
        ("/cont/x", "ss=b&srt=o&sr=b&sv=2026-04-06&se=2030-01-01&sp=r&sig=A", bad("sr")),
        ("/cont/x", "ss=b&srt=o&sv=2026-04-06&se=2030-01-01&sig=AAAA", missing("sp")),
        ("/cont/x", "ss=b&srt=o&sv=2026-04-06&se=2030-01-01&sp=r", missing("sig")),
        ("/cont/x", "sr=b&sv=2026-04-06&skoid=1&sig=AAAA", missing("skv")),
        ("/cont/x", "sr=b&sv=2026-04-06&sp=r%0Aw&sig=AAAA", bad("sp")),
    ] {
        assert_eq!(
            refusal(&Request::new("GET", &format!("{target}?{query}"))),
            Some(want),
            "{query}"
        );
    }
}

#[test]
fn signed_resources_hold() {
    let sas = |target: &str, sr: &'static str, more: &[(&'static str, &'static str)]| {
        let mut parameters = with(BLOB_SAS, "sr", sr);
        parameters.extend(more);
        Request::new("GET", target).sign_service_sas(&parameters)
    };
    let moved = |mut request: Request, target: &str| {
        let other = Request::new("GET", target);
        (request.container, request.object) = (other.container, other.object);
        request
    };
    let snapshot = ("snapshot", SNAPSHOT);
    let depth = ("sdd", "1");
    for (request, allowed) in [
        (sas("/cont/dir/x", "b", &[]), true),
        (moved(sas("/cont/dir/x", "b", &[]), "/cont/dir/y"), false),
        (moved(sas("/cont/dir/x", "b", &[]), "/cont/dir/x/"), false),
        (moved(sas("/cont/dir/x", "b", &[]), "/cont/dir/X"), false),
        (moved(sas("/cont/dir/x", "b", &[]), "/cont/dir%252Fx"), false),
        (sas("/cont/dir/x", "c", &[]), true),
        (moved(sas("/cont/dir/x", "c", &[]), "/cont/other"), true),
        (moved(sas("/cont/dir/x", "c", &[]), "/cont2/dir/x"), false),
        (sas("/cont/dir/x", "bs", &[snapshot]), true),
        (sas("/cont/dir/x", "d", &[depth]), true),
        (moved(sas("/cont/dir/x", "d", &[depth]), "/cont/dir/y/z"), true),
        (moved(sas("/cont/dir/x", "d", &[depth]), "/cont/dir"), true),
        (moved(sas("/cont/dir/x", "d", &[depth]), "/cont/dirs/x"), false),
        (moved(sas("/cont/dir/x", "d", &[depth]), "/cont/other/x"), false),
    ] {
        let refused = refusal(&request);
        assert_eq!(refused.is_none(), allowed, "{:?} {refused:?}", request.object);
    }
}

/// A claim is good for what was signed, whatever operation is later built from the request.
#[test]
fn claims_do_not_stretch() {
    let request = Request::new("GET", "/cont/dir/x").sign_service_sas(BLOB_SAS);
    let claim = request.authenticate().expect("valid");
    let level = Some(AuthError::from(Failure::ResourceLevel));
    let check = |change: &dyn Fn(&mut Op)| {
        let mut op = Op::on(&request, Action::GetBlob);
        change(&mut op);
        request.with_facts(|f| authorize(&claim, op, None, f, now())).err()
    };
    let other = Request::new("GET", "/cont2/y");
    assert_eq!(check(&|_| ()), None);
    assert_eq!(check(&|op| op.object.clone_from(&other.object)), level);
    assert_eq!(check(&|op| op.object = None), level);
    assert_eq!(check(&|op| op.container.clone_from(&other.container)), level);
    assert_eq!(check(&|op| op.container = None), level);
    let foreign = zaffre_base::AccountName::parse("other").expect("a name");
    let want = Some(AuthError::AuthorizationFailure);
    assert_eq!(check(&|op| op.account = foreign.clone()), want);
}

/// Neither do claims for a snapshot, a version or a directory.
#[test]
fn narrow_claims_do_not_stretch() {
    let other = Request::new("GET", "/cont/dir/y");
    let outside = Request::new("GET", "/cont/dirs/x");
    let deeper = Request::new("GET", "/cont/dir/x/y");
    let check = |sr, parameter, change: &dyn Fn(&mut Op)| {
        let parameters = [&with(BLOB_SAS, "sr", sr)[..], &[parameter]].concat();
        let request = blob_request().sign_service_sas(&parameters);
        let claim = request.authenticate().expect("valid");
        let mut op = Op::on(&request, Action::GetBlob);
        change(&mut op);
        match request.with_facts(|f| authorize(&claim, op, None, f, now())).err() {
            None => true,
            Some(AuthError::AuthenticationFailed { detail: Failure::ResourceLevel }) => false,
            Some(error) => panic!("{error:?}"),
        }
    };
    for (sr, name) in [("bs", "snapshot"), ("bv", "versionid")] {
        let check = |change: &dyn Fn(&mut Op)| check(sr, (name, SNAPSHOT), change);
        let moment = |op: &mut Op, to: Option<&str>| {
            let moment = if sr == "bs" { &mut op.snapshot } else { &mut op.version };
            *moment = to.map(str::to_owned);
        };
        assert!(check(&|_| ()));
        assert!(!check(&|op| moment(op, None)));
        assert!(!check(&|op| moment(op, Some("2026-01-02T00:00:00.0000000Z"))));
        assert!(!check(&|op| op.object.clone_from(&other.object)));
        assert!(
            !check(&|op| (op.snapshot, op.version) = (op.version.clone(), op.snapshot.clone()))
        );
    }
    let check = |change: &dyn Fn(&mut Op)| check("d", ("sdd", "1"), change);
    assert!(check(&|_| ()));
    assert!(check(&|op| op.object.clone_from(&other.object)));
    assert!(check(&|op| op.object.clone_from(&deeper.object)));
    assert!(!check(&|op| op.object.clone_from(&outside.object)));
    assert!(!check(&|op| op.object = None));
}

#[test]
fn anonymous_refusals() {
    let old = ApiVersion::new(2019, 7, 7);
    let private = ContainerAccess::default();
    let public = ContainerAccess { access: PublicAccess::Container, policies: Vec::new() };
    let hidden = AuthError::ResourceNotFound(Hidden::Anonymous);
    for (version, acl, want) in [
        (ApiVersion::LATEST, None, Some(AuthError::NoAuthenticationInformation)),
        (ApiVersion::LATEST, Some(&private), Some(AuthError::NoAuthenticationInformation)),
        (ApiVersion::new(2019, 12, 12), None, Some(AuthError::NoAuthenticationInformation)),
        (old, None, Some(hidden.clone())),
        (old, Some(&private), Some(hidden)),
        (old, Some(&public), None),
        (ApiVersion::LATEST, Some(&public), None),
    ] {
        let mut request = blob_request();
        request.version = version;
        let claim = request.authenticate().expect("no credential");
        assert!(claim.is_anonymous() && claim.needs_container_access());
        assert_eq!(request.admit(Op::on(&request, Action::GetBlob), acl).err(), want);
    }
    let bad = blob_request().header("authorization", "SharedKey x");
    let refused = bad.admit(Op::on(&bad, Action::GetBlob), Some(&public)).err();
    assert_eq!(refused, Some(AuthError::InvalidAuthenticationInfo), "never retried as anonymous");
    let bad = Request::new("GET", "/cont/x?sp=r");
    assert!(bad.admit(Op::on(&bad, Action::GetBlob), Some(&public)).is_err());
}

#[test]
fn account_settings() {
    let private: Accounts = [account().without_public_access()].into_iter().collect();
    let keyless: Accounts = [account().without_key_access()].into_iter().collect();
    let public = ContainerAccess { access: PublicAccess::Container, policies: Vec::new() };
    let admit = |request: &Request, accounts: &Accounts| {
        request.with_facts(|f| {
            let claim = authenticate(f, accounts, now(), now())?;
            authorize(&claim, Op::on(request, Action::GetBlob), Some(&public), f, now())?;
            Ok(())
        })
    };
    let refused = Err(AuthError::PublicAccessNotPermitted);
    assert_eq!(admit(&blob_request(), &private), refused);
    assert_eq!(admit(&blob_request(), &keyless), Ok(()));
    for request in [
        blob_request().dated().sign_shared_key(),
        blob_request().sign_account_sas(ACCOUNT_SAS),
        blob_request().sign_service_sas(BLOB_SAS),
    ] {
        assert_eq!(admit(&request, &private), Ok(()));
        let refused = Err(AuthError::KeyBasedAuthenticationNotPermitted);
        assert_eq!(admit(&request, &keyless), refused);
    }
    let mut unknown = blob_request();
    unknown.account = zaffre_base::AccountName::parse("nobody").expect("a name");
    let hidden = AuthError::ResourceNotFound(Hidden::UnknownAccount);
    assert_eq!(unknown.authenticate().err(), Some(hidden));
}

#[test]
fn old_tokens_hide_what_they_may_not_do() {
    for (sv, want) in [
        ("2014-02-14", AuthError::ResourceNotFound(Hidden::Permission)),
        ("2015-02-21", AuthError::ResourceNotFound(Hidden::Permission)),
        ("2015-04-05", AuthError::AuthorizationPermissionMismatch),
    ] {
        let parameters = with(&with(BLOB_SAS, "sv", sv), "sp", "w");
        let request = blob_request().sign_service_sas(&parameters);
        assert_eq!(refusal(&request), Some(want), "{sv}");
    }
}

/// Azure shows the string it signed; nobody is ever shown a signature or a key.
#[test]
fn errors_tell_no_secret() {
    let key = zaffre_auth::accounts::DEVELOPMENT_KEY;
    let cases = [
        (blob_request().dated().sign_shared_key(), "SharedKey"),
        (blob_request().sign_account_sas(ACCOUNT_SAS), "sas"),
        (blob_request().sign_service_sas(BLOB_SAS), "sas"),
    ];
    for (mut request, kind) in cases {
        let (_, good) = if kind == "sas" {
            request.query.last().expect("sig").clone()
        } else {
            request.headers.last().expect("authorization").clone()
        };
        let good = good.rsplit(':').next().expect("a signature").to_owned();
        let flipped = if good.starts_with('A') { "B" } else { "A" };
        let wrong = format!("{flipped}{}", &good[1..]);
        if kind == "sas" {
            request.query.last_mut().expect("sig").1 = wrong;
        } else {
            request.headers.last_mut().expect("authorization").1 =
                format!("SharedKey {ACCOUNT}:{wrong}");
        }
        let error = request.authenticate().expect_err("a wrong signature");
        let shown = format!("{error:?} {}", error.detail().expect("a detail"));
        let logged = format!("{error:?}");
        assert!(!logged.contains(&good[1..]), "{logged}");
        assert!(!shown.contains(&good) && !shown.contains(key), "{shown}");
        assert!(shown.contains("tring to sign"), "{shown}");
    }
}
