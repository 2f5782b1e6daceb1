//! What a claim says of itself, and what may be asked before all of an operation is known.

use crate::bearer::{OBJECT, TENANT, claimed};
use crate::fixture::{ACCOUNT, EXPIRY, Op, Request, account, accounts, key, now};
use zaffre_auth::{
    Action, AuthError, Claim, ContainerAccess, Scope, Service, TokenTrust, authorize,
    counts_for_credentials, may, sign,
};
use zaffre_base::AccountName;
use zaffre_domain::blob::PublicAccess;

const ACCOUNT_SAS: &[(&str, &str)] =
    &[("sv", "2026-04-06"), ("ss", "b"), ("srt", "sco"), ("sp", "r"), ("se", EXPIRY)];
const SERVICE_SAS: &[(&str, &str)] =
    &[("sv", "2026-04-06"), ("sr", "c"), ("sp", "r"), ("se", EXPIRY)];
const WITH_POLICY: &[(&str, &str)] = &[("sv", "2026-04-06"), ("sr", "c"), ("si", "mine")];

fn plain() -> Request {
    Request::new("GET", "/cont/x")
}

fn bearer() -> Claim {
    let authorization = format!("Bearer {}", claimed(OBJECT, TENANT));
    let request = plain().header("Authorization", &authorization);
    request.authenticate_trusting(&TokenTrust::claimed()).expect("a good token")
}

fn claim(request: &Request) -> Claim {
    request.authenticate().expect("a good credential")
}

#[test]
fn what_a_claim_says_of_itself() {
    let queue = plain().of(Service::Queue);
    for (claim, scheme, owns, anonymous, container, needs_acl) in [
        (claim(&plain().dated().sign_shared_key()), "SharedKey", true, false, None, false),
        (bearer(), "Bearer", true, false, None, false),
        (claim(&plain().sign_account_sas(ACCOUNT_SAS)), "AccountSAS", false, false, None, false),
        (
            claim(&plain().sign_service_sas(SERVICE_SAS)),
            "ServiceSAS",
            false,
            false,
            Some("cont"),
            false,
        ),
        (
            claim(&plain().sign_service_sas(WITH_POLICY)),
            "ServiceSAS",
            false,
            false,
            Some("cont"),
            true,
        ),
        (claim(&plain()), "Anonymous", false, true, None, true),
        (claim(&queue), "Anonymous", false, true, None, false),
        (
            Claim::of_website(&account().without_public_access()),
            "Anonymous",
            false,
            true,
            None,
            true,
        ),
    ] {
        assert_eq!(claim.scheme(), scheme);
        assert_eq!(claim.owns_account(), owns, "{scheme}");
        assert_eq!(claim.is_anonymous(), anonymous, "{scheme}");
        assert_eq!(claim.signed_container(), container, "{scheme}");
        assert_eq!(claim.needs_container_access(), needs_acl, "{scheme}");
    }
}

/// The header is the credential, whatever signature is beside it.
#[test]
fn a_bearer_token_beside_a_signature() {
    let authorization = format!("Bearer {}", claimed(OBJECT, TENANT));
    let signed = plain().sign_service_sas(SERVICE_SAS);
    let mut spoiled = signed.clone();
    spoiled.set("sig", "AAAA");
    for request in [signed, spoiled] {
        let request = request.header("Authorization", &authorization);
        let claim = request.authenticate_trusting(&TokenTrust::claimed());
        assert_eq!(claim.map(|claim| claim.scheme()), Ok("Bearer"));
    }
}

#[test]
fn what_may_be_done_is_known_before_the_body() {
    let private = ContainerAccess::default();
    let public = ContainerAccess { access: PublicAccess::Blob, policies: Vec::new() };
    let mismatch = Some(AuthError::AuthorizationPermissionMismatch);
    let none = Some(AuthError::NoAuthenticationInformation);
    for (request, action, acl, want) in [
        (plain().dated().sign_shared_key(), Action::PutBlob, None, None),
        (plain().sign_account_sas(ACCOUNT_SAS), Action::GetBlob, None, None),
        (plain().sign_account_sas(ACCOUNT_SAS), Action::DeleteBlob, None, mismatch.clone()),
        (plain().sign_service_sas(SERVICE_SAS), Action::GetBlob, None, None),
        (plain().sign_service_sas(SERVICE_SAS), Action::DeleteBlob, None, mismatch),
        (plain(), Action::GetBlob, Some(&public), None),
        (plain(), Action::GetBlob, Some(&private), none.clone()),
        (plain(), Action::DeleteBlob, Some(&public), none),
    ] {
        let op = Op::on(&request, action);
        let claim = claim(&request);
        let scope = Scope::object(&request.account, "cont", "x");
        let asked = request.with_facts(|f| may(&claim, action, scope, acl, f, now()));
        assert_eq!(asked.err(), want, "{action:?} {acl:?}");
        let done = request.with_facts(|f| authorize(&claim, op, acl, f, now()));
        assert_eq!(done.err(), want, "{action:?} {acl:?}");
    }
}

#[test]
fn a_claim_is_good_in_its_account_only() {
    let other = AccountName::parse("other").expect("a name");
    let request = plain().dated().sign_shared_key();
    let claim = claim(&request);
    let scope = Scope::object(&other, "cont", "x");
    let asked = request.with_facts(|f| may(&claim, Action::GetBlob, scope, None, f, now()));
    assert_eq!(asked.err(), Some(AuthError::AuthorizationFailure));
    assert!(accounts().get(&other).is_none());
}

#[test]
fn scopes_name_what_they_were_made_of() {
    let account = AccountName::parse(ACCOUNT).expect("a name");
    for (scope, container, object, entity) in [
        (Scope::account(&account), None, None, None),
        (Scope::container(&account, "c"), Some("c"), None, None),
        (Scope::object(&account, "c", "o"), Some("c"), Some("o"), None),
        (Scope::entity(&account, "t", ("p", "r")), Some("t"), None, Some(("p", "r"))),
    ] {
        assert_eq!(scope.account.as_str(), ACCOUNT);
        assert_eq!((scope.container, scope.object, scope.entity), (container, object, entity));
        assert_eq!((scope.snapshot, scope.version), (None, None));
    }
}

#[test]
fn headers_that_count() {
    for (name, want) in [
        ("authorization", true),
        ("x-ms-date", true),
        ("x-ms-", true),
        ("content-md5", true),
        ("range", true),
        ("date", true),
        ("if-match", true),
        ("accept", false),
        ("user-agent", false),
        ("x-ms", false),
        ("", false),
    ] {
        assert_eq!(counts_for_credentials(name), want, "{name}");
    }
}

#[test]
fn an_issuers_description_names_its_keys() {
    for (text, want) in [
        (r#"{"jwks_uri":"https://issuer.example/keys"}"#, Some("https://issuer.example/keys")),
        (r#"{"issuer":"x","jwks_uri":"k"}"#, Some("k")),
        (r#"{"jwks_uri":7}"#, None),
        (r#"{"issuer":"x"}"#, None),
        ("[]", None),
        ("", None),
    ] {
        let found = zaffre_auth::bearer::jwks_uri(text.as_bytes());
        assert_eq!(found.as_deref(), want, "{text}");
    }
}

#[test]
fn tokens_for_files() {
    let get = Action::GetFile;
    let signed = |resource: &str, object: Option<&str>| {
        let mut request = Request::new("GET", "/share").of(Service::File);
        request.object = object.map(str::to_owned);
        let parameters = [("sv", "2026-04-06"), ("sr", resource), ("sp", "r"), ("se", EXPIRY)];
        request.with_facts(|f| sign::service_sas(f, &key(), &parameters)).map(|token| {
            let query = request.query.iter().cloned().chain(token).collect();
            request.with_query(query)
        })
    };
    for (resource, object, touched, want) in [
        ("s", Some("d/f"), ("share", "d/f"), true),
        ("s", None, ("share", "other"), true),
        ("s", None, ("other", "d/f"), false),
        ("f", Some("d/f"), ("share", "d/f"), true),
        ("f", Some("d/f"), ("share", "d/g"), false),
        ("f", Some("d/f"), ("other", "d/f"), false),
    ] {
        let request = signed(resource, object).expect("signable");
        let (container, file) = touched;
        let op = Op {
            container: Some(container.to_owned()),
            object: Some(file.to_owned()),
            ..Op::on(&request, get)
        };
        assert_eq!(request.admit(op, None).is_ok(), want, "{resource} {object:?} {touched:?}");
    }
    for (resource, object) in [("f", None), ("b", Some("d/f")), ("", Some("d/f"))] {
        assert!(signed(resource, object).is_err(), "{resource} {object:?}");
    }
}
