//! The parameters of List Containers and List Blobs, and which of them the answer repeats.
//!
//! Must never look inside a marker: it is core's.

use crate::fields::Fields;
use crate::render::protection::Asked;
use zaffre_base::AccountName;
use zaffre_base::limits::LIST_PAGE;
use zaffre_core::blob::op::{self, ContainerPath, IncludeHistory};
use zaffre_http::ApiError;

/// The parameters as sent, which the answer repeats.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Echo {
    /// `prefix`
    pub prefix: Option<String>,
    /// `marker`
    pub marker: Option<String>,
    /// `maxresults`
    pub max_results: Option<u32>,
    /// `delimiter`
    pub delimiter: Option<String>,
}

/// List Containers with what its answer repeats.
#[derive(Clone, Debug)]
pub struct ContainerListing {
    /// The operation.
    pub op: op::ListContainers,
    /// What to repeat.
    pub echo: Echo,
}

/// List Blobs with what its answer repeats.
#[derive(Clone, Debug)]
pub struct BlobListing {
    /// The operation.
    pub op: op::ListBlobs,
    /// What to repeat.
    pub echo: Echo,
    /// Which of policies and holds to show.
    pub protection: Asked,
    /// Whether entries show the copies that made them.
    pub copies: bool,
}

/// What List Containers can be asked to include.
const CONTAINER_INCLUDES: &[&str] = &["metadata", "deleted", "system"];
/// What List Blobs can be asked to include. No blob here has policies yet, so that asking for those
/// changes nothing.
const BLOB_INCLUDES: &[&str] = &[
    "snapshots",
    "metadata",
    "uncommittedblobs",
    "copy",
    "deleted",
    "tags",
    "versions",
    "deletedwithversions",
    "immutabilitypolicy",
    "legalhold",
    "permissions",
];

pub(super) fn containers(
    fields: &Fields<'_>,
    account: &AccountName,
) -> Result<ContainerListing, ApiError> {
    let echo = echo(fields)?;
    let include = includes(fields, CONTAINER_INCLUDES)?;
    let op = op::ListContainers {
        account: account.clone(),
        prefix: echo.prefix.clone().unwrap_or_default(),
        marker: echo.marker.clone().filter(|marker| !marker.is_empty()),
        max_results: page_size(&echo),
        include_metadata: include.contains(&"metadata"),
        include_system: include.contains(&"system"),
        include_deleted: include.contains(&"deleted"),
    };
    Ok(ContainerListing { op, echo: Echo { delimiter: None, ..echo } })
}

pub(super) fn blobs(fields: &Fields<'_>, at: ContainerPath) -> Result<BlobListing, ApiError> {
    let echo = echo(fields)?;
    let include = includes(fields, BLOB_INCLUDES)?;
    let delimiter = echo.delimiter.clone().filter(|delimiter| !delimiter.is_empty());
    if delimiter.is_some() && include.contains(&"snapshots") {
        let reason = "Snapshots cannot be included when a delimiter is given.";
        return Err(ApiError::invalid_query_parameter("include", "snapshots", reason));
    }
    let op = op::ListBlobs {
        at,
        prefix: echo.prefix.clone().unwrap_or_default(),
        delimiter,
        marker: echo.marker.clone().filter(|marker| !marker.is_empty()),
        start_from: fields.query("startfrom").filter(|name| !name.is_empty()).map(str::to_owned),
        max_results: page_size(&echo),
        include_metadata: include.contains(&"metadata"),
        include_tags: include.contains(&"tags"),
        include_uncommitted: include.contains(&"uncommittedblobs"),
        history: IncludeHistory {
            snapshots: include.contains(&"snapshots"),
            versions: include.contains(&"versions"),
            deleted: include.contains(&"deleted"),
            deleted_with_versions: include.contains(&"deletedwithversions"),
        },
    };
    let protection = Asked {
        policies: include.contains(&"immutabilitypolicy"),
        holds: include.contains(&"legalhold"),
    };
    let copies = include.contains(&"copy");
    Ok(BlobListing { op, echo, protection, copies })
}

pub(super) fn echo(fields: &Fields<'_>) -> Result<Echo, ApiError> {
    let text = |name| fields.query(name).map(str::to_owned);
    Ok(Echo {
        prefix: text("prefix"),
        marker: text("marker"),
        max_results: max_results(fields)?,
        delimiter: text("delimiter"),
    })
}

/// At least one; more than a page is a page, whatever number was sent.
fn max_results(fields: &Fields<'_>) -> Result<Option<u32>, ApiError> {
    const NAME: &str = "maxresults";
    let Some(text) = fields.query(NAME).filter(|text| !text.is_empty()) else { return Ok(None) };
    match text.parse::<i64>() {
        Ok(1..) => Ok(Some(text.parse().unwrap_or(u32::MAX))),
        Ok(_) => Err(ApiError::out_of_range_query(NAME, text, 1, u64::from(LIST_PAGE))),
        Err(_) => Err(ApiError::invalid_query_parameter(NAME, text, "Invalid integer value.")),
    }
}

pub(super) fn page_size(echo: &Echo) -> u32 {
    echo.max_results.map_or(LIST_PAGE, |asked| asked.min(LIST_PAGE))
}

/// The known values among a comma-separated, repeatable parameter; an unknown one is refused.
fn includes(
    fields: &Fields<'_>,
    known: &'static [&'static str],
) -> Result<Vec<&'static str>, ApiError> {
    let sent = fields.query_all("include").flat_map(|list| list.split(','));
    sent.map(str::trim)
        .filter(|value| !value.is_empty())
        .map(|value| {
            let found = known.iter().find(|known| known.eq_ignore_ascii_case(value));
            found.copied().ok_or_else(|| {
                ApiError::invalid_query_parameter(
                    "include",
                    value,
                    "Invalid query parameter value.",
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testing::Ask;
    use zaffre_base::ContainerName;

    fn blobs_of(query: &str) -> Result<BlobListing, &'static str> {
        let at = ContainerPath {
            account: AccountName::parse("devstoreaccount1").expect("a name"),
            container: ContainerName::parse("abc").expect("a name"),
        };
        blobs(&Ask::get(&format!("/abc?{query}")).fields(), at).map_err(|e| e.code)
    }

    #[test]
    fn page_sizes() {
        for (query, want) in [
            ("", Ok((None, 5000))),
            ("maxresults=", Ok((None, 5000))),
            ("maxresults=1", Ok((Some(1), 1))),
            ("MaxResults=7", Ok((Some(7), 7))),
            ("maxresults=5001", Ok((Some(5001), 5000))),
            ("maxresults=99999999999", Ok((Some(u32::MAX), 5000))),
            ("maxresults=0", Err("OutOfRangeQueryParameterValue")),
            ("maxresults=-1", Err("OutOfRangeQueryParameterValue")),
            ("maxresults=x", Err("InvalidQueryParameterValue")),
            ("maxresults=99999999999999999999", Err("InvalidQueryParameterValue")),
        ] {
            let got = blobs_of(query).map(|l| (l.echo.max_results, l.op.max_results));
            assert_eq!(got, want, "{query}");
        }
    }

    #[test]
    fn includes() {
        for (query, want) in [
            ("", Ok((false, false))),
            ("include=", Ok((false, false))),
            ("include=metadata,UncommittedBlobs", Ok((true, true))),
            ("include=metadata&include=copy,uncommittedblobs", Ok((true, true))),
            ("include=snapshots,versions,deleted,tags", Ok((false, false))),
            ("include=everything", Err("InvalidQueryParameterValue")),
            ("include=snapshots&delimiter=/", Err("InvalidQueryParameterValue")),
            ("include=snapshots&delimiter=", Ok((false, false))),
            ("include=versions&delimiter=/", Ok((false, false))),
        ] {
            let got = blobs_of(query).map(|l| (l.op.include_metadata, l.op.include_uncommitted));
            assert_eq!(got, want, "{query}");
        }
    }

    #[test]
    fn what_was_sent_is_kept_for_the_answer() {
        let listing = blobs_of("prefix=a/&delimiter=/&marker=m&startFrom=a/b").expect("legal");
        let want = Echo {
            prefix: Some("a/".to_owned()),
            marker: Some("m".to_owned()),
            max_results: None,
            delimiter: Some("/".to_owned()),
        };
        assert_eq!(listing.echo, want);
        assert_eq!(listing.op.marker.as_deref(), Some("m"));
        assert_eq!(listing.op.start_from.as_deref(), Some("a/b"));
        let empty = blobs_of("prefix=&marker=").expect("legal");
        assert_eq!((empty.echo.prefix.as_deref(), empty.op.marker), (Some(""), None));
    }
}
