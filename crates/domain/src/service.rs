//! What an account's owner may choose about one of its services: logging, metrics, CORS, retention,
//! the static website.
//!
//! Must never know which elements a document of some version has: the protocol does.

pub mod cors;
pub mod log;
pub mod website;

pub use cors::CorsRule;
pub use website::StaticWebsite;

use alloc::vec::Vec;
use zaffre_base::ApiVersion;
use zaffre_base::limits::RETENTION_DAYS;

/// The properties of one service of one account.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServiceProperties {
    /// Which requests are logged.
    pub logging: Logging,
    /// Metrics by the hour.
    pub hour_metrics: Metrics,
    /// Metrics by the minute.
    pub minute_metrics: Metrics,
    /// Which web pages of other origins may call, in the order they are tried.
    pub cors: Vec<CorsRule>,
    /// The version of requests that name none.
    pub default_version: Option<ApiVersion>,
    /// How long deleted blobs are kept, if it was ever set; else the account's settings say.
    pub delete_retention: Option<DeleteRetention>,
    /// The website of the `$web` container.
    pub website: StaticWebsite,
    /// How shares are reached over SMB.
    pub smb: SmbProtocol,
}

/// New values for some of the properties; what is `None` stays as it is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ServicePropertiesUpdate {
    /// Replaces the logging settings.
    pub logging: Option<Logging>,
    /// Replaces the metrics by the hour.
    pub hour_metrics: Option<Metrics>,
    /// Replaces the metrics by the minute.
    pub minute_metrics: Option<Metrics>,
    /// Replaces all rules; an empty list removes them.
    pub cors: Option<Vec<CorsRule>>,
    /// Replaces the version of requests that name none.
    pub default_version: Option<ApiVersion>,
    /// Replaces how long deleted blobs are kept.
    pub delete_retention: Option<DeleteRetention>,
    /// Replaces the settings of the website.
    pub website: Option<StaticWebsite>,
    /// Replaces how shares are reached over SMB.
    pub smb: Option<SmbProtocol>,
}

impl ServiceProperties {
    /// Takes over what `update` names.
    pub fn apply(&mut self, update: &ServicePropertiesUpdate) {
        replace(&mut self.logging, update.logging.as_ref());
        replace(&mut self.hour_metrics, update.hour_metrics.as_ref());
        replace(&mut self.minute_metrics, update.minute_metrics.as_ref());
        replace(&mut self.cors, update.cors.as_ref());
        replace(&mut self.website, update.website.as_ref());
        replace(&mut self.smb, update.smb.as_ref());
        self.delete_retention = update.delete_retention.or(self.delete_retention);
        self.default_version = update.default_version.or(self.default_version);
    }
}

fn replace<T: Clone>(value: &mut T, update: Option<&T>) {
    if let Some(new) = update {
        value.clone_from(new);
    }
}

/// Which requests are written to the `$logs` container.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logging {
    /// Of the log's format: 1.0 or 2.0.
    pub version: AnalyticsVersion,
    /// Requests that delete.
    pub delete: bool,
    /// Requests that read.
    pub read: bool,
    /// Requests that write.
    pub write: bool,
    /// How long the logs are kept.
    pub retention: Retention,
}

impl Default for Logging {
    fn default() -> Self {
        let (delete, read, write) = (false, false, false);
        let (version, retention) = (AnalyticsVersion::V1, Retention::default());
        Self { version, delete, read, write, retention }
    }
}

impl Logging {
    /// Whether anything is logged at all.
    pub fn is_on(&self) -> bool {
        self.delete || self.read || self.write
    }
}

/// Whether and how metrics are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Metrics {
    /// Of the format.
    pub version: AnalyticsVersion,
    /// Whether there are any, and whether they count each operation.
    pub detail: MetricsDetail,
    /// How long they are kept.
    pub retention: Retention,
}

impl Default for Metrics {
    fn default() -> Self {
        let (version, retention) = (AnalyticsVersion::V1, Retention::default());
        Self { version, detail: MetricsDetail::Off, retention }
    }
}

/// How much metrics count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MetricsDetail {
    /// Nothing.
    Off,
    /// Whole services.
    Service,
    /// Each operation (`IncludeAPIs`).
    Operations,
}

/// The version of a format of storage analytics.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnalyticsVersion {
    /// 1.0
    V1,
    /// 2.0
    V2,
}

impl AnalyticsVersion {
    /// As documents have it.
    pub fn text(self) -> &'static str {
        match self {
            Self::V1 => "1.0",
            Self::V2 => "2.0",
        }
    }

    /// Reads it; `None` for a version there is not.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::V1, Self::V2].into_iter().find(|version| version.text() == text)
    }
}

/// How many days something is kept; for ever if none are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Retention(Option<u16>);

impl Retention {
    /// No policy.
    pub const NONE: Self = Self(None);

    /// 1 to 365 days; `None` for any other number.
    pub fn days(days: u16) -> Option<Self> {
        RETENTION_DAYS.contains(&days).then_some(Self(Some(days)))
    }

    /// The days, if there is a policy.
    pub fn get(self) -> Option<u16> {
        self.0
    }
}

/// What becomes of deleted blobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeleteRetention {
    /// How long they can be brought back; none = they are gone at once.
    pub retention: Retention,
    /// Whether one that is kept may be removed for good.
    pub allow_permanent_delete: bool,
}

/// What an account's owner demands of SMB clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SmbProtocol {
    /// Sessions that are not encrypted are refused.
    pub encryption_required: bool,
}

/// Text of a setting with the limits its element has.
pub(crate) fn fits(text: &str, limit: usize) -> bool {
    !text.is_empty() && text.encode_utf16().count() <= limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn what_an_update_does_not_name_stays() {
        let mut properties = ServiceProperties {
            cors: vec![CorsRule::sample("*", "GET")],
            default_version: ApiVersion::parse("2019-02-02"),
            ..ServiceProperties::default()
        };
        let before = properties.clone();
        properties.apply(&ServicePropertiesUpdate::default());
        assert_eq!(properties, before);
        let logging = Logging { read: true, ..Logging::default() };
        properties.apply(&ServicePropertiesUpdate {
            logging: Some(logging.clone()),
            cors: Some(Vec::new()),
            ..ServicePropertiesUpdate::default()
        });
        assert_eq!(properties, ServiceProperties { logging, cors: Vec::new(), ..before });
    }

    #[test]
    fn retention_days() {
        for (days, legal) in [(0, false), (1, true), (365, true), (366, false), (u16::MAX, false)] {
            let retention = Retention::days(days);
            assert_eq!(retention.is_some(), legal, "{days}");
            assert!(retention.is_none_or(|kept| kept.get() == Some(days)));
        }
    }

    #[test]
    fn nothing_is_kept_without_a_policy() {
        assert_eq!(Retention::NONE.get(), None);
    }

    #[test]
    fn logging_is_on_when_anything_is_logged() {
        let off = Logging::default();
        for (logging, want) in [
            (off.clone(), false),
            (Logging { read: true, ..off.clone() }, true),
            (Logging { write: true, ..off.clone() }, true),
            (Logging { delete: true, ..off.clone() }, true),
        ] {
            assert_eq!(logging.is_on(), want, "{logging:?}");
        }
    }

    #[test]
    fn versions_of_analytics() {
        for (text, want) in [
            ("1.0", Some(AnalyticsVersion::V1)),
            ("2.0", Some(AnalyticsVersion::V2)),
            ("3.0", None),
            ("1", None),
            ("", None),
        ] {
            assert_eq!(AnalyticsVersion::parse(text), want, "{text}");
            assert!(want.is_none_or(|version| version.text() == text));
        }
    }

    #[test]
    fn texts_have_a_length() {
        for (text, limit, want) in
            [("", 5, false), ("abc", 3, true), ("abcd", 3, false), ("\u{1F600}a", 3, true)]
        {
            assert_eq!(fits(text, limit), want, "{text}");
        }
    }
}
