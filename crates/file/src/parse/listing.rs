//! Parameters of listings.

use zaffre_base::AccountName;
use zaffre_base::limits::LIST_PAGE;
use zaffre_core::file::share::op::ListShares;
use zaffre_http::{ApiError, Asked};

/// What a listing's answer repeats of its request.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// `prefix` as sent.
    pub prefix: Option<String>,
    /// `marker` as sent.
    pub marker: Option<String>,
    /// `maxresults` as sent.
    pub max_results: Option<u64>,
}

/// List Shares with what its answer repeats.
#[derive(Clone, Debug)]
pub struct SharesListing {
    /// The operation.
    pub op: ListShares,
    /// What is repeated.
    pub repeated: Repeated,
}

impl Repeated {
    pub(super) fn read(asked: &Asked<'_>) -> Result<Self, ApiError> {
        let text = |name| asked.query(name).map(str::to_owned);
        // More than a page is a page, whatever number was sent.
        let most = u64::try_from(i64::MAX).unwrap_or(u64::MAX);
        let max_results = asked.number("maxresults", 1, most).map_err(|mut error| {
            error.details.retain(|(name, _)| *name != "MaximumAllowed");
            error.detail("MaximumAllowed", LIST_PAGE.to_string())
        })?;
        Ok(Self { prefix: text("prefix"), marker: text("marker"), max_results })
    }

    pub(super) fn page(&self) -> u32 {
        let asked = self.max_results.and_then(|number| u32::try_from(number).ok());
        asked.unwrap_or(LIST_PAGE).min(LIST_PAGE)
    }

    pub(super) fn from(&self) -> Option<String> {
        self.marker.clone().filter(|marker| !marker.is_empty())
    }
}

/// List Shares.
pub(super) fn shares(account: &AccountName, asked: &Asked<'_>) -> Result<SharesListing, ApiError> {
    let repeated = Repeated::read(asked)?;
    let mut op = ListShares {
        account: account.clone(),
        prefix: repeated.prefix.clone().unwrap_or_default(),
        marker: repeated.from(),
        max_results: repeated.page(),
        include_metadata: false,
        include_snapshots: false,
        include_deleted: false,
    };
    for value in included(asked) {
        match value.to_ascii_lowercase().as_str() {
            "metadata" => op.include_metadata = true,
            "snapshots" => op.include_snapshots = true,
            "deleted" => op.include_deleted = true,
            _ => return Err(not_included(value)),
        }
    }
    Ok(SharesListing { op, repeated })
}

/// The values of `include`.
pub(super) fn included<'a>(asked: &Asked<'a>) -> impl Iterator<Item = &'a str> {
    let values = asked.query_all("include").flat_map(|list| list.split(','));
    values.map(str::trim).filter(|value| !value.is_empty())
}

pub(super) fn not_included(value: &str) -> ApiError {
    ApiError::invalid_query_parameter("include", value, "Invalid query parameter value.")
}
