//! The row that holds the properties of one service.

use crate::records::Record;
use minicbor::{Decode, Encode};
use zaffre_base::{ApiVersion, Stamp};
use zaffre_domain::service::{
    AnalyticsVersion, CorsRule, DeleteRetention, Logging, Metrics, MetricsDetail, Retention,
    ServiceProperties, SmbProtocol, StaticWebsite,
};

/// All properties of one service.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
pub(super) struct StoredProperties {
    /// The commit that made this state.
    #[n(0)]
    written: u64,
    #[n(1)]
    logging: Option<StoredLogging>,
    #[n(2)]
    hour_metrics: Option<StoredMetrics>,
    #[n(3)]
    minute_metrics: Option<StoredMetrics>,
    #[n(4)]
    cors: Option<Vec<StoredRule>>,
    #[n(5)]
    default_version: Option<String>,
    #[n(6)]
    delete_days: Option<u16>,
    /// Absent while nobody has set how long deleted blobs are kept.
    #[n(7)]
    permanent_delete: Option<bool>,
    #[n(8)]
    website: Option<StoredWebsite>,
    /// Whether SMB sessions have to be encrypted; absent = no.
    #[n(9)]
    smb_encryption: Option<bool>,
}

#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
struct StoredLogging {
    #[n(0)]
    version: String,
    #[n(1)]
    read: bool,
    #[n(2)]
    write: bool,
    #[n(3)]
    delete: bool,
    #[n(4)]
    days: Option<u16>,
}

#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
struct StoredMetrics {
    #[n(0)]
    version: String,
    /// Absent: no metrics.
    #[n(1)]
    operations: Option<bool>,
    #[n(2)]
    days: Option<u16>,
}

#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
struct StoredRule {
    #[n(0)]
    origins: Vec<String>,
    #[n(1)]
    methods: Vec<String>,
    #[n(2)]
    allowed_headers: Vec<String>,
    #[n(3)]
    exposed_headers: Vec<String>,
    #[n(4)]
    max_age_seconds: u32,
}

/// Present while the website is served.
#[derive(Clone, PartialEq, Eq, Debug, Encode, Decode)]
#[cbor(map)]
struct StoredWebsite {
    #[n(0)]
    index_document: Option<String>,
    #[n(1)]
    default_index_path: Option<String>,
    #[n(2)]
    error_document: Option<String>,
}

impl Record for StoredProperties {
    const WHAT: &'static str = "service properties";
}

impl StoredProperties {
    pub(super) fn new(properties: &ServiceProperties, written: Stamp) -> Self {
        let website = &properties.website;
        Self {
            written: written.0,
            logging: Some(StoredLogging::new(&properties.logging)),
            hour_metrics: Some(StoredMetrics::new(&properties.hour_metrics)),
            minute_metrics: Some(StoredMetrics::new(&properties.minute_metrics)),
            cors: Some(properties.cors.iter().map(StoredRule::new).collect()),
            default_version: properties.default_version.map(|version| version.to_string()),
            delete_days: properties.delete_retention.and_then(|kept| kept.retention.get()),
            permanent_delete: properties.delete_retention.map(|kept| kept.allow_permanent_delete),
            smb_encryption: properties.smb.encryption_required.then_some(true),
            website: website.enabled.then(|| StoredWebsite {
                index_document: website.index_document.clone(),
                default_index_path: website.default_index_path.clone(),
                error_document: website.error_document.clone(),
            }),
        }
    }

    /// The commit that made this state.
    pub(super) fn written(&self) -> Stamp {
        Stamp(self.written)
    }

    pub(super) fn properties(self) -> ServiceProperties {
        let default_version = self.default_version.as_deref().and_then(ApiVersion::parse);
        let website = self.website.map(|site| StaticWebsite {
            enabled: true,
            index_document: site.index_document,
            default_index_path: site.default_index_path,
            error_document: site.error_document,
        });
        ServiceProperties {
            logging: self.logging.map(StoredLogging::logging).unwrap_or_default(),
            hour_metrics: self.hour_metrics.map(StoredMetrics::metrics).unwrap_or_default(),
            minute_metrics: self.minute_metrics.map(StoredMetrics::metrics).unwrap_or_default(),
            cors: self.cors.into_iter().flatten().map(StoredRule::rule).collect(),
            default_version,
            delete_retention: self.permanent_delete.map(|allow_permanent_delete| DeleteRetention {
                retention: retention(self.delete_days),
                allow_permanent_delete,
            }),
            website: website.unwrap_or_default(),
            smb: SmbProtocol { encryption_required: self.smb_encryption.unwrap_or_default() },
        }
    }
}

fn retention(days: Option<u16>) -> Retention {
    days.and_then(Retention::days).unwrap_or(Retention::NONE)
}

fn version(text: &str) -> AnalyticsVersion {
    AnalyticsVersion::parse(text).unwrap_or(AnalyticsVersion::V1)
}

impl StoredLogging {
    fn new(logging: &Logging) -> Self {
        let Logging { version, delete, read, write, retention } = logging;
        let (version, days) = (version.text().to_owned(), retention.get());
        Self { version, read: *read, write: *write, delete: *delete, days }
    }

    fn logging(self) -> Logging {
        let Self { version: text, read, write, delete, days } = self;
        Logging { version: version(&text), read, write, delete, retention: retention(days) }
    }
}

impl StoredMetrics {
    fn new(metrics: &Metrics) -> Self {
        let operations = match metrics.detail {
            MetricsDetail::Off => None,
            MetricsDetail::Service => Some(false),
            MetricsDetail::Operations => Some(true),
        };
        let (version, days) = (metrics.version.text().to_owned(), metrics.retention.get());
        Self { version, operations, days }
    }

    fn metrics(self) -> Metrics {
        let detail = match self.operations {
            None => MetricsDetail::Off,
            Some(false) => MetricsDetail::Service,
            Some(true) => MetricsDetail::Operations,
        };
        Metrics { version: version(&self.version), detail, retention: retention(self.days) }
    }
}

impl StoredRule {
    fn new(rule: &CorsRule) -> Self {
        let CorsRule { origins, methods, allowed_headers, exposed_headers, max_age_seconds } =
            rule.clone();
        Self { origins, methods, allowed_headers, exposed_headers, max_age_seconds }
    }

    fn rule(self) -> CorsRule {
        let Self { origins, methods, allowed_headers, exposed_headers, max_age_seconds } = self;
        CorsRule { origins, methods, allowed_headers, exposed_headers, max_age_seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip() {
        let full = ServiceProperties {
            logging: Logging {
                version: AnalyticsVersion::V2,
                delete: true,
                read: true,
                write: false,
                retention: retention(Some(7)),
            },
            hour_metrics: Metrics { detail: MetricsDetail::Operations, ..Metrics::default() },
            minute_metrics: Metrics { detail: MetricsDetail::Service, ..Metrics::default() },
            cors: vec![CorsRule::sample("*", "GET"), CorsRule::sample("http://a", "PUT")],
            default_version: ApiVersion::parse("2019-02-02"),
            delete_retention: Some(DeleteRetention {
                retention: retention(Some(365)),
                allow_permanent_delete: true,
            }),
            website: StaticWebsite {
                enabled: true,
                index_document: Some("i".to_owned()),
                default_index_path: None,
                error_document: Some("e".to_owned()),
            },
            smb: SmbProtocol { encryption_required: true },
        };
        for properties in [full, ServiceProperties::default()] {
            let row = StoredProperties::new(&properties, Stamp(5));
            let back = StoredProperties::from_bytes(&row.to_bytes()).expect("its own bytes");
            assert_eq!(back.written(), Stamp(5));
            assert_eq!(back.properties(), properties);
        }
    }
}
