//! The vocabulary every other crate speaks: times, stamps, names, ids, versions, checksums, limits.
//!
//! Must never do I/O, read a clock, draw randomness or know a protocol: values come in from outside.

pub mod base64;
pub mod checksum;
pub mod etag;
pub mod ids;
pub mod key;
pub mod limits;
pub mod md5;
pub mod measure;
pub mod names;
pub mod planted;
pub mod secret;
pub mod text;
pub mod time;
pub mod version;

pub use etag::ETag;
pub use ids::{ContentId, Guid, Incarnation};
pub use names::{AccountName, BlobName, ContainerName, QueueName, ShareName, TableName};
pub use secret::Secret;
pub use time::{Stamp, Timestamp};
pub use version::ApiVersion;
