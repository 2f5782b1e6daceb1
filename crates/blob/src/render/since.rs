//! Since which version the service shows what; each name says what began there.

use zaffre_base::ApiVersion;

pub(super) const QUOTED_ETAGS: ApiVersion = ApiVersion::new(2011, 8, 18);
pub(super) const ACCEPT_RANGES: ApiVersion = ApiVersion::new(2011, 8, 18);
/// Copies go on after their answer, and blobs show them.
pub(super) const COPIES: ApiVersion = ApiVersion::new(2012, 2, 12);
/// There are incremental copies.
pub(super) const INCREMENTAL: ApiVersion = ApiVersion::new(2016, 5, 31);
pub(super) const LEASE_STATES: ApiVersion = ApiVersion::new(2012, 2, 12);
/// Lease answers show ETag and Last-Modified; listings have their present shape.
pub(super) const PRESENT_LISTINGS: ApiVersion = ApiVersion::new(2013, 8, 15);
pub(super) const LEASE_VALIDATORS: ApiVersion = ApiVersion::new(2013, 8, 15);
pub(super) const DISPOSITION: ApiVersion = ApiVersion::new(2013, 8, 15);
pub(super) const ENCRYPTION: ApiVersion = ApiVersion::new(2015, 12, 11);
pub(super) const PUBLIC_ACCESS: ApiVersion = ApiVersion::new(2016, 5, 31);
pub(super) const BLOB_MD5_ON_RANGES: ApiVersion = ApiVersion::new(2016, 5, 31);
pub(super) const TIERS: ApiVersion = ApiVersion::new(2017, 4, 17);
/// How soon a blob comes back from the archive is shown.
pub(super) const REHYDRATE_PRIORITY: ApiVersion = ApiVersion::new(2019, 12, 12);
pub(super) const DELETE_TYPE: ApiVersion = ApiVersion::new(2017, 7, 29);
pub(super) const CREATION_TIME: ApiVersion = ApiVersion::new(2017, 11, 9);
pub(super) const IMMUTABILITY: ApiVersion = ApiVersion::new(2017, 11, 9);
pub(super) const CRC64: ApiVersion = ApiVersion::new(2019, 2, 2);
pub(super) const CUSTOMER_KEYS: ApiVersion = ApiVersion::new(2019, 2, 2);
pub(super) const ENCRYPTION_SCOPES: ApiVersion = ApiVersion::new(2019, 7, 7);
pub(super) const HIERARCHY_FLAG: ApiVersion = ApiVersion::new(2019, 7, 7);
pub(super) const REPLICATION_METADATA: ApiVersion = ApiVersion::new(2019, 12, 12);
pub(super) const VERSIONS: ApiVersion = ApiVersion::new(2019, 12, 12);
pub(super) const TAGS: ApiVersion = ApiVersion::new(2019, 12, 12);
/// Find Blobs by Tags shows the tags it went by, and not only one value.
pub(super) const TAGS_OF_FOUND_BLOBS: ApiVersion = ApiVersion::new(2020, 4, 8);
pub(super) const LAST_ACCESS: ApiVersion = ApiVersion::new(2020, 2, 10);
pub(super) const VERSIONED_IMMUTABILITY: ApiVersion = ApiVersion::new(2020, 6, 12);
/// Append blobs can be sealed.
pub(super) const SEALED: ApiVersion = ApiVersion::new(2019, 12, 12);
/// Get Blob shows the tier as well.
pub(super) const TIERS_ON_GET: ApiVersion = ApiVersion::new(2026, 10, 6);
