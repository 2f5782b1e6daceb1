//! Get User Delegation Key as XML: the one operation of all services that has nothing to store.
//!
//! Must never show a key to anybody but who asked for it: the answer is the only place it goes.

use crate::error::ApiError;
use crate::message::Reply;
use crate::xml::{Event, Reader, Writer};
use hyper::StatusCode;
use std::time::Duration;
use zaffre_auth::UserDelegationKey;
use zaffre_base::limits::{DELEGATION_KEY_DAYS, IDENTITY_BYTES};
use zaffre_base::{ApiVersion, Timestamp};

/// What the body asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyInfo {
    /// Good from here; now, if the body does not say.
    pub start: Timestamp,
    /// Good until here.
    pub expiry: Timestamp,
    /// The tenant of the users it is for.
    pub delegated_tenant: Option<String>,
}

impl KeyInfo {
    /// Reads the body of a request made `now`. A key is good for a week at most, and both its
    /// times lie in the week to come, but for a start that is past.
    pub fn parse(document: &[u8], now: Timestamp) -> Result<Self, ApiError> {
        let mut xml = Reader::new(document)?;
        xml.root("KeyInfo")?;
        let (mut start, mut expiry, mut delegated_tenant) = (None, None, None);
        loop {
            let name = match xml.next_tag()? {
                Event::Start(name) => name,
                Event::End => break,
                Event::Text(_) | Event::Eof => {
                    return Err(xml.error("The document is not complete."));
                }
            };
            let text = xml.element_text()?.trim().to_owned();
            match name.as_str() {
                "Start" => start = Some(text).filter(|text| !text.is_empty()),
                "Expiry" => expiry = Some(text),
                "DelegatedUserTid" => delegated_tenant = Some(text).filter(|text| !text.is_empty()),
                _ => return Err(xml.error(format!("The element {name} is not expected here."))),
            }
        }
        xml.finish()?;
        let expiry = expiry.ok_or_else(|| xml.error("Element is missing: Expiry."))?;
        let latest = now.plus(Duration::from_hours(24 * DELEGATION_KEY_DAYS));
        let time = |name, text: &str| {
            let time = Timestamp::parse_iso(text).filter(|time| *time <= latest);
            time.ok_or_else(|| ApiError::invalid_xml_node(name, text))
        };
        let from = match &start {
            Some(text) => time("Start", text)?,
            None => now,
        };
        let until = time("Expiry", &expiry)?;
        let longest = from.plus(Duration::from_hours(24 * DELEGATION_KEY_DAYS));
        if until <= from || until <= now || until > longest {
            return Err(ApiError::invalid_xml_node("Expiry", &expiry));
        }
        let is_name = |text: &String| {
            text.len() <= IDENTITY_BYTES && text.bytes().all(|b| b.is_ascii_graphic())
        };
        if let Some(text) = delegated_tenant.as_ref().filter(|text| !is_name(text)) {
            return Err(ApiError::invalid_xml_node("DelegatedUserTid", text));
        }
        Ok(Self { start: from, expiry: until, delegated_tenant })
    }
}

/// The answer with a key.
pub fn reply(key: &UserDelegationKey, version: ApiVersion) -> Reply {
    let mut xml = Writer::default();
    xml.open("UserDelegationKey")
        .element("SignedOid", &key.object)
        .element("SignedTid", &key.tenant)
        .element("SignedStart", &key.start)
        .element("SignedExpiry", &key.expiry)
        .element("SignedService", key.service)
        .element("SignedVersion", &key.version)
        .optional("SignedDelegatedUserTid", key.delegated_tenant.as_ref())
        .element("Value", key.value.expose())
        .close("UserDelegationKey");
    Reply::new(StatusCode::OK, version).with_body("application/xml", xml.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies() {
        let now = Timestamp::parse_iso("2026-11-15T12:00:00Z").expect("a time");
        let body = |start: &str, expiry: &str, more: &str| {
            format!("<KeyInfo><Start>{start}</Start><Expiry>{expiry}</Expiry>{more}</KeyInfo>")
        };
        let (start, expiry) = ("2026-11-15T11:00:00Z", "2026-11-16T00:00:00Z");
        let malformed = Err("InvalidXmlDocument");
        let wrong = Err("InvalidXmlNodeValue");
        for (document, want) in [
            (body(start, expiry, ""), Ok(())),
            (body("", expiry, ""), Ok(())),
            (format!("<KeyInfo><Expiry>{expiry}</Expiry></KeyInfo>"), Ok(())),
            (body(start, expiry, "<DelegatedUserTid>t</DelegatedUserTid>"), Ok(())),
            (body(start, expiry, "<DelegatedUserTid>a b</DelegatedUserTid>"), wrong),
            (body("2026-11-15T12:00:00Z", "2026-11-22T12:00:00Z", ""), Ok(())),
            (body("2026-11-15T12:00:00Z", "2026-11-22T12:00:01Z", ""), wrong),
            (body("2026-11-15T11:59:59Z", "2026-11-22T12:00:00Z", ""), wrong),
            (body("2026-11-23", "2026-11-24", ""), wrong),
            (body(expiry, start, ""), wrong),
            (body("2026-11-14", "2026-11-15T12:00:00Z", ""), wrong),
            (body("soon", expiry, ""), wrong),
            (body(start, "later", ""), wrong),
            (format!("<KeyInfo><Start>{start}</Start></KeyInfo>"), malformed),
            (body(start, expiry, "<Other/>"), malformed),
            ("<Other/>".to_owned(), malformed),
            (String::new(), malformed),
        ] {
            let got = KeyInfo::parse(document.as_bytes(), now).map(|_| ()).map_err(|e| e.code);
            assert_eq!(got, want, "{document}");
        }
    }
}
