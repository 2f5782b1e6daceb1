//! The documents of Get and Set Service Properties and of Get Service Stats, for every service.
//!
//! Must never keep or apply a setting: it turns documents into updates and properties into
//! documents.

mod protocol;
mod reader;
mod stats;
mod writer;

pub use reader::parse;
pub use stats::stats;
pub use writer::document;

use zaffre_auth::Service;
use zaffre_base::ApiVersion;

/// The elements that a document of one service and version may have.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each says whether one element is there")]
struct Shape {
    /// Since 2013-08-15 every element may be left out, and metrics come by the hour and the minute.
    modern: bool,
    logging: bool,
    default_version: bool,
    delete_retention: bool,
    permanent_delete: bool,
    website: bool,
    /// How long deleted shares are kept.
    share_retention: bool,
    /// How shares are reached over SMB.
    protocols: bool,
    default_index: bool,
    /// The newest format of logs.
    second_log_format: bool,
}

impl Shape {
    fn of(service: Service, version: ApiVersion) -> Self {
        let blob = service == Service::Blob;
        let file = service == Service::File;
        Self {
            modern: version >= ApiVersion::new(2013, 8, 15),
            logging: !file,
            default_version: blob && version >= ApiVersion::new(2011, 8, 18),
            delete_retention: blob && version >= ApiVersion::new(2017, 7, 29),
            permanent_delete: blob && version >= ApiVersion::new(2020, 2, 10),
            website: blob && version >= ApiVersion::new(2018, 3, 28),
            share_retention: file && version >= ApiVersion::new(2019, 12, 12),
            protocols: file && version >= ApiVersion::new(2020, 2, 10),
            default_index: blob && version >= ApiVersion::new(2019, 12, 12),
            second_log_format: matches!(service, Service::Blob | Service::Queue),
        }
    }
}

#[cfg(test)]
mod tests;
