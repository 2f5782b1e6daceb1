//! The client's half of NTLMv2, for the published development account.
//!
//! Must never be used for another account: nothing here is secret, and nothing is kept secret.

use super::smb::utf16;
use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;

const USER: &str = "devstoreaccount1";
const PASSWORD: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const SIGNATURE: &[u8; 8] = b"NTLMSSP\0";
/// Unicode, a target, NTLM, signing, extended security, 128 bits; no exchange of keys.
const FLAGS: u32 = 0x2088_8215;
/// Bytes before the fields of the last message.
const HEAD: usize = 72;

/// The first message.
pub(super) fn negotiate() -> Vec<u8> {
    let mut message = SIGNATURE.to_vec();
    message.extend(1_u32.to_le_bytes());
    message.extend(FLAGS.to_le_bytes());
    message.extend([0; 16]);
    message
}

/// The answer to the server's challenge, and the key of the session.
pub(super) fn authenticate(challenge: &[u8]) -> Option<(Vec<u8>, [u8; 16])> {
    let random = challenge.get(24..32)?;
    let length = usize::from(u16::from_le_bytes(challenge.get(40..42)?.try_into().ok()?));
    let at = u32::from_le_bytes(challenge.get(44..48)?.try_into().ok()?);
    let info = challenge.get(usize::try_from(at).ok()?..)?.get(..length)?;
    let mut blob = vec![1, 1, 0, 0, 0, 0, 0, 0];
    blob.extend([0; 8]);
    blob.extend(random);
    blob.extend([0; 4]);
    blob.extend(info);
    blob.extend([0; 4]);
    let hash = Md4::digest(utf16(PASSWORD));
    let key = hmac_md5(&hash, &[&utf16(&USER.to_uppercase())]);
    let proof = hmac_md5(&key, &[random, &blob]);
    let response = [&proof[..], &blob].concat();
    let user = utf16(USER);
    let mut message = SIGNATURE.to_vec();
    message.extend(3_u32.to_le_bytes());
    let mut at = HEAD;
    let mut payload = Vec::new();
    // LM's response, NTLM's, domain, user, workstation, session key.
    for field in [&[][..], &response, &[], &user, &[], &[]] {
        let length = u16::try_from(field.len()).ok()?.to_le_bytes();
        message.extend(length);
        message.extend(length);
        message.extend(u32::try_from(at).ok()?.to_le_bytes());
        payload.extend_from_slice(field);
        at += field.len();
    }
    message.extend(FLAGS.to_le_bytes());
    message.resize(HEAD, 0);
    message.extend(payload);
    Some((message, hmac_md5(&key, &[&proof])))
}

fn hmac_md5(key: &[u8], parts: &[&[u8]]) -> [u8; 16] {
    let mut mac = Hmac::<Md5>::new_from_slice(key).expect("any length");
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}
