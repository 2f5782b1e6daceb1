//! Every limit of the service, named, in one place.

/// Bytes in one KiB.
pub const KIB: u64 = 1024;
/// Bytes in one MiB.
pub const MIB: u64 = 1024 * KIB;

/// UTF-16 units in a blob name.
pub const BLOB_NAME_UNITS: usize = 1024;
/// Path segments in a blob name.
pub const BLOB_NAME_SEGMENTS: usize = 254;
/// Bytes of all metadata names and values of one resource together.
pub const METADATA_BYTES: usize = 8 * 1024;
/// Stored access policies of one container.
pub const ACCESS_POLICIES: usize = 5;
/// Characters in the id of a stored access policy.
pub const ACCESS_POLICY_ID_CHARS: usize = 64;
/// Blocks in one committed block list.
pub const COMMITTED_BLOCKS: usize = 50_000;
/// Staged blocks of one blob.
pub const UNCOMMITTED_BLOCKS: u64 = 100_000;
/// Blocks of one append blob.
pub const APPEND_BLOCKS: u32 = 50_000;
/// Bytes in one page of a page blob.
pub const PAGE_BYTES: u64 = 512;
/// Largest page blob.
pub const PAGE_BLOB_BYTES: u64 = 8 * 1024 * 1024 * MIB;
/// Bytes that one Put Page may write.
pub const PAGE_WRITE_BYTES: u64 = 4 * MIB;
/// Ranges in one page of Get Page Ranges.
pub const PAGE_RANGES: u32 = 10_000;
/// Largest sequence number of a page blob.
pub const SEQUENCE_NUMBER: u64 = i64::MAX as u64;
/// Largest source that is copied before the answer, by Copy Blob From URL.
pub const SYNC_COPY_BYTES: u64 = 256 * MIB;
/// Days after which a copy that is not done is given up.
pub const COPY_DAYS: u64 = 14;
/// Bytes in a decoded block id.
pub const BLOCK_ID_BYTES: usize = 64;
/// Days an uncommitted block lives after the last Put Block.
pub const UNCOMMITTED_DAYS: u64 = 7;
/// Entries in one page of a listing.
pub const LIST_PAGE: u32 = 5_000;
/// Bytes of names, metadata and content headers after which a page of a listing ends early. The
/// service ends pages early too; without this a page could hold hundreds of megabytes.
pub const LIST_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Largest range whose checksum may be asked for.
pub const RANGE_CHECKSUM_BYTES: u64 = 4 * MIB;
/// Largest XML request body (a block list of 50,000 64-byte ids fits).
pub const XML_BODY_BYTES: u64 = 8 * MIB;
/// How deep request XML may nest.
pub const XML_DEPTH: usize = 8;
/// Bytes in an echoed `x-ms-client-request-id`.
pub const CLIENT_REQUEST_ID_BYTES: usize = 1024;
/// Total size of a request's head.
pub const REQUEST_HEAD_BYTES: usize = 64 * 1024;
/// Number of headers in a request.
pub const REQUEST_HEADERS: usize = 256;
/// Seconds a request's date may differ from the server's.
pub const CLOCK_SKEW_SECONDS: u64 = 15 * 60;
/// Bytes in a bearer token.
pub const TOKEN_BYTES: usize = 32 * 1024;
/// Seconds a bearer token's times may differ from the server's.
pub const TOKEN_SKEW_SECONDS: u64 = 5 * 60;
/// Bytes in the id of a user or tenant.
pub const IDENTITY_BYTES: usize = 256;
/// Keys in an issuer's key set.
pub const ISSUER_KEYS: usize = 100;
/// Bytes in an issuer's documents.
pub const ISSUER_DOCUMENT_BYTES: usize = 1024 * 1024;
/// Headers, and parameters, that a user delegation SAS may demand.
pub const SIGNED_REQUEST_NAMES: usize = 64;
/// Days a user delegation key is good for.
pub const DELEGATION_KEY_DAYS: u64 = 7;
/// UTF-16 units in a PartitionKey or RowKey: 1 KiB.
pub const TABLE_KEY_UNITS: usize = 512;
/// Custom properties of an entity.
pub const TABLE_PROPERTIES: usize = 252;
/// UTF-16 units in the name of a property.
pub const PROPERTY_NAME_UNITS: usize = 255;
/// Bytes in the value of a property; text counts as UTF-16.
pub const PROPERTY_BYTES: usize = 64 * 1024;
/// Bytes in an entity, by the service's own estimate.
pub const ENTITY_BYTES: usize = 1024 * 1024;
/// Bytes in the body of a request to the Table service.
pub const TABLE_BODY_BYTES: u64 = 4 * MIB;
/// Operations in an entity group transaction.
pub const TABLE_BATCH_OPERATIONS: usize = 100;
/// Entities or tables in one page of a query.
pub const TABLE_PAGE: usize = 1_000;
/// Bytes of names and values after which a page of entities ends early. The service ends pages
/// early too; without this a page could hold a gibibyte.
pub const TABLE_PAGE_BYTES: usize = 8 * 1024 * 1024;
/// Names in `$select`.
pub const SELECT_NAMES: usize = 255;
/// How deep a filter may nest.
pub const FILTER_DEPTH: usize = 64;
/// Key ranges that one query may read; a filter with more reads what lies between them too.
pub const QUERY_RANGES: usize = 128;
/// Days a retention policy may keep something.
pub const RETENTION_DAYS: core::ops::RangeInclusive<u16> = 1..=365;
/// Seconds that an archived blob may be chosen to take until it is back: what the service promises.
pub const REHYDRATION_SECONDS: u64 = 15 * 60 * 60;
/// Bytes in the name of an encryption scope.
pub const ENCRYPTION_SCOPE_BYTES: core::ops::RangeInclusive<usize> = 3..=63;
/// CORS rules of one service.
pub const CORS_RULES: usize = 5;
/// Bytes of all texts of a service's CORS rules, tags left out.
pub const CORS_BYTES: usize = 2 * 1024;
/// Origins of one CORS rule.
pub const CORS_ORIGINS: usize = 64;
/// Full names in a list of headers of one CORS rule.
pub const CORS_LITERAL_HEADERS: usize = 64;
/// Prefixes in a list of headers of one CORS rule.
pub const CORS_PREFIXED_HEADERS: usize = 2;
/// Characters in an origin or header of a CORS rule.
pub const CORS_TEXT_CHARS: usize = 256;
/// Characters in the name of a page that a static website falls back to.
pub const WEBSITE_PATH_CHARS: usize = 255;
/// Tags of one blob.
pub const TAGS: usize = 10;
/// Characters in a tag's name.
pub const TAG_NAME_CHARS: usize = 128;
/// Characters in a tag's value.
pub const TAG_VALUE_CHARS: usize = 256;
/// Bytes in `x-ms-tags`.
pub const TAGS_HEADER_BYTES: usize = 2 * 1024;
/// AND and OR in one `x-ms-if-tags`.
pub const TAG_PREDICATE_OPERATORS: usize = 10;
/// How deep the parentheses of `x-ms-if-tags` may nest.
pub const TAG_PREDICATE_DEPTH: usize = 16;
/// Comparisons in one Find Blobs by Tags: both bounds of every tag a blob can have.
pub const FIND_COMPARISONS: usize = 2 * TAGS;
/// Containers that one page of Find Blobs by Tags looks into before it ends early.
pub const FIND_CONTAINERS: usize = 1_000;
/// Candidates that one page of Find Blobs by Tags compares before it ends early.
pub const FIND_CANDIDATES: usize = 20_000;

/// Bytes of a message's text.
pub const MESSAGE_TEXT_BYTES: usize = 64 * 1024;
/// Bytes of a message's text before 2011-08-18.
pub const OLD_MESSAGE_TEXT_BYTES: usize = 8 * 1024;
/// Messages that one request receives or peeks at most.
pub const MESSAGES_AT_ONCE: u64 = 32;
/// Seconds a message may stay invisible.
pub const VISIBILITY_SECONDS: u64 = 7 * 24 * 3600;
/// Seconds a message may stay invisible before 2011-08-18.
pub const OLD_VISIBILITY_SECONDS: u64 = 2 * 3600;
/// Seconds a received message stays invisible unless the request says otherwise.
pub const DEFAULT_VISIBILITY_SECONDS: u64 = 30;
/// Seconds a message lives unless the request says otherwise, and at most before 2017-07-29.
pub const DEFAULT_MESSAGE_SECONDS: u64 = 7 * 24 * 3600;

/// UTF-16 units in the name of a file or directory.
pub const FILE_NAME_UNITS: usize = 255;
/// UTF-16 units in the path of a file or directory.
pub const FILE_PATH_UNITS: usize = 2_048;
/// Names in the path of a file or directory.
pub const FILE_PATH_DEPTH: usize = 250;
/// Bytes of a file: 4 TiB.
pub const FILE_BYTES: u64 = 4 * 1024 * 1024 * MIB;
/// Bytes that one Put Range writes.
pub const FILE_RANGE_BYTES: u64 = 4 * MIB;
/// Which bytes of a file were written is tracked in blocks of so many.
pub const FILE_BLOCK_BYTES: u64 = 512;
/// The unit in which SMB clients are told how much space a file takes.
pub const FILE_ALLOCATION_BYTES: u64 = 4_096;
/// Named streams of one file or directory: they go with it in one transaction.
pub const FILE_STREAMS: usize = 64;
/// Snapshots of a share.
pub const SHARE_SNAPSHOTS: usize = 200;
/// Bytes of a security descriptor in its binary form.
pub const DESCRIPTOR_BYTES: usize = 64 * 1024 - 512;
/// Bytes of a security descriptor in a header.
pub const PERMISSION_HEADER_BYTES: usize = 8 * 1024;
/// Gibibytes a share may use unless its owner says otherwise.
pub const DEFAULT_SHARE_GIB: u64 = 5 * 1024;
/// Gibibytes a share may be given at most.
pub const SHARE_GIB: u64 = 100 * 1024;
/// Bytes in the body of Create Permission: a descriptor as text, with what is around it.
pub const PERMISSION_BODY_BYTES: u64 = 256 * KIB;
