//! Certificates for HTTPS: PEM files, or one PFX file with its password.
//!
//! Must never read a file itself, nor show a key or a password in an error.

use p12_keystore::{KeyStore, Pkcs12ImportPolicy};
use rustls::RootCertStore;
use rustls::crypto;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
pub use rustls::{ClientConfig, ServerConfig};
use std::fmt;
use std::sync::Arc;

/// Why a certificate cannot be used.
#[derive(Debug)]
pub enum TlsError {
    /// The certificate file has no PEM certificate.
    NoCertificate,
    /// The key file has no PEM private key.
    NoKey,
    /// The PFX cannot be opened: not a PFX, or another password.
    Pfx,
    /// The key and the certificate do not fit, or their kind is not supported.
    Refused(rustls::Error),
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCertificate => f.write_str("the certificate file has no PEM certificate in it"),
            Self::NoKey => f.write_str("the key file has no unencrypted PEM private key in it"),
            Self::Pfx => f.write_str("the PFX file cannot be opened with this password"),
            Self::Refused(error) => write!(f, "the certificate cannot be used: {error}"),
        }
    }
}

impl std::error::Error for TlsError {}

/// For connections to others, whose certificates must lead to one of these (PEM).
pub fn client(authorities: &[u8]) -> Result<Arc<ClientConfig>, TlsError> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(authorities) {
        // Bundles hold some that are too odd to be read; the others are good all the same.
        let _ = roots.add(authority.map_err(|_| TlsError::NoCertificate)?);
    }
    if roots.is_empty() {
        return Err(TlsError::NoCertificate);
    }
    let provider = Arc::new(crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Refused)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// From a PEM chain, own certificate first, and its PEM key.
pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Arc<ServerConfig>, TlsError> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<_, _>>()
        .map_err(|_| TlsError::NoCertificate)?;
    if chain.is_empty() {
        return Err(TlsError::NoCertificate);
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| TlsError::NoKey)?;
    config(chain, key)
}

/// From a PFX (PKCS#12) file.
pub fn from_pfx(file: &[u8], password: &str) -> Result<Arc<ServerConfig>, TlsError> {
    let store = KeyStore::from_pkcs12(file, password, Pkcs12ImportPolicy::Relaxed)
        .map_err(|_| TlsError::Pfx)?;
    let (_, entry) = store.private_key_chain().ok_or(TlsError::NoKey)?;
    let chain: Vec<_> =
        entry.certs().iter().map(|c| CertificateDer::from(c.as_der().to_vec())).collect();
    if chain.is_empty() {
        return Err(TlsError::NoCertificate);
    }
    let key = PrivateKeyDer::Pkcs8(entry.key().as_der().to_vec().into());
    config(chain, key)
}

fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<ServerConfig>, TlsError> {
    let provider = Arc::new(crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Refused)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(TlsError::Refused)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
