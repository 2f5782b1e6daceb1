//! `snapshot` and `versionid`: which state of a blob is meant, and what a deletion does to others.

use crate::fields::Fields;
use zaffre_base::Timestamp;
use zaffre_core::blob::op::{BlobPath, DeleteSnapshots, Moment, MomentId};
use zaffre_http::{ApiError, codes};

const SNAPSHOT: &str = "snapshot";
const VERSION: &str = "versionid";

/// The path with the state that the parameters name.
pub(super) fn of(fields: &Fields<'_>, at: BlobPath) -> Result<BlobPath, ApiError> {
    let moment = match (id(fields, SNAPSHOT)?, id(fields, VERSION)?) {
        (None, None) => Moment::Current,
        (Some(snapshot), None) => Moment::Snapshot(snapshot),
        (None, Some(version)) => Moment::Version(version),
        (Some(_), Some(_)) => return Err(codes::MUTUALLY_EXCLUSIVE_QUERY_PARAMETERS.into()),
    };
    Ok(BlobPath { moment, ..at })
}

fn id(fields: &Fields<'_>, name: &str) -> Result<Option<MomentId>, ApiError> {
    let Some(text) = fields.query(name) else { return Ok(None) };
    match Timestamp::parse_iso(text) {
        Some(at) => Ok(Some(MomentId { at, text: text.to_owned() })),
        None => Err(ApiError::invalid_query_parameter(name, text, "")),
    }
}

const TYPE: &str = "deletetype";

/// Whether a deletion is asked to be for good.
pub(crate) fn is_permanent(fields: &Fields<'_>) -> bool {
    fields.query(TYPE).is_some_and(|text| text.eq_ignore_ascii_case("permanent"))
}

/// What a deletion does to snapshots, and whether it is for good.
pub(super) fn deletion(
    fields: &Fields<'_>,
    at: &BlobPath,
) -> Result<(DeleteSnapshots, bool), ApiError> {
    const SNAPSHOTS: &str = "x-ms-delete-snapshots";
    let snapshots = match fields.header(SNAPSHOTS)? {
        None => DeleteSnapshots::Refuse,
        Some(text) if text.eq_ignore_ascii_case("include") => DeleteSnapshots::Include,
        Some(text) if text.eq_ignore_ascii_case("only") => DeleteSnapshots::Only,
        Some(text) => return Err(ApiError::invalid_header_value(SNAPSHOTS, text)),
    };
    let named = match &at.moment {
        Moment::Current => None,
        Moment::Snapshot(id) => Some((SNAPSHOT, &id.text)),
        Moment::Version(id) => Some((VERSION, &id.text)),
    };
    if let (Some((name, text)), true) = (named, snapshots != DeleteSnapshots::Refuse) {
        return Err(ApiError::invalid_query_parameter(name, text, ""));
    }
    let permanent = match fields.query(TYPE).filter(|text| !text.is_empty()) {
        None => false,
        // The blob itself is only ever deleted so that it can come back.
        Some(_) if is_permanent(fields) && named.is_some() => true,
        Some(text) => return Err(ApiError::invalid_query_parameter(TYPE, text, "")),
    };
    Ok((snapshots, permanent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::Ask;
    use zaffre_base::{AccountName, BlobName, ContainerName};

    const TIME: &str = "2026-11-15T08:00:00.1234567Z";

    fn path() -> BlobPath {
        BlobPath {
            account: AccountName::parse("devstoreaccount1").expect("a name"),
            container: ContainerName::parse("abc").expect("a name"),
            blob: BlobName::parse("b").expect("a name"),
            moment: Moment::Current,
        }
    }

    #[test]
    fn moments() {
        let (snapshot, version) = (format!("snapshot={TIME}"), format!("VersionId={TIME}"));
        let both = format!("{snapshot}&{version}");
        for (query, want) in [
            ("", Ok("current")),
            ("snapshot=", Err("InvalidQueryParameterValue")),
            (snapshot.as_str(), Ok("snapshot")),
            (version.as_str(), Ok("version")),
            (both.as_str(), Err("MutuallyExclusiveQueryParameters")),
            ("snapshot=yesterday", Err("InvalidQueryParameterValue")),
            ("versionid=1", Err("InvalidQueryParameterValue")),
        ] {
            let got = of(&Ask::get(&format!("/abc/b?{query}")).fields(), path());
            let got = got.map_err(|error| error.code).map(|path| match path.moment {
                Moment::Current => "current",
                Moment::Snapshot(id) => {
                    assert_eq!((id.text.as_str(), id.at.iso7().to_string().as_str()), (TIME, TIME));
                    "snapshot"
                }
                Moment::Version(_) => "version",
            });
            assert_eq!(got, want, "{query}");
        }
    }

    #[test]
    fn deletions() {
        use DeleteSnapshots::{Include, Only, Refuse};
        let snapshot = format!("snapshot={TIME}");
        let permanent = format!("{snapshot}&deletetype=Permanent");
        for (query, header, want) in [
            ("", "", Ok((Refuse, false))),
            ("", "include", Ok((Include, false))),
            ("", "Only", Ok((Only, false))),
            ("", "all", Err("InvalidHeaderValue")),
            (snapshot.as_str(), "", Ok((Refuse, false))),
            (snapshot.as_str(), "include", Err("InvalidQueryParameterValue")),
            (permanent.as_str(), "", Ok((Refuse, true))),
            ("deletetype=permanent", "", Err("InvalidQueryParameterValue")),
            ("deletetype=soft", "", Err("InvalidQueryParameterValue")),
        ] {
            let ask = Ask::get(&format!("/abc/b?{query}"));
            let ask = if header.is_empty() {
                ask
            } else {
                ask.with(&[("x-ms-delete-snapshots", header)])
            };
            let at = of(&ask.fields(), path()).expect("legal");
            let got = deletion(&ask.fields(), &at).map_err(|error| error.code);
            assert_eq!(got, want, "{query} {header}");
        }
    }
}
