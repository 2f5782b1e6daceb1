//! `x-ms-copy-source` taken apart: which server, which path, which query.
//!
//! Must never resolve or fetch anything.

use std::net::{Ipv4Addr, Ipv6Addr};
use zaffre_base::ApiVersion;

/// The longest URL a copy may name.
pub const LONGEST_SOURCE: usize = 2048;

/// From this version on a source is a URL; before, it was a path on the same service.
const URLS_FROM: ApiVersion = ApiVersion::new(2012, 2, 12);

/// Where a copy comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceUrl {
    /// Over TLS.
    pub secure: bool,
    /// Host and port as written; empty for a path on this service.
    pub authority: String,
    /// The path as written, percent-encoded, with its leading slash.
    pub path: String,
    /// The query as written, without `?`.
    pub query: String,
}

/// What host names of services start with after the account.
const SERVICES: [&str; 2] = ["blob", "file"];

impl SourceUrl {
    /// Reads the header; `None` if it is no source.
    pub fn parse(text: &str, version: ApiVersion) -> Option<Self> {
        if text.len() > LONGEST_SOURCE || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        if text.starts_with('/') && version < URLS_FROM {
            let (path, query) = split_query(text);
            return Some(Self { secure: false, authority: String::new(), path, query });
        }
        let (scheme, rest) = text.split_once("://")?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        // A user name in front of the host is how one server is made to look like another.
        if authority.is_empty() || authority.contains(['@', '\\']) || !good_port(authority) {
            return None;
        }
        let (path, query) = split_query(rest);
        let path = if path.is_empty() { "/".to_owned() } else { path };
        let read = Self { secure, authority: authority.to_ascii_lowercase(), path, query };
        (!read.host().is_empty()).then_some(read)
    }

    /// The URL as one text.
    pub fn whole(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        let query = if self.query.is_empty() { "" } else { "?" };
        format!("{scheme}://{}{}{query}{}", self.authority, self.path, self.query)
    }

    /// The host without its port.
    pub fn host(&self) -> &str {
        match self.authority.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => self.authority.split(':').next().unwrap_or_default(),
        }
    }

    /// The port, written or implied.
    pub fn port(&self) -> u16 {
        let tail = self.authority.rsplit(']').next().unwrap_or_default();
        let written = tail.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        written.unwrap_or(if self.secure { 443 } else { 80 })
    }

    /// Whether it names this server: the address the request itself went to, the same with another
    /// account in front, or this machine's own name on the port we listen on.
    pub fn is_ours(&self, asked: &str, listening: u16) -> bool {
        let asked = asked.to_ascii_lowercase();
        if self.authority.is_empty() || self.authority == asked {
            return true;
        }
        let shared = |authority: &str| authority.split_once('.').map(|(_, rest)| rest.to_owned());
        if !is_address(self.host())
            && shared(&self.authority).is_some_and(|rest| {
                rest.contains('.')
                    || rest.starts_with("localhost")
                    || SERVICES.iter().any(|name| rest.starts_with(name))
            })
            && shared(&self.authority) == shared(&asked)
        {
            return true;
        }
        let here = matches!(self.host(), "127.0.0.1" | "::1" | "localhost")
            || self.host().ends_with(".localhost");
        here && self.port() == listening
    }
}

fn is_address(host: &str) -> bool {
    host.parse::<Ipv4Addr>().is_ok() || host.parse::<Ipv6Addr>().is_ok()
}

fn good_port(authority: &str) -> bool {
    let tail = match authority.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((host, tail)) if host.parse::<Ipv6Addr>().is_ok() => tail,
            _ => return false,
        },
        None => match authority.find(':') {
            Some(at) => &authority[at..],
            None => "",
        },
    };
    match tail.strip_prefix(':') {
        Some(port) => port.parse::<u16>().is_ok_and(|port| port != 0),
        None => tail.is_empty(),
    }
}

fn split_query(text: &str) -> (String, String) {
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    (path.to_owned(), query.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, version: ApiVersion) -> String {
        match SourceUrl::parse(text, version) {
            None => "no".to_owned(),
            Some(url) => {
                let scheme = if url.secure { "https" } else { "http" };
                format!("{scheme} {} {} {} {}", url.host(), url.port(), url.path, url.query)
            }
        }
    }

    #[test]
    fn urls() {
        let long = format!("http://h/{}", "x".repeat(LONGEST_SOURCE));
        for (text, want) in [
            ("http://127.0.0.1:10000/acct/c/b", "http 127.0.0.1 10000 /acct/c/b "),
            (
                "HTTPS://Acct.Blob.Host/c/b?sv=1&sig=a%2Fb",
                "https acct.blob.host 443 /c/b sv=1&sig=a%2Fb",
            ),
            ("http://[::1]:5/a/b", "http ::1 5 /a/b "),
            ("http://h?x=1", "http h 80 / x=1"),
            ("http://h/a#b", "http h 80 /a "),
            ("http://user@h/a", "no"),
            ("http://h:0/a", "no"),
            ("http://h:99999/a", "no"),
            ("http://h:x/a", "no"),
            ("http://[::1/a", "no"),
            ("http://[zz]/a", "no"),
            ("http:///a", "no"),
            ("file:///etc/passwd", "no"),
            ("gopher://h/", "no"),
            ("/acct/c/b", "no"),
            ("c/b", "no"),
            ("", "no"),
            ("http://h/a b", "no"),
            ("http://h\\@i/a", "no"),
            (long.as_str(), "no"),
        ] {
            assert_eq!(show(text, ApiVersion::LATEST), want, "{text}");
        }
        let old = ApiVersion::new(2011, 8, 18);
        assert_eq!(show("/acct/c/b?snapshot=1", old), "http  80 /acct/c/b snapshot=1");
    }

    #[test]
    fn ours() {
        for (source, asked, ours) in [
            ("http://127.0.0.1:10000/a/c/b", "127.0.0.1:10000", true),
            ("http://localhost:10000/a/c/b", "127.0.0.1:10000", true),
            ("http://LOCALHOST:10000/a/c/b", "127.0.0.1:10000", true),
            ("http://other.blob.localhost:10000/c/b", "acct.blob.localhost:10000", true),
            ("http://other.blob.example.com/c/b", "acct.blob.example.com", true),
            ("http://azurite:10000/a/c/b", "azurite:10000", true),
            ("http://127.0.0.1:10001/a/c/b", "127.0.0.1:10000", false),
            ("http://10.0.0.1:10000/a/c/b", "127.0.0.1:10000", false),
            ("http://169.254.169.254/a", "127.0.0.1:10000", false),
            ("http://evil.com/a", "storage.com", false),
            ("http://10.1.2.3:10000/a", "11.1.2.3:10000", false),
        ] {
            let url = SourceUrl::parse(source, ApiVersion::LATEST).expect("a URL");
            assert_eq!(url.is_ours(asked, 10_000), ours, "{source} {asked}");
        }
    }
}
