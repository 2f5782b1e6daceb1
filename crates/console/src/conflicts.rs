//! Which answers mean that two clients met, and how.
//!
//! Must never be used to decide anything: it only sorts counts.

/// The kind of conflict that an error stands for, if it is one.
pub(crate) fn kind(code: &str, status: u16) -> Option<&'static str> {
    const SHARING: [&str; 5] = [
        "SharingViolation",
        "FileLockConflict",
        "DeletePending",
        "ClientCacheFlushDelay",
        "CannotDeleteFileOrDirectory",
    ];
    match status {
        409 | 412 if code.contains("Lease") => {
            Some(if status == 412 { "lease_412" } else { "lease_409" })
        }
        412 => Some("condition_412"),
        409 if SHARING.contains(&code) => Some("sharing_409"),
        409 if code.contains("AlreadyExists") || code.ends_with("BeingDeleted") => {
            Some("exists_409")
        }
        409 => Some("other_409"),
        400 if code == "PopReceiptMismatch" => Some("pop_receipt_400"),
        503 => Some("busy_503"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::kind;

    #[test]
    fn kinds() {
        for (code, status, want) in [
            ("ConditionNotMet", 412, Some("condition_412")),
            ("UpdateConditionNotSatisfied", 412, Some("condition_412")),
            ("AppendPositionConditionNotMet", 412, Some("condition_412")),
            ("LeaseIdMissing", 412, Some("lease_412")),
            ("LeaseAlreadyPresent", 409, Some("lease_409")),
            ("InfiniteLeaseDurationRequired", 412, Some("lease_412")),
            ("SharingViolation", 409, Some("sharing_409")),
            ("ContainerAlreadyExists", 409, Some("exists_409")),
            ("ContainerBeingDeleted", 409, Some("exists_409")),
            ("SnapshotsPresent", 409, Some("other_409")),
            ("PopReceiptMismatch", 400, Some("pop_receipt_400")),
            ("ServerBusy", 503, Some("busy_503")),
            ("ConditionNotMet", 304, None),
            ("BlobNotFound", 404, None),
            ("InternalError", 500, None),
        ] {
            assert_eq!(kind(code, status), want, "{code}");
        }
    }
}
