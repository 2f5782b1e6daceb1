//! The arithmetic of NTLMv2: hashes, proofs, keys and signatures.
//!
//! Must never show what it computes except to the acceptor beside it.

use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;
use rc4::{Rc4, StreamCipher};
use zaffre_base::Secret;

/// Sixteen bytes: what every step of NTLM makes.
pub(super) type Key = [u8; 16];

fn hmac_md5(key: &[u8], parts: &[&[u8]]) -> Key {
    let mut mac = Hmac::<Md5>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// A text as UTF-16LE.
pub(super) fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The key that a user's password makes, for the user and domain as they were sent.
pub(super) fn response_key(password: &str, user: &str, domain: &[u8]) -> Secret<Key> {
    let hash: Key = Md4::digest(utf16(password)).into();
    Secret::new(hmac_md5(&hash, &[&utf16(&user.to_uppercase()), domain]))
}

/// What only somebody who knows the key can answer to the challenge.
pub(super) fn proof(key: &Secret<Key>, challenge: [u8; 8], blob: &[u8]) -> Key {
    hmac_md5(key.expose(), &[&challenge, blob])
}

/// The key of a session, before any exchange.
pub(super) fn base_key(key: &Secret<Key>, proof: &Key) -> Secret<Key> {
    Secret::new(hmac_md5(key.expose(), &[proof]))
}

/// The key that the client chose, sent under the session's base key.
pub(super) fn exchanged(base: &Secret<Key>, mut sent: Key) -> Secret<Key> {
    let mut cipher = Rc4::new_from_slice(base.expose()).expect("RC4 takes 16 bytes");
    cipher.apply_keystream(&mut sent);
    Secret::new(sent)
}

/// The code over all three messages.
pub(super) fn integrity(key: &Secret<Key>, messages: &[&[u8]]) -> Key {
    hmac_md5(key.expose(), messages)
}

/// Who signs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    Client,
    Server,
}

fn derived(key: &Secret<Key>, constant: &[u8]) -> Key {
    md5::Md5::new().chain_update(key.expose()).chain_update(constant).finalize().into()
}

/// The signature of the first message that a side signs; with a key exchange it is sealed.
pub(super) fn signature(key: &Secret<Key>, side: Side, sealed: bool, message: &[u8]) -> Key {
    const SEQUENCE: [u8; 4] = [0; 4];
    let (signing, sealing): (&[u8], &[u8]) = match side {
        Side::Client => (
            b"session key to client-to-server signing key magic constant\0",
            b"session key to client-to-server sealing key magic constant\0",
        ),
        Side::Server => (
            b"session key to server-to-client signing key magic constant\0",
            b"session key to server-to-client sealing key magic constant\0",
        ),
    };
    let digest = hmac_md5(&derived(key, signing), &[&SEQUENCE, message]);
    let mut sum = [0; 8];
    sum.copy_from_slice(&digest[..8]);
    if sealed {
        let mut cipher = Rc4::new_from_slice(&derived(key, sealing)).expect("RC4 takes 16 bytes");
        cipher.apply_keystream(&mut sum);
    }
    let mut made = [0; 16];
    made[0] = 1;
    made[4..12].copy_from_slice(&sum);
    made[12..].copy_from_slice(&SEQUENCE);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex<const N: usize>(text: &str) -> [u8; N] {
        std::array::from_fn(|at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).expect("hex"))
    }

    /// The protocol's own examples (NTLMv2 authentication, user "User", password "Password").
    #[test]
    fn the_protocols_examples() {
        let key = response_key("Password", "User", &utf16("Domain"));
        assert_eq!(*key.expose(), hex("0c868a403bfd7a93a3001ef22ef02e3f"));
        let mut blob = vec![1, 1, 0, 0, 0, 0, 0, 0];
        blob.extend([0; 8]);
        blob.extend([0xaa; 8]);
        blob.extend([0; 4]);
        for (id, text) in [(2_u8, "Domain"), (1, "Server")] {
            blob.extend([id, 0, 12, 0]);
            blob.extend(utf16(text));
        }
        blob.extend([0; 8]);
        let made = proof(&key, hex("0123456789abcdef"), &blob);
        assert_eq!(made, hex("68cd0ab851e51c96aabc927bebef6a1c"));
        let base = base_key(&key, &made);
        assert_eq!(*base.expose(), hex("8de40ccadbc14a82f15cb0ad0de95ca3"));
        let sent = exchanged(&base, hex("c5dad2544fc9799094ce1ce90bc9d03e"));
        assert_eq!(*sent.expose(), [0x55; 16]);
    }

    /// The same section's signature of a message, which is sealed with a key exchange.
    #[test]
    fn the_protocols_signature() {
        let key = Secret::new([0x55; 16]);
        let digest = derived(&key, b"session key to client-to-server signing key magic constant\0");
        assert_eq!(digest, hex("4788dc861b4782f35d43fd98fe1a2d39"));
        let digest = derived(&key, b"session key to client-to-server sealing key magic constant\0");
        assert_eq!(digest, hex("59f600973cc4960a25480a7c196e4c58"));
    }
}
