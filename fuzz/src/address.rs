//! A host and a path: decoded once into names that are legal, and never into more than one meaning.

use zaffre_base::{BlobName, ContainerName};
use zaffre_blob::target::Target;
use zaffre_http::{address, percent};

/// The target: a line with the host, and a line with the path.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (host, path) = text.split_once('\n').unwrap_or(("127.0.0.1", text));
    for always in [false, true] {
        let Ok(address) = address::parse(host, path, always) else { continue };
        assert!(!address.account.is_empty() || address.secondary);
        assert!(!address.path.contains('\\'), "a backslash is a slash");
        assert!(!always || address.path_style);
        for restype in [None, Some("container")] {
            let Ok(target) = Target::parse(&address.path, restype) else { continue };
            check(&target, &address.path);
        }
    }
    if let Some(decoded) = percent::decode(path) {
        let encoded = decoded.bytes().flat_map(|byte| [b'%', digit(byte >> 4), digit(byte & 15)]);
        let encoded = String::from_utf8(encoded.collect()).unwrap_or_default();
        assert_eq!(percent::decode(&encoded), Some(decoded));
    }
}

fn check(target: &Target, path: &str) {
    match target {
        Target::Service => assert!(path.is_empty()),
        Target::Container(container) => {
            assert!(ContainerName::parse(container.as_str()).is_ok());
            assert_eq!(path.trim_end_matches('/'), container.as_str());
        }
        Target::Blob(container, blob) => {
            assert!(ContainerName::parse(container.as_str()).is_ok());
            assert!(BlobName::parse(blob.as_str()).is_ok());
            let whole = format!("{container}/{blob}");
            assert!(path == whole || (path == blob.as_str() && container.as_str() == "$root"));
        }
    }
}

fn digit(value: u8) -> u8 {
    b"0123456789ABCDEF".get(usize::from(value)).copied().unwrap_or_default()
}
