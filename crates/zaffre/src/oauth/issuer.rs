//! The public keys of the issuer: from a file, or from where the issuer publishes them.
//!
//! Must never ask anybody else for them, nor forget good keys because new ones cannot be had.

use super::OauthArgs;
use crate::failure::Failure;
use crate::terminal::warn;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use zaffre_auth::bearer::jwks_uri;
use zaffre_auth::{KeySet, TokenTrust};
use zaffre_base::limits::ISSUER_DOCUMENT_BYTES;
use zaffre_http::AccountsHandle;
use zaffre_http::fetch::{self, Url};
use zaffre_http::tls::{self, ClientConfig};

/// How often a file is read again, and an issuer asked again that did not answer.
const SOON: Duration = Duration::from_mins(1);
/// How often an issuer is asked again.
const LATER: Duration = Duration::from_mins(5);
/// Where issuers say where their keys are.
const DISCOVERY: &str = "/.well-known/openid-configuration";
/// Where systems keep the certificates they trust.
const SYSTEM_AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// An issuer and where its keys come from.
pub(super) struct Issuer {
    name: String,
    audience: Option<String>,
    source: Source,
}

enum Source {
    File(PathBuf),
    Published(Url, Option<Arc<ClientConfig>>),
}

impl Issuer {
    /// Reads the flags, and the keys for the first time. A file must be good; an issuer that does
    /// not answer is asked again later, because everybody with a key can be served meanwhile.
    pub(super) async fn open(args: &OauthArgs) -> Result<(Self, TokenTrust), Failure> {
        let name = args.issuer.clone().unwrap_or_default();
        let source = if let Some(path) = &args.keys {
            Source::File(path.clone())
        } else {
            let url = Url::parse(&name).ok_or(Failure::Issuer { url: name.clone() })?;
            let authorities = || authorities(args.authorities.as_deref());
            let tls = url.is_secure().then(authorities).transpose()?;
            Source::Published(url, tls)
        };
        let issuer = Self { name, audience: args.audience.clone(), source };
        let keys = match (issuer.keys().await, &issuer.source) {
            (Ok(keys), _) => keys,
            (Err(reason), Source::File(path)) => {
                return Err(Failure::file("key set", path, reason));
            }
            (Err(reason), Source::Published(..)) => {
                warn(&format!("no bearer token is taken until the issuer's keys are: {reason}"));
                KeySet::default()
            }
        };
        let trust = issuer.trust(keys);
        Ok((issuer, trust))
    }

    fn trust(&self, keys: KeySet) -> TokenTrust {
        TokenTrust::proven(self.name.clone(), keys).for_audience(self.audience.clone())
    }

    async fn keys(&self) -> Result<KeySet, String> {
        let document = match &self.source {
            Source::File(path) => fs::read(path).map_err(|error| error.to_string())?,
            Source::Published(url, tls) => published(url, tls.as_ref()).await?,
        };
        KeySet::parse(&document).map_err(|error| error.to_string())
    }

    /// Reads the keys again for ever.
    pub(super) async fn follow(self, handle: AccountsHandle) {
        let usual = match &self.source {
            Source::File(_) => SOON,
            Source::Published(..) => LATER,
        };
        let mut pause = SOON;
        loop {
            tokio::time::sleep(pause).await;
            match self.keys().await {
                Ok(keys) => {
                    let trust = Arc::new(self.trust(keys));
                    handle.change(|accounts| accounts.clone().trusting(Some(trust)));
                    pause = usual;
                }
                Err(reason) => {
                    tracing::warn!(reason, "the issuer's keys stay as they are");
                    pause = SOON;
                }
            }
        }
    }
}

/// The key set that the issuer's own description points to.
async fn published(issuer: &Url, tls: Option<&Arc<ClientConfig>>) -> Result<Vec<u8>, String> {
    let get = async |url: &Url| {
        let document = fetch::get(url, tls.cloned(), ISSUER_DOCUMENT_BYTES).await;
        document.map_err(|error| error.to_string())
    };
    let description = get(&issuer.join(DISCOVERY)).await?;
    let place = jwks_uri(&description).ok_or("its description names no jwks_uri")?;
    let place = Url::parse(&place).filter(|place| issuer.is_beside(place));
    get(&place.ok_or("its keys are on another server; give them with --oauth-keys")?).await
}

/// Whom to trust about the issuer's name.
pub(crate) fn authorities(named: Option<&Path>) -> Result<Arc<ClientConfig>, Failure> {
    let from_environment = || env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let of_system = || SYSTEM_AUTHORITIES.iter().map(PathBuf::from).find(|path| path.is_file());
    let path = named.map(Path::to_owned).or_else(from_environment).or_else(of_system);
    let path = path.unwrap_or_else(|| PathBuf::from(SYSTEM_AUTHORITIES[0]));
    let refused = |reason: String| Failure::file("certificates of authorities", &path, reason);
    let pem = fs::read(&path).map_err(|error| refused(error.to_string()))?;
    tls::client(&pem).map_err(|error| refused(error.to_string()))
}
