//! `x-ms-access-tier` of uploads, and the head of Set Blob Tier.
//!
//! Must never decide whether a blob may have a tier: the domain does.

use super::conditions::conditions;
use super::moment;
use crate::fields::Fields;
use zaffre_base::ApiVersion;
use zaffre_core::blob::op::{self, BlobPath};
use zaffre_domain::blob::tier::{AccessTier, RehydratePriority};
use zaffre_domain::conditions::ConditionalOperation as Op;
use zaffre_http::{ApiError, codes};

const TIER: &str = "x-ms-access-tier";
const PRIORITY: &str = "x-ms-rehydrate-priority";
const COLD_SINCE: ApiVersion = ApiVersion::new(2021, 12, 2);

/// The tier of a copy, whatever kind of blob its source turns out to be.
pub(super) fn named(fields: &Fields<'_>) -> Result<Option<AccessTier>, ApiError> {
    let Some(text) = fields.header(TIER)? else { return Ok(None) };
    match AccessTier::parse(text) {
        Some(AccessTier::Cold) if fields.version() < COLD_SINCE => {
            Err(ApiError::invalid_header_value(TIER, text))
        }
        Some(tier) => Ok(Some(tier)),
        None => Err(ApiError::invalid_header_value(TIER, text)),
    }
}

/// The tier of a new block blob.
pub(super) fn tier(fields: &Fields<'_>) -> Result<Option<AccessTier>, ApiError> {
    let tier = named(fields)?;
    match tier.filter(|tier| tier.is_premium()) {
        Some(premium) => Err(ApiError::invalid_header_value(TIER, premium.text())),
        None => Ok(tier),
    }
}

/// The tier of a new page blob: a size of premium storage.
pub(super) fn page_tier(fields: &Fields<'_>) -> Result<Option<AccessTier>, ApiError> {
    let tier = named(fields)?;
    if tier.is_some_and(|tier| !tier.is_premium()) {
        return Err(codes::ACCESS_TIER_NOT_SUPPORTED_FOR_BLOB_TYPE.into());
    }
    Ok(tier)
}

/// `x-ms-rehydrate-priority`
pub(super) fn priority(fields: &Fields<'_>) -> Result<Option<RehydratePriority>, ApiError> {
    let Some(text) = fields.header(PRIORITY)? else { return Ok(None) };
    let priority = RehydratePriority::parse(text);
    priority.map(Some).ok_or_else(|| ApiError::invalid_header_value(PRIORITY, text))
}

pub(super) fn set(fields: &Fields<'_>, at: BlobPath) -> Result<op::SetBlobTier, ApiError> {
    let at = moment::of(fields, at)?;
    Ok(op::SetBlobTier {
        at,
        tier: named(fields)?.ok_or_else(|| ApiError::missing_required_header(TIER))?,
        priority: priority(fields)?,
        lease: fields.lease_id()?,
        conditions: conditions(fields, Op::SetBlobTier)?,
        context: fields.context(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::Ask;
    use AccessTier::{Archive, Cold, Cool, Hot, P10};

    #[test]
    fn tiers() {
        let (header, kind) = (Err("InvalidHeaderValue"), Err("AccessTierNotSupportedForBlobType"));
        for (text, version, of_block, of_page) in [
            ("Hot", "2024-08-04", Ok(Some(Hot)), kind),
            ("cool", "2024-08-04", Ok(Some(Cool)), kind),
            ("Cold", "2024-08-04", Ok(Some(Cold)), kind),
            ("Cold", "2021-10-04", header, header),
            ("Archive", "2018-11-09", Ok(Some(Archive)), kind),
            ("P10", "2024-08-04", header, Ok(Some(P10))),
            ("Warm", "2024-08-04", header, header),
            ("", "2024-08-04", Ok(None), Ok(None)),
        ] {
            let ask = Ask::put("/c/b").with(&[(TIER, text)]).version(version);
            let got = tier(&ask.fields()).map_err(|e| e.code);
            assert_eq!(got, of_block, "{text} {version}");
            let got = page_tier(&ask.fields()).map_err(|e| e.code);
            assert_eq!(got, of_page, "{text} {version}");
        }
    }

    #[test]
    fn priorities() {
        for (text, want) in [
            ("", Ok(None)),
            ("High", Ok(Some(RehydratePriority::High))),
            ("standard", Ok(Some(RehydratePriority::Standard))),
            ("Soon", Err("InvalidHeaderValue")),
        ] {
            let ask = Ask::put("/c/b").with(&[(PRIORITY, text)]);
            assert_eq!(priority(&ask.fields()).map_err(|e| e.code), want, "{text}");
        }
    }
}
