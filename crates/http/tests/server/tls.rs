//! HTTPS with certificates made on the spot.

use crate::support::start_with;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore, crypto};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use zaffre_http::tls;

#[tokio::test]
async fn requests_over_tls() {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let config = tls::from_pem(cert.pem().as_bytes(), signing_key.serialize_pem().as_bytes());
    let server = start_with(Some(config.expect("a usable certificate")), 8).await;

    let mut roots = RootCertStore::empty();
    roots.add(cert.der().clone()).expect("a root");
    let provider = Arc::new(crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let tcp = TcpStream::connect(server.address).await.expect("a connection");
    let name = ServerName::try_from("localhost").expect("a name");
    let mut stream =
        TlsConnector::from(Arc::new(client)).connect(name, tcp).await.expect("a handshake");
    let request =
        b"PUT /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
    stream.write_all(request).await.expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("read");
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nhello"),
        "{answer}"
    );
}

#[tokio::test]
async fn plain_http_on_a_tls_port_gets_nothing_and_does_no_harm() {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let config = tls::from_pem(cert.pem().as_bytes(), signing_key.serialize_pem().as_bytes());
    let server = start_with(Some(config.expect("a usable certificate")), 8).await;
    let mut client = server.connect().await;
    client.send("GET /empty HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(!client.until_end().await.contains("HTTP"));
}

#[test]
fn bad_certificates_say_why() {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let (cert, key) = (cert.pem(), signing_key.serialize_pem());
    let other = generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let other_key = other.signing_key.serialize_pem();
    for (cert, key, want) in [
        ("", key.as_str(), "the certificate file has no PEM certificate in it"),
        (&cert, "", "the key file has no unencrypted PEM private key in it"),
        (&cert, &other_key, "the certificate cannot be used"),
    ] {
        let error = tls::from_pem(cert.as_bytes(), key.as_bytes()).expect_err("refused");
        assert!(error.to_string().starts_with(want), "{error}");
    }
    assert!(tls::from_pfx(b"no pfx", "x").is_err());
}

#[test]
fn pfx_files_open_with_their_password() {
    let made = generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let key = p12_keystore::PrivateKey::from_der(made.signing_key.serialized_der());
    let cert = p12_keystore::Certificate::from_der(made.cert.der()).expect("a certificate");
    let chain = p12_keystore::PrivateKeyChain::new(vec![1], key.expect("a key"), [cert]);
    let mut store = p12_keystore::KeyStore::new();
    store.add_entry("mine", p12_keystore::KeyStoreEntry::PrivateKeyChain(chain));
    let file = store.writer("open").write().expect("a PFX");
    assert!(tls::from_pfx(&file, "open").is_ok());
    for password in ["", "shut"] {
        let error = tls::from_pfx(&file, password).expect_err("refused");
        assert_eq!(error.to_string(), "the PFX file cannot be opened with this password");
    }
}
