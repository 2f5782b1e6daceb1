//! Which account a request is for and what path remains: the two URL styles told apart.
//!
//! Pure. Decodes the path exactly once; every layer below uses the decoded text.

use crate::error::ApiError;
use crate::percent;
use memchr::memchr;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A URL taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Address {
    /// The account's name as sent, without `-secondary`; not yet checked.
    pub account: String,
    /// Asked of the read-only secondary endpoint.
    pub secondary: bool,
    /// The account was the first path segment, not a host label. Signatures then name it twice.
    pub path_style: bool,
    /// What follows the account, decoded once, without its leading slash: `container/blob`.
    pub path: String,
}

/// The host name Docker gives the machine it runs on: has dots but no account.
const DOCKER_HOST: &str = "host.docker.internal";
const SECONDARY: &str = "-secondary";
/// Newer SDKs add these to the account's host label to choose a network.
const NETWORK_SUFFIXES: [&str; 2] = ["-ipv6", "-dualstack"];

/// Takes `host` (with or without port) and the path as received apart.
/// `always_path_style` is the operator's `--disableProductStyleUrl`.
pub fn parse(host: &str, raw_path: &str, always_path_style: bool) -> Result<Address, ApiError> {
    let raw_path = raw_path.strip_prefix('/').ok_or_else(ApiError::invalid_uri)?;
    let path_style = always_path_style || !names_account(host);
    let (label, rest) = if path_style {
        let (first, rest) = raw_path.split_once('/').unwrap_or((raw_path, ""));
        (percent::decode(first).ok_or_else(ApiError::url_failed_to_parse)?, rest)
    } else {
        let label = host.split('.').next().unwrap_or_default();
        (without_network(&label.to_ascii_lowercase()).to_owned(), raw_path)
    };
    if label.is_empty() {
        return Err(ApiError::invalid_uri());
    }
    let (account, secondary) = match label.strip_suffix(SECONDARY) {
        Some(account) => (account.to_owned(), true),
        None => (label, false),
    };
    let path = percent::decode(rest).ok_or_else(ApiError::url_failed_to_parse)?;
    // An encoded slash never ends the container's name: no two readers may see two containers.
    if path.len() != rest.len() && hides_slash(rest) {
        return Err(ApiError::invalid_resource_name());
    }
    // Azure's front end and every emulator so far read a backslash as a slash.
    let path = match memchr(b'\\', path.as_bytes()) {
        Some(_) => path.replace('\\', "/"),
        None => path,
    };
    Ok(Address { account, secondary, path_style, path })
}

/// Whether the first segment of a path as received has an encoded slash.
fn hides_slash(raw_path: &str) -> bool {
    let first = raw_path.split(['/', '\\']).next().filter(|first| first.contains('%'));
    first.and_then(percent::decode).is_some_and(|first| first.contains(['/', '\\']))
}

/// Whether the host's first label can be an account: a dotted name that is no address.
fn names_account(host: &str) -> bool {
    let name = without_port(host);
    memchr(b'.', name.as_bytes()).is_some()
        && !name.starts_with('[')
        && name.parse::<Ipv4Addr>().is_err()
        && name.parse::<Ipv6Addr>().is_err()
        && !name.eq_ignore_ascii_case(DOCKER_HOST)
}

/// `[::1]:10000`, `::1`, `name:10000` and `name` without their ports.
fn without_port(host: &str) -> &str {
    let Some((name, _)) = host.rsplit_once(':') else { return host };
    // An address of the newer kind has two colons at least.
    let is_address = memchr(b':', name.as_bytes()).is_some() && host.parse::<Ipv6Addr>().is_ok();
    if host.starts_with('[') || is_address { host } else { name }
}

fn without_network(label: &str) -> &str {
    let stripped = NETWORK_SUFFIXES.iter().find_map(|suffix| label.strip_suffix(suffix));
    stripped.unwrap_or(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows an address as `account[!] style path`, `!` for secondary.
    fn show(host: &str, path: &str, always: bool) -> String {
        match parse(host, path, always) {
            Ok(a) => {
                let secondary = if a.secondary { "!" } else { "" };
                let style = if a.path_style { "path" } else { "host" };
                format!("{}{secondary} {style} {}", a.account, a.path)
            }
            Err(error) => error.code.to_owned(),
        }
    }

    #[test]
    fn hosts() {
        for (host, path, want) in [
            ("127.0.0.1:10000", "/acct/c/b", "acct path c/b"),
            ("127.0.0.1", "/acct", "acct path "),
            ("localhost:10000", "/acct/", "acct path "),
            ("azurite", "/acct/c", "acct path c"),
            ("host.docker.internal:10000", "/acct/c", "acct path c"),
            ("HOST.docker.internal", "/acct/c", "acct path c"),
            ("[::1]:10000", "/acct/c", "acct path c"),
            ("[::ffff:127.0.0.1]:80", "/acct/c", "acct path c"),
            ("::1", "/acct/c", "acct path c"),
            ("", "/acct/c", "acct path c"),
            ("acct.blob.localhost:10000", "/c/b", "acct host c/b"),
            ("Acct.blob.core.windows.net", "/", "acct host "),
            ("acct-secondary.blob.localhost", "/c", "acct! host c"),
            ("acct-ipv6.blob.localhost", "/c", "acct host c"),
            ("acct-secondary-dualstack.blob.localhost", "/c", "acct! host c"),
            ("127.0.0.1", "/acct-secondary/c", "acct! path c"),
            ("127.0.0.1", "/", "InvalidUri"),
            ("127.0.0.1", "*", "InvalidUri"),
            ("127.0.0.1", "/-secondary/c", "! path c"),
            (".blob.localhost", "/c", "InvalidUri"),
        ] {
            assert_eq!(show(host, path, false), want, "{host} {path}");
        }
        assert_eq!(show("a.b.c", "/acct/c", true), "acct path c");
    }

    #[test]
    fn paths_are_decoded_once() {
        for (path, want) in [
            ("/acct/c/a%20b", "acct path c/a b"),
            ("/acct/c/a+b", "acct path c/a+b"),
            ("/acct/c/a%2Fb", "acct path c/a/b"),
            ("/acct/c%2Fa", "InvalidResourceName"),
            ("/acct/c%5Ca/b", "InvalidResourceName"),
            ("/acct%2Fc/b", "acct/c path b"),
            ("/acct/c/a%252Fb", "acct path c/a%2Fb"),
            ("/acct/c/a\\b%5Cc", "acct path c/a/b/c"),
            ("/acct/c//b/", "acct path c//b/"),
            ("/acct//b", "acct path /b"),
            ("/acct/c/%C3%A9", "acct path c/é"),
            ("/acct/c/%", "RequestUrlFailedToParse"),
            ("/acct/c/%ff", "RequestUrlFailedToParse"),
            ("/%zz/c", "RequestUrlFailedToParse"),
        ] {
            assert_eq!(show("127.0.0.1", path, false), want, "{path}");
        }
    }
}
