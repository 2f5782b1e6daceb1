//! Verb, path and the `restype` and `comp` parameters decide which operation a request asks for.
//!
//! Must never look at a credential or a body. Only the bare PUT of a blob also looks at headers.

use crate::fields::Fields;
use crate::operation::Kind;
use crate::target::Target;
use hyper::Method;
use zaffre_http::ApiError;

/// The part of a path an operation is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Level {
    Service,
    Container,
    Blob,
}

/// One line of the routing table: where, `restype`, `comp`, verb, what.
type Line = (Level, &'static str, &'static str, Method, Kind);

use Level::{Blob, Container, Service};

/// The whole REST surface. Get Account Information answers at every level and is listed once.
const TABLE: &[Line] = &[
    (Service, "", "list", Method::GET, Kind::ListContainers),
    (Service, "", "blobs", Method::GET, Kind::FindBlobsByTags),
    (Service, "", "batch", Method::POST, Kind::Batch),
    // The JavaScript client takes an account in the path for a container.
    (Service, "container", "batch", Method::POST, Kind::Batch),
    (Service, "service", "properties", Method::GET, Kind::GetServiceProperties),
    (Service, "service", "properties", Method::PUT, Kind::SetServiceProperties),
    (Service, "service", "stats", Method::GET, Kind::GetServiceStats),
    (Service, "service", "userdelegationkey", Method::POST, Kind::GetUserDelegationKey),
    (Container, "container", "", Method::PUT, Kind::CreateContainer),
    (Container, "container", "", Method::GET, Kind::GetContainerProperties),
    (Container, "container", "", Method::HEAD, Kind::GetContainerProperties),
    (Container, "container", "", Method::DELETE, Kind::DeleteContainer),
    (Container, "container", "metadata", Method::GET, Kind::GetContainerMetadata),
    (Container, "container", "metadata", Method::HEAD, Kind::GetContainerMetadata),
    (Container, "container", "metadata", Method::PUT, Kind::SetContainerMetadata),
    (Container, "container", "acl", Method::GET, Kind::GetContainerAcl),
    (Container, "container", "acl", Method::HEAD, Kind::GetContainerAcl),
    (Container, "container", "acl", Method::PUT, Kind::SetContainerAcl),
    (Container, "container", "undelete", Method::PUT, Kind::RestoreContainer),
    (Container, "container", "lease", Method::PUT, Kind::LeaseContainer),
    (Container, "container", "list", Method::GET, Kind::ListBlobs),
    (Container, "container", "blobs", Method::GET, Kind::FindBlobsByTagsInContainer),
    (Container, "container", "batch", Method::POST, Kind::Batch),
    (Blob, "", "", Method::GET, Kind::GetBlob),
    (Blob, "", "", Method::HEAD, Kind::GetBlobProperties),
    (Blob, "", "", Method::PUT, Kind::PutBlob),
    (Blob, "", "", Method::DELETE, Kind::DeleteBlob),
    (Blob, "", "metadata", Method::GET, Kind::GetBlobMetadata),
    (Blob, "", "metadata", Method::HEAD, Kind::GetBlobMetadata),
    (Blob, "", "metadata", Method::PUT, Kind::SetBlobMetadata),
    (Blob, "", "properties", Method::PUT, Kind::SetBlobProperties),
    (Blob, "", "lease", Method::PUT, Kind::LeaseBlob),
    (Blob, "", "block", Method::PUT, Kind::PutBlock),
    (Blob, "", "blocklist", Method::PUT, Kind::PutBlockList),
    (Blob, "", "blocklist", Method::GET, Kind::GetBlockList),
    (Blob, "", "undelete", Method::PUT, Kind::UndeleteBlob),
    (Blob, "", "snapshot", Method::PUT, Kind::SnapshotBlob),
    (Blob, "", "copy", Method::PUT, Kind::AbortCopyBlob),
    (Blob, "", "tier", Method::PUT, Kind::SetBlobTier),
    (Blob, "", "tags", Method::GET, Kind::GetBlobTags),
    (Blob, "", "tags", Method::PUT, Kind::SetBlobTags),
    (Blob, "", "immutabilitypolicies", Method::PUT, Kind::SetBlobImmutabilityPolicy),
    (Blob, "", "immutabilitypolicies", Method::DELETE, Kind::DeleteBlobImmutabilityPolicy),
    (Blob, "", "legalhold", Method::PUT, Kind::SetBlobLegalHold),
    (Blob, "", "expiry", Method::PUT, Kind::SetBlobExpiry),
    (Blob, "", "query", Method::POST, Kind::QueryBlobContents),
    (Blob, "", "appendblock", Method::PUT, Kind::AppendBlock),
    (Blob, "", "seal", Method::PUT, Kind::SealBlob),
    (Blob, "", "page", Method::PUT, Kind::PutPage),
    (Blob, "", "pagelist", Method::GET, Kind::GetPageRanges),
    (Blob, "", "incrementalcopy", Method::PUT, Kind::IncrementalCopyBlob),
];

/// Which operation `fields` asks of `target`.
pub fn route(target: &Target, fields: &Fields<'_>) -> Result<Kind, ApiError> {
    let method = fields.method();
    if method == Method::OPTIONS {
        return Ok(Kind::Preflight);
    }
    let restype = fields.query("restype").unwrap_or_default().to_ascii_lowercase();
    let comp = fields.query("comp").unwrap_or_default().to_ascii_lowercase();
    if restype == "account" && comp == "properties" {
        return account_info(method);
    }
    let level = match target {
        Target::Service => Service,
        Target::Container(_) => Container,
        Target::Blob(..) => Blob,
    };
    let here = || TABLE.iter().filter(|line| line.0 == level);
    match here().find(|line| line.3 == method && line.2 == comp && line.1 == restype) {
        Some(line) => refine(line.4, fields),
        None if !here().any(|line| line.1 == restype) => {
            Err(ApiError::invalid_query_parameter("restype", &restype, ""))
        }
        None if !here().any(|line| line.1 == restype && line.2 == comp) => {
            Err(ApiError::invalid_query_parameter("comp", &comp, ""))
        }
        None => Err(ApiError::unsupported_http_verb()),
    }
}

fn account_info(method: &Method) -> Result<Kind, ApiError> {
    if matches!(*method, Method::GET | Method::HEAD) {
        Ok(Kind::GetAccountInfo)
    } else {
        Err(ApiError::unsupported_http_verb())
    }
}

/// Headers tell apart what shares a verb and a `comp`: uploads, copies, and uploads from a URL.
fn refine(kind: Kind, fields: &Fields<'_>) -> Result<Kind, ApiError> {
    let from_url = fields.header("x-ms-copy-source")?.is_some();
    Ok(match kind {
        Kind::PutBlob => return put_blob(fields, from_url),
        Kind::PutBlock if from_url => Kind::PutBlockFromUrl,
        Kind::AppendBlock if from_url => Kind::AppendBlockFromUrl,
        Kind::PutPage if from_url => Kind::PutPageFromUrl,
        other => other,
    })
}

fn put_blob(fields: &Fields<'_>, from_url: bool) -> Result<Kind, ApiError> {
    const TYPE: &str = "x-ms-blob-type";
    let blob_type = fields.header(TYPE)?;
    if from_url {
        let sync = fields.flag("x-ms-requires-sync")?;
        return Ok(match (blob_type, sync) {
            (Some(t), _) if t.eq_ignore_ascii_case("BlockBlob") => Kind::PutBlobFromUrl,
            (Some(other), _) => return Err(ApiError::invalid_header_value(TYPE, other)),
            (None, true) => Kind::CopyBlobFromUrl,
            (None, false) => Kind::CopyBlob,
        });
    }
    match blob_type {
        None => Err(ApiError::missing_required_header(TYPE)),
        Some(t) if t.eq_ignore_ascii_case("BlockBlob") => Ok(Kind::PutBlob),
        Some(t) if t.eq_ignore_ascii_case("PageBlob") => Ok(Kind::PutPageBlob),
        Some(t) if t.eq_ignore_ascii_case("AppendBlob") => Ok(Kind::PutAppendBlob),
        Some(other) => Err(ApiError::invalid_header_value(TYPE, other)),
    }
}

#[cfg(test)]
mod tests;
