//! HMAC-SHA256 signatures: made here, compared here and nowhere else.
//!
//! Must never let a computed signature out except through [`sign`], which only `crate::sign` calls,
//! and [`derive`], which makes keys of what nobody can ask to be signed.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};
use zaffre_base::{Secret, base64};

/// The Base64 signature of `text`.
pub(crate) fn sign(key: &Secret<Vec<u8>>, text: &str) -> String {
    base64::encode(&digest(key, text))
}

/// Another key, made of this one.
pub(crate) fn derive(key: &Secret<Vec<u8>>, text: &str) -> Secret<Vec<u8>> {
    Secret::new(digest(key, text).to_vec())
}

/// Whether `presented` is the signature of one of `texts` under any of the keys.
///
/// Every combination is computed and compared in full, so the time taken tells nothing about which
/// one, or how much of one, was right.
pub(crate) fn verify<'a>(
    keys: impl Iterator<Item = &'a Secret<Vec<u8>>>,
    texts: &[String],
    presented: &str,
) -> bool {
    let Some(presented) = base64::decode(presented) else {
        return false;
    };
    let mut found = Choice::from(0);
    for key in keys {
        for text in texts {
            found |= digest(key, text).ct_eq(presented.as_slice());
        }
    }
    found.into()
}

fn digest(key: &Secret<Vec<u8>>, text: &str) -> [u8; 32] {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key.expose()).expect("HMAC takes keys of any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}
