//! Every action against every permission letter, resource type and kind of credential, held
//! against the permission table in data/permissions.csv.

use crate::fixture::{EXPIRY, Op, Request, now};
use zaffre_auth::{
    Action, AuthError, ContainerAccess, Extras, Failure, Grants, Hidden, ResponseOverrides,
    Service, authorize,
};
use zaffre_base::ApiVersion;
use zaffre_domain::blob::PublicAccess;

/// Every letter there is, some together that are only good together, and some in the wrong case.
const LETTERS: [&str; 26] = [
    "r", "a", "c", "w", "d", "x", "y", "l", "t", "f", "m", "e", "o", "p", "i", "u", "au", "ua",
    "ru", "al", "R", "A", "C", "W", "D", "L",
];
const SERVICES: [Service; 4] = [Service::Blob, Service::Queue, Service::Table, Service::File];

struct Row {
    action: Action,
    /// The letters of the services that have it.
    services: &'static str,
    /// `srt`: letters of which one is enough, `*` for any, `-` for none, `!` for no SAS whatever.
    level: &'static str,
    account: &'static str,
    service: &'static str,
    public: &'static str,
    writes: bool,
}

impl Row {
    fn services(&self) -> impl Iterator<Item = Service> {
        SERVICES.into_iter().filter(|service| self.services.contains(service.letter()))
    }

    /// The URL it is asked of.
    fn request(&self, service: Service) -> Request {
        let name = format!("{:?}", self.action);
        let of_service = name.contains("Service")
            || [
                "GetUserDelegationKey",
                "ListContainers",
                "FindBlobsByTags",
                "ListQueues",
                "ListShares",
            ]
            .contains(&name.as_str())
            || ["QueryTables", "CreateTable", "DeleteTable"].contains(&name.as_str());
        let of_container = self.level.contains('c') || self.level == "-";
        let target = match service {
            _ if of_service => "/",
            Service::Blob | Service::File if of_container => "/cont",
            Service::Blob | Service::File => "/cont/dir/x",
            Service::Queue | Service::Table => "/cont",
        };
        Request::new("PUT", target).of(service)
    }

    fn op(&self, request: &Request) -> Op {
        Op::on(request, self.action)
    }
}

fn rows() -> Vec<Row> {
    let mut lines = include_str!("../data/permissions.csv").lines().skip(1);
    let row = |action: &Action| {
        let cells: Vec<&str> = lines.next().expect("a row").split(',').collect();
        let [name, services, level, account, service, public, access] = cells[..] else {
            panic!("seven cells: {cells:?}");
        };
        assert_eq!(name, format!("{action:?}"));
        let writes = access == "write";
        assert!(writes || access == "read", "{access}");
        Row { action: *action, services, level, account, service, public, writes }
    };
    let rows: Vec<Row> = Action::ALL.iter().map(row).collect();
    assert_eq!(lines.next(), None);
    rows
}

/// Whether a column lets these letters in: `*` any, `-` none, `a&u` both, else one of them.
fn allows(column: &str, letters: &str) -> bool {
    match column.split_once('&') {
        Some((one, other)) => letters.contains(one) && letters.contains(other),
        None => column == "*" || column != "-" && letters.chars().any(|l| column.contains(l)),
    }
}

fn granted(letters: &str) -> Grants {
    Grants {
        overwrite: letters.contains('w'),
        tags: letters.contains('t'),
        immutability: letters.contains('i'),
        permanent_delete: letters.contains('y'),
    }
}

fn account_sas(row: &Row, service: Service, ss: &str, srt: &str, sp: &str) -> Request {
    let parameters = [("sv", "2026-04-06"), ("ss", ss), ("srt", srt), ("sp", sp), ("se", EXPIRY)];
    row.request(service).sign_account_sas(&parameters)
}

#[test]
fn account_sas_letters() {
    let mut cells = 0;
    for row in rows() {
        for service in row.services() {
            for letters in LETTERS {
                for srt in ["s", "c", "o", "sco", "S", "C", "O"] {
                    account_sas_cell(&row, service, srt, letters);
                    cells += 1;
                }
            }
            for other in SERVICES.into_iter().filter(|other| *other != service) {
                let ss = other.letter().to_string();
                for ss in [&ss, &ss.to_uppercase(), &service.letter().to_uppercase().to_string()] {
                    let request = account_sas(&row, service, ss, "sco", "racwdlup");
                    let got = request.admit(row.op(&request), None).err();
                    let want = if row.level == "!" {
                        Failure::BearerOnly.into()
                    } else {
                        AuthError::AuthorizationServiceMismatch
                    };
                    assert_eq!(got, Some(want), "{:?} {ss}", row.action);
                    cells += 1;
                }
            }
        }
    }
    assert!(cells >= 15_000, "only {cells} cells");
}

fn account_sas_cell(row: &Row, service: Service, srt: &str, letters: &str) {
    let request = account_sas(row, service, &service.letter().to_string(), srt, letters);
    let got = request.admit(row.op(&request), None);
    let what = format!("{service:?} {:?} srt={srt} sp={letters}", row.action);
    let want = if row.level == "!" {
        Some(Failure::BearerOnly.into())
    } else if row.level == "-" {
        Some(AuthError::AuthorizationFailure)
    } else if row.level != "*" && !srt.chars().any(|c| row.level.contains(c)) {
        Some(AuthError::AuthorizationResourceTypeMismatch)
    } else if !allows(row.account, letters) {
        Some(AuthError::AuthorizationPermissionMismatch)
    } else {
        None
    };
    match got {
        Ok((authorized, overrides)) => {
            assert_eq!(want, None, "{what}");
            assert_eq!(overrides, ResponseOverrides::default());
            assert!(authorized.key_range().is_all());
            assert_eq!(authorized.into_parts().1, granted(letters), "{what}");
        }
        Err(error) => assert_eq!(Some(error), want, "{what}"),
    }
}

#[test]
fn service_sas_letters() {
    let mut cells = 0;
    for row in rows() {
        for service in row.services() {
            let request = row.request(service);
            if request.container.is_none() && service != Service::Table {
                continue; // nothing in the URL to sign: see attacks::missing_and_garbled_fields
            }
            let scopes: &[&str] = match service {
                Service::Blob if request.object.is_some() => &["c", "b"],
                Service::Blob => &["c"],
                Service::File if request.object.is_some() => &["s", "f"],
                Service::File => &["s"],
                Service::Queue | Service::Table => &[""],
            };
            for letters in LETTERS {
                for sr in scopes {
                    service_sas_cell(&row, service, sr, letters);
                    cells += 1;
                }
            }
        }
    }
    assert!(cells >= 2_500, "only {cells} cells");
}

fn service_sas_cell(row: &Row, service: Service, sr: &str, letters: &str) {
    let what = format!("{service:?} {:?} sr={sr} sp={letters}", row.action);
    let mut parameters = vec![("sv", "2026-04-06"), ("sp", letters), ("se", EXPIRY)];
    parameters.extend((!sr.is_empty()).then_some(("sr", sr)));
    parameters.extend((service == Service::Table).then_some(("tn", "Cont")));
    let request = row.request(service).sign_service_sas(&parameters);
    let got = request.admit(row.op(&request), None);
    let want = if row.level == "!" {
        Some(Failure::BearerOnly.into())
    } else if row.service == "-" {
        Some(AuthError::AuthorizationFailure)
    } else if !allows(row.service, letters) {
        Some(AuthError::AuthorizationPermissionMismatch)
    } else {
        None
    };
    match got {
        Ok((authorized, _)) => {
            assert_eq!(want, None, "{what}");
            assert_eq!(authorized.op().action, row.action);
            assert_eq!(authorized.into_parts().1, granted(letters), "{what}");
        }
        Err(error) => assert_eq!(Some(error), want, "{what}"),
    }
}

#[test]
fn public_access_levels() {
    let levels = [
        ("private", PublicAccess::Private),
        ("blob", PublicAccess::Blob),
        ("container", PublicAccess::Container),
    ];
    for row in rows() {
        for service in row.services() {
            for (name, access) in levels {
                let acl = ContainerAccess { access, policies: Vec::new() };
                let request = row.request(service);
                let got = request.admit(row.op(&request), Some(&acl));
                let allowed = match row.public {
                    "blob" => name != "private",
                    "container" => name == "container",
                    _ => false,
                };
                assert_eq!(got.is_ok(), allowed, "{:?} {name}", row.action);
                match got {
                    Ok((authorized, _)) => {
                        assert_eq!(authorized.into_parts().1, granted(""));
                    }
                    Err(error) => assert_eq!(error, AuthError::NoAuthenticationInformation),
                }
            }
        }
    }
}

#[test]
fn old_versions_are_told_less_without_a_credential() {
    let failed = AuthError::from(Failure::NoCredential);
    let hidden = AuthError::ResourceNotFound(Hidden::Anonymous);
    let challenge = AuthError::NoAuthenticationInformation;
    for (service, version, want) in [
        (Service::Blob, (2019, 7, 7), hidden),
        (Service::Blob, (2019, 12, 12), challenge.clone()),
        (Service::Queue, (2019, 7, 7), failed.clone()),
        (Service::Queue, (2019, 12, 12), challenge.clone()),
        (Service::Table, (2019, 2, 2), failed.clone()),
        (Service::Table, (2020, 10, 2), failed),
        (Service::Table, (2020, 12, 6), challenge),
    ] {
        let mut request = Request::new("GET", "/").of(service);
        request.version = ApiVersion::new(version.0, version.1, version.2);
        assert!(
            !request
                .authenticate()
                .is_ok_and(|claim| { claim.needs_container_access() && service != Service::Blob })
        );
        let got = request.admit(Op::on(&request, Action::GetServiceProperties), None).err();
        assert_eq!(got, Some(want), "{service:?} {version:?}");
    }
}

#[test]
fn the_key_may_do_everything_but_write_to_the_secondary() {
    for row in rows() {
        for service in row.services() {
            let mut request = row.request(service).dated().sign_shared_key();
            let admitted = request.admit(row.op(&request), None);
            if row.level == "!" {
                assert_eq!(admitted.err(), Some(Failure::BearerOnly.into()));
                continue;
            }
            let (authorized, _) = admitted.unwrap_or_else(|e| panic!("{:?}: {e:?}", row.action));
            assert_eq!(authorized.into_parts().1, granted("wtiy"));
            request.secondary = true;
            let got = request.admit(row.op(&request), None).err();
            let want = row.writes.then_some(AuthError::WriteOnSecondary);
            assert_eq!(got, want, "{:?}", row.action);
        }
    }
}

#[test]
fn what_is_done_besides_needs_its_own_letter() {
    let tags = Extras { tags: true, ..Extras::default() };
    let immutability = Extras { immutability: true, ..Extras::default() };
    let both = Extras { tags: true, immutability: true };
    for (action, sp, extras, want) in [
        (Action::PutBlob, "w", Extras::default(), true),
        (Action::PutBlob, "w", tags, false),
        (Action::PutBlob, "wt", tags, true),
        (Action::PutBlob, "t", tags, false),
        (Action::PutBlob, "wt", immutability, false),
        (Action::PutBlob, "wi", immutability, true),
        (Action::PutBlob, "wt", both, false),
        (Action::PutBlob, "wit", both, true),
        (Action::GetBlob, "r", tags, false),
        (Action::GetBlob, "rt", tags, true),
    ] {
        let blob = || Request::new("PUT", "/cont/dir/x");
        let parameters = [("sv", "2026-04-06"), ("sp", sp), ("se", EXPIRY)];
        let on_blob = [&parameters[..], &[("sr", "b")]].concat();
        let on_account = [&parameters[..], &[("ss", "b"), ("srt", "o")]].concat();
        for request in [blob().sign_service_sas(&on_blob), blob().sign_account_sas(&on_account)] {
            let op = Op { extras, ..Op::on(&request, action) };
            let got = request.admit(op, None).err();
            let refused = (!want).then_some(AuthError::AuthorizationPermissionMismatch);
            assert_eq!(got, refused, "{action:?} {sp} {extras:?}");
        }
    }
    let acl = ContainerAccess { access: PublicAccess::Container, policies: Vec::new() };
    let request = Request::new("GET", "/cont/x");
    let op = Op { extras: tags, ..Op::on(&request, Action::GetBlob) };
    let got = request.admit(op, Some(&acl)).err();
    assert_eq!(got, Some(AuthError::NoAuthenticationInformation), "tags are never public");
}

#[test]
fn rows_that_depend_on_more() {
    let old = ApiVersion::new(2017, 4, 17);
    let parameters = |sp| [("sv", "2026-04-06"), ("sr", "b"), ("sp", sp), ("se", EXPIRY)];
    let check = |action, sp: &'static str, version, named: Option<&str>| {
        let blob = Request::new("PUT", "/cont/dir/x");
        let mut request = blob.sign_service_sas(&parameters(sp));
        request.version = version;
        let mut op = Op::on(&request, action);
        op.version = named.map(str::to_owned);
        let claim = request.authenticate().expect("valid");
        request.with_facts(|f| authorize(&claim, op, None, f, now())).is_ok()
    };
    let latest = ApiVersion::LATEST;
    assert!(check(Action::BreakBlobLease, "d", latest, None));
    assert!(!check(Action::BreakBlobLease, "d", old, None));
    assert!(check(Action::BreakBlobLease, "w", old, None));
    for action in [Action::PutBlock, Action::PutBlockFromUrl, Action::PutBlockList] {
        assert!(check(action, "c", ApiVersion::new(2026, 6, 6), None));
        assert!(!check(action, "c", ApiVersion::new(2026, 4, 6), None));
        assert!(check(action, "w", old, None));
    }
    assert!(check(Action::DeleteBlob, "d", latest, None));
    assert!(!check(Action::DeleteBlob, "d", latest, Some("v1")));
    assert!(check(Action::DeleteBlob, "x", latest, Some("v1")));
    assert!(!check(Action::DeleteBlob, "x", latest, None));
    assert!(!check(Action::PermanentlyDeleteBlob, "dx", latest, Some("v1")));
}
