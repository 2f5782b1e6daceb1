//! Method, path and query to one operation: the service's table of URLs.
//!
//! Must never look at a credential or a body.

use crate::operation::Kind;
use crate::parse::lease;
use crate::target::Target;
use hyper::Method;
use zaffre_http::{ApiError, Asked};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Service,
    Share,
    Item,
}

use Level::{Item, Service, Share};

/// What the path names, `restype`, `comp`, verb, operation.
type Line = (Level, &'static str, &'static str, Method, Kind);

const TABLE: &[Line] = &[
    (Service, "", "list", Method::GET, Kind::ListShares),
    (Service, "service", "properties", Method::GET, Kind::GetServiceProperties),
    (Service, "service", "properties", Method::PUT, Kind::SetServiceProperties),
    (Service, "service", "userdelegationkey", Method::POST, Kind::GetUserDelegationKey),
    (Share, "share", "", Method::PUT, Kind::CreateShare),
    (Share, "share", "", Method::GET, Kind::GetShareProperties),
    (Share, "share", "", Method::HEAD, Kind::GetShareProperties),
    (Share, "share", "properties", Method::PUT, Kind::SetShareProperties),
    (Share, "share", "metadata", Method::GET, Kind::GetShareMetadata),
    (Share, "share", "metadata", Method::HEAD, Kind::GetShareMetadata),
    (Share, "share", "metadata", Method::PUT, Kind::SetShareMetadata),
    (Share, "share", "acl", Method::GET, Kind::GetShareAcl),
    (Share, "share", "acl", Method::HEAD, Kind::GetShareAcl),
    (Share, "share", "acl", Method::PUT, Kind::SetShareAcl),
    (Share, "share", "undelete", Method::PUT, Kind::RestoreShare),
    (Share, "share", "lease", Method::PUT, Kind::LeaseShare),
    (Share, "share", "stats", Method::GET, Kind::GetShareStats),
    (Share, "share", "snapshot", Method::PUT, Kind::SnapshotShare),
    (Share, "share", "", Method::DELETE, Kind::DeleteShare),
    (Share, "share", "filepermission", Method::PUT, Kind::CreatePermission),
    (Share, "share", "filepermission", Method::GET, Kind::GetPermission),
    (Item, "directory", "", Method::PUT, Kind::CreateDirectory),
    (Item, "directory", "", Method::GET, Kind::GetDirectoryProperties),
    (Item, "directory", "", Method::HEAD, Kind::GetDirectoryProperties),
    (Item, "directory", "", Method::DELETE, Kind::DeleteDirectory),
    (Item, "directory", "properties", Method::PUT, Kind::SetDirectoryProperties),
    (Item, "directory", "metadata", Method::GET, Kind::GetDirectoryMetadata),
    (Item, "directory", "metadata", Method::HEAD, Kind::GetDirectoryMetadata),
    (Item, "directory", "metadata", Method::PUT, Kind::SetDirectoryMetadata),
    (Item, "directory", "list", Method::GET, Kind::ListDirectory),
    (Item, "directory", "rename", Method::PUT, Kind::RenameDirectory),
    (Item, "directory", "listhandles", Method::GET, Kind::ListHandles),
    (Item, "directory", "forceclosehandles", Method::PUT, Kind::ForceCloseHandles),
    (Item, "", "", Method::PUT, Kind::CreateFile),
    (Item, "", "", Method::GET, Kind::GetFile),
    (Item, "", "", Method::HEAD, Kind::GetFileProperties),
    (Item, "", "", Method::DELETE, Kind::DeleteFile),
    (Item, "", "properties", Method::PUT, Kind::SetFileProperties),
    (Item, "", "metadata", Method::GET, Kind::GetFileMetadata),
    (Item, "", "metadata", Method::HEAD, Kind::GetFileMetadata),
    (Item, "", "metadata", Method::PUT, Kind::SetFileMetadata),
    (Item, "", "range", Method::PUT, Kind::PutRange),
    (Item, "", "rangelist", Method::GET, Kind::ListRanges),
    (Item, "", "copy", Method::PUT, Kind::AbortCopyFile),
    (Item, "", "rename", Method::PUT, Kind::RenameFile),
    (Item, "", "lease", Method::PUT, Kind::LeaseFile),
    (Item, "", "listhandles", Method::GET, Kind::ListHandles),
    (Item, "", "forceclosehandles", Method::PUT, Kind::ForceCloseHandles),
];

/// Which operation is asked of `target`.
pub fn route(target: &Target, asked: &Asked<'_>) -> Result<Kind, ApiError> {
    let restype = asked.query("restype").unwrap_or_default().to_ascii_lowercase();
    let comp = asked.query("comp").unwrap_or_default().to_ascii_lowercase();
    let level = match target {
        Target::Service => Service,
        // The root directory has the share's path.
        Target::Share(_) if restype == "directory" || comp.ends_with("handles") => Item,
        Target::Share(_) => Share,
        Target::Item(..) => Item,
    };
    let here = || TABLE.iter().filter(|line| line.0 == level && line.1 == restype);
    if here().next().is_none() {
        return Err(ApiError::invalid_query_parameter("restype", &restype, ""));
    }
    if !here().any(|line| line.2 == comp) {
        return Err(ApiError::invalid_query_parameter("comp", &comp, ""));
    }
    let found = here().find(|line| line.2 == comp && line.3 == asked.method());
    match found.map(|line| line.4) {
        Some(Kind::LeaseShare) if lease::breaks(asked) => Ok(Kind::BreakShareLease),
        Some(Kind::LeaseFile) if lease::breaks(asked) => Ok(Kind::BreakFileLease),
        Some(Kind::CreateFile) if has_source(asked) => Ok(Kind::CopyFile),
        Some(Kind::PutRange) if has_source(asked) => Ok(Kind::PutRangeFromUrl),
        Some(kind) => Ok(kind),
        None => Err(ApiError::unsupported_http_verb()),
    }
}

fn has_source(asked: &Asked<'_>) -> bool {
    !matches!(asked.header("x-ms-copy-source"), Ok(None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zaffre_base::ApiVersion;
    use zaffre_http::{Destination, RequestHead};

    fn routed(method: &str, path: &str, headers: &[(&'static str, &'static str)]) -> &'static str {
        let mut head = RequestHead::sample(method, &format!("/acct{path}"));
        for (name, value) in headers {
            head.headers.insert(*name, hyper::header::HeaderValue::from_static(value));
        }
        let routed = Destination::read(&head, false).and_then(|to| {
            let target = Target::parse(&to.path)?;
            route(&target, &Asked::new(&head, to, None, ApiVersion::LATEST)?)
        });
        routed.map_or_else(|error| error.code, Kind::name)
    }

    #[test]
    fn lines() {
        for (method, path, want) in [
            ("GET", "/?comp=list", "ListShares"),
            ("GET", "/?restype=service&comp=properties", "GetServiceProperties"),
            ("PUT", "/abc?restype=share", "CreateShare"),
            ("HEAD", "/abc?restype=share", "GetShareProperties"),
            ("DELETE", "/abc?restype=share", "DeleteShare"),
            ("PUT", "/abc?restype=share&comp=snapshot", "SnapshotShare"),
            ("PUT", "/abc?restype=share&comp=filepermission", "CreatePermission"),
            ("GET", "/abc?restype=directory&comp=list", "ListDirectory"),
            ("GET", "/abc/?restype=directory", "GetDirectoryProperties"),
            ("PUT", "/abc/d?restype=directory", "CreateDirectory"),
            ("PUT", "/abc/d?restype=directory&comp=rename", "RenameDirectory"),
            ("PUT", "/abc/f", "CreateFile"),
            ("GET", "/abc/d/f?sharesnapshot=x", "GetFile"),
            ("HEAD", "/abc/f", "GetFileProperties"),
            ("PUT", "/abc/f?comp=range", "PutRange"),
            ("GET", "/abc/f?comp=rangelist", "ListRanges"),
            ("PUT", "/abc/f?comp=copy&copyid=x", "AbortCopyFile"),
            ("GET", "/abc?comp=listhandles", "ListHandles"),
            ("PUT", "/abc/d?comp=forceclosehandles", "ForceCloseHandles"),
            ("PUT", "/abc/f?restype=hardlink", "InvalidQueryParameterValue"),
            ("PUT", "/abc/f?restype=symboliclink", "InvalidQueryParameterValue"),
            ("GET", "/abc", "InvalidQueryParameterValue"),
            ("GET", "/", "InvalidQueryParameterValue"),
            ("POST", "/abc?restype=share", "UnsupportedHttpVerb"),
            ("GET", "/abc/f?comp=nonsense", "InvalidQueryParameterValue"),
        ] {
            assert_eq!(routed(method, path, &[]), want, "{method} {path}");
        }
        let source = [("x-ms-copy-source", "http://h/a/b")];
        assert_eq!(routed("PUT", "/abc/f", &source), "CopyFile");
        assert_eq!(routed("PUT", "/abc/f?comp=range", &source), "PutRangeFromUrl");
        let breaks = [("x-ms-lease-action", "Break")];
        assert_eq!(routed("PUT", "/abc/f?comp=lease", &breaks), "BreakFileLease");
        assert_eq!(routed("PUT", "/abc?restype=share&comp=lease", &breaks), "BreakShareLease");
    }
}
