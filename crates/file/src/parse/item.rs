//! What every operation on a file or directory says: its path, and how long it may wait.

use super::snapshot;
use crate::fields;
use crate::target::Target;
use std::time::Duration;
use zaffre_base::ApiVersion;
use zaffre_core::file::op::{ItemPath, Patience};
use zaffre_domain::Refusal;
use zaffre_domain::fs::FilePath;
use zaffre_domain::fs::name::TrailingDots;
use zaffre_http::{ApiError, Asked};

const DOTS: &str = "x-ms-allow-trailing-dot";
/// The same for the source of a copy or rename.
pub(super) const SOURCE_DOTS: &str = "x-ms-source-allow-trailing-dot";
/// From here on dots at the end of a name can be kept.
const DOTS_KEPT: ApiVersion = ApiVersion::new(2022, 11, 2);
/// The longest that clients are waited for.
const LONGEST: u64 = 30;

/// The path inside the share that a request names.
pub(crate) fn path(target: &Target, asked: &Asked<'_>) -> Result<FilePath, ApiError> {
    let dots = dots(asked, DOTS)?;
    Ok(FilePath::parse(target.inside(), dots).map_err(Refusal::from)?)
}

/// What becomes of dots at the end of names.
pub(super) fn dots(asked: &Asked<'_>, name: &str) -> Result<TrailingDots, ApiError> {
    let kept = fields::flag(asked, name)? && asked.version >= DOTS_KEPT;
    Ok(if kept { TrailingDots::Keep } else { TrailingDots::Trim })
}

/// What a write is about; snapshots cannot be written.
pub(super) fn written(
    target: &Target,
    path: FilePath,
    asked: &Asked<'_>,
) -> Result<ItemPath, ApiError> {
    snapshot::refuse(asked)?;
    Ok(ItemPath { share: target.share(&asked.to.account)?, path, snapshot: None })
}

/// What a read is about.
pub(super) fn read(
    target: &Target,
    path: FilePath,
    asked: &Asked<'_>,
) -> Result<ItemPath, ApiError> {
    let snapshot = snapshot::optional(asked)?;
    Ok(ItemPath { share: target.share(&asked.to.account)?, path, snapshot })
}

/// How long clients that hold something back are waited for: `timeout`, at most 30 seconds.
pub(super) fn patience(asked: &Asked<'_>) -> Result<Patience, ApiError> {
    let seconds = asked.integer("timeout")?.and_then(|seconds| u64::try_from(seconds).ok());
    let seconds = seconds.filter(|seconds| *seconds > 0).unwrap_or(LONGEST).min(LONGEST);
    Ok(Patience { wait: Duration::from_secs(seconds) })
}
