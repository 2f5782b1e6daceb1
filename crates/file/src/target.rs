//! The part of a decoded path after the account: the service, a share, or what is in one.
//!
//! Must never decode anything: it gets text that was decoded once and makes typed names of it.

use zaffre_auth::Scope;
use zaffre_base::{AccountName, ShareName};
use zaffre_core::file::share::SharePath;
use zaffre_domain::fs::FilePath;
use zaffre_http::ApiError;

/// What a path names inside an account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// The account's File service.
    Service,
    /// A share, or its root directory.
    Share(ShareName),
    /// A file or directory; the path from the share's root as it came.
    Item(ShareName, String),
}

impl Target {
    /// Reads the decoded path after the account, without its leading slash.
    pub fn parse(path: &str) -> Result<Self, ApiError> {
        if path.is_empty() {
            return Ok(Self::Service);
        }
        let (share, inside) = path.split_once('/').unwrap_or((path, ""));
        let share = ShareName::parse(share)?;
        if inside.trim_matches('/').is_empty() {
            return Ok(Self::Share(share));
        }
        Ok(Self::Item(share, inside.to_owned()))
    }

    fn name(&self) -> Option<&ShareName> {
        match self {
            Self::Service => None,
            Self::Share(share) | Self::Item(share, _) => Some(share),
        }
    }

    /// The share's full name.
    pub fn share(&self, account: &AccountName) -> Result<SharePath, ApiError> {
        let share = self.name().ok_or_else(ApiError::invalid_uri)?.clone();
        Ok(SharePath { account: account.clone(), share })
    }

    /// The share, or the account, as the permission rules see it.
    pub fn scope<'a>(&'a self, account: &'a AccountName) -> Scope<'a> {
        match self.name() {
            None => Scope::account(account),
            Some(share) => Scope::container(account, share.as_str()),
        }
    }

    /// The same for an operation on a file, if `file` is its path.
    pub fn scope_of<'a>(
        &'a self,
        account: &'a AccountName,
        file: Option<&'a FilePath>,
    ) -> Scope<'a> {
        Scope { object: file.map(FilePath::as_str), ..self.scope(account) }
    }

    /// The path inside the share; empty for the share itself.
    pub fn inside(&self) -> &str {
        match self {
            Self::Service | Self::Share(_) => "",
            Self::Item(_, inside) => inside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (path, want) in [
            ("", "service"),
            ("abc", "share abc"),
            ("abc/", "share abc"),
            ("abc/d", "item abc d"),
            ("abc/d/e/", "item abc d/e/"),
            ("ABC", "InvalidResourceName"),
            ("ab", "OutOfRangeInput"),
            ("$root/x", "InvalidResourceName"),
        ] {
            let shown = match Target::parse(path) {
                Ok(Target::Service) => "service".to_owned(),
                Ok(Target::Share(share)) => format!("share {share}"),
                Ok(Target::Item(share, inside)) => format!("item {share} {inside}"),
                Err(error) => error.code.to_owned(),
            };
            assert_eq!(shown, want, "{path}");
        }
    }
}
