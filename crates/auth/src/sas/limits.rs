//! When, from where and how a token may be used: `st`/`se`, `sip`, `spr`.
//!
//! Must never allow for skew: a SAS is valid from its start up to, and not including, its expiry.

use super::field::{Field, malformed};
use super::layout::Layout;
use crate::error::{AuthError, Failure};
use crate::request::RequestFacts;
use crate::sas::field::Token;
use std::net::{IpAddr, Ipv4Addr};
use zaffre_base::Timestamp;

/// The time a token may be used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) start: Option<Timestamp>,
    pub(crate) expiry: Timestamp,
}

impl Window {
    pub(crate) fn check(&self, now: Timestamp) -> Result<(), AuthError> {
        let expiry = self.expiry;
        let start = self.start.unwrap_or(now);
        if expiry <= start {
            return Err(Failure::ExpiryBeforeStart { expiry, start }.into());
        }
        if now < start || now >= expiry {
            return Err(Failure::OutsideWindow { start, expiry, now }.into());
        }
        Ok(())
    }
}

/// A time parameter, if given.
pub(crate) fn time(token: &Token, field: Field) -> Result<Option<Timestamp>, AuthError> {
    let parse = |text| Timestamp::parse_iso(text).ok_or(malformed(field));
    token.get(field).map(parse).transpose()
}

/// Where a token may be used from and over what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    addresses: Option<(Ipv4Addr, Ipv4Addr)>,
    https_only: bool,
}

impl Origin {
    /// Reads `sip` and `spr` where the layout signs them.
    pub(crate) fn read(token: &Token, layout: Layout) -> Result<Self, AuthError> {
        let addresses = match layout.signed(token, Field::Sip) {
            Some(text) => Some(parse_addresses(text).ok_or(malformed(Field::Sip))?),
            None => None,
        };
        let https_only = match layout.signed(token, Field::Spr) {
            None | Some("https,http" | "http,https") => false,
            Some("https") => true,
            Some(_) => return Err(malformed(Field::Spr)),
        };
        Ok(Self { addresses, https_only })
    }

    pub(crate) fn check(&self, facts: &RequestFacts<'_>) -> Result<(), AuthError> {
        let peer = facts.peer.to_canonical();
        if let Some((first, last)) = self.addresses {
            let inside = matches!(peer, IpAddr::V4(ip) if (first..=last).contains(&ip));
            if !inside {
                return Err(AuthError::AuthorizationSourceIpMismatch { ip: peer });
            }
        }
        if self.https_only && !facts.secure {
            return Err(AuthError::AuthorizationProtocolMismatch);
        }
        Ok(())
    }
}

/// One IPv4 address, or two with `-` between them, both included.
fn parse_addresses(text: &str) -> Option<(Ipv4Addr, Ipv4Addr)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    if first <= last { Some((first, last)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows() {
        let window = |start: Option<u64>, expiry| Window {
            start: start.map(Timestamp),
            expiry: Timestamp(expiry),
        };
        for (window, now, want) in [
            (window(Some(10), 20), 10, true),
            (window(Some(10), 20), 19, true),
            (window(Some(10), 20), 20, false),
            (window(Some(10), 20), 9, false),
            (window(None, 20), 0, true),
            (window(None, 20), 19, true),
            (window(None, 20), 20, false),
            (window(Some(20), 20), 20, false),
            (window(Some(30), 20), 25, false),
        ] {
            assert_eq!(window.check(Timestamp(now)).is_ok(), want, "{window:?} {now}");
        }
    }

    #[test]
    fn address_forms() {
        for (text, want) in [
            ("10.0.0.1", true),
            ("10.0.0.1-10.0.0.9", true),
            ("10.0.0.9-10.0.0.1", false),
            ("10.0.0.1-", false),
            ("10.0.0.1-10.0.0.2-10.0.0.3", false),
            ("10.0.0.0/8", false),
            ("::1", false),
            ("localhost", false),
            (" 10.0.0.1", false),
        ] {
            assert_eq!(parse_addresses(text).is_some(), want, "{text}");
        }
    }
}
