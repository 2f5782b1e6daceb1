//! The limits of a query, named, in one place.

/// Bytes of one record: a line of CSV or a JSON document.
pub const RECORD_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of the statement.
pub const SQL_BYTES: usize = 64 * 1024;
/// How deep expressions may nest.
pub const SQL_DEPTH: usize = 64;
/// Expressions in the list of a SELECT.
pub const SELECT_COLUMNS: usize = 49;
/// How deep JSON may nest.
pub const JSON_DEPTH: usize = 64;
/// Bytes of results after which a frame of them is sent.
pub const FRAME_BYTES: usize = 256 * 1024;
/// Bytes scanned between two reports of progress.
pub const PROGRESS_BYTES: u64 = 4 * 1024 * 1024;
/// Faults of records that are reported one by one; later ones are only left out.
pub const REPORTED_FAULTS: usize = 100;
/// Least size of a split.
pub const SPLIT_BYTES: u64 = 10 * 1024 * 1024;
/// Bytes of a separator.
pub const SEPARATOR_BYTES: usize = 4;
