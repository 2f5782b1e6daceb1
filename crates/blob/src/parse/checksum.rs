//! Checksum headers: what a body must hash to, and which checksum of a range is asked for.
//!
//! Must never compute anything.

use crate::fields::Fields;
use zaffre_base::base64;
use zaffre_core::blob::op::{ExpectedChecksum, RangeChecksum};
use zaffre_http::{ApiError, codes};

const MD5: &str = "content-md5";
const CRC64: &str = "x-ms-content-crc64";
const RANGE_MD5: &str = "x-ms-range-get-content-md5";
const RANGE_CRC64: &str = "x-ms-range-get-content-crc64";

/// `Content-MD5` or `x-ms-content-crc64`, never both.
pub(super) fn expected(fields: &Fields<'_>) -> Result<ExpectedChecksum, ApiError> {
    expected_as(fields, MD5, CRC64)
}

/// The same under other names.
pub(super) fn expected_as(
    fields: &Fields<'_>,
    md5_name: &str,
    crc64_name: &str,
) -> Result<ExpectedChecksum, ApiError> {
    let md5 = md5(fields, md5_name)?;
    let crc64 = match fields.header(crc64_name)? {
        None => None,
        Some(text) => {
            let invalid = || ApiError::invalid_header_value(crc64_name, text);
            Some(bytes::<8>(text).ok_or_else(invalid)?)
        }
    };
    if md5.is_some() && crc64.is_some() {
        return Err(codes::BOTH_CRC64_AND_MD5_HEADER_PRESENT.into());
    }
    Ok(ExpectedChecksum { md5, crc64 })
}

/// An MD5 in Base64 under any header's name.
pub(super) fn md5(fields: &Fields<'_>, name: &str) -> Result<Option<[u8; 16]>, ApiError> {
    let Some(text) = fields.header(name)? else { return Ok(None) };
    bytes::<16>(text).map(Some).ok_or_else(|| codes::INVALID_MD5.into())
}

/// Which checksum of the returned range is asked for; only a range can have one.
pub(super) fn of_range(
    fields: &Fields<'_>,
    has_range: bool,
) -> Result<Option<RangeChecksum>, ApiError> {
    let asked = match (fields.flag(RANGE_MD5)?, fields.flag(RANGE_CRC64)?) {
        (true, true) => return Err(codes::BOTH_CRC64_AND_MD5_RANGE_HEADER_PRESENT.into()),
        (true, false) => (RangeChecksum::Md5, RANGE_MD5),
        (false, true) => (RangeChecksum::Crc64, RANGE_CRC64),
        (false, false) => return Ok(None),
    };
    if has_range { Ok(Some(asked.0)) } else { Err(ApiError::invalid_header_value(asked.1, "true")) }
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    base64::decode(text)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::{Ask, Headers};

    #[test]
    fn bodies() {
        let md5 = base64::encode(&[1; 16]);
        let crc = base64::encode(&[2; 8]);
        let short = base64::encode(&[1; 15]);
        let some = |m: bool, c: bool| Ok((m.then_some([1_u8; 16]), c.then_some([2_u8; 8])));
        let rows: [(Headers<'_>, Result<_, &str>); 8] = [
            (&[], some(false, false)),
            (&[(MD5, &md5)], some(true, false)),
            (&[(CRC64, &crc)], some(false, true)),
            (&[(MD5, &md5), (CRC64, &crc)], Err("BothCrc64AndMd5HeaderPresent")),
            (&[(MD5, &short)], Err("InvalidMd5")),
            (&[(MD5, "not base64")], Err("InvalidMd5")),
            (&[(CRC64, &md5)], Err("InvalidHeaderValue")),
            (&[(CRC64, "?")], Err("InvalidHeaderValue")),
        ];
        for (headers, want) in rows {
            let ask = Ask::put("/c/b").with(headers);
            let got = expected(&ask.fields()).map(|e| (e.md5, e.crc64)).map_err(|e| e.code);
            assert_eq!(got, want, "{headers:?}");
        }
    }

    #[test]
    fn ranges() {
        let t = "true";
        let rows: [(Headers<'_>, bool, Result<_, &str>); 7] = [
            (&[], true, Ok(None)),
            (&[(RANGE_MD5, t)], true, Ok(Some(RangeChecksum::Md5))),
            (&[(RANGE_CRC64, "True")], true, Ok(Some(RangeChecksum::Crc64))),
            (&[(RANGE_MD5, "false")], false, Ok(None)),
            (&[(RANGE_MD5, t)], false, Err("InvalidHeaderValue")),
            (&[(RANGE_MD5, "1")], true, Err("InvalidHeaderValue")),
            (&[(RANGE_MD5, t), (RANGE_CRC64, t)], true, {
                Err("BothCrc64AndMd5RangeHeaderPresent")
            }),
        ];
        for (headers, has_range, want) in rows {
            let ask = Ask::get("/c/b").with(headers);
            let got = of_range(&ask.fields(), has_range).map_err(|e| e.code);
            assert_eq!(got, want, "{headers:?}");
        }
    }
}
