//! The XML body of Set Blob Tags.
//!
//! Must never judge a tag: the domain does.

use zaffre_base::limits::TAGS;
use zaffre_domain::Refusal;
use zaffre_domain::blob::tags::{self, Tags};
use zaffre_http::ApiError;
use zaffre_http::xml::{Event, Reader};

/// Reads the document.
pub fn parse(document: &[u8]) -> Result<Tags, ApiError> {
    let mut xml = Reader::new(document)?;
    xml.root("Tags")?;
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut sets = 0;
    while let Some(name) = child(&mut xml)? {
        if name != "TagSet" || sets > 0 {
            return Err(unexpected(&xml, &name));
        }
        sets += 1;
        while let Some(name) = child(&mut xml)? {
            if name != "Tag" {
                return Err(unexpected(&xml, &name));
            }
            if pairs.len() > TAGS {
                return Err(Refusal::TagsTooLarge.into());
            }
            pairs.push(tag(&mut xml)?);
        }
    }
    if sets == 0 {
        return Err(xml.error("Element is missing: TagSet."));
    }
    xml.finish()?;
    Ok(tags::collect(pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())))?)
}

fn tag(xml: &mut Reader<'_>) -> Result<(String, String), ApiError> {
    let (mut key, mut value) = (None, None);
    while let Some(name) = child(xml)? {
        match name.as_str() {
            "Key" if key.is_none() => key = Some(xml.element_text()?),
            "Value" if value.is_none() => value = Some(xml.element_text()?),
            _ => return Err(unexpected(xml, &name)),
        }
    }
    match (key, value) {
        (Some(key), Some(value)) => Ok((key, value)),
        (None, _) => Err(xml.error("Element is missing: Key.")),
        (_, None) => Err(xml.error("Element is missing: Value.")),
    }
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

    #[test]
    fn documents() {
        let set = |inside: &str| format!("<Tags><TagSet>{inside}</TagSet></Tags>");
        let tag = |k: &str, v: &str| format!("<Tag><Key>{k}</Key><Value>{v}</Value></Tag>");
        let many = |n: usize| (0..n).map(|i| tag(&format!("t{i}"), "")).collect::<String>();
        for (document, want) in [
            (set(""), Ok("")),
            ("<Tags><TagSet/></Tags>".to_owned(), Ok("")),
            (set(&tag("a", "1")), Ok("a=1")),
            (set(&(tag("b", "x y") + &tag("a", ""))), Ok("a=;b=x y")),
            (set("<Tag><Value>1</Value><Key>a</Key></Tag>"), Ok("a=1")),
            (set(&tag("", "1")), Err("EmptyTagName")),
            (set(&(tag("a", "1") + &tag("a", "2"))), Err("DuplicateTagNames")),
            (set(&tag("a", "&amp;")), Err("InvalidTag")),
            (set(&many(11)), Err("TagsTooLarge")),
            (set(&many(50)), Err("TagsTooLarge")),
            (set("<Tag><Key>a</Key></Tag>"), Err("InvalidXmlDocument")),
            (set("<Tag><Value>a</Value></Tag>"), Err("InvalidXmlDocument")),
            (set("<Other/>"), Err("InvalidXmlDocument")),
            ("<Tags/>".to_owned(), Err("InvalidXmlDocument")),
            ("<TagSet/>".to_owned(), Err("InvalidXmlDocument")),
            (String::new(), Err("InvalidXmlDocument")),
        ] {
            let got = parse(document.as_bytes()).map_err(|e| e.code);
            let shown = got
                .map(|t| t.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(";"));
            assert_eq!(shown, want.map(str::to_owned), "{document}");
        }
    }
}
