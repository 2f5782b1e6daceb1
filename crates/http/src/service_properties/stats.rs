//! Get Service Stats: how far the secondary endpoint lags behind the primary.

use crate::error::ApiError;
use crate::message::Reply;
use crate::xml::Writer;
use hyper::StatusCode;
use zaffre_base::{ApiVersion, Timestamp};

/// The answer at `now`; refused on the primary endpoint, which has no lag. Both endpoints read the
/// same rows here, so that the last synchronisation is always now.
pub fn stats(secondary: bool, version: ApiVersion, now: Timestamp) -> Result<Reply, ApiError> {
    if !secondary {
        return Err(ApiError::invalid_query_parameter("comp", "stats", ""));
    }
    let mut xml = Writer::default();
    xml.open("StorageServiceStats").open("GeoReplication");
    xml.element("Status", "live").element("LastSyncTime", now.rfc1123());
    xml.close("GeoReplication").close("StorageServiceStats");
    Ok(Reply::new(StatusCode::OK, version).with_body("application/xml", xml.finish()))
}
