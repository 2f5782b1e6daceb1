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
    Listen { address: String, error: io::Error },
    /// A file named on the command line cannot be used.
    File { what: &'static str, path: PathBuf, reason: String },
    /// The development account would be open to everybody.
    OpenDevelopmentAccount { host: String },
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
            Self::Listen { address, error } => {
                write!(f, "cannot listen on {address}: {}", listening_advice(error))
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
            Self::CertificateAlone => f.write_str(
                "--cert needs --key with the private key's PEM file, or --pwd with the password \
                 if the certificate is a PFX file",
            ),
            Self::Data { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::System { doing, error } => write!(f, "{doing} failed: {error}"),
        }
    }
}

fn listening_advice(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => "another program uses this port. Stop it, or choose another \
                                     port with --blobPort (0 lets the system choose)"
            .to_owned(),
        io::ErrorKind::AddrNotAvailable => {
            "this machine does not have this address. Choose another with --blobHost".to_owned()
        }
        io::ErrorKind::PermissionDenied => {
            "not permitted. Choose a port above 1023 with --blobPort".to_owned()
        }
        _ => format!("{error}. Check --blobHost and --blobPort"),
    }
}
