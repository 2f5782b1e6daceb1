//! Signatures of messages: three algorithms, one door.
//!
//! Must never accept a signature over anything but the whole element.

use crate::wire::header::{SIGNATURE, SIGNED};
use aes::Aes128;
use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes128Gcm, Nonce};
use cmac::{Cmac, Mac};
use hmac::Hmac;
use sha2::Sha256;
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

/// The signature of `element`, whatever its signature field holds. `element` is at least a header.
fn signature(algorithm: Algorithm, key: &[u8; 16], element: &[u8]) -> [u8; 16] {
    let (before, after) = (&element[..SIGNATURE.start], &element[SIGNATURE.end..]);
    match algorithm {
        Algorithm::HmacSha256 => {
            let mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes any key");
            let whole = mac.chain_update(before).chain_update([0; 16]).chain_update(after);
            let digest: [u8; 32] = whole.finalize().into_bytes().into();
            let (first, _) = digest.split_first_chunk().expect("32 bytes have 16");
            *first
        }
        Algorithm::AesCmac => {
            let mac = Cmac::<Aes128>::new_from_slice(key).expect("the key has 16 bytes");
            let whole = mac.chain_update(before).chain_update([0; 16]).chain_update(after);
            whole.finalize().into_bytes().into()
        }
        Algorithm::AesGmac => {
            let cipher = Aes128Gcm::new_from_slice(key).expect("the key has 16 bytes");
            let whole = [before, &[0; 16], after].concat();
            let tag = cipher
                .encrypt_inout_detached(&gmac_nonce(element), &whole, (&mut [][..]).into())
                .expect("messages are far below GCM's limit");
            tag.into()
        }
    }
}

/// The message's id, who sends it, and whether it cancels: no two messages of a session share it.
fn gmac_nonce(element: &[u8]) -> Nonce<aes_gcm::aead::consts::U12> {
    let mut nonce = [0; 12];
    nonce[..8].copy_from_slice(&element[24..32]);
    nonce[8] = (element[16] & 1) | if element[12..14] == CANCEL { 2 } else { 0 };
    nonce.into()
}

/// Signs an element in place.
pub fn sign(algorithm: Algorithm, key: &[u8; 16], element: &mut [u8]) {
    let flags = u32::from_le_bytes([element[16], element[17], element[18], element[19]]) | SIGNED;
    element[16..20].copy_from_slice(&flags.to_le_bytes());
    let signature = signature(algorithm, key, element);
    element[SIGNATURE].copy_from_slice(&signature);
}

/// Whether the element's signature is right.
pub fn verify(algorithm: Algorithm, key: &[u8; 16], element: &[u8]) -> bool {
    element.len() >= SIGNATURE.end
        && same_bytes(&signature(algorithm, key, element), &element[SIGNATURE])
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
            assert_eq!(signature(algorithm, &key, &element).to_vec(), hex(want), "{algorithm:?}");
        }
    }

    const KNOWN: [&str; 3] = [
        "e66aa5929b4e9a21043626bb83f2a4ac",
        "fc7e159427fbb5a1500b7b1f2720df4e",
        "fe65397e4344bae979c4861ec9a4372d",
    ];

    #[test]
    fn every_byte_counts() {
        for algorithm in ALL {
            let mut element: Vec<u8> = (0..80).collect();
            sign(algorithm, &[7; 16], &mut element);
            assert!(verify(algorithm, &[7; 16], &element));
            assert!(!verify(algorithm, &[8; 16], &element));
            assert!(!verify(algorithm, &[7; 16], &element[..79]));
            for at in 0..element.len() {
                let mut other = element.clone();
                other[at] ^= 1;
                assert!(!verify(algorithm, &[7; 16], &other), "{algorithm:?} {at}");
            }
        }
        assert!(!verify(Algorithm::AesCmac, &[7; 16], &[0; 20]));
    }
}
