//! The headers of the properties that SMB clients see: attributes, times, security descriptor.
//!
//! Must never fill in what an operation's own default is: the bases come from the domain.

use crate::fields;
use zaffre_base::limits::PERMISSION_HEADER_BYTES;
use zaffre_base::{ApiVersion, Timestamp, base64};
use zaffre_domain::Refusal;
use zaffre_domain::fs::properties::{
    AttributesSetting, PermissionSetting, Semantics, SmbSettings, TimeSetting,
};
use zaffre_domain::fs::{Attributes, Descriptor, FileRefusal, PermissionKey};
use zaffre_http::{ApiError, Asked, codes};

const PERMISSION: &str = "x-ms-file-permission";
const KEY: &str = "x-ms-file-permission-key";
const FORMAT: &str = "x-ms-file-permission-format";
const COPY_MODE: &str = "x-ms-file-permission-copy-mode";
const ATTRIBUTES: &str = "x-ms-file-attributes";
const CREATED: &str = "x-ms-file-creation-time";
pub(super) const LAST_WRITE: &str = "x-ms-file-last-write-time";
const CHANGE: &str = "x-ms-file-change-time";
const SEMANTICS: &str = "x-ms-file-property-semantics";
/// What only shares have that are reached over NFS.
const NFS: [&str; 5] = [
    "x-ms-mode",
    "x-ms-owner",
    "x-ms-group",
    "x-ms-file-mode-copy-mode",
    "x-ms-file-owner-copy-mode",
];

/// From here on there are such headers, and requests must have them.
const THERE: ApiVersion = ApiVersion::new(2019, 2, 2);
/// From here on they may be left out, and there is a time of change.
pub(super) const OPTIONAL: ApiVersion = ApiVersion::new(2021, 6, 8);
/// From here on copies have them.
const ON_COPIES: ApiVersion = ApiVersion::new(2019, 7, 7);

/// What the headers may say besides values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    Create,
    Set,
    Copy,
}

/// For something new.
pub(super) fn create(asked: &Asked<'_>) -> Result<SmbSettings, ApiError> {
    refuse_nfs(asked)?;
    if asked.version < THERE {
        return Ok(SmbSettings::create());
    }
    require(asked)?;
    let mut settings = over(asked, SmbSettings::create(), Words::Create)?;
    settings.semantics = match asked.header(SEMANTICS)? {
        None => settings.semantics,
        Some(text) if text.eq_ignore_ascii_case("new") => Semantics::New,
        Some(text) if text.eq_ignore_ascii_case("restore") => Semantics::Restore,
        Some(text) => return Err(ApiError::invalid_header_value(SEMANTICS, text)),
    };
    Ok(settings)
}

/// For a change of what is there.
pub(super) fn set(asked: &Asked<'_>) -> Result<SmbSettings, ApiError> {
    refuse_nfs(asked)?;
    if asked.version < THERE {
        return Ok(SmbSettings::preserve());
    }
    require(asked)?;
    over(asked, SmbSettings::preserve(), Words::Set)
}

/// For a rename, where all may be left out.
pub(super) fn rename(asked: &Asked<'_>) -> Result<SmbSettings, ApiError> {
    refuse_nfs(asked)?;
    over(asked, SmbSettings::preserve(), Words::Set)
}

/// For a copy.
pub(super) fn copy(asked: &Asked<'_>) -> Result<SmbSettings, ApiError> {
    refuse_nfs(asked)?;
    let mut base = SmbSettings::create();
    base.semantics = Semantics::Restore;
    base.attributes = AttributesSetting::Set(Attributes::ARCHIVE);
    if asked.version < ON_COPIES {
        return Ok(base);
    }
    let mut settings = over(asked, base, Words::Copy)?;
    let given = settings.permission != PermissionSetting::Inherit;
    match asked.header(COPY_MODE)? {
        Some(text) if text.eq_ignore_ascii_case("source") => {
            if given {
                return Err(ApiError::invalid_header_value(COPY_MODE, text));
            }
            settings.permission = PermissionSetting::Source;
        }
        Some(text) if text.eq_ignore_ascii_case("override") && given => {}
        Some(text) if text.eq_ignore_ascii_case("override") => {
            return Err(ApiError::missing_required_header(PERMISSION));
        }
        Some(text) => return Err(ApiError::invalid_header_value(COPY_MODE, text)),
        None if given => return Err(ApiError::missing_required_header(COPY_MODE)),
        None => {}
    }
    Ok(settings)
}

fn refuse_nfs(asked: &Asked<'_>) -> Result<(), ApiError> {
    for name in NFS {
        if asked.header(name)?.is_some() {
            return Err(ApiError::from(codes::UNSUPPORTED_HEADER).detail("HeaderName", name));
        }
    }
    Ok(())
}

fn require(asked: &Asked<'_>) -> Result<(), ApiError> {
    if asked.version >= OPTIONAL {
        return Ok(());
    }
    if asked.header(PERMISSION)?.is_none() && asked.header(KEY)?.is_none() {
        return Err(ApiError::missing_required_header(PERMISSION));
    }
    for name in [ATTRIBUTES, CREATED, LAST_WRITE] {
        fields::required(asked, name)?;
    }
    Ok(())
}

fn over(asked: &Asked<'_>, base: SmbSettings, words: Words) -> Result<SmbSettings, ApiError> {
    let change = if asked.version >= OPTIONAL { time(asked, CHANGE, words)? } else { None };
    Ok(SmbSettings {
        attributes: attributes(asked, words)?.unwrap_or(base.attributes),
        created: time(asked, CREATED, words)?.unwrap_or(base.created),
        last_write: time(asked, LAST_WRITE, words)?.unwrap_or(base.last_write),
        change: change.unwrap_or(base.change),
        permission: permission(asked, words)?.unwrap_or(base.permission),
        semantics: base.semantics,
    })
}

fn attributes(asked: &Asked<'_>, words: Words) -> Result<Option<AttributesSetting>, ApiError> {
    let Some(text) = asked.header(ATTRIBUTES)? else { return Ok(None) };
    if words == Words::Set && text.eq_ignore_ascii_case("preserve") {
        return Ok(Some(AttributesSetting::Preserve));
    }
    if words == Words::Copy && text.eq_ignore_ascii_case("source") {
        return Ok(Some(AttributesSetting::Source));
    }
    let set =
        Attributes::parse(text).map_err(|_| ApiError::invalid_header_value(ATTRIBUTES, text))?;
    Ok(Some(AttributesSetting::Set(set)))
}

fn time(asked: &Asked<'_>, name: &str, words: Words) -> Result<Option<TimeSetting>, ApiError> {
    let Some(text) = asked.header(name)? else { return Ok(None) };
    let word = match text.to_ascii_lowercase().as_str() {
        "now" => Some(TimeSetting::Now),
        "preserve" if words == Words::Set => Some(TimeSetting::Preserve),
        "source" if words == Words::Copy => Some(TimeSetting::Source),
        _ => Timestamp::parse_iso(text).map(TimeSetting::At),
    };
    word.map(Some).ok_or_else(|| ApiError::invalid_header_value(name, text))
}

fn permission(asked: &Asked<'_>, words: Words) -> Result<Option<PermissionSetting>, ApiError> {
    let (text, key) = (asked.header(PERMISSION)?, asked.header(KEY)?);
    match (text, key) {
        (None, None) => Ok(None),
        (Some(text), Some(_)) => Err(ApiError::invalid_header_value(PERMISSION, text)),
        (None, Some(key)) => {
            let key = PermissionKey::parse(key).map_err(Refusal::from)?;
            Ok(Some(PermissionSetting::Key(key)))
        }
        (Some(text), None) => match text.to_ascii_lowercase().as_str() {
            "inherit" if words == Words::Create => Ok(Some(PermissionSetting::Inherit)),
            "preserve" if words == Words::Set => Ok(Some(PermissionSetting::Preserve)),
            _ if text.len() > PERMISSION_HEADER_BYTES => {
                Err(ApiError::invalid_header_value(PERMISSION, ""))
            }
            _ => {
                let descriptor = descriptor(text, binary(asked)?)?;
                Ok(Some(PermissionSetting::Given(descriptor)))
            }
        },
    }
}

/// Whether descriptors are in their binary form rather than in text.
pub(super) fn binary(asked: &Asked<'_>) -> Result<bool, ApiError> {
    match asked.header(FORMAT)? {
        None => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("sddl") => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("binary") => Ok(true),
        Some(text) => Err(ApiError::invalid_header_value(FORMAT, text)),
    }
}

/// A descriptor that a request gives; owner, group and DACL must be there.
pub(crate) fn descriptor(text: &str, binary: bool) -> Result<Descriptor, ApiError> {
    let invalid = || ApiError::from(Refusal::from(FileRefusal::InvalidPermission));
    let read = if binary {
        let bytes = base64::decode(text).ok_or_else(invalid)?;
        Descriptor::from_bytes(&bytes).map_err(|_| invalid())?
    } else {
        Descriptor::parse_sddl(text).map_err(|_| invalid())?
    };
    if read.is_complete() { Ok(read) } else { Err(invalid()) }
}
