//! The XML of stored access policies, read and written: at most five.
//!
//! Must never judge permissions: those letters are compared when a SAS refers to the policy.

use crate::error::ApiError;
use crate::xml::{Event, Reader, Writer};
use zaffre_base::Timestamp;
use zaffre_base::limits::{ACCESS_POLICIES, ACCESS_POLICY_ID_CHARS};
use zaffre_domain::blob::AccessPolicy;

/// Reads the document, whose policies can grant `letters`; an empty body means no policies.
pub fn parse(document: &[u8], letters: &str) -> Result<Vec<AccessPolicy>, ApiError> {
    if document.is_empty() {
        return Ok(Vec::new());
    }
    let mut xml = Reader::new(document)?;
    xml.root("SignedIdentifiers")?;
    let mut policies: Vec<AccessPolicy> = Vec::new();
    while let Some(name) = child(&mut xml)? {
        if name != "SignedIdentifier" {
            return Err(unexpected(&xml, &name));
        }
        let policy = identifier(&mut xml, letters)?;
        if policies.len() == ACCESS_POLICIES {
            return Err(xml.error("There are more than five signed identifiers."));
        }
        if policies.iter().any(|other| other.id == policy.id) {
            return Err(xml.error("Two signed identifiers have the same Id."));
        }
        policies.push(policy);
    }
    xml.finish()?;
    Ok(policies)
}

fn identifier(xml: &mut Reader<'_>, letters: &str) -> Result<AccessPolicy, ApiError> {
    let mut id = None;
    let mut policy = None;
    while let Some(name) = child(xml)? {
        match name.as_str() {
            "Id" if id.is_none() => id = Some(xml.element_text()?),
            "AccessPolicy" if policy.is_none() => policy = Some(access_policy(xml, letters)?),
            _ => return Err(unexpected(xml, &name)),
        }
    }
    let id = id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
    let Some(id) = id else {
        return Err(xml.error("Element is missing: Id."));
    };
    if id.encode_utf16().count() > ACCESS_POLICY_ID_CHARS {
        return Err(xml.error("Id is longer than 64 characters."));
    }
    if id.chars().any(|c| c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}')) {
        return Err(xml.error("Id has a character that XML cannot hold."));
    }
    let (start, expiry, permission) = policy.unwrap_or_default();
    Ok(AccessPolicy { id, start, expiry, permission })
}

/// Writes the policies.
pub fn document(policies: &[AccessPolicy]) -> Vec<u8> {
    let mut xml = Writer::default();
    if policies.is_empty() {
        xml.empty("SignedIdentifiers");
        return xml.finish();
    }
    xml.open("SignedIdentifiers");
    for policy in policies {
        xml.open("SignedIdentifier").element("Id", &policy.id).open("AccessPolicy");
        xml.optional("Start", policy.start.map(Timestamp::iso7))
            .optional("Expiry", policy.expiry.map(Timestamp::iso7))
            .optional("Permission", policy.permission.as_ref());
        xml.close("AccessPolicy").close("SignedIdentifier");
    }
    xml.close("SignedIdentifiers");
    xml.finish()
}

type Grant = (Option<Timestamp>, Option<Timestamp>, Option<String>);

fn access_policy(xml: &mut Reader<'_>, letters: &str) -> Result<Grant, ApiError> {
    let (mut start, mut expiry, mut permission) = (None, None, None);
    while let Some(name) = child(xml)? {
        let text = match name.as_str() {
            "Start" | "Expiry" | "Permission" => xml.element_text()?,
            _ => return Err(unexpected(xml, &name)),
        };
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        match name.as_str() {
            "Start" => start = Some(instant("Start", text)?),
            "Expiry" => expiry = Some(instant("Expiry", text)?),
            _ if text.chars().all(|c| letters.contains(c)) => {
                permission = Some(text.to_owned());
            }
            _ => return Err(ApiError::invalid_xml_node("Permission", text)),
        }
    }
    Ok((start, expiry, permission))
}

fn instant(name: &str, text: &str) -> Result<Timestamp, ApiError> {
    Timestamp::parse_iso(text).ok_or_else(|| ApiError::invalid_xml_node(name, text))
}

/// The name of the next element inside the one entered last; `None` when that ends.
fn child(xml: &mut Reader<'_>) -> Result<Option<String>, ApiError> {
    match xml.next_tag()? {
        Event::Start(name) => Ok(Some(name)),
        Event::End => Ok(None),
        Event::Text(_) | Event::Eof => Err(xml.error("The document is not complete.")),
    }
}

fn unexpected(xml: &Reader<'_>, name: &str) -> ApiError {
    xml.error(format!("The element {name} is not expected here."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(document: &str) -> Result<String, &'static str> {
        let policies = parse(document.as_bytes(), "racwdxyltfmeopi").map_err(|e| e.code)?;
        let time = |t: Option<Timestamp>| t.map_or("-".to_owned(), |t| t.iso7().to_string());
        let words = policies.iter().map(|p| {
            let permission = p.permission.as_deref().unwrap_or("-");
            format!("{} {} {} {permission}", p.id, time(p.start), time(p.expiry))
        });
        Ok(words.collect::<Vec<_>>().join("; "))
    }

    fn list(inside: &str) -> String {
        format!("<SignedIdentifiers>{inside}</SignedIdentifiers>")
    }

    fn one(inside: &str) -> String {
        list(&format!("<SignedIdentifier>{inside}</SignedIdentifier>"))
    }

    #[test]
    fn documents() {
        let policy = "<Id>a</Id><AccessPolicy><Start>2026-11-15</Start>\
                      <Expiry>2026-11-16T01:02:03.5Z</Expiry><Permission>rwd</Permission>\
                      </AccessPolicy>";
        let long = "x".repeat(65);
        let id = |id: &str| format!("<Id>{id}</Id>");
        let many = |n: usize| {
            let each = (0..n).map(|i| format!("<SignedIdentifier><Id>{i}</Id></SignedIdentifier>"));
            list(&each.collect::<String>())
        };
        let full = "a 2026-11-15T00:00:00.0000000Z 2026-11-16T01:02:03.5000000Z rwd";
        for (document, want) in [
            (String::new(), Ok("")),
            (list(""), Ok("")),
            (one(policy), Ok(full)),
            (one("<Id>a</Id>"), Ok("a - - -")),
            (one("<Id>a</Id><AccessPolicy/>"), Ok("a - - -")),
            (one("<AccessPolicy><Start /></AccessPolicy><Id> b </Id>"), Ok("b - - -")),
            (one("<AccessPolicy/>"), Err("InvalidXmlDocument")),
            (one("<Id/>"), Err("InvalidXmlDocument")),
            (one("<Id>a\u{2}</Id>"), Err("InvalidXmlDocument")),
            (one(&id(&long)), Err("InvalidXmlDocument")),
            (one("<Id>a</Id><Id>b</Id>"), Err("InvalidXmlDocument")),
            (one("<Id>a</Id><Other/>"), Err("InvalidXmlDocument")),
            (
                one("<Id>a</Id><AccessPolicy><Start>soon</Start></AccessPolicy>"),
                Err("InvalidXmlNodeValue"),
            ),
            (
                one("<Id>a</Id><AccessPolicy><Permission>rq</Permission></AccessPolicy>"),
                Err("InvalidXmlNodeValue"),
            ),
            (many(5), Ok("0 - - -; 1 - - -; 2 - - -; 3 - - -; 4 - - -")),
            (many(6), Err("InvalidXmlDocument")),
            (list("<Id>a</Id>"), Err("InvalidXmlDocument")),
            ("<Nothing/>".to_owned(), Err("InvalidXmlDocument")),
            ("nonsense".to_owned(), Err("InvalidXmlDocument")),
        ] {
            assert_eq!(shown(&document), want.map(str::to_owned), "{document}");
        }
    }
}
