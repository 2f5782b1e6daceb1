//! From which version on answers show what they show today.

use zaffre_base::ApiVersion;

/// Access tiers and soft delete of shares.
pub(crate) const TIERS: ApiVersion = ApiVersion::new(2019, 12, 12);
/// Leases of shares, and the protocols they are reached over.
pub(crate) const SHARE_LEASES: ApiVersion = ApiVersion::new(2020, 2, 10);
/// What a share uses, to the byte.
pub(crate) const USAGE_IN_BYTES: ApiVersion = ApiVersion::new(2018, 11, 9);
/// `x-ms-server-encrypted`.
pub(crate) const ENCRYPTION: ApiVersion = ApiVersion::new(2017, 4, 17);
/// The properties that SMB clients see.
pub(crate) const SMB: ApiVersion = ApiVersion::new(2019, 2, 2);
/// Leases of files.
pub(crate) const FILE_LEASES: ApiVersion = ApiVersion::new(2019, 2, 2);
/// The MD5 of the whole file beside a range of it.
pub(crate) const MD5_ON_RANGES: ApiVersion = ApiVersion::new(2016, 5, 31);
/// Ids in listings.
pub(crate) const IDS: ApiVersion = ApiVersion::new(2020, 10, 2);
/// Times of change in listings.
pub(crate) const CHANGE_TIMES: ApiVersion = ApiVersion::new(2020, 6, 12);
/// Names that XML cannot hold are escaped.
pub(crate) const ENCODED: ApiVersion = ApiVersion::new(2021, 12, 2);
/// What handles may do.
pub(crate) const ACCESS_RIGHTS: ApiVersion = ApiVersion::new(2023, 1, 3);
/// When the last write was, after Put Range.
pub(crate) const LAST_WRITES: ApiVersion = ApiVersion::new(2021, 6, 8);
