//! A document as an update: what it leaves out stays, and what it names must be complete.

use super::{Shape, protocol};
use crate::error::ApiError;
use crate::xml::{Event, Reader};
use zaffre_auth::Service;
use zaffre_base::ApiVersion;
use zaffre_domain::service::{
    AnalyticsVersion, CorsRule, DeleteRetention, Logging, Metrics, MetricsDetail, Retention,
    ServicePropertiesUpdate, StaticWebsite, cors,
};

/// Reads the document of Set Service Properties.
pub fn parse(
    document: &[u8],
    service: Service,
    version: ApiVersion,
) -> Result<ServicePropertiesUpdate, ApiError> {
    let shape = Shape::of(service, version);
    let mut xml = Reader::new(document)?;
    xml.root("StorageServiceProperties")?;
    let mut update = ServicePropertiesUpdate::default();
    let u = &mut update;
    while let Some(name) = child(&mut xml)? {
        match name.as_str() {
            "Logging" if shape.logging => {
                once(&mut xml, &name, &mut u.logging, |xml| logging(xml, shape))?;
            }
            "Metrics" if !shape.modern => once(&mut xml, &name, &mut u.hour_metrics, metrics)?,
            "HourMetrics" if shape.modern => once(&mut xml, &name, &mut u.hour_metrics, metrics)?,
            "MinuteMetrics" if shape.modern => {
                once(&mut xml, &name, &mut u.minute_metrics, metrics)?;
            }
            "Cors" if shape.modern => once(&mut xml, &name, &mut u.cors, cors_rules)?,
            "DefaultServiceVersion" if shape.default_version => {
                once(&mut xml, &name, &mut u.default_version, default_version)?;
            }
            "DeleteRetentionPolicy" if shape.delete_retention => {
                once(&mut xml, &name, &mut u.delete_retention, |xml| delete_retention(xml, shape))?;
            }
            "ShareDeleteRetentionPolicy" if shape.share_retention => {
                once(&mut xml, &name, &mut u.delete_retention, |xml| delete_retention(xml, shape))?;
            }
            "ProtocolSettings" if shape.protocols => {
                once(&mut xml, &name, &mut u.smb, protocol::settings)?;
            }
            "StaticWebsite" if shape.website => {
                once(&mut xml, &name, &mut u.website, |xml| website(xml, shape))?;
            }
            _ => return Err(unexpected(&xml, &name)),
        }
    }
    xml.finish()?;
    if !shape.modern && update.logging.is_none() {
        return Err(missing(&xml, "Logging"));
    }
    if !shape.modern && update.hour_metrics.is_none() {
        return Err(missing(&xml, "Metrics"));
    }
    Ok(update)
}

fn once<T>(
    xml: &mut Reader<'_>,
    name: &str,
    value: &mut Option<T>,
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, ApiError>,
) -> Result<(), ApiError> {
    if value.is_some() {
        return Err(unexpected(xml, name));
    }
    *value = Some(read(xml)?);
    Ok(())
}

pub(super) fn child(xml: &mut Reader<'_>) -> Result<Option<String>, ApiError> {
    match xml.next_tag()? {
        Event::Start(name) => Ok(Some(name)),
        _ => Ok(None),
    }
}

pub(super) fn unexpected(xml: &Reader<'_>, name: &str) -> ApiError {
    xml.error(format!("Unexpected element: {name}."))
}

fn missing(xml: &Reader<'_>, name: &str) -> ApiError {
    xml.error(format!("Element is missing: {name}."))
}

/// The children of one element, each at most once.
struct Group {
    texts: Vec<(String, String)>,
    retention: Option<Retention>,
}

impl Group {
    /// Reads the element just entered, whose children may have these names.
    fn read(xml: &mut Reader<'_>, names: &[&str]) -> Result<Self, ApiError> {
        let mut group = Self { texts: Vec::new(), retention: None };
        while let Some(name) = child(xml)? {
            if !names.contains(&name.as_str()) || group.text(&name).is_some() {
                return Err(unexpected(xml, &name));
            }
            if name == "RetentionPolicy" {
                once(xml, &name, &mut group.retention, |xml| {
                    Self::read(xml, &["Enabled", "Days"])?.days(xml)
                })?;
            } else {
                group.texts.push((name, xml.element_text()?.trim().to_owned()));
            }
        }
        Ok(group)
    }

    fn text(&self, name: &str) -> Option<&str> {
        let found = self.texts.iter().find(|(found, _)| found == name);
        found.map(|(_, text)| text.as_str())
    }

    fn required(&self, xml: &Reader<'_>, name: &str) -> Result<&str, ApiError> {
        self.text(name).ok_or_else(|| missing(xml, name))
    }

    fn named(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    fn flag(&self, xml: &Reader<'_>, name: &str) -> Result<bool, ApiError> {
        let text = self.required(xml, name)?;
        match text {
            _ if text.eq_ignore_ascii_case("true") => Ok(true),
            _ if text.eq_ignore_ascii_case("false") => Ok(false),
            _ => Err(ApiError::invalid_xml_node(name, text)),
        }
    }

    fn version(
        &self,
        xml: &Reader<'_>,
        newest: AnalyticsVersion,
    ) -> Result<AnalyticsVersion, ApiError> {
        let text = self.required(xml, "Version")?;
        let version = AnalyticsVersion::parse(text);
        version
            .filter(|v| *v == AnalyticsVersion::V1 || *v == newest)
            .ok_or_else(|| ApiError::invalid_xml_node("Version", text))
    }

    fn retention(&self, xml: &Reader<'_>) -> Result<Retention, ApiError> {
        self.retention.ok_or_else(|| missing(xml, "RetentionPolicy"))
    }

    /// `Enabled` and `Days`, which says nothing while there is no policy.
    fn days(&self, xml: &Reader<'_>) -> Result<Retention, ApiError> {
        if !self.flag(xml, "Enabled")? {
            return Ok(Retention::NONE);
        }
        let text = self.required(xml, "Days")?;
        let whole = text.bytes().all(|b| b.is_ascii_digit() || b == b'-') && !text.is_empty();
        if !whole {
            return Err(ApiError::invalid_xml_node("Days", text));
        }
        text.parse().ok().and_then(Retention::days).ok_or_else(|| {
            xml.error("Retention days must be greater than 0 and less than or equal to 365 days.")
        })
    }
}

fn logging(xml: &mut Reader<'_>, shape: Shape) -> Result<Logging, ApiError> {
    let group = Group::read(xml, &["Version", "Read", "Write", "Delete", "RetentionPolicy"])?;
    let newest = if shape.second_log_format { AnalyticsVersion::V2 } else { AnalyticsVersion::V1 };
    Ok(Logging {
        version: group.version(xml, newest)?,
        read: group.flag(xml, "Read")?,
        write: group.flag(xml, "Write")?,
        delete: group.flag(xml, "Delete")?,
        retention: group.retention(xml)?,
    })
}

fn metrics(xml: &mut Reader<'_>) -> Result<Metrics, ApiError> {
    const OPERATIONS: &str = "IncludeAPIs";
    let group = Group::read(xml, &["Version", "Enabled", OPERATIONS, "RetentionPolicy"])?;
    let version = group.version(xml, AnalyticsVersion::V1)?;
    let detail = if group.flag(xml, "Enabled")? {
        let each = group.flag(xml, OPERATIONS)?;
        if each { MetricsDetail::Operations } else { MetricsDetail::Service }
    } else if group.text(OPERATIONS).is_some() {
        return Err(unexpected(xml, OPERATIONS));
    } else {
        MetricsDetail::Off
    };
    Ok(Metrics { version, detail, retention: group.retention(xml)? })
}

fn default_version(xml: &mut Reader<'_>) -> Result<ApiVersion, ApiError> {
    let text = xml.element_text()?;
    let version = ApiVersion::parse(text.trim());
    version.ok_or_else(|| ApiError::invalid_xml_node("DefaultServiceVersion", &text))
}

fn delete_retention(xml: &mut Reader<'_>, shape: Shape) -> Result<DeleteRetention, ApiError> {
    const PERMANENT: &str = "AllowPermanentDelete";
    let names = ["Enabled", "Days", PERMANENT];
    let known = if shape.permanent_delete { &names[..] } else { &names[..2] };
    let group = Group::read(xml, known)?;
    let retention = group.days(xml)?;
    let asked = group.text(PERMANENT).is_some();
    let allow_permanent_delete = asked && group.flag(xml, PERMANENT)?;
    Ok(DeleteRetention { retention, allow_permanent_delete })
}

fn website(xml: &mut Reader<'_>, shape: Shape) -> Result<StaticWebsite, ApiError> {
    const INDEX: &str = "IndexDocument";
    const ERROR: &str = "ErrorDocument404Path";
    const DEFAULT: &str = "DefaultIndexDocumentPath";
    let names = ["Enabled", INDEX, ERROR, DEFAULT];
    let known = if shape.default_index { &names[..] } else { &names[..3] };
    let group = Group::read(xml, known)?;
    if !group.flag(xml, "Enabled")? {
        return Ok(StaticWebsite::default());
    }
    let website = StaticWebsite {
        enabled: true,
        index_document: group.named(INDEX),
        default_index_path: group.named(DEFAULT),
        error_document: group.named(ERROR),
    };
    if website.is_legal() {
        Ok(website)
    } else {
        Err(xml.error(
            "IndexDocument must be a name without a slash, DefaultIndexDocumentPath must not be \
             given with it, and no path may start with a slash or be longer than 255 characters.",
        ))
    }
}

fn cors_rules(xml: &mut Reader<'_>) -> Result<Vec<CorsRule>, ApiError> {
    let mut rules = Vec::new();
    while let Some(name) = child(xml)? {
        if name != "CorsRule" {
            return Err(unexpected(xml, &name));
        }
        rules.push(cors_rule(xml)?);
        cors::check(&rules).map_err(|fault| xml.error(fault.reason()))?;
    }
    Ok(rules)
}

fn cors_rule(xml: &mut Reader<'_>) -> Result<CorsRule, ApiError> {
    const AGE: &str = "MaxAgeInSeconds";
    let names = ["AllowedOrigins", "AllowedMethods", "AllowedHeaders", "ExposedHeaders", AGE];
    let group = Group::read(xml, &names)?;
    let list = |name: &str| group.required(xml, name).map(texts);
    let age = group.required(xml, AGE)?;
    let seconds = age.parse::<u32>().ok().filter(|age| i32::try_from(*age).is_ok());
    Ok(CorsRule {
        origins: list("AllowedOrigins")?,
        methods: list("AllowedMethods")?.iter().map(|m| m.to_ascii_uppercase()).collect(),
        allowed_headers: prefixes_last(list("AllowedHeaders")?),
        exposed_headers: prefixes_last(list("ExposedHeaders")?),
        max_age_seconds: seconds.ok_or_else(|| ApiError::invalid_xml_node(AGE, age))?,
    })
}

fn texts(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

/// Azure gives back full names before prefixes.
fn prefixes_last(mut headers: Vec<String>) -> Vec<String> {
    headers.sort_by_key(|header| header.ends_with('*'));
    headers
}
