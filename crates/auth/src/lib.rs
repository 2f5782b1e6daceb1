//! Credentials in, `Authorized<Op>` out. The only maker of that type.
//!
//! Two steps, so that the container's ACL can be read in between: [`authenticate`] proves who asks,
//! [`authorize`] decides whether they may. Must never do I/O: accounts, container ACLs and both
//! clocks come in as arguments.

pub mod accounts;
pub mod action;
mod authorize;
mod authorized;
pub mod bearer;
mod canonical;
mod claim;
pub mod delegation;
pub mod error;
pub mod key_range;
mod mac;
pub mod ntlm;
mod permissions;
pub mod request;
mod sas;
pub mod service;
mod shared_key;
pub mod sign;
pub mod version;

pub use accounts::{Account, Accounts, AccountsError};
pub use action::{Action, Guarded, Scope};
pub use authorize::{ContainerAccess, authorize, may};
pub use authorized::{Authorized, Extras, Grants};
pub use bearer::{Identity, KeySet, KeySetError, TokenTrust};
pub use claim::{Claim, authenticate};
pub use delegation::{GetUserDelegationKey, UserDelegationKey};
pub use error::{AuthError, Failure, Hidden, Presented};
pub use key_range::{KeyBound, KeyRange};
pub use request::RequestFacts;
pub use sas::ResponseOverrides;
pub use service::Service;
pub use shared_key::counts_for_credentials;
pub use version::{VersionError, default_version, effective_version};
