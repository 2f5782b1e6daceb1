//! Account SAS: a token for whole services and kinds of resources of one account.
//!
//! Must never be mistaken for a service SAS: it has `ss` and `srt` and no `sr`.

use super::V2015_04_05;
use super::field::{Field, Token, malformed};
use super::layout::Layout;
use super::limits::{Origin, Window, time};
use crate::accounts::Account;
use crate::error::{AuthError, Failure};
use crate::mac;
use crate::request::RequestFacts;
use crate::service::Service;
use zaffre_base::{ApiVersion, Timestamp};

/// A verified account SAS that is valid now.
#[derive(Clone, Debug)]
pub(crate) struct AccountSas {
    services: String,
    pub(crate) resource_types: String,
    pub(crate) permissions: String,
}

impl AccountSas {
    /// Checks the token's signature, then its time, address and protocol.
    pub(crate) fn verify(
        token: &Token,
        facts: &RequestFacts<'_>,
        account: &Account,
        now: Timestamp,
    ) -> Result<Self, AuthError> {
        let sv = version(token)?;
        let layout = Layout::account(sv);
        let services = token.require(Field::Ss)?.to_owned();
        let resource_types = token.require(Field::Srt)?.to_owned();
        let permissions = token.require(Field::Sp)?.to_owned();
        token.require(Field::Se)?;
        let expiry = time(token, Field::Se)?.ok_or(malformed(Field::Se))?;
        let window = Window { start: time(token, Field::St)?, expiry };
        let origin = Origin::read(token, layout)?;
        let presented = token.require(Field::Sig)?;
        let mut texts = vec![layout.account_string(token, account.name())];
        if !mac::verify(account.keys(), &texts, presented) {
            return Err(Failure::SasMismatch { string_to_sign: texts.swap_remove(0) }.into());
        }
        window.check(now)?;
        origin.check(facts)?;
        Ok(Self { services, resource_types, permissions })
    }

    pub(crate) fn covers(&self, service: Service) -> bool {
        self.services.contains(service.letter())
    }
}

/// `sv`, which an account SAS always has and which is never older than account SAS itself.
pub(crate) fn version(token: &Token) -> Result<ApiVersion, AuthError> {
    let sv = ApiVersion::parse(token.require(Field::Sv)?).ok_or(malformed(Field::Sv))?;
    if sv < V2015_04_05 { Err(malformed(Field::Sv)) } else { Ok(sv) }
}
