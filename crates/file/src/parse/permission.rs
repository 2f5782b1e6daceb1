//! Create Permission and Get Permission: JSON with one descriptor.

use super::smb;
use crate::fields;
use serde_json::{Map, Value};
use zaffre_core::file::op::GetPermission;
use zaffre_core::file::share::SharePath;
use zaffre_domain::Refusal;
use zaffre_domain::fs::{Descriptor, PermissionKey};
use zaffre_http::{ApiError, Asked};

/// Get Permission, and the form its answer has.
#[derive(Clone, Debug)]
pub struct PermissionAsked {
    /// The operation.
    pub op: GetPermission,
    /// Answered in the binary form rather than in text.
    pub binary: bool,
}

/// Get Permission.
pub(super) fn get(at: SharePath, asked: &Asked<'_>) -> Result<PermissionAsked, ApiError> {
    let key = fields::required(asked, "x-ms-file-permission-key")?;
    let key = PermissionKey::parse(key).map_err(Refusal::from)?;
    Ok(PermissionAsked { op: GetPermission { at, key }, binary: smb::binary(asked)? })
}

/// The descriptor in the body of Create Permission.
pub fn body(document: &[u8]) -> Result<Descriptor, ApiError> {
    let parsed: Map<String, Value> =
        serde_json::from_slice(document).map_err(|_| ApiError::invalid_input())?;
    let text = |name: &str| {
        let field = parsed.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        field.and_then(|(_, value)| value.as_str())
    };
    let permission = text("permission").ok_or_else(ApiError::invalid_input)?;
    let binary = match text("format") {
        None => false,
        Some(format) if format.eq_ignore_ascii_case("sddl") => false,
        Some(format) if format.eq_ignore_ascii_case("binary") => true,
        Some(_) => return Err(ApiError::invalid_input()),
    };
    smb::descriptor(permission, binary)
}
