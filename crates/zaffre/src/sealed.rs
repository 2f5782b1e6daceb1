//! Encryption of the data directory: reads the operator's key and covers the disk with it.
//!
//! Must never print the key, nor start without it when it was asked for.

use crate::failure::Failure;
use crate::terminal::warn;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use zaffre_base::{Secret, base64};
use zaffre_store::OpenError;
use zaffre_store::disk::{Disk, DiskKey, EncryptedDisk};

const WHAT: &str = "encryption key file";
/// More than any form of a key needs.
const LONGEST: u64 = 1024;
/// Permission bits of anybody but the owner.
const OTHERS: u32 = 0o077;

/// `disk` as the store shall see it: encrypted if a key file was given.
pub(crate) fn cover(disk: Arc<dyn Disk>, key: Option<DiskKey>) -> Result<Arc<dyn Disk>, OpenError> {
    match key {
        None => Ok(disk),
        Some(key) => Ok(Arc::new(EncryptedDisk::new(disk, key)?)),
    }
}

/// The key in the file that was named, if one was.
pub(crate) fn key(path: Option<&Path>) -> Result<Option<DiskKey>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let failed = |error| Failure::file(WHAT, path, error);
    let about = std::fs::metadata(path).map_err(failed)?;
    if about.len() > LONGEST {
        return Err(Failure::file(WHAT, path, NOT_A_KEY));
    }
    if about.permissions().mode() & OTHERS != 0 {
        let path = path.display();
        warn(&format!("others than its owner may read {path}; run: chmod 600 {path}"));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    parse(&bytes).map(Some).ok_or_else(|| Failure::file(WHAT, path, NOT_A_KEY))
}

const NOT_A_KEY: &str = "it must hold 32 bytes, as they are, in Base64 or as 64 hexadecimal digits; \
                         make one with: openssl rand -base64 32 > FILE";

fn parse(bytes: &[u8]) -> Option<DiskKey> {
    let text = || std::str::from_utf8(bytes).ok().map(str::trim);
    let key = match bytes.len() {
        32 => bytes.to_vec(),
        _ if text()?.len() == 64 => hex(text()?)?,
        _ => base64::decode(text()?)?,
    };
    Some(Secret::new(key.try_into().ok()?))
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let pairs = text.as_bytes().chunks_exact(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_key() {
        let raw = [0xA5_u8; 32];
        let hexadecimal = "a5".repeat(32);
        let encoded = "paWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaU=\n";
        for good in [raw.as_slice(), hexadecimal.as_bytes(), encoded.as_bytes()] {
            let key = parse(good).map(|key| *key.expose());
            assert_eq!(key, Some(raw), "{good:?}");
        }
        for bad in ["", "short", "a5a5", &"zz".repeat(32), "paWlpaU=", &"a5".repeat(33)] {
            assert!(parse(bad.as_bytes()).is_none(), "{bad}");
        }
        assert!(parse(&[0xFF; 33]).is_none());
    }
}
