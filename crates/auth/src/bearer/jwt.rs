//! A token taken apart: header, claims, signature.
//!
//! Must never be believed by itself: what it says counts once its issuer is settled.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value};
use zaffre_base::{Timestamp, limits};

/// Base64url; padding is left out, and some issuers leave it in.
pub(super) const BASE64URL: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Has no `Debug`: whoever has a token is who it names.
pub(super) struct Jwt<'a> {
    header: Map<String, Value>,
    claims: Map<String, Value>,
    /// The text that the signature covers.
    pub(super) signed: &'a str,
    pub(super) signature: Vec<u8>,
}

impl<'a> Jwt<'a> {
    /// Reads the compact form; `None` if it is not one.
    pub(super) fn read(token: &'a str) -> Option<Self> {
        if token.len() > limits::TOKEN_BYTES {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let object = |text: &str| match serde_json::from_slice(&BASE64URL.decode(text).ok()?) {
            Ok(Value::Object(map)) => Some(map),
            _ => None,
        };
        let signature = BASE64URL.decode(signature).ok()?;
        Some(Self { header: object(header)?, claims: object(claims)?, signed, signature })
    }

    /// A text of the header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.header.get(name)?.as_str()
    }

    /// Whether the header demands something that only its issuer knows.
    pub(super) fn has_critical_extensions(&self) -> bool {
        self.header.contains_key("crit")
    }

    /// A claim that is a text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.claims.get(name)?.as_str()
    }

    /// A claim that names somebody: short, and fit for a line of a string-to-sign.
    pub(super) fn name(&self, name: &str) -> Option<&str> {
        let fits = |text: &&str| {
            let plain = text.bytes().all(|b| b.is_ascii_graphic());
            plain && (1..=limits::IDENTITY_BYTES).contains(&text.len())
        };
        self.text(name).filter(fits)
    }

    /// A claim that is a time in seconds; `None` if it is something else, `Some(None)` if absent.
    #[expect(clippy::option_option, reason = "absent and malformed are two answers")]
    pub(super) fn time(&self, name: &str) -> Option<Option<Timestamp>> {
        let Some(value) = self.claims.get(name) else { return Some(None) };
        let seconds = value.as_u64().or_else(|| whole_seconds(value))?;
        Some(Some(Timestamp::from_unix_seconds(seconds)))
    }

    /// Everybody it was made for: one text, or a list of them.
    pub(super) fn audiences(&self) -> impl Iterator<Item = &str> {
        let audience = self.claims.get("aud");
        let list = audience.and_then(Value::as_array).into_iter().flatten();
        audience.into_iter().chain(list).filter_map(Value::as_str)
    }
}

/// The whole part of a number with a fraction, which the format allows.
fn whole_seconds(value: &Value) -> Option<u64> {
    let text = value.as_number()?.to_string();
    let (whole, fraction) = text.split_once('.')?;
    fraction.bytes().all(|b| b.is_ascii_digit()).then(|| whole.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_most() {
        for (length, want) in [(0, true), (32_760, true), (32_762, false), (40_000, false)] {
            let token = format!("e30.e30.{}", "A".repeat(length));
            assert_eq!(Jwt::read(&token).is_some(), want, "{}", token.len());
        }
        for text in ["", "e30", "e30.e30", "W10.e30.AA", "e30.W10.AA", "e30.e30.!", "!.e30.AA"] {
            assert!(Jwt::read(text).is_none(), "{text}");
        }
    }
}
