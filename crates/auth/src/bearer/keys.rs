//! The public keys of an issuer (a JWK set), and signatures held against them.
//!
//! Must never let a token choose how it is verified: the key decides the algorithm.

use super::jwt::{BASE64URL, Jwt};
use base64::Engine;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::Value;
use std::fmt;
use zaffre_base::limits;

/// The keys that an issuer signs with now.
#[derive(Clone, Debug, Default)]
pub struct KeySet(Vec<Key>);

#[derive(Clone, Debug)]
struct Key {
    id: String,
    public: Public,
}

#[derive(Clone, Debug)]
enum Public {
    /// RS256.
    Rsa { n: Vec<u8>, e: Vec<u8> },
    /// ES256; the point, not compressed.
    P256(Vec<u8>),
}

/// Why a JWK set cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeySetError {
    /// Not JSON, or without a list of `keys`.
    Shape,
    /// More keys than any issuer has.
    TooMany,
    /// No key in it can be used to verify RS256 or ES256.
    NoneUsable,
}

impl fmt::Display for KeySetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shape => "it is no JSON document with a list of keys",
            Self::TooMany => "it has too many keys",
            Self::NoneUsable => "it has no key with a kid for RS256 or ES256 signatures",
        })
    }
}

impl std::error::Error for KeySetError {}

impl KeySet {
    /// Reads a JWK set. Keys of other kinds, for other uses or without a name are left out.
    pub fn parse(document: &[u8]) -> Result<Self, KeySetError> {
        let value: Value = serde_json::from_slice(document).map_err(|_| KeySetError::Shape)?;
        let keys = value.get("keys").and_then(Value::as_array).ok_or(KeySetError::Shape)?;
        if keys.len() > limits::ISSUER_KEYS {
            return Err(KeySetError::TooMany);
        }
        let keys: Vec<Key> = keys.iter().filter_map(Key::read).collect();
        if keys.is_empty() { Err(KeySetError::NoneUsable) } else { Ok(Self(keys)) }
    }

    /// Whether the key that the token names signed it.
    pub(super) fn verify(&self, jwt: &Jwt<'_>) -> bool {
        let Some(id) = jwt.header("kid") else { return false };
        if jwt.has_critical_extensions() {
            return false;
        }
        // An issuer may have two keys of one name while it replaces one.
        self.0.iter().filter(|key| key.id == id).any(|key| key.public.verify(jwt))
    }
}

impl Key {
    fn read(value: &Value) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let bytes = |name: &str| BASE64URL.decode(text(name)?).ok();
        if text("use").is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let public = match (text("kty")?, text("alg")) {
            ("RSA", None | Some("RS256")) => Public::Rsa { n: bytes("n")?, e: bytes("e")? },
            ("EC", None | Some("ES256")) if text("crv") == Some("P-256") => {
                Public::P256([&[4], bytes("x")?.as_slice(), bytes("y")?.as_slice()].concat())
            }
            _ => return None,
        };
        Some(Self { id: text("kid")?.to_owned(), public })
    }
}

impl Public {
    fn verify(&self, jwt: &Jwt<'_>) -> bool {
        let message = jwt.signed.as_bytes();
        match (self, jwt.header("alg")) {
            (Self::Rsa { n, e }, Some("RS256")) => RsaPublicKeyComponents { n, e }
                .verify(&RSA_PKCS1_2048_8192_SHA256, message, &jwt.signature)
                .is_ok(),
            (Self::P256(point), Some("ES256")) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, &jwt.signature)
                    .is_ok()
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents() {
        let key = |more: &str| format!(r#"{{"keys":[{{"kid":"a"{more}}}]}}"#);
        let rsa = r#","kty":"RSA","n":"AQAB","e":"AQAB""#;
        for (document, want) in [
            (key(rsa), Ok(1)),
            (key(&format!(r#"{rsa},"use":"sig","alg":"RS256""#)), Ok(1)),
            (key(r#","kty":"EC","crv":"P-256","x":"AQAB","y":"AQAB""#), Ok(1)),
            (key(&format!(r#"{rsa},"use":"enc""#)), Err(KeySetError::NoneUsable)),
            (key(&format!(r#"{rsa},"alg":"RS512""#)), Err(KeySetError::NoneUsable)),
            (key(r#","kty":"oct","k":"AQAB""#), Err(KeySetError::NoneUsable)),
            (
                key(r#","kty":"EC","crv":"P-384","x":"AQAB","y":"AQAB""#),
                Err(KeySetError::NoneUsable),
            ),
            (key(r#","kty":"RSA","n":"*","e":"AQAB""#), Err(KeySetError::NoneUsable)),
            (
                r#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}"#.to_owned(),
                Err(KeySetError::NoneUsable),
            ),
            (r#"{"keys":[]}"#.to_owned(), Err(KeySetError::NoneUsable)),
            (r#"{"keys":{}}"#.to_owned(), Err(KeySetError::Shape)),
            ("[]".to_owned(), Err(KeySetError::Shape)),
            (String::new(), Err(KeySetError::Shape)),
            (format!(r#"{{"keys":[{}]}}"#, vec!["0"; 101].join(",")), Err(KeySetError::TooMany)),
        ] {
            let got = KeySet::parse(document.as_bytes()).map(|keys| keys.0.len());
            assert_eq!(got, want, "{document}");
        }
    }

    #[test]
    fn a_set_has_a_most() {
        let key = r#"{"kid":"a","kty":"RSA","n":"AQAB","e":"AQAB"}"#;
        for (count, want) in [(100, Ok(100)), (101, Err(KeySetError::TooMany))] {
            let document = format!(r#"{{"keys":[{}]}}"#, vec![key; count].join(","));
            assert_eq!(KeySet::parse(document.as_bytes()).map(|set| set.0.len()), want);
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        for (error, want) in [
            (KeySetError::Shape, "it is no JSON document with a list of keys"),
            (KeySetError::TooMany, "it has too many keys"),
            (KeySetError::NoneUsable, "it has no key with a kid for RS256 or ES256 signatures"),
        ] {
            assert_eq!(error.to_string(), want);
        }
    }
}
