//! One line of a storage analytics log, field by field, in both versions of its format.
//!
//! Must never let text of a request break out of its field: what may hold a quote, a semicolon or a
//! new line is encoded and quoted.

use super::AnalyticsVersion;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write as _;
use zaffre_base::Timestamp;

/// How the caller proved who they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Authentication {
    /// With the account's key.
    Key,
    /// With a shared access signature.
    Sas,
    /// With a bearer token.
    Bearer,
    /// Not at all.
    Anonymous,
}

/// What an operation does, which decides whether it is logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Reads.
    Read,
    /// Changes something.
    Write,
    /// Removes something.
    Delete,
}

/// A request that was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogEntry {
    /// When its head was there.
    pub started: Timestamp,
    /// The operation's name.
    pub operation: &'static str,
    /// What it does.
    pub effect: Effect,
    /// The status of the answer.
    pub status: u16,
    /// How long it took.
    pub milliseconds: u64,
    /// Who asked.
    pub authentication: Authentication,
    /// Whose data.
    pub account: String,
    /// `blob`, `queue` or `table`.
    pub service: &'static str,
    /// The URL, without signatures.
    pub url: String,
    /// `/account/container/blob`
    pub object: String,
    /// Our id for the request.
    pub request_id: String,
    /// Address and port of the client.
    pub peer: String,
    /// `x-ms-version` as the answer has it.
    pub version: String,
    /// Bytes of the request's head and body, and of the answer's.
    pub sizes: [u64; 4],
    /// Content-Length as sent.
    pub content_length: Option<u64>,
    /// Content-MD5 as sent.
    pub request_md5: Option<String>,
    /// Content-MD5 as answered.
    pub server_md5: Option<String>,
    /// ETag as answered.
    pub etag: Option<String>,
    /// Last-Modified as answered.
    pub last_modified: Option<Timestamp>,
    /// `If-Match=…` and the like, as sent.
    pub conditions: Option<String>,
    /// User-Agent
    pub user_agent: Option<String>,
    /// Referer
    pub referrer: Option<String>,
    /// `x-ms-client-request-id`
    pub client_request_id: Option<String>,
}

/// Fields at the end of version 2.0 that tell about a bearer token; ours carry none of it.
const TOKEN_FIELDS: usize = 8;

impl LogEntry {
    /// Whether it is logged at all: of requests without a credential, those that failed because of
    /// the client are not, but for 304.
    pub fn is_logged(&self) -> bool {
        self.authentication != Authentication::Anonymous || !(400..500).contains(&self.status)
    }

    /// The line, without its end.
    pub fn line(&self, version: AnalyticsVersion) -> String {
        let [request_head, request_body, answer_head, answer_body] = self.sizes;
        let number = |value: Option<u64>| value.map_or_else(String::new, |n| n.to_string());
        let key = self.authentication == Authentication::Key;
        let mut fields: Vec<String> = [
            version.text().to_string(),
            self.started.iso7().to_string(),
            self.operation.to_string(),
            self.outcome(),
            self.status.to_string(),
            self.milliseconds.to_string(),
            self.milliseconds.to_string(),
            self.authentication.text().to_string(),
            if key { self.account.clone() } else { String::new() },
            self.account.clone(),
            self.service.to_string(),
            quoted(Some(&self.url)),
            quoted(Some(&self.object)),
            self.request_id.clone(),
            "0".to_string(),
            self.peer.clone(),
            self.version.clone(),
            request_head.to_string(),
            request_body.to_string(),
            answer_head.to_string(),
            answer_body.to_string(),
            number(self.content_length),
        ]
        .into();
        fields.extend([
            quoted(self.request_md5.as_deref()),
            quoted(self.server_md5.as_deref()),
            quoted(self.etag.as_deref().map(|tag| tag.trim_matches('"'))),
            self.last_modified.map_or_else(String::new, long_date),
            quoted(self.conditions.as_deref()),
            quoted(self.user_agent.as_deref()),
            quoted(self.referrer.as_deref()),
            quoted(self.client_request_id.as_deref()),
        ]);
        if version == AnalyticsVersion::V2 {
            fields.extend((0..TOKEN_FIELDS).map(|_| String::new()));
        }
        fields.join(";")
    }

    /// `Success`, `SASAuthorizationError` and so on.
    fn outcome(&self) -> String {
        let who = match self.authentication {
            Authentication::Key | Authentication::Bearer => "",
            Authentication::Sas => "SAS",
            Authentication::Anonymous => "Anonymous",
        };
        let what = match self.status {
            401 | 403 => "AuthorizationError",
            503 => "ThrottlingError",
            400..500 => "ClientOtherError",
            500.. => "ServerOtherError",
            _ => "Success",
        };
        format!("{who}{what}")
    }
}

impl Authentication {
    fn text(self) -> &'static str {
        match self {
            Self::Key => "authenticated",
            Self::Sas => "sas",
            Self::Bearer => "bearer",
            Self::Anonymous => "anonymous",
        }
    }
}

fn quoted(text: Option<&str>) -> String {
    let Some(text) = text else { return String::new() };
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("&quot;"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            ';' => out.push_str("&#59;"),
            c if c.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(out, "&#{};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// `Thursday, 28-Jul-11 18:02:40 GMT`, as these logs have it.
fn long_date(at: Timestamp) -> String {
    const DAYS: [&str; 7] =
        ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
    let short = at.rfc1123().to_string();
    let mut words = short.split(' ');
    let (Some(day), Some(date), Some(month), Some(year), Some(time)) =
        (words.next(), words.next(), words.next(), words.next(), words.next())
    else {
        return short;
    };
    let day = DAYS.iter().find(|long| long.starts_with(day.trim_end_matches(',')));
    let (day, year) = (day.copied().unwrap_or_default(), year.get(2..).unwrap_or_default());
    format!("{day}, {date}-{month}-{year} {time} GMT")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> LogEntry {
        LogEntry {
            started: Timestamp::from_unix_seconds(1_311_876_160),
            operation: "PutBlob",
            effect: Effect::Write,
            status: 201,
            milliseconds: 28,
            authentication: Authentication::Key,
            account: "sally".to_string(),
            service: "blob",
            url: "https://sally.blob/lake.jpg?a=1;\"".to_string(),
            object: "/sally/thumbnails/lake.jpg".to_string(),
            request_id: "id".to_string(),
            peer: "1.2.3.4:5".to_string(),
            version: "2009-09-19".to_string(),
            sizes: [438, 100, 223, 0],
            content_length: Some(100),
            request_md5: None,
            server_md5: Some("66Cb==".to_string()),
            etag: Some("\"0x8\"".to_string()),
            last_modified: Some(Timestamp::from_unix_seconds(1_311_876_160)),
            conditions: None,
            user_agent: Some("a;b\n".to_string()),
            referrer: None,
            client_request_id: Some("mine".to_string()),
        }
    }

    #[test]
    fn lines() {
        let first = "1.0;2011-07-28T18:02:40.0000000Z;PutBlob;Success;201;28;28;authenticated;sally;\
            sally;blob;\"https://sally.blob/lake.jpg?a=1&#59;&quot;\";\
            \"/sally/thumbnails/lake.jpg\";id;0;1.2.3.4:5;2009-09-19;438;100;223;0;100;;\
            \"66Cb==\";\"0x8\";Thursday, 28-Jul-11 18:02:40 GMT;;\"a&#59;b&#10;\";;\"mine\"";
        let plain = entry().line(AnalyticsVersion::V1);
        assert_eq!(plain, first);
        let second = entry().line(AnalyticsVersion::V2);
        assert_eq!(second, first.replacen("1.0", "2.0", 1) + ";;;;;;;;");
    }

    #[test]
    fn outcomes() {
        use Authentication as A;
        for (authentication, status, want, logged) in [
            (A::Key, 200, "Success", true),
            (A::Key, 304, "Success", true),
            (A::Key, 404, "ClientOtherError", true),
            (A::Key, 403, "AuthorizationError", true),
            (A::Key, 503, "ThrottlingError", true),
            (A::Sas, 206, "SASSuccess", true),
            (A::Sas, 500, "SASServerOtherError", true),
            (A::Anonymous, 200, "AnonymousSuccess", true),
            (A::Anonymous, 304, "AnonymousSuccess", true),
            (A::Anonymous, 401, "AnonymousAuthorizationError", false),
            (A::Anonymous, 500, "AnonymousServerOtherError", true),
        ] {
            let entry = LogEntry { status, authentication, ..entry() };
            assert_eq!((entry.outcome().as_str(), entry.is_logged()), (want, logged));
        }
    }
}
