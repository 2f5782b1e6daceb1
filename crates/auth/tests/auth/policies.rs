//! Stored access policies: what the token leaves open, the container's ACL closes.

use crate::fixture::{EXPIRY, Op, Request, now};
use zaffre_auth::{Action, AuthError, ContainerAccess, Failure};
use zaffre_base::Timestamp;
use zaffre_domain::blob::{AccessPolicy, PublicAccess};

fn acl(start: &str, expiry: &str, permission: Option<&str>) -> ContainerAccess {
    let policy = |id: &str, permission: Option<&str>| AccessPolicy {
        id: id.to_owned(),
        start: Timestamp::parse_iso(start),
        expiry: Timestamp::parse_iso(expiry),
        permission: permission.map(str::to_owned),
    };
    let policies = vec![policy("other", Some("racwdl")), policy("mine", permission)];
    ContainerAccess { access: PublicAccess::Private, policies }
}

fn refusal(more: &[(&str, &str)], acl: Option<&ContainerAccess>) -> Option<AuthError> {
    let parameters = [&[("sv", "2026-04-06"), ("sr", "c"), ("si", "mine")], more].concat();
    let request = Request::new("GET", "/cont/x").sign_service_sas(&parameters);
    let claim = request.authenticate().expect("a good signature");
    assert!(claim.needs_container_access());
    request.admit(Op::on(&request, Action::GetBlob), acl).err()
}

#[test]
fn token_and_policy_together() {
    let missing = |name| Some(Failure::FieldMissing { name }.into());
    let overlap = Some(AuthError::from(Failure::PolicyOverlap));
    let past = "2026-01-01";
    let full = acl("", EXPIRY, Some("r"));
    for (more, acl, want) in [
        (&[][..], full.clone(), None),
        (&[("se", EXPIRY), ("sp", "r")], acl("", "", None), None),
        (&[("se", EXPIRY)], acl(past, "", Some("rw")), None),
        (&[("sp", "r"), ("st", past)], acl("", EXPIRY, None), None),
        (&[("sp", "r"), ("se", EXPIRY)], acl("", "", Some("")), None),
        (&[("sp", "r")], full.clone(), overlap.clone()),
        (&[("se", EXPIRY)], full.clone(), overlap.clone()),
        (&[("st", past)], acl(past, EXPIRY, Some("r")), overlap),
        (&[], acl("", EXPIRY, None), missing("sp")),
        (&[], acl("", "", Some("r")), missing("se")),
        (&[("sp", "r")], acl("", "", None), missing("se")),
        (&[], acl("", EXPIRY, Some("wdl")), Some(AuthError::AuthorizationPermissionMismatch)),
        (
            &[("sip", "10.0.0.2")],
            full.clone(),
            Some(AuthError::AuthorizationSourceIpMismatch {
                ip: "10.0.0.1".parse().expect("an address"),
            }),
        ),
    ] {
        assert_eq!(refusal(more, Some(&acl)), want, "{more:?} {acl:?}");
    }
}

#[test]
fn policies_have_their_time() {
    for acl in [
        acl("2026-01-01", "2026-11-15T12:00:00Z", Some("r")),
        acl("2026-11-15T12:00:01Z", EXPIRY, Some("r")),
        acl("", "2026-11-15T12:00:00Z", Some("r")),
    ] {
        let refused = refusal(&[], Some(&acl));
        let Some(AuthError::AuthenticationFailed { detail }) = refused else {
            panic!("{refused:?}");
        };
        let text = detail.to_string();
        assert!(text.contains("[Sun, 15 Nov 2026 12:00:0"), "{text}");
    }
    assert_eq!(now().rfc1123().to_string(), "Sun, 15 Nov 2026 12:00:00 GMT");
}

#[test]
fn revoked_policies_let_nobody_in() {
    let unknown = Some(AuthError::from(Failure::PolicyUnknown));
    let mut renamed = acl("", EXPIRY, Some("r"));
    renamed.policies[1].id = "Mine".to_owned();
    assert_eq!(refusal(&[], Some(&renamed)), unknown);
    assert_eq!(refusal(&[], Some(&ContainerAccess::default())), unknown);
    assert_eq!(refusal(&[], None), unknown);
    let complete = [("sp", "r"), ("se", EXPIRY)];
    assert_eq!(refusal(&complete, Some(&ContainerAccess::default())), unknown);
}
