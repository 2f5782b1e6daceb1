//! The heads of List Handles and Force Close Handles.

use super::listing::Repeated;
use crate::fields;
use zaffre_core::file::op::{ForceCloseHandles, ItemPath, ListHandles};
use zaffre_http::{ApiError, Asked};

const RECURSIVE: &str = "x-ms-recursive";
const HANDLE: &str = "x-ms-handle-id";

/// List Handles with what its answer repeats.
#[derive(Clone, Debug)]
pub struct HandlesListing {
    /// The operation.
    pub op: ListHandles,
    /// What is repeated.
    pub repeated: Repeated,
}

pub(super) fn list(at: ItemPath, asked: &Asked<'_>) -> Result<HandlesListing, ApiError> {
    let repeated = Repeated::read(asked)?;
    let op = ListHandles {
        at,
        recursive: fields::said(asked, RECURSIVE)?,
        marker: repeated.from(),
        max_results: repeated.page(),
    };
    Ok(HandlesListing { op, repeated })
}

pub(super) fn close(at: ItemPath, asked: &Asked<'_>) -> Result<ForceCloseHandles, ApiError> {
    let text = fields::required(asked, HANDLE)?;
    let handle = match text {
        "*" => None,
        text => {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit());
            let id = text.parse().ok().filter(|_| plain);
            Some(id.ok_or_else(|| ApiError::invalid_header_value(HANDLE, text))?)
        }
    };
    let marker = asked.query("marker").filter(|text| !text.is_empty()).map(str::to_owned);
    let recursive = fields::said(asked, RECURSIVE)?;
    Ok(ForceCloseHandles { at, recursive, handle, marker })
}
