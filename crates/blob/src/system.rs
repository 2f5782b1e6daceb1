//! The containers that the service keeps for itself: `$logs` and `$blobchangefeed`.
//!
//! Must never keep their owner from reading them, nor from deleting old logs.

use crate::operation::Kind;
use crate::target::Target;
use zaffre_http::{ApiError, codes};

/// Containers that only the service writes to.
const OWN: [&str; 2] = ["$logs", "$blobchangefeed"];

/// Refuses to change what is the service's own.
pub(crate) fn check(kind: Kind, target: &Target) -> Result<(), ApiError> {
    let container = match target {
        Target::Service => return Ok(()),
        Target::Container(container) | Target::Blob(container, _) => container.as_str(),
    };
    // Each part of a batch is looked at by itself.
    let allowed = !kind.is_write() || matches!(kind, Kind::DeleteBlob | Kind::Batch);
    if allowed || !OWN.contains(&container) {
        Ok(())
    } else {
        Err(codes::INSUFFICIENT_ACCOUNT_PERMISSIONS.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_service_writes_its_logs() {
        for (kind, path, restype, allowed) in [
            (Kind::DeleteContainer, "$logs", Some("container"), false),
            (Kind::CreateContainer, "$blobchangefeed", Some("container"), false),
            (Kind::SetContainerAcl, "$logs", Some("container"), false),
            (Kind::ListBlobs, "$logs", Some("container"), true),
            (Kind::GetBlob, "$logs/blob/a", None, true),
            (Kind::DeleteBlob, "$logs/blob/a", None, true),
            (Kind::PutBlob, "$logs/blob/a", None, false),
            (Kind::PutBlob, "$root/a", None, true),
            (Kind::PutBlob, "$web/a", None, true),
            (Kind::CreateContainer, "$root", Some("container"), true),
            (Kind::DeleteContainer, "$web", Some("container"), true),
        ] {
            let target = Target::parse(path, restype).expect("a good path");
            assert_eq!(check(kind, &target).is_ok(), allowed, "{kind:?} {path}");
        }
    }
}
