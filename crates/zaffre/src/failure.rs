//! Why the program could not start or go on, in words that say what to do.
//!
//! Must never show a key or a password.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A failure to be shown on the terminal.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The address cannot be listened on.
    Listen { address: String, flags: &'static str, error: io::Error },
    /// A file named on the command line cannot be used.
    File { what: &'static str, path: PathBuf, reason: String },
    /// The development account would be open to everybody.
    OpenDevelopmentAccount { host: String },
    /// Tokens that anybody can make would be taken from everybody.
    OpenTokens { host: String },
    /// Test controls would be open to everybody.
    OpenControls { host: String },
    /// A running server's console does not do what it was asked.
    Console { url: String, reason: String },
    /// Keys cannot be fetched from there.
    Issuer { url: String },
    /// A setting names an account that is not there.
    SettingForNobody { account: String },
    /// `--cert` without what opens it.
    CertificateAlone,
    /// The data directory cannot be used.
    Data { path: PathBuf, reason: String },
    /// The system refuses something basic.
    System { doing: &'static str, error: io::Error },
}

impl Failure {
    pub(crate) fn file(what: &'static str, path: &Path, reason: impl fmt::Display) -> Self {
        Self::File { what, path: path.to_owned(), reason: reason.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen { address, flags, error } => {
                write!(f, "cannot listen on {address}: {}", listening_advice(flags, error))
            }
            Self::File { what, path, reason } => {
                write!(f, "the {what} {} cannot be used: {reason}", path.display())
            }
            Self::OpenDevelopmentAccount { host } => write!(
                f,
                "listening on {host} would let anybody in who can reach it, because everybody \
                 knows the key of the development account. Name your own accounts with --config \
                 or AZURITE_ACCOUNTS, or ask for the development account with --developmentAccount"
            ),
            Self::OpenTokens { host } => write!(
                f,
                "listening on {host} with --oauth basic would let anybody in who can reach it, \
                 because anybody can make such a token. Use --oauth verify, or say with \
                 --developmentAccount that this server has no secrets"
            ),
            Self::OpenControls { host } => write!(
                f,
                "listening on {host} with --test-controls would let anybody who can reach this \
                 server turn its clock and make requests fail. Say --test-controls-anywhere as \
                 well if that is what you want"
            ),
            Self::Console { url, reason } => {
                write!(f, "the console at {url} did not do it: {reason}")
            }
            Self::Issuer { url } => write!(
                f,
                "keys cannot be fetched from {url}: --oauth-issuer takes an https URL (http for \
                 this machine alone), or give the keys with --oauth-keys"
            ),
            Self::SettingForNobody { account } => write!(
                f,
                "a setting is for the account {account}, which is not there. Check its spelling, \
                 or add the account to the file given with --config"
            ),
            Self::CertificateAlone => f.write_str(
                "--cert needs --key with the private key's PEM file, or --pwd with the password \
                 if the certificate is a PFX file",
            ),
            Self::Data { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::System { doing, error } => write!(f, "{doing} failed: {error}"),
        }
    }
}

/// `flags`: what the service's flags start with.
fn listening_advice(flags: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "another program uses this port. Stop it, or choose another port with --{flags}Port (0 \
             lets the system choose)"
        ),
        io::ErrorKind::AddrNotAvailable => {
            format!("this machine does not have this address. Choose another with --{flags}Host")
        }
        io::ErrorKind::PermissionDenied => {
            format!("not permitted. Choose a port above 1023 with --{flags}Port")
        }
        _ => format!("{error}. Check --{flags}Host and --{flags}Port"),
    }
}
