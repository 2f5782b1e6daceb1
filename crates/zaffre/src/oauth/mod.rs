//! Bearer tokens: the flags, whose tokens are taken, and the issuer's keys kept up to date.
//!
//! Must never let tokens in that anybody can make, unless the operator asked for it by name.

mod issuer;

use crate::endpoints::Endpoint;
use crate::failure::Failure;
use crate::terminal::warn;
use issuer::Issuer;
pub(crate) use issuer::authorities;
use std::path::PathBuf;
use std::sync::Arc;
use zaffre_auth::TokenTrust;
use zaffre_http::AccountsHandle;

/// The flags.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "Bearer tokens")]
pub(crate) struct OauthArgs {
    /// Take bearer tokens, over HTTPS: `basic` looks at what they say, `verify` also at who signed
    /// them
    #[arg(long, value_name = "LEVEL", requires = "cert")]
    pub(crate) oauth: Option<Level>,

    /// Who issues tokens: the URL in their `iss`
    #[arg(long = "oauth-issuer", value_name = "URL", requires = "oauth")]
    #[arg(required_if_eq("oauth", "verify"))]
    issuer: Option<String>,

    /// The issuer's public keys, a JWK set, read again every minute; without it, they are fetched
    /// from the issuer
    #[arg(long = "oauth-keys", value_name = "FILE", requires = "issuer")]
    keys: Option<PathBuf>,

    /// Certificates (PEM) that the issuer's own is checked against; the system's, if not given
    #[arg(long = "oauth-ca", value_name = "FILE", requires = "issuer", conflicts_with = "keys")]
    authorities: Option<PathBuf>,

    /// Also take tokens whose `aud` is this
    #[arg(long = "oauth-audience", value_name = "TEXT", requires = "oauth")]
    audience: Option<String>,
}

/// How much of a token is checked.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// Issuer, audience and time, as Azurite does: anybody can make such a token
    Basic,
    /// The signature as well
    Verify,
}

/// Whose tokens are taken now, and how that is kept up to date.
pub(crate) struct Tokens {
    pub(crate) trust: Option<Arc<TokenTrust>>,
    issuer: Option<Issuer>,
}

impl Tokens {
    /// What the flags ask for. `open`: the operator let the development account be reached from
    /// everywhere, and so has no secrets to keep.
    pub(crate) async fn open(
        args: &OauthArgs,
        open: bool,
        endpoints: &[&Endpoint],
    ) -> Result<Self, Failure> {
        match args.oauth {
            None => Ok(Self { trust: None, issuer: None }),
            Some(Level::Basic) => {
                let far = endpoints.iter().map(|e| e.ip()).find(|ip| !ip.is_loopback());
                if let Some(ip) = far.filter(|_| !open) {
                    return Err(Failure::OpenTokens { host: ip.to_string() });
                }
                warn("--oauth basic takes tokens that anybody can make: use it for tests only");
                let trust = TokenTrust::claimed().for_audience(args.audience.clone());
                Ok(Self { trust: Some(Arc::new(trust)), issuer: None })
            }
            Some(Level::Verify) => {
                let (issuer, trust) = Issuer::open(args).await?;
                Ok(Self { trust: Some(Arc::new(trust)), issuer: Some(issuer) })
            }
        }
    }

    /// Keeps the issuer's keys up to date for ever.
    pub(crate) async fn follow(self, handle: AccountsHandle) {
        if let Some(issuer) = self.issuer {
            issuer.follow(handle).await;
        }
    }
}
