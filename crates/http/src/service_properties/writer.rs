//! Properties as a document, in the order Azure writes them.

use super::{Shape, protocol};
use crate::xml::Writer;
use zaffre_auth::Service;
use zaffre_base::ApiVersion;
use zaffre_domain::service::{
    CorsRule, DeleteRetention, Logging, Metrics, MetricsDetail, Retention, ServiceProperties,
    StaticWebsite,
};

/// The document of Get Service Properties.
pub fn document(properties: &ServiceProperties, service: Service, version: ApiVersion) -> Vec<u8> {
    let shape = Shape::of(service, version);
    let mut xml = Writer::default();
    xml.open("StorageServiceProperties");
    if shape.logging {
        logging(&mut xml, &properties.logging);
    }
    if shape.modern {
        metrics(&mut xml, "HourMetrics", &properties.hour_metrics);
        metrics(&mut xml, "MinuteMetrics", &properties.minute_metrics);
        cors(&mut xml, &properties.cors);
    } else {
        metrics(&mut xml, "Metrics", &properties.hour_metrics);
    }
    if shape.delete_retention {
        delete_retention(&mut xml, properties.delete_retention.unwrap_or_default(), shape);
    }
    if shape.share_retention {
        xml.open("ShareDeleteRetentionPolicy");
        days(&mut xml, properties.delete_retention.unwrap_or_default().retention);
        xml.close("ShareDeleteRetentionPolicy");
    }
    if shape.protocols {
        protocol::document(&mut xml, properties.smb);
    }
    if shape.website {
        website(&mut xml, &properties.website, shape);
    }
    let version = properties.default_version.filter(|_| shape.default_version);
    xml.optional("DefaultServiceVersion", version);
    xml.close("StorageServiceProperties");
    xml.finish()
}

fn logging(xml: &mut Writer, logging: &Logging) {
    xml.open("Logging").element("Version", logging.version.text());
    xml.element("Read", logging.read).element("Write", logging.write);
    xml.element("Delete", logging.delete);
    retention(xml, logging.retention);
    xml.close("Logging");
}

fn metrics(xml: &mut Writer, name: &str, metrics: &Metrics) {
    xml.open(name).element("Version", metrics.version.text());
    xml.element("Enabled", metrics.detail != MetricsDetail::Off);
    let operations = match metrics.detail {
        MetricsDetail::Off => None,
        MetricsDetail::Service => Some(false),
        MetricsDetail::Operations => Some(true),
    };
    xml.optional("IncludeAPIs", operations);
    retention(xml, metrics.retention);
    xml.close(name);
}

fn retention(xml: &mut Writer, retention: Retention) {
    xml.open("RetentionPolicy");
    days(xml, retention);
    xml.close("RetentionPolicy");
}

fn days(xml: &mut Writer, retention: Retention) {
    let days = retention.get();
    xml.element("Enabled", days.is_some()).optional("Days", days);
}

fn cors(xml: &mut Writer, rules: &[CorsRule]) {
    if rules.is_empty() {
        xml.empty("Cors");
        return;
    }
    xml.open("Cors");
    for rule in rules {
        xml.open("CorsRule").element("AllowedMethods", rule.methods.join(","));
        xml.element("AllowedOrigins", rule.origins.join(","));
        xml.element("AllowedHeaders", rule.allowed_headers.join(","));
        xml.element("ExposedHeaders", rule.exposed_headers.join(","));
        xml.element("MaxAgeInSeconds", rule.max_age_seconds).close("CorsRule");
    }
    xml.close("Cors");
}

fn delete_retention(xml: &mut Writer, kept: DeleteRetention, shape: Shape) {
    xml.open("DeleteRetentionPolicy");
    days(xml, kept.retention);
    let permanent = Some(kept.allow_permanent_delete).filter(|_| shape.permanent_delete);
    xml.optional("AllowPermanentDelete", permanent);
    xml.close("DeleteRetentionPolicy");
}

fn website(xml: &mut Writer, website: &StaticWebsite, shape: Shape) {
    xml.open("StaticWebsite").element("Enabled", website.enabled);
    if website.enabled {
        xml.optional("IndexDocument", website.index_document.as_ref());
        let default = website.default_index_path.as_ref().filter(|_| shape.default_index);
        xml.optional("DefaultIndexDocumentPath", default);
        xml.optional("ErrorDocument404Path", website.error_document.as_ref());
    }
    xml.close("StaticWebsite");
}
