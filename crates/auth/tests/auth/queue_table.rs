//! Credentials of the Queue and Table services: known answers, key ranges, and what must not pass.

use crate::fixture::{ACCOUNT, EXPIRY, Op, Request, accounts, now};
use zaffre_auth::{
    Action, AuthError, ContainerAccess, Failure, Hidden, Service, authenticate, may,
};
use zaffre_base::{ApiVersion, Timestamp};
use zaffre_domain::blob::AccessPolicy;

const DATE: &str = "Thu, 01 Jan 2026 00:00:00 GMT";

/// A request signed by others, with the date of the known answers.
fn signed(service: Service, method: &str, path: &str, headers: &[(&str, &str)]) -> Request {
    let mut request = Request::new(method, path).of(service);
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.version = ApiVersion::new(2021, 2, 12);
    request
}

fn let_in(request: &Request) -> Result<&'static str, AuthError> {
    let at = Timestamp::parse_http(DATE).expect("a date");
    request.with_facts(|f| authenticate(f, &accounts(), at, at)).map(|claim| claim.scheme())
}

#[test]
fn shared_key_known_answers() {
    let version = ("x-ms-version", "2021-02-12");
    let date = ("x-ms-date", DATE);
    let json = ("Content-Type", "application/json");
    for (service, method, path, headers, scheme, signature) in [
        (
            Service::Table,
            "POST",
            "/devstoreaccount1/Tables",
            &[date, version, json][..],
            "SharedKey",
            "tGh19lYdEivMf2DOyUXB1wqFW10zPeIdtA7QlLcL/0Q=",
        ),
        (
            Service::Table,
            "GET",
            "/devstoreaccount1/mytable?comp=acl",
            &[("Date", DATE), version],
            "SharedKey",
            "gq13r8a2HMkanUvLeE2UryCOWrUpbXUHKGzRMeAef5M=",
        ),
        (
            Service::Table,
            "POST",
            "/devstoreaccount1/$batch",
            &[date, json],
            "SharedKeyLite",
            "hghtMX8PGsg78/bf3nxxeWTeZvtiyid3/dYLMihtO8s=",
        ),
        (
            Service::Queue,
            "GET",
            "/devstoreaccount1/myqueue/messages?visibilitytimeout=10&numofmessages=2",
            &[date, version],
            "SharedKey",
            "4HHGpm1uU+f1vcK+ZVeU2eWxYf5n8bXy3YRw1K/KgsE=",
        ),
        (
            Service::Queue,
            "GET",
            "/devstoreaccount1/myqueue?comp=metadata",
            &[version, date],
            "SharedKeyLite",
            "gp3C05oCa47QNLNDKojlAhZ4n7Aq6ALj6F/5mKzZphI=",
        ),
    ] {
        let authorization = format!("{scheme} {ACCOUNT}:{signature}");
        let good = signed(service, method, path, headers).header("Authorization", &authorization);
        assert_eq!(let_in(&good), Ok("SharedKey"), "{path}");
        for other in [Service::Blob, Service::Queue, Service::Table] {
            let alike = matches!((service, other), (Service::Blob | Service::Queue, Service::Blob));
            if other != service && !alike {
                assert!(let_in(&good.clone().of(other)).is_err(), "{path} as {other:?}");
            }
        }
        let mut changed = good.clone();
        changed.raw_path.push('x');
        assert!(let_in(&changed).is_err(), "{path}");
        let mut changed = good.clone();
        changed.set("comp", "other");
        assert!(let_in(&changed).is_err(), "{path}");
        let swapped = if scheme == "SharedKey" { "SharedKeyLite" } else { "SharedKey" };
        let mut changed = good.clone();
        let last = changed.headers.len() - 1;
        changed.headers[last].1 = format!("{swapped} {ACCOUNT}:{signature}");
        assert!(let_in(&changed).is_err(), "{path} as {swapped}");
    }
}

#[test]
fn a_table_request_is_dated_in_its_signature() {
    let request = signed(Service::Table, "GET", "/devstoreaccount1/t", &[("x-ms-date", DATE)]);
    let good = request.sign_shared_key();
    assert_eq!(let_in(&good), Ok("SharedKey"));
    let mut other = good;
    other.headers[0].1 = "Thu, 01 Jan 2026 00:00:01 GMT".to_owned();
    assert!(let_in(&other).is_err());
}

const TABLE_SAS: &str = "/devstoreaccount1/MYtable?sp=r&se=2030-01-01T00:00:00Z&tn=MyTable&spk=p1\
                         &srk=r1&epk=p1&erk=r9&sv=2019-02-02\
                         &sig=9drs56nEYR/u9%2BAaBqVtnmgBak2a/ai5cfCIVgCrSTA%3D";
const QUEUE_SAS: &str = "/devstoreaccount1/myqueue/messages?sp=raup&se=2030-01-01T00:00:00Z\
                         &sv=2021-02-12&sig=Cf4fJWT9D2kUAWVCiXegL6MConYgyuNOoXRmjTww/0k%3D";
const OLD_ACCOUNT_SAS: &str = "/devstoreaccount1/myqueue?sp=rwdlacup&ss=qt&srt=sco\
                               &se=2030-01-01T00:00:00Z&sv=2019-02-02\
                               &sig=2Uc6QoQq0ZKFSrxzF1qHifMp7DFZanTDZ7iJ1scuQTU%3D";
const ACCOUNT_SAS: &str = "/devstoreaccount1/myqueue?sp=rwdlacup&ss=qt&srt=sco\
                           &se=2030-01-01T00:00:00Z&sv=2021-02-12\
                           &sig=5oBnqMsFaGsP0Wyq2MbdAptlWmFw9Gm6urGw82RbWJc%3D";

#[test]
fn sas_known_answers() {
    for (service, url, scheme) in [
        (Service::Table, TABLE_SAS, "ServiceSAS"),
        (Service::Queue, QUEUE_SAS, "ServiceSAS"),
        (Service::Queue, OLD_ACCOUNT_SAS, "AccountSAS"),
        (Service::Table, ACCOUNT_SAS, "AccountSAS"),
    ] {
        let good = Request::new("GET", url).of(service);
        assert_eq!(good.authenticate().map(|c| c.scheme()), Ok(scheme), "{url}");
        for index in 0..good.query.len() {
            let mut changed = good.clone();
            changed.query[index].1.push('1');
            assert!(changed.authenticate().is_err(), "{url} {:?}", good.query[index]);
            changed.query.remove(index);
            assert!(changed.authenticate().is_err(), "{url} {:?}", good.query[index]);
        }
    }
    let queue = Request::new("GET", QUEUE_SAS).of(Service::Queue);
    let mut other = queue.clone();
    other.container = Some("other".to_owned());
    assert!(other.authenticate().is_err());
    for service in [Service::Blob, Service::Table] {
        assert!(queue.clone().of(service).authenticate().is_err(), "{service:?}");
    }
}

fn table_sas(more: &[(&str, &str)]) -> Request {
    let parameters = [&[("sv", "2019-02-02"), ("tn", "people"), ("se", EXPIRY)][..], more].concat();
    Request::new("GET", "/People").of(Service::Table).sign_service_sas(&parameters)
}

#[test]
fn entities_outside_the_range() {
    let range = &[("sp", "raud"), ("spk", "b"), ("srk", "m"), ("epk", "d")];
    let request = table_sas(range);
    let missing = Some(AuthError::ResourceNotFound(Hidden::OutsideRange));
    let refused = Some(AuthError::AuthorizationFailure);
    let writes = [
        Action::InsertEntity,
        Action::UpdateEntity,
        Action::MergeEntity,
        Action::InsertOrReplaceEntity,
        Action::InsertOrMergeEntity,
        Action::DeleteEntity,
    ];
    for (entity, inside) in [
        (Some(("b", "m")), true),
        (Some(("c", "a")), true),
        (Some(("d", "z")), true),
        (Some(("b", "l")), false),
        (Some(("a", "z")), false),
        (Some(("d0", "")), false),
        (None, false),
    ] {
        let check = |action| {
            let entity = entity.map(|(p, r)| (p.to_owned(), r.to_owned()));
            request.admit(Op { entity, ..Op::on(&request, action) }, None).err()
        };
        let want = if inside { None } else { missing.clone() };
        assert_eq!(check(Action::GetEntity), want, "{entity:?}");
        for action in writes {
            let want = if inside { None } else { refused.clone() };
            assert_eq!(check(action), want, "{action:?} {entity:?}");
        }
        assert_eq!(check(Action::QueryEntities), None);
    }
    let op = Op::on(&request, Action::QueryEntities);
    let (authorized, _) = request.admit(op, None).expect("a query keeps to the range itself");
    assert!(authorized.key_range().admits("c", "") && !authorized.key_range().admits("a", ""));
    let claim = request.authenticate().expect("a good signature");
    assert_eq!(claim.signed_container(), Some("people"));
    for action in writes {
        let scope = zaffre_auth::Scope::container(&request.account, "people");
        let early = request.with_facts(|f| may(&claim, action, scope, None, f, now()));
        assert_eq!(early, Ok(()), "{action:?} before its key is known");
    }
}

#[test]
fn tables_of_a_token() {
    let admit = |request: &Request, table: &str| {
        let op = Op { container: Some(table.to_owned()), ..Op::on(request, Action::QueryEntities) };
        request.admit(op, None).err()
    };
    let request = table_sas(&[("sp", "r")]);
    assert_eq!(admit(&request, "People"), None);
    assert_eq!(admit(&request, "people2"), Some(Failure::ResourceLevel.into()));
    let malformed = |name| Some(AuthError::from(Failure::FieldMalformed { name }));
    for (field, want) in [("srk", "srk"), ("erk", "erk")] {
        let mut request = table_sas(&[("sp", "r")]);
        request.set(field, "x");
        assert_eq!(request.authenticate().err(), malformed(want));
    }
    let mut nameless = table_sas(&[("sp", "r")]);
    nameless.query.retain(|(name, _)| name != "tn");
    let missing = Failure::FieldMissing { name: "tn" };
    assert_eq!(nameless.authenticate().err(), Some(missing.into()));
    let mut ageless = table_sas(&[("sp", "r")]);
    ageless.query.retain(|(name, _)| name != "sv");
    let missing = Failure::FieldMissing { name: "sv" };
    assert_eq!(ageless.authenticate().err(), Some(missing.into()));
    let batch = [("sv", "2019-02-02"), ("tn", "people"), ("sp", "a"), ("se", EXPIRY)];
    let batch = Request::new("POST", "/").of(Service::Table).sign_service_sas(&batch);
    assert_eq!(batch.admit(Op::on(&batch, Action::Batch), None).err(), None);
}

#[test]
fn policies_of_queues_and_tables() {
    let policy = AccessPolicy {
        id: "mine".to_owned(),
        start: None,
        expiry: Timestamp::parse_iso(EXPIRY),
        permission: Some("r".to_owned()),
    };
    let acl = ContainerAccess::of_policies(vec![policy]);
    let unknown = Some(AuthError::from(Failure::PolicyUnknown));
    let table = [("sv", "2019-02-02"), ("tn", "cont"), ("si", "mine")];
    let table = Request::new("GET", "/cont").of(Service::Table).sign_service_sas(&table);
    let queue = [("sv", "2021-02-12"), ("si", "mine")];
    let queue = Request::new("GET", "/cont").of(Service::Queue).sign_service_sas(&queue);
    for (request, action) in [(table, Action::QueryEntities), (queue, Action::PeekMessages)] {
        assert!(request.authenticate().is_ok_and(|claim| claim.needs_container_access()));
        assert_eq!(request.admit(Op::on(&request, action), Some(&acl)).err(), None);
        let none = ContainerAccess::default();
        assert_eq!(request.admit(Op::on(&request, action), Some(&none)).err(), unknown);
        assert_eq!(request.admit(Op::on(&request, action), None).err(), unknown);
    }
}
