//! Keys of a session: derived from what authentication left, by dialect.
//!
//! Must never show a key.

use super::cipher::{Cipher, Seal};
use super::signing::{Algorithm, Signer};
use crate::dialect::Dialect;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha512};
use std::sync::Arc;
use zaffre_base::Secret;

/// The running hash over everything said before a session is established.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Preauth([u8; 64]);

impl Preauth {
    /// Before anything was said.
    pub const START: Self = Self([0; 64]);

    /// With one more message.
    #[must_use]
    pub fn with(self, message: &[u8]) -> Self {
        let digest = Sha512::new().chain_update(self.0).chain_update(message).finalize();
        Self(digest.into())
    }
}

/// SP 800-108 in counter mode with HMAC-SHA256, for at most one block.
fn derive(key: &[u8], label: &[u8], context: &[u8], bytes: usize) -> Secret<Vec<u8>> {
    let bits = u32::try_from(bytes * 8).expect("at most 256 bits");
    let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes any key");
    let digest = mac
        .chain_update(1_u32.to_be_bytes())
        .chain_update(label)
        .chain_update([0])
        .chain_update(context)
        .chain_update(bits.to_be_bytes())
        .finalize()
        .into_bytes();
    Secret::new(digest.iter().copied().take(bytes).collect())
}

/// What a session signs and encrypts with.
#[derive(Debug)]
pub struct SessionKeys {
    signer: Signer,
    seal: Option<Arc<Seal>>,
}

impl SessionKeys {
    /// Derives them from the session key of authentication.
    pub fn new(
        dialect: Dialect,
        algorithm: Algorithm,
        cipher: Option<Cipher>,
        session_key: &Secret<[u8; 16]>,
        preauth: &Preauth,
    ) -> Self {
        let key = session_key.expose();
        let labels: Option<[(&[u8], &[u8]); 3]> = match dialect {
            Dialect::V2_0_2 | Dialect::V2_1 => None,
            Dialect::V3_0 | Dialect::V3_0_2 => Some([
                (b"SMB2AESCMAC\0", b"SmbSign\0"),
                (b"SMB2AESCCM\0", b"ServerIn \0"),
                (b"SMB2AESCCM\0", b"ServerOut\0"),
            ]),
            Dialect::V3_1_1 => Some([
                (b"SMBSigningKey\0", &preauth.0),
                (b"SMBC2SCipherKey\0", &preauth.0),
                (b"SMBS2CCipherKey\0", &preauth.0),
            ]),
        };
        let Some([sign, incoming, outgoing]) = labels else {
            return Self { signer: Signer::new(algorithm, key), seal: None };
        };
        let signing = derive(key, sign.0, sign.1, 16);
        let signing = signing.expose().as_slice().try_into().expect("16 bytes were asked for");
        let signer = Signer::new(algorithm, signing);
        let seal = cipher.map(|cipher| {
            let key = |(label, context)| derive(key, label, context, cipher.key_bytes());
            Arc::new(Seal::new(cipher, key(incoming), key(outgoing)))
        });
        Self { signer, seal }
    }

    /// The keys of one more connection of the session: what is signed there is signed with what its
    /// own authentication left, what is encrypted is encrypted as everywhere.
    #[must_use]
    pub fn of_channel(
        &self,
        dialect: Dialect,
        algorithm: Algorithm,
        session_key: &Secret<[u8; 16]>,
        preauth: &Preauth,
    ) -> Self {
        let own = Self::new(dialect, algorithm, None, session_key, preauth);
        Self { seal: self.seal.clone(), ..own }
    }

    /// Signs an element in place.
    pub fn sign(&self, element: &mut [u8]) {
        self.signer.sign(element);
    }

    /// Signs an element whose end is elsewhere.
    pub fn sign_with(&self, element: &mut [u8], tail: &[u8]) {
        self.signer.sign_with(element, tail);
    }

    /// Whether the element's signature is right.
    pub fn verify(&self, element: &[u8]) -> bool {
        self.signer.verify(element)
    }

    /// Encryption, if the dialect has it and a cipher was agreed.
    pub fn seal(&self) -> Option<&Seal> {
        self.seal.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex"))
            .collect()
    }

    /// The vendor's published example of the derivation.
    #[test]
    fn signing_keys() {
        let session: [u8; 16] =
            hex("7CD451825D0450D235424E44BA6E78CC").try_into().expect("16 bytes");
        let made = derive(&session, b"SMB2AESCMAC\0", b"SmbSign\0", 16);
        assert_eq!(made.expose(), &hex("0B7E9C5CAC36C0F6EA9AB275298CEDCE"));
    }

    /// Made with another implementation.
    #[test]
    fn keys_of_the_last_dialect() {
        let key: Vec<u8> = (0..16).collect();
        let preauth: Vec<u8> = (0..64).collect();
        let made = derive(&key, b"SMBSigningKey\0", &preauth, 16);
        assert_eq!(made.expose(), &hex("f7e5401ecc6e79ef9eab401b05004e4f"));
        let made = derive(&key, b"SMBC2SCipherKey\0", &preauth, 32);
        let want = "d09c44a545f554240ddf8ac2777570de0f590e402196d1006261f7448076384d";
        assert_eq!(made.expose(), &hex(want));
    }

    #[test]
    fn a_second_connection_signs_with_its_own_key_and_encrypts_with_the_sessions() {
        let key = |byte| Secret::new([byte; 16]);
        let (dialect, cmac) = (Dialect::V3_1_1, Algorithm::AesCmac);
        let cipher = Some(Cipher::Gcm128);
        let first = SessionKeys::new(dialect, cmac, cipher, &key(1), &Preauth::START);
        let preauth = Preauth::START.with(b"said there");
        let second = first.of_channel(dialect, cmac, &key(2), &preauth);
        let mut element = vec![0; 64];
        second.sign(&mut element);
        assert!(second.verify(&element) && !first.verify(&element));
        // One counter, so that no nonce is used twice.
        assert!(std::ptr::eq(first.seal().expect("a cipher"), second.seal().expect("the same")));
    }

    #[test]
    fn preauth_is_a_chain_of_hashes() {
        let one = Preauth::START.with(b"a");
        let digest = Sha512::digest([&[0; 64][..], b"a"].concat());
        assert_eq!(one.0.to_vec(), digest.to_vec());
        assert_ne!(one.with(b"b"), Preauth::START.with(b"ab"));
    }
}
