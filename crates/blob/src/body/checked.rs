//! Checksums of a body that was collected whole.

use zaffre_base::checksum::{Crc64, Md5};
use zaffre_core::blob::op::ExpectedChecksum;
use zaffre_domain::Refusal;
use zaffre_http::ApiError;

/// The checksum an answer repeats: MD5 if the request gave one, CRC64 otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verified {
    /// To be shown as Content-MD5.
    Md5([u8; 16]),
    /// To be shown as `x-ms-content-crc64`.
    Crc64([u8; 8]),
}

/// Compares a body with what the request announced.
pub fn verify(body: &[u8], expect: ExpectedChecksum) -> Result<Verified, ApiError> {
    let mut crc64 = Crc64::default();
    crc64.update(body);
    let computed = crc64.finish();
    if let Some(announced) = expect.crc64
        && announced != computed
    {
        return Err(Refusal::Crc64Mismatch { announced, computed }.into());
    }
    let Some(announced) = expect.md5 else {
        return Ok(Verified::Crc64(computed));
    };
    let mut md5 = Md5::default();
    md5.update(body);
    let computed = md5.finish();
    if announced == computed {
        Ok(Verified::Md5(computed))
    } else {
        Err(Refusal::Md5Mismatch { announced, computed }.into())
    }
}
