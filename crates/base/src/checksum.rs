//! Checksums: CRC-64/NVME, MD5 and SHA-256 for the wire, CRC32C for the disk.

pub use crate::md5::Md5;
use crc_fast::{CrcAlgorithm, Digest as Crc};
use sha2::Digest;

/// A running CRC-64/NVME, the checksum behind `x-ms-content-crc64`.
#[derive(Clone)]
pub struct Crc64(Crc);

impl Default for Crc64 {
    fn default() -> Self {
        Self(Crc::new(CrcAlgorithm::Crc64Nvme))
    }
}

impl Crc64 {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The value as the wire has it: eight little-endian bytes, to be shown in Base64.
    pub fn finish(&self) -> [u8; 8] {
        self.0.finalize().to_le_bytes()
    }
}

/// SHA-256 of some bytes.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha2::Sha256::digest(bytes).into()
}

/// CRC32C of `bytes`.
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc32c_of([bytes])
}

/// CRC32C of several byte strings as if they were one.
pub fn crc32c_of<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u32 {
    let mut crc = Crc::new(CrcAlgorithm::Crc32Iscsi);
    for part in parts {
        crc.update(part);
    }
    u32::try_from(crc.finalize() & 0xFFFF_FFFF).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        let mut crc = Crc64::default();
        crc.update(b"hello ");
        crc.update(b"world");
        assert_eq!(crate::base64::encode(&crc.finish()), "vo7q9sPVKY0=");
        let mut crc = Crc64::default();
        crc.update(b"123456789");
        assert_eq!(u64::from_le_bytes(crc.finish()), 0xAE8B_1486_0A79_9888);
        assert_eq!(crc32c(b"123456789"), 0xE306_9283);
        let mut md5 = Md5::default();
        md5.update(b"hello world");
        assert_eq!(crate::base64::encode(&md5.finish()), "XrY7u+Ae7tCTyyK7j1rNww==");
    }
}
