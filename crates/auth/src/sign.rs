//! The client's half: Authorization headers and SAS tokens, for tests and internal tooling.
//!
//! Must never be reachable from a request: it turns keys into credentials.

use crate::accounts::Account;
use crate::error::AuthError;
use crate::mac;
use crate::request::RequestFacts;
use crate::sas::account;
use crate::sas::delegated::Demands;
use crate::sas::field::Token;
use crate::sas::layout::Layout;
use crate::sas::resource::SignedResource;
use crate::sas::service;
use crate::shared_key::{Scheme, strings_to_sign};
use zaffre_base::{AccountName, Secret};

/// The parameters of a token, ready for a query.
pub type Parameters = Vec<(String, String)>;

/// The `SharedKey` Authorization header for a request.
pub fn shared_key(facts: &RequestFacts<'_>, key: &Secret<Vec<u8>>) -> Result<String, AuthError> {
    authorization(Scheme::SharedKey, facts, key)
}

/// The `SharedKeyLite` Authorization header for a request.
pub fn shared_key_lite(
    facts: &RequestFacts<'_>,
    key: &Secret<Vec<u8>>,
) -> Result<String, AuthError> {
    authorization(Scheme::SharedKeyLite, facts, key)
}

fn authorization(
    scheme: Scheme,
    facts: &RequestFacts<'_>,
    key: &Secret<Vec<u8>>,
) -> Result<String, AuthError> {
    let texts = strings_to_sign(scheme, facts)?;
    let signature = texts.first().map(|text| mac::sign(key, text)).unwrap_or_default();
    Ok(format!("{} {}:{signature}", scheme.name(), facts.account))
}

/// Signs the parameters of an account SAS (`sv`, `ss`, `srt`, `sp`, `se`, …) and appends `sig`.
pub fn account_sas(
    account: &AccountName,
    key: &Secret<Vec<u8>>,
    parameters: &[(&str, &str)],
) -> Result<Parameters, AuthError> {
    let query = owned(parameters);
    let token = token(&query)?;
    let layout = Layout::account(account::version(&token)?);
    let text = layout.account_string(&token, account);
    Ok(with_signature(query, mac::sign(key, &text)))
}

/// Signs the parameters of a service SAS (`sv`, `sr`, `sp`, `se`, …) for the service, container and
/// object in `facts` and appends `sig`. With `skoid` and its companions among them it is a user
/// delegation SAS, and `key` is the user delegation key. A snapshot or version goes into `parameters` as in the URL.
pub fn service_sas(
    facts: &RequestFacts<'_>,
    key: &Secret<Vec<u8>>,
    parameters: &[(&str, &str)],
) -> Result<Parameters, AuthError> {
    let query = owned(parameters);
    let token = token(&query)?;
    let version = service::version(&token, facts.service)?;
    let resource = SignedResource::read(&token, facts, version)?;
    let layout = service::layout(&token, facts.service, version)?;
    let demands = Demands::read(&token, layout, facts)?;
    let texts = resource.strings_to_sign(&token, facts, (version, layout), &demands);
    let signature = texts.first().map(|text| mac::sign(key, text)).unwrap_or_default();
    Ok(with_signature(query, signature))
}

/// The first key of an account.
pub fn primary_key(account: &Account) -> Option<&Secret<Vec<u8>>> {
    account.keys().next()
}

fn owned(parameters: &[(&str, &str)]) -> Parameters {
    parameters.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
}

fn token(query: &Parameters) -> Result<Token, AuthError> {
    Token::find(query)?.ok_or(AuthError::NoAuthenticationInformation)
}

fn with_signature(mut query: Parameters, signature: String) -> Parameters {
    query.push(("sig".to_owned(), signature));
    query
}
