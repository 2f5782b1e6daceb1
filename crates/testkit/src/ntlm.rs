//! How a client proves who it is: NTLMv2 without an envelope, and no exchange of keys.
//!
//! Must never be taken for a client that one would use: its challenge is always the same.

use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;

/// What goes wrong: a server that does not speak NTLM.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Unicode, the target, signing, NTLM, always sign, extended security, target info, 128 and 56 bits.
const FLAGS: u32 = 0xA088_8215;

fn hmac_md5(key: &[u8], parts: &[&[u8]]) -> [u8; 16] {
    let mut mac = Hmac::<Md5>::new_from_slice(key).expect("HMAC takes any key");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

/// A text as UTF-16LE.
pub fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// The first message.
pub fn negotiate() -> Vec<u8> {
    let mut message = b"NTLMSSP\0\x01\0\0\0".to_vec();
    message.extend(FLAGS.to_le_bytes());
    message.extend([0; 16]);
    message
}

fn le16(message: &[u8], at: usize) -> Result<usize> {
    let bytes = message.get(at..at + 2).ok_or("a short challenge")?;
    Ok(usize::from(u16::from_le_bytes([bytes[0], bytes[1]])))
}

/// The answer to the server's challenge, and the key of the session.
pub fn authenticate(challenge: &[u8], user: &str, password: &str) -> Result<(Vec<u8>, [u8; 16])> {
    let start = challenge.windows(8).position(|w| w == b"NTLMSSP\0").ok_or("no challenge")?;
    let challenge = &challenge[start..];
    let nonce = challenge.get(24..32).ok_or("a short challenge")?;
    let (length, at) = (le16(challenge, 40)?, le16(challenge, 44)?);
    let target = challenge.get(at..at + length).ok_or("a short challenge")?;
    let hash: [u8; 16] = Md4::digest(utf16(password)).into();
    let key = hmac_md5(&hash, &[&utf16(&user.to_uppercase())]);
    let mut blob = vec![1, 1, 0, 0, 0, 0, 0, 0];
    blob.extend(time_of(target));
    blob.extend([0x5A; 8]);
    blob.extend([0; 4]);
    blob.extend(target);
    blob.extend([0; 4]);
    let proof = hmac_md5(&key, &[nonce, &blob]);
    let base = hmac_md5(&key, &[&proof]);
    let nt = [&proof[..], &blob].concat();
    let mut message = b"NTLMSSP\0\x03\0\0\0".to_vec();
    let mut payload = Vec::new();
    let name = utf16(user);
    // The LM answer, ours, domain, user, workstation, key.
    for field in [&[0; 24][..], &nt, &[], &name, &[], &[]] {
        let length = u16::try_from(field.len())?.to_le_bytes();
        let offset = u32::try_from(64 + payload.len())?;
        message.extend(length);
        message.extend(length);
        message.extend(offset.to_le_bytes());
        payload.extend_from_slice(field);
    }
    message.extend(FLAGS.to_le_bytes());
    message.extend(payload);
    Ok((message, base))
}

/// The server's own time, which it expects to see again.
fn time_of(mut target: &[u8]) -> [u8; 8] {
    while let [id, _, low, high, rest @ ..] = target {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        let Some((value, after)) = rest.split_at_checked(length) else { break };
        if *id == 7
            && let Ok(time) = value.try_into()
        {
            return time;
        }
        target = after;
    }
    [0; 8]
}
