//! Reads the certificate named on the command line.

use crate::args::Args;
use crate::failure::Failure;
use std::path::Path;
use std::sync::Arc;
use zaffre_http::tls;

/// The TLS configuration asked for, if any.
pub(crate) fn load(args: &Args) -> Result<Option<Arc<tls::ServerConfig>>, Failure> {
    let Some(path) = &args.cert else { return Ok(None) };
    let cert = read("certificate", path)?;
    let config = match (&args.key, &args.pwd) {
        (Some(key), _) => tls::from_pem(&cert, &read("private key", key)?),
        (None, Some(password)) => tls::from_pfx(&cert, password),
        (None, None) => return Err(Failure::CertificateAlone),
    };
    config.map(Some).map_err(|error| Failure::file("certificate", path, error))
}

fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::file(what, path, error))
}
