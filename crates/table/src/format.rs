//! How much an answer says about itself: the three levels of JSON, and what is not served.
//!
//! Must never guess: a format that we do not write is refused.

use zaffre_base::text::trimmed;
use zaffre_http::codes::Code;
use zaffre_http::table_codes;

/// How much metadata a JSON answer has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// Values only.
    No,
    /// What cannot be told from the values.
    #[default]
    Minimal,
    /// Everything.
    Full,
}

impl Level {
    /// The content type of an answer.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::No => "application/json;odata=nometadata;streaming=true;charset=utf-8",
            Self::Minimal => "application/json;odata=minimalmetadata;streaming=true;charset=utf-8",
            Self::Full => "application/json;odata=fullmetadata;streaming=true;charset=utf-8",
        }
    }
}

/// What clients send most.
const USUAL: [(&str, Level); 3] = [
    ("application/json;odata=minimalmetadata", Level::Minimal),
    ("application/json;odata=nometadata", Level::No),
    ("application/json;odata=fullmetadata", Level::Full),
];

/// The level that Accept, or `$format` in its place, asks for.
pub fn negotiate(accept: Option<&str>) -> Result<Level, Code> {
    let Some(accept) = accept.map(trimmed).filter(|text| !text.is_empty()) else {
        return Ok(Level::Minimal);
    };
    // As nearly every client writes it.
    if let Some((_, level)) = USUAL.iter().find(|(usual, _)| *usual == accept) {
        return Ok(*level);
    }
    let mut refused = table_codes::MEDIA_TYPE_NOT_SUPPORTED;
    for one in accept.split(',') {
        match media_type(one) {
            Ok(level) => return Ok(level),
            Err(code) if code.name != table_codes::MEDIA_TYPE_NOT_SUPPORTED.name => refused = code,
            Err(_) => {}
        }
    }
    Err(refused)
}

fn media_type(text: &str) -> Result<Level, Code> {
    let mut parts = text.split(';').map(str::trim);
    let kind = parts.next().unwrap_or_default();
    let odata = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("odata").then(|| value.trim())
    });
    let kind_is = |one: &str| kind.eq_ignore_ascii_case(one);
    let odata_is = |one: &str| odata.is_some_and(|odata| odata.eq_ignore_ascii_case(one));
    if kind_is("application/json") {
        return match odata {
            None => Ok(Level::Minimal),
            Some(_) if odata_is("nometadata") => Ok(Level::No),
            Some(_) if odata_is("minimalmetadata") => Ok(Level::Minimal),
            Some(_) if odata_is("fullmetadata") => Ok(Level::Full),
            Some(_) if odata_is("verbose") => Err(table_codes::JSON_VERBOSE_FORMAT_NOT_SUPPORTED),
            Some(_) => Err(table_codes::MEDIA_TYPE_NOT_SUPPORTED),
        };
    }
    if ["*/*", "application/*", "json"].into_iter().any(kind_is) {
        return Ok(Level::Minimal);
    }
    Err(if kind_is("application/atom+xml") {
        table_codes::ATOM_FORMAT_NOT_SUPPORTED
    } else {
        table_codes::MEDIA_TYPE_NOT_SUPPORTED
    })
}

/// What `Prefer` asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Prefer {
    /// Nothing: what was made comes back.
    #[default]
    Unsaid,
    /// `return-content`
    Content,
    /// `return-no-content`
    NoContent,
}

impl Prefer {
    /// Reads the header; a preference that is not known is none.
    pub fn parse(text: Option<&str>) -> Self {
        let said = text.map_or("", trimmed);
        let known = [Self::Content, Self::NoContent].into_iter();
        let is_said = |known: &Self| known.applied().is_some_and(|n| n.eq_ignore_ascii_case(said));
        known.into_iter().find(is_said).unwrap_or_default()
    }

    /// What is said to have been done.
    pub fn applied(self) -> Option<&'static str> {
        match self {
            Self::Unsaid => None,
            Self::Content => Some("return-content"),
            Self::NoContent => Some("return-no-content"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted() {
        for (accept, want) in [
            (None, Ok(Level::Minimal)),
            (Some(""), Ok(Level::Minimal)),
            (Some("*/*"), Ok(Level::Minimal)),
            (Some("application/json"), Ok(Level::Minimal)),
            (Some("application/json; odata=nometadata"), Ok(Level::No)),
            (Some("application/json;odata=nometadata"), Ok(Level::No)),
            (Some(" application/json;odata=minimalmetadata"), Ok(Level::Minimal)),
            (Some("application/json;odata=fullmetadata;charset=utf-8"), Ok(Level::Full)),
            (Some("application/json;odata=verbose"), Err("JsonVerboseFormatNotSupported")),
            (Some("application/atom+xml"), Err("AtomFormatNotSupported")),
            (Some("application/atom+xml,application/xml"), Err("AtomFormatNotSupported")),
            (Some("application/atom+xml, application/json"), Ok(Level::Minimal)),
            (Some("text/html"), Err("MediaTypeNotSupported")),
        ] {
            assert_eq!(negotiate(accept).map_err(|code| code.name), want, "{accept:?}");
        }
    }
}
