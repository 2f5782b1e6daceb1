//! Bearer tokens: whose are taken, and every way in which one may be wrong.

use crate::fixture::{ACCOUNT, Op, Request, blocks, now};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use zaffre_auth::{
    Action, AuthError, Claim, Failure, Hidden, KeySet, Service, TokenTrust, authorize,
};
use zaffre_base::ApiVersion;

const ISSUER: &str = "https://issuer.example/t";
pub(crate) const OBJECT: &str = "11111111-1111-1111-1111-111111111111";
pub(crate) const TENANT: &str = "22222222-2222-2222-2222-222222222222";

fn data(title: &str) -> &'static str {
    let blocks = blocks(include_str!("../data/jwt.txt"));
    let found = blocks.iter().find(|(t, _)| *t == title).expect("a block");
    found.1.first().expect("a line")
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// An issuer with one key.
struct Issuer {
    key: EcdsaKeyPair,
}

impl Issuer {
    fn new() -> Self {
        let random = SystemRandom::new();
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
        let der = der.expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der.as_ref(), &random);
        Self { key: key.expect("a key") }
    }

    fn trust(&self) -> TokenTrust {
        let point = self.key.public_key().as_ref();
        let (x, y) = (encode(&point[1..33]), encode(&point[33..]));
        let keys = json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "k", "x": x, "y": y}]});
        let keys = KeySet::parse(keys.to_string().as_bytes()).expect("a key set");
        TokenTrust::proven(ISSUER.to_owned(), keys)
    }

    fn sign(&self, header: &Value, claims: &Value) -> String {
        let text = unsigned(header, claims);
        let random = SystemRandom::new();
        let signature = self.key.sign(&random, text.as_bytes()).expect("a signature");
        format!("{text}.{}", encode(signature))
    }
}

fn unsigned(header: &Value, claims: &Value) -> String {
    format!("{}.{}", encode(header.to_string()), encode(claims.to_string()))
}

fn header() -> Value {
    json!({"alg": "ES256", "kid": "k"})
}

fn claims() -> Value {
    let now = now().unix_seconds();
    json!({"iss": ISSUER, "aud": "https://storage.azure.com/", "nbf": now - 60, "exp": now + 600,
           "oid": OBJECT, "tid": TENANT})
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    object[name] = value;
    object
}

fn without(mut object: Value, name: &str) -> Value {
    object.as_object_mut().expect("an object").remove(name);
    object
}

fn request(token: &str) -> Request {
    Request::new("GET", "/cont/x").header("Authorization", &format!("Bearer {token}"))
}

/// A token that a server taking `TokenTrust::claimed()` believes.
pub(crate) fn claimed(object: &str, tenant: &str) -> String {
    let claims = with(claims(), "iss", json!("https://sts.windows.net/t/"));
    let claims = with(with(claims, "oid", json!(object)), "tid", json!(tenant));
    format!("{}.c2ln", unsigned(&json!({"alg": "RS256"}), &claims))
}

fn outcome(claim: Result<Claim, AuthError>) -> Result<&'static str, AuthError> {
    claim.map(|claim| claim.scheme())
}

#[test]
fn tokens_of_others() {
    let keys = KeySet::parse(data("keys").as_bytes()).expect("a key set");
    let trust = TokenTrust::proven(format!("{ISSUER}/"), keys);
    for title in ["RS256", "ES256"] {
        let token = data(title);
        let good = request(token).authenticate_trusting(&trust);
        assert_eq!(outcome(good), Ok("Bearer"), "{title}");
        let mut changed = 0;
        for (at, byte) in token.bytes().enumerate().step_by(7) {
            // The last character of a part may have bits that mean nothing.
            if byte == b'.' || token[at + 1..].starts_with('.') || at + 1 == token.len() {
                continue;
            }
            let other = if byte == b'A' { 'B' } else { 'A' };
            let token = format!("{}{other}{}", &token[..at], &token[at + 1..]);
            let refused = request(&token).authenticate_trusting(&trust);
            assert_eq!(outcome(refused), Err(AuthError::BearerRejected), "{title} {at}");
            changed += 1;
        }
        assert!(changed > 50, "only {changed}");
    }
    let swapped = data("RS256").replace(
        &encode(r#"{"alg":"RS256","kid":"rsa","typ":"JWT"}"#),
        &encode(r#"{"alg":"RS256","kid":"ec","typ":"JWT"}"#),
    );
    assert!(request(&swapped).authenticate_trusting(&trust).is_err());
}

#[test]
fn signatures_that_do_not_count() {
    let (issuer, stranger) = (Issuer::new(), Issuer::new());
    let trust = issuer.trust();
    let check = |token: &str| outcome(request(token).authenticate_trusting(&trust));
    assert_eq!(check(&issuer.sign(&header(), &claims())), Ok("Bearer"));
    let none = |alg: &str| format!("{}.", unsigned(&json!({"alg": alg, "kid": "k"}), &claims()));
    let confused = |alg: &str| {
        // The public key as if it were a shared secret.
        let text = unsigned(&json!({"alg": alg, "kid": "k"}), &claims());
        let key = issuer.key.public_key().as_ref();
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key).expect("any length");
        mac.update(text.as_bytes());
        format!("{text}.{}", encode(mac.finalize().into_bytes()))
    };
    let good = issuer.sign(&header(), &claims());
    for (what, token) in [
        ("another key", stranger.sign(&header(), &claims())),
        ("alg none", none("none")),
        ("alg NONE", none("NONE")),
        ("no signature", good[..=good.rfind('.').expect("a dot")].to_owned()),
        ("HS256", confused("HS256")),
        ("ES256 with a MAC", confused("ES256")),
        ("RS256 for an EC key", issuer.sign(&json!({"alg": "RS256", "kid": "k"}), &claims())),
        ("ES384", issuer.sign(&json!({"alg": "ES384", "kid": "k"}), &claims())),
        ("no alg", issuer.sign(&json!({"kid": "k"}), &claims())),
        ("unknown kid", issuer.sign(&json!({"alg": "ES256", "kid": "other"}), &claims())),
        ("no kid", issuer.sign(&json!({"alg": "ES256"}), &claims())),
        ("crit", issuer.sign(&with(header(), "crit", json!(["exp"])), &claims())),
        ("no token", String::new()),
        ("one part", "abc".to_owned()),
        ("four parts", format!("{good}.x")),
        ("not Base64", good.replacen('.', ".*", 1)),
        ("no object", format!("{}.{}.x", encode("[]"), encode("[]"))),
        ("too long", format!("{}.{}", encode("x".repeat(40_000)), good)),
    ] {
        let want = AuthError::BearerRejected;
        let got = check(&token);
        let alike = what == "no token" && got == Err(AuthError::InvalidAuthenticationInfo);
        assert!(alike || got == Err(want), "{what}: {got:?}");
    }
}

#[test]
fn claims_that_do_not_hold() {
    let issuer = Issuer::new();
    let trust = issuer.trust();
    let time = now().unix_seconds();
    let (skew, account) = (300, ACCOUNT);
    for (what, claims, good) in [
        ("as it is", claims(), true),
        ("no nbf", without(claims(), "nbf"), true),
        ("nbf in a moment", with(claims(), "nbf", json!(time + skew)), true),
        ("not yet valid", with(claims(), "nbf", json!(time + skew + 1)), false),
        ("just over", with(claims(), "exp", json!(time - skew + 1)), true),
        ("expired", with(claims(), "exp", json!(time - skew)), false),
        ("no exp", without(claims(), "exp"), false),
        ("exp as text", with(claims(), "exp", json!("2030-01-01")), false),
        ("negative exp", with(claims(), "exp", json!(-1)), false),
        ("exp with a fraction", with(claims(), "exp", json!(4_000_000_000.5)), true),
        ("exp for ever", with(claims(), "exp", json!(u64::MAX)), true),
        ("nbf as text", with(claims(), "nbf", json!("0")), false),
        ("another issuer", with(claims(), "iss", json!("https://issuer.example/t2")), false),
        ("a known issuer", with(claims(), "iss", json!("https://sts.windows.net/t/")), false),
        ("no issuer", without(claims(), "iss"), false),
        ("no audience", without(claims(), "aud"), false),
        ("another audience", with(claims(), "aud", json!("https://graph.example")), false),
        ("audience of all", with(claims(), "aud", json!("https://storage.azure.com")), true),
        ("two slashes", with(claims(), "aud", json!("https://storage.azure.com//")), false),
        (
            "audience by id",
            with(claims(), "aud", json!("e406a681-f3d4-42a8-90b6-c2b029497af1")),
            true,
        ),
        (
            "own audience",
            with(claims(), "aud", json!(format!("https://{account}.blob.core.windows.net/"))),
            true,
        ),
        (
            "another service",
            with(claims(), "aud", json!(format!("https://{account}.queue.core.windows.net"))),
            false,
        ),
        (
            "another account",
            with(claims(), "aud", json!("https://other.blob.core.windows.net")),
            false,
        ),
        ("a list", with(claims(), "aud", json!(["x", "https://storage.azure.com"])), true),
        ("a list of others", with(claims(), "aud", json!(["x", 1, null])), false),
        ("nobody", without(claims(), "oid"), false),
        ("a subject", with(without(claims(), "oid"), "sub", json!("me@example")), true),
        ("an odd name", with(claims(), "oid", json!("a\nb")), false),
        ("no tenant", without(claims(), "tid"), true),
    ] {
        let token = issuer.sign(&header(), &claims);
        let got = outcome(request(&token).authenticate_trusting(&trust));
        let want = if good { Ok("Bearer") } else { Err(AuthError::BearerRejected) };
        assert_eq!(got, want, "{what}");
    }
    let own = issuer.trust().for_audience(Some("my-server".to_owned()));
    let token = issuer.sign(&header(), &with(claims(), "aud", json!("my-server")));
    assert_eq!(outcome(request(&token).authenticate_trusting(&own)), Ok("Bearer"));
    assert!(request(&token).authenticate_trusting(&trust).is_err());
}

#[test]
fn tokens_taken_by_their_word() {
    let trust = TokenTrust::claimed();
    let token = claimed(OBJECT, TENANT);
    assert_eq!(outcome(request(&token).authenticate_trusting(&trust)), Ok("Bearer"));
    let foreign = format!("{}.c2ln", unsigned(&header(), &claims()));
    assert!(request(&foreign).authenticate_trusting(&trust).is_err(), "not a known issuer");
    assert_eq!(outcome(request(&token).authenticate()), Err(AuthError::BearerRejected));
    let mut plain = request(&token);
    plain.secure = false;
    let refused = outcome(plain.authenticate_trusting(&trust));
    assert_eq!(refused, Err(AuthError::InvalidAuthenticationInfo));
    let twice = request(&token).header("authorization", &format!("Bearer {token}"));
    assert!(twice.authenticate_trusting(&trust).is_err());
    let invalid = Err(AuthError::from(Failure::BearerInvalid));
    for (service, version, want) in [
        (Service::Table, (2019, 2, 2), invalid.clone()),
        (Service::Table, (2020, 12, 6), Err(AuthError::BearerRejected)),
        (Service::Queue, (2019, 7, 7), invalid),
        (Service::Queue, (2019, 12, 12), Err(AuthError::BearerRejected)),
        (Service::Blob, (2018, 11, 9), Err(AuthError::BearerRejected)),
    ] {
        let mut request = request("a.b.c").of(service);
        request.version = ApiVersion::new(version.0, version.1, version.2);
        assert_eq!(outcome(request.authenticate_trusting(&trust)), want, "{service:?} {version:?}");
    }
}

#[test]
fn what_tokens_reach() {
    let trust = TokenTrust::claimed();
    let old = ApiVersion::new(2025, 5, 5);
    let request = request(&claimed(OBJECT, TENANT));
    let claim = request.authenticate_trusting(&trust).expect("a good token");
    for action in Action::ALL {
        for version in [old, ApiVersion::LATEST] {
            let mut request = request.clone();
            request.version = version;
            let op = Op::on(&request, *action);
            let got = request.with_facts(|f| authorize(&claim, op, None, f, now())).err();
            let want = match action {
                Action::GetAccountInfo => Some(AuthError::AuthorizationFailure),
                Action::GetContainerAcl
                | Action::SetContainerAcl
                | Action::GetQueueAcl
                | Action::SetQueueAcl
                    if version == old =>
                {
                    Some(AuthError::AuthorizationFailure)
                }
                Action::GetTableAcl | Action::SetTableAcl => {
                    Some(AuthError::ResourceNotFound(Hidden::Token))
                }
                _ => None,
            };
            assert_eq!(got, want, "{action:?}");
        }
    }
}
