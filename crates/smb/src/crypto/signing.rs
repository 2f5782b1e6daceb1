//! Signatures of messages: three algorithms, one door.
//!
//! Must never accept a signature over anything but the whole element.

use crate::wire::header::{SIGNATURE, SIGNED};
use aes::Aes128;
use aes::cipher::BlockCipherEncrypt;
use cmac::{Cmac, KeyInit, Mac};
use ghash::GHash;
use ghash::universal_hash::UniversalHash;
use hmac::Hmac;
use sha2::Sha256;
use std::fmt;
use zaffre_base::secret::same_bytes;

/// A signing algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Algorithm {
    /// HMAC-SHA256, cut to 16 bytes: dialects 2.x.
    HmacSha256,
    /// AES-128-CMAC: 3.0 and later.
    AesCmac,
    /// AES-128-GMAC: 3.1.1 when agreed.
    AesGmac,
}

impl Algorithm {
    /// The algorithm of that number in a signing context.
    pub fn of(number: u16) -> Option<Self> {
        match number {
            0 => Some(Self::HmacSha256),
            1 => Some(Self::AesCmac),
            2 => Some(Self::AesGmac),
            _ => None,
        }
    }

    /// Its number in a signing context.
    pub fn number(self) -> u16 {
        match self {
            Self::HmacSha256 => 0,
            Self::AesCmac => 1,
            Self::AesGmac => 2,
        }
    }
}

const CANCEL: [u8; 2] = [0x0C, 0];

/// Bytes of a block of AES.
const BLOCK: usize = 16;

/// A key, ready to sign with: what depends on the key alone is done once.
pub struct Signer(Ready);

enum Ready {
    HmacSha256(Box<Hmac<Sha256>>),
    AesCmac(Box<Cmac<Aes128>>),
    AesGmac(Box<(Aes128, GHash)>),
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").finish_non_exhaustive()
    }
}

impl Signer {
    /// For an algorithm and its key.
    pub fn new(algorithm: Algorithm, key: &[u8; 16]) -> Self {
        Self(match algorithm {
            Algorithm::HmacSha256 => {
                let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes any key");
                Ready::HmacSha256(Box::new(mac))
            }
            Algorithm::AesCmac => {
                let mac = Cmac::<Aes128>::new_from_slice(key).expect("the key has 16 bytes");
                Ready::AesCmac(Box::new(mac))
            }
            Algorithm::AesGmac => {
                let cipher = Aes128::new_from_slice(key).expect("the key has 16 bytes");
                let mut zero = [0; BLOCK].into();
                cipher.encrypt_block(&mut zero);
                let hash = GHash::new(&zero);
                Ready::AesGmac(Box::new((cipher, hash)))
            }
        })
    }

    /// The signature of an element in two parts, whatever its signature field holds. The first is at
    /// least a header.
    fn signature(&self, element: &[u8], tail: &[u8]) -> [u8; 16] {
        let parts = [&element[..SIGNATURE.start], &[0; 16], &element[SIGNATURE.end..], tail];
        match &self.0 {
            Ready::HmacSha256(mac) => {
                let whole = parts.iter().fold((**mac).clone(), Mac::chain_update);
                let digest: [u8; 32] = whole.finalize().into_bytes().into();
                let (first, _) = digest.split_first_chunk().expect("32 bytes have 16");
                *first
            }
            Ready::AesCmac(mac) => {
                let whole = parts.iter().fold((**mac).clone(), Mac::chain_update);
                whole.finalize().into_bytes().into()
            }
            Ready::AesGmac(ready) => {
                let (cipher, hash) = &**ready;
                gmac(cipher, hash.clone(), gmac_nonce(element), parts)
            }
        }
    }

    /// Signs an element in place.
    pub fn sign(&self, element: &mut [u8]) {
        self.sign_with(element, &[]);
    }

    /// Signs an element whose end is elsewhere.
    pub fn sign_with(&self, element: &mut [u8], tail: &[u8]) {
        let flags = [element[16], element[17], element[18], element[19]];
        let flags = u32::from_le_bytes(flags) | SIGNED;
        element[16..20].copy_from_slice(&flags.to_le_bytes());
        let signature = self.signature(element, tail);
        element[SIGNATURE].copy_from_slice(&signature);
    }

    /// Whether the element's signature is right.
    pub fn verify(&self, element: &[u8]) -> bool {
        element.len() >= SIGNATURE.end
            && same_bytes(&self.signature(element, &[]), &element[SIGNATURE])
    }
}

/// GCM over nothing but associated data, without that being copied into one piece.
fn gmac(cipher: &Aes128, mut hash: GHash, nonce: [u8; 12], parts: [&[u8]; 4]) -> [u8; 16] {
    let mut length = 0_u64;
    let mut block = [0; BLOCK];
    let mut held = 0;
    for mut part in parts {
        length += u64::try_from(part.len()).expect("messages are far below GCM's limit");
        if held > 0 {
            let take = part.len().min(BLOCK - held);
            block[held..held + take].copy_from_slice(&part[..take]);
            (held, part) = (held + take, &part[take..]);
            if held < BLOCK {
                continue;
            }
            hash.update_padded(&block);
        }
        let (whole, rest) = part.split_at(part.len() / BLOCK * BLOCK);
        hash.update_padded(whole);
        held = rest.len();
        block[..held].copy_from_slice(rest);
    }
    hash.update_padded(&block[..held]);
    let mut lengths = [0; BLOCK];
    lengths[..8].copy_from_slice(&(length * 8).to_be_bytes());
    hash.update_padded(&lengths);
    let mut counter = [0; BLOCK];
    counter[..12].copy_from_slice(&nonce);
    counter[15] = 1;
    let mut mask = counter.into();
    cipher.encrypt_block(&mut mask);
    let tag = hash.finalize();
    std::array::from_fn(|at| tag[at] ^ mask[at])
}

/// The message's id, who sends it, and whether it cancels: no two messages of a session share it.
fn gmac_nonce(element: &[u8]) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&element[24..32]);
    nonce[8] = (element[16] & 1) | if element[12..14] == CANCEL { 2 } else { 0 };
    nonce
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Algorithm; 3] = [Algorithm::HmacSha256, Algorithm::AesCmac, Algorithm::AesGmac];

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("hex"))
            .collect()
    }

    /// Made with another implementation over 64 bytes 0, 1, … 63 and "payload".
    #[test]
    fn known_answers() {
        let key: [u8; 16] = std::array::from_fn(|i| u8::try_from(i).expect("small") * 3);
        let element: Vec<u8> = (0..64).chain(*b"payload").collect();
        for (algorithm, want) in ALL.into_iter().zip(KNOWN) {
            let signer = Signer::new(algorithm, &key);
            for cut in [64, 65, element.len()] {
                let made = signer.signature(&element[..cut], &element[cut..]);
                assert_eq!(made.to_vec(), hex(want), "{algorithm:?} {cut}");
            }
        }
    }

    const KNOWN: [&str; 3] = [
        "e66aa5929b4e9a21043626bb83f2a4ac",
        "fc7e159427fbb5a1500b7b1f2720df4e",
        "fe65397e4344bae979c4861ec9a4372d",
    ];

    /// Against GCM itself, for lengths around the edges of blocks and of what is hashed together.
    #[test]
    fn gmac_is_gcm_over_nothing() {
        use aes_gcm::Aes128Gcm;
        use aes_gcm::aead::AeadInOut;
        let key = [0x3C; 16];
        let signer = Signer::new(Algorithm::AesGmac, &key);
        let cipher = Aes128Gcm::new_from_slice(&key).expect("the key has 16 bytes");
        for length in (64..400).chain([4096, 65_601, 1_048_656]) {
            let mut element: Vec<u8> = (0..=250).cycle().take(length).collect();
            let cut = 64 + (length - 64) / 3;
            let made = signer.signature(&element[..cut], &element[cut..]);
            let nonce = gmac_nonce(&element).into();
            element[SIGNATURE].fill(0);
            let tag = cipher.encrypt_inout_detached(&nonce, &element, (&mut [][..]).into());
            assert_eq!(made.to_vec(), tag.expect("short").to_vec(), "{length}");
        }
    }

    #[test]
    fn every_byte_counts() {
        for algorithm in ALL {
            let mut element: Vec<u8> = (0..80).collect();
            let signer = Signer::new(algorithm, &[7; 16]);
            signer.sign(&mut element);
            assert!(signer.verify(&element));
            assert!(!Signer::new(algorithm, &[8; 16]).verify(&element));
            assert!(!signer.verify(&element[..79]));
            for at in 0..element.len() {
                let mut other = element.clone();
                other[at] ^= 1;
                assert!(!signer.verify(&other), "{algorithm:?} {at}");
            }
        }
        assert!(!Signer::new(Algorithm::AesCmac, &[7; 16]).verify(&[0; 20]));
    }
}
