//! Documents of service properties as tables: what comes back, what is refused and why.

use super::*;
use crate::error::ApiError;
use zaffre_base::Timestamp;
use zaffre_domain::service::{ServiceProperties, ServicePropertiesUpdate};

const LOGGING: &str = "<Logging><Version>1.0</Version><Read>true</Read><Write>false</Write>\
    <Delete>true</Delete><RetentionPolicy><Enabled>true</Enabled><Days>7</Days></RetentionPolicy>\
    </Logging>";
const METRICS: &str = "<Version>1.0</Version><Enabled>true</Enabled><IncludeAPIs>false\
    </IncludeAPIs><RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>";
const RULE: &str = "<CorsRule><AllowedMethods>GET,PUT</AllowedMethods><AllowedOrigins>http://a,\
    http://b</AllowedOrigins><AllowedHeaders>x-ms-meta-a,x-ms-meta-data*</AllowedHeaders>\
    <ExposedHeaders /><MaxAgeInSeconds>500</MaxAgeInSeconds></CorsRule>";

fn version(text: &str) -> ApiVersion {
    ApiVersion::parse(text).unwrap_or(ApiVersion::LATEST)
}

fn read(inside: &str, service: Service, at: &str) -> Result<ServicePropertiesUpdate, ApiError> {
    let document = format!("<StorageServiceProperties>{inside}</StorageServiceProperties>");
    parse(document.as_bytes(), service, version(at))
}

/// Applies a document to nothing and writes the result.
fn round(inside: &str, service: Service, at: &str) -> String {
    let update = read(inside, service, at).expect(inside);
    let mut properties = ServiceProperties::default();
    properties.apply(&update);
    let document = document(&properties, service, version(at));
    let text = String::from_utf8(document).expect("UTF-8");
    let start = text.find("<StorageServiceProperties>").expect("a root") + 26;
    text[start..].trim_end_matches("</StorageServiceProperties>").to_owned()
}

#[test]
fn documents_come_back() {
    let metrics = |name: &str| format!("<{name}>{METRICS}</{name}>");
    let (hour, minute) = (metrics("HourMetrics"), metrics("MinuteMetrics"));
    let shared = format!("{LOGGING}{hour}{minute}<Cors>{RULE}</Cors>");
    let deletion = "<DeleteRetentionPolicy><Enabled>true</Enabled><Days>365</Days>\
        <AllowPermanentDelete>true</AllowPermanentDelete></DeleteRetentionPolicy>";
    let website = "<StaticWebsite><Enabled>true</Enabled><IndexDocument>index.html</IndexDocument>\
        <ErrorDocument404Path>e/404.html</ErrorDocument404Path></StaticWebsite>";
    let default = "<DefaultServiceVersion>2019-02-02</DefaultServiceVersion>";
    let whole = format!("{shared}{deletion}{website}{default}");
    assert_eq!(round(&whole, Service::Blob, "2024-08-04"), whole);
    assert_eq!(round(&shared, Service::Queue, "2024-08-04"), shared);
    assert_eq!(round(&shared, Service::Table, "2019-02-02"), shared);
    let old = format!("{LOGGING}{}{default}", metrics("Metrics"));
    assert_eq!(round(&old, Service::Blob, "2012-02-12"), old);
}

#[test]
fn defaults() {
    let retention = "<RetentionPolicy><Enabled>false</Enabled></RetentionPolicy>";
    let metrics = |name: &str| {
        format!("<{name}><Version>1.0</Version><Enabled>false</Enabled>{retention}</{name}>")
    };
    let shared = format!(
        "<Logging><Version>1.0</Version><Read>false</Read><Write>false</Write>\
         <Delete>false</Delete>{retention}</Logging>{}{}<Cors />",
        metrics("HourMetrics"),
        metrics("MinuteMetrics")
    );
    let deletion = "<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>";
    let website = "<StaticWebsite><Enabled>false</Enabled></StaticWebsite>";
    for (service, at, want) in [
        (Service::Queue, "2024-08-04", shared.clone()),
        (Service::Blob, "2015-02-21", shared.clone()),
        (Service::Blob, "2017-07-29", format!("{shared}{deletion}")),
        (Service::Blob, "2018-03-28", format!("{shared}{deletion}{website}")),
        (
            Service::Blob,
            "2020-02-10",
            format!(
                "{shared}{}{website}",
                deletion.replace(
                    "e</Enabled>",
                    "e</Enabled><AllowPermanentDelete>false</AllowPermanentDelete>"
                )
            ),
        ),
    ] {
        assert_eq!(round("", service, at), want, "{at}");
    }
}

#[test]
fn what_is_refused() {
    let xml = "InvalidXmlDocument";
    let node = "InvalidXmlNodeValue";
    let replaced = |what: &str, with: &str| LOGGING.replace(what, with);
    let days = |days: &str| replaced("<Days>7</Days>", &format!("<Days>{days}</Days>"));
    let retention = "Retention days must be greater than 0 and less than or equal to 365 days.";
    let rules =
        |n: usize| format!("<Cors>{}</Cors>", RULE.replace("http://a,http://b", "*").repeat(n));
    let hour = |inside: &str| format!("<HourMetrics>{inside}</HourMetrics>");
    let web =
        |inside: &str| format!("<StaticWebsite><Enabled>true</Enabled>{inside}</StaticWebsite>");
    for (inside, at, code, reason) in [
        (replaced("<Days>7</Days>", ""), "2024-08-04", xml, "Element is missing: Days."),
        (replaced("<Read>true</Read>", ""), "2024-08-04", xml, "Element is missing: Read."),
        (days("0"), "2024-08-04", xml, retention),
        (days("366"), "2024-08-04", xml, retention),
        (days("-1"), "2024-08-04", xml, retention),
        (days("x"), "2024-08-04", node, "x"),
        (replaced("true</Read>", "maybe</Read>"), "2024-08-04", node, "maybe"),
        (replaced("1.0", "3.0"), "2024-08-04", node, "3.0"),
        (LOGGING.repeat(2), "2024-08-04", xml, "Unexpected element: Logging."),
        (
            replaced("<Write>", "<Read>true</Read><Write>"),
            "2024-08-04",
            xml,
            "Unexpected element: Read.",
        ),
        (rules(6), "2024-08-04", xml, "The number of CORS rules must not exceed 5."),
        ("<Cors><Rule/></Cors>".to_owned(), "2024-08-04", xml, "Unexpected element: Rule."),
        (rules(1).replace(">500<", ">-1<"), "2024-08-04", node, "-1"),
        (
            rules(1).replace("<ExposedHeaders />", ""),
            "2024-08-04",
            xml,
            "Element is missing: ExposedHeaders.",
        ),
        (hour(&METRICS.replace("1.0", "2.0")), "2024-08-04", node, "2.0"),
        (
            hour(&METRICS.replacen("true", "false", 1)),
            "2024-08-04",
            xml,
            "Unexpected element: IncludeAPIs.",
        ),
        (
            hour("<Version>1.0</Version><Enabled>true</Enabled>"),
            "2024-08-04",
            xml,
            "Element is missing: IncludeAPIs.",
        ),
        ("<Metrics/>".to_owned(), "2024-08-04", xml, "Unexpected element: Metrics."),
        (LOGGING.to_owned(), "2012-02-12", xml, "Element is missing: Metrics."),
        ("<Cors/>".to_owned(), "2012-02-12", xml, "Unexpected element: Cors."),
        (web(""), "2017-11-09", xml, "Unexpected element: StaticWebsite."),
        (
            web("<DefaultIndexDocumentPath>a</DefaultIndexDocumentPath>"),
            "2018-11-09",
            xml,
            "Unexpected element: DefaultIndexDocumentPath.",
        ),
        (
            "<DefaultServiceVersion>1999-01-01</DefaultServiceVersion>".to_owned(),
            "2024-08-04",
            node,
            "1999-01-01",
        ),
        ("<Else/>".to_owned(), "2024-08-04", xml, "Unexpected element: Else."),
    ] {
        let error = read(&inside, Service::Blob, at).expect_err(&inside);
        let last = error.details.last().map(|(_, text)| text.as_str());
        assert_eq!((error.code, last), (code, Some(reason)), "{inside}");
    }
    let both =
        "<IndexDocument>i</IndexDocument><DefaultIndexDocumentPath>a</DefaultIndexDocumentPath>";
    assert!(read(&web(both), Service::Blob, "2024-08-04").is_err());
}

const SHARES: &str = "<ShareDeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days>\
                      </ShareDeleteRetentionPolicy>";

#[test]
fn each_service_has_its_own_elements() {
    let file = Service::File;
    let smb = |inside: &str| format!("<ProtocolSettings><SMB>{inside}</SMB></ProtocolSettings>");
    let second = LOGGING.replace("1.0", "2.0");
    let deletion = "<DeleteRetentionPolicy><Enabled>false</Enabled></DeleteRetentionPolicy>";
    for (inside, service, legal) in [
        (second.as_str(), Service::Blob, true),
        (second.as_str(), Service::Queue, true),
        (second.as_str(), Service::Table, false),
        (LOGGING, Service::Table, true),
        (LOGGING, Service::File, false),
        ("<Cors />", Service::File, true),
        (SHARES, Service::File, true),
        (SHARES, Service::Blob, false),
        (&smb("<EncryptionInTransit><Required>true</Required></EncryptionInTransit>"), file, true),
        (&smb("<Multichannel><Enabled>false</Enabled></Multichannel>"), file, true),
        (&smb("<Multichannel><Enabled>true</Enabled></Multichannel>"), file, false),
        (&smb("<Versions>SMB3.1.1;</Versions>"), file, false),
        ("<ProtocolSettings><NFS /></ProtocolSettings>", file, false),
        (deletion, Service::Blob, true),
        (deletion, Service::Queue, false),
        ("<DefaultServiceVersion>2019-02-02</DefaultServiceVersion>", Service::Table, false),
    ] {
        assert_eq!(read(inside, service, "2024-08-04").is_ok(), legal, "{service:?} {inside}");
    }
}

#[test]
fn only_the_secondary_has_stats() {
    let now = Timestamp::from_unix_seconds(0);
    let error = stats(false, ApiVersion::LATEST, now).map(|_| ()).expect_err("refused");
    assert_eq!(error.code, "InvalidQueryParameterValue");
    assert!(stats(true, ApiVersion::LATEST, now).is_ok());
}
