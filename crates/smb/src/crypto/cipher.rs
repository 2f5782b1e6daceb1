//! Encryption of whole messages: four ciphers, one counter per key and direction.
//!
//! Must never use a nonce twice with one key: a counter gives them out, and ends when it is used up.

use crate::wire::cursor::length32;
use crate::wire::header::{TRANSFORM_BYTES, TransformHeader};
use aes::{Aes128, Aes256};
use aes_gcm::aead::consts::{U11, U16};
use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use ccm::Ccm;
use std::sync::atomic::{AtomicU64, Ordering};
use zaffre_base::Secret;

/// A cipher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cipher {
    /// AES-128-CCM: the only one of 3.0 and 3.0.2.
    Ccm128,
    /// AES-128-GCM.
    Gcm128,
    /// AES-256-CCM.
    Ccm256,
    /// AES-256-GCM.
    Gcm256,
}

impl Cipher {
    /// The cipher of that number in a context.
    pub fn of(number: u16) -> Option<Self> {
        match number {
            1 => Some(Self::Ccm128),
            2 => Some(Self::Gcm128),
            3 => Some(Self::Ccm256),
            4 => Some(Self::Gcm256),
            _ => None,
        }
    }

    /// Its number in a context.
    pub fn number(self) -> u16 {
        match self {
            Self::Ccm128 => 1,
            Self::Gcm128 => 2,
            Self::Ccm256 => 3,
            Self::Gcm256 => 4,
        }
    }

    /// Bytes of its key.
    pub fn key_bytes(self) -> usize {
        match self {
            Self::Ccm128 | Self::Gcm128 => 16,
            Self::Ccm256 | Self::Gcm256 => 32,
        }
    }

    fn encrypt(
        self,
        key: &[u8],
        nonce: &[u8; 16],
        aad: &[u8],
        data: &mut [u8],
    ) -> Option<[u8; 16]> {
        match self {
            Self::Ccm128 => encrypt::<Ccm<Aes128, U16, U11>>(key, &nonce[..11], aad, data),
            Self::Ccm256 => encrypt::<Ccm<Aes256, U16, U11>>(key, &nonce[..11], aad, data),
            Self::Gcm128 => encrypt::<Aes128Gcm>(key, &nonce[..12], aad, data),
            Self::Gcm256 => encrypt::<Aes256Gcm>(key, &nonce[..12], aad, data),
        }
    }

    fn decrypt(
        self,
        key: &[u8],
        header: &TransformHeader,
        aad: &[u8],
        data: &mut [u8],
    ) -> Option<()> {
        let (nonce, tag) = (&header.nonce, &header.tag);
        match self {
            Self::Ccm128 => decrypt::<Ccm<Aes128, U16, U11>>(key, &nonce[..11], aad, data, tag),
            Self::Ccm256 => decrypt::<Ccm<Aes256, U16, U11>>(key, &nonce[..11], aad, data, tag),
            Self::Gcm128 => decrypt::<Aes128Gcm>(key, &nonce[..12], aad, data, tag),
            Self::Gcm256 => decrypt::<Aes256Gcm>(key, &nonce[..12], aad, data, tag),
        }
    }
}

fn encrypt<A: AeadInOut<TagSize = U16> + KeyInit>(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    data: &mut [u8],
) -> Option<[u8; 16]> {
    let cipher = A::new_from_slice(key).ok()?;
    let tag = cipher.encrypt_inout_detached(nonce.try_into().ok()?, aad, data.into()).ok()?;
    Some(tag.into())
}

fn decrypt<A: AeadInOut<TagSize = U16> + KeyInit>(
    key: &[u8],
    nonce: &[u8],
    aad: &[u8],
    data: &mut [u8],
    tag: &[u8; 16],
) -> Option<()> {
    let cipher = A::new_from_slice(key).ok()?;
    cipher.decrypt_inout_detached(nonce.try_into().ok()?, aad, data.into(), tag.into()).ok()
}

/// Encrypts what the server sends and decrypts what the client sends, for one session.
#[derive(Debug)]
pub struct Seal {
    cipher: Cipher,
    incoming: Secret<Vec<u8>>,
    outgoing: Secret<Vec<u8>>,
    next: AtomicU64,
}

impl Seal {
    /// With keys of the cipher's length.
    pub fn new(cipher: Cipher, incoming: Secret<Vec<u8>>, outgoing: Secret<Vec<u8>>) -> Self {
        Self { cipher, incoming, outgoing, next: AtomicU64::new(1) }
    }

    /// The encrypted message, header and all; none when the counter is used up.
    pub fn seal(&self, session_id: u64, mut message: Vec<u8>) -> Option<Vec<u8>> {
        let count = self.next.fetch_add(1, Ordering::Relaxed);
        if count >= 1 << 48 {
            return None;
        }
        let mut nonce = [0; 16];
        nonce[..8].copy_from_slice(&count.to_le_bytes());
        let size = length32(message.len());
        let mut header = TransformHeader { tag: [0; 16], nonce, size, session_id };
        let aad = header.write().split_off(TransformHeader::AAD_FROM);
        header.tag = self.cipher.encrypt(self.outgoing.expose(), &nonce, &aad, &mut message)?;
        let mut sealed = header.write();
        sealed.append(&mut message);
        Some(sealed)
    }

    /// The message within; none if anything of it was changed.
    pub fn open(&self, header: &TransformHeader, sealed: &[u8]) -> Option<Vec<u8>> {
        let aad = sealed.get(TransformHeader::AAD_FROM..TRANSFORM_BYTES)?;
        let mut message = sealed.get(TRANSFORM_BYTES..)?.to_vec();
        self.cipher.decrypt(self.incoming.expose(), header, aad, &mut message)?;
        Some(message)
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

    const ALL: [Cipher; 4] = [Cipher::Ccm128, Cipher::Gcm128, Cipher::Ccm256, Cipher::Gcm256];

    /// Made with another implementation: key 0, 1, …; nonce 50, 51, …; aad "associated".
    const KNOWN: [(&str, &str); 4] = [
        ("8a2c02a783320f85bfd6263ff627aa8402d502bb3b788a12f3", "6bbe5e9098029708a9571dc819984ef2"),
        ("c1526ea3d2d2360f5178b165ae276810a523d376079ab399a5", "22e866e7359273be49a8747990c40ac7"),
        ("8ce6624c44e2c8f0cfd37910a826fd9befa5dd46515270ddbb", "ac9aac600394ac8808b0746a9b251885"),
        ("b6378ea9ab1cf5861573cae93dcd8b90039376e4fa3ec68cb4", "cec176dd39dafb2285bc1735a209b9d5"),
    ];

    #[test]
    fn known_answers() {
        let nonce = std::array::from_fn(|i| 50 + u8::try_from(i).expect("small"));
        for (cipher, (text, tag)) in ALL.into_iter().zip(KNOWN) {
            let key: Vec<u8> = (0..32).take(cipher.key_bytes()).collect();
            let mut data = b"plain text of the message".to_vec();
            let made = cipher.encrypt(&key, &nonce, b"associated", &mut data).expect("fits");
            assert_eq!((data, made.to_vec()), (hex(text), hex(tag)), "{cipher:?}");
        }
    }

    #[test]
    fn what_was_changed_does_not_open() {
        for cipher in ALL {
            let key = || Secret::new(vec![9; cipher.key_bytes()]);
            let seal = Seal::new(cipher, key(), key());
            let message = vec![7; 80];
            let sealed = seal.seal(5, message.clone()).expect("a nonce is left");
            let again = seal.seal(5, message.clone()).expect("a nonce is left");
            assert_ne!(sealed[20..36], again[20..36], "nonces differ");
            let header = TransformHeader::parse(&sealed).expect("whole");
            assert_eq!(seal.open(&header, &sealed), Some(message));
            for at in 4..sealed.len() {
                let mut other = sealed.clone();
                other[at] ^= 1;
                let opened =
                    TransformHeader::parse(&other).ok().and_then(|h| seal.open(&h, &other));
                // The nonce's unused tail is authenticated with the rest of the header.
                assert_eq!(opened, None, "{cipher:?} {at}");
            }
        }
    }
}
