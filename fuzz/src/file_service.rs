//! What the File service parses: paths, security descriptors as text and as bytes, permissions in
//! JSON, attributes, and whole heads of requests. What is understood is shown in one form that means
//! the same.

use crate::head;
use zaffre_base::{ApiVersion, Guid};
use zaffre_domain::fs::name::{TrailingDots, fold};
use zaffre_domain::fs::{Attributes, Descriptor, FilePath, PermissionKey};
use zaffre_file::parse::{self, permission};
use zaffre_file::route::route;
use zaffre_file::target::Target;
use zaffre_http::{ApiError, Asked, Destination, RequestHead};

/// The target.
pub fn run(input: &[u8]) {
    if let Ok(descriptor) = Descriptor::from_bytes(input) {
        comes_back(&descriptor);
    }
    if let Ok(descriptor) = permission::body(input) {
        comes_back(&descriptor);
    }
    let Ok(text) = std::str::from_utf8(input) else { return };
    paths(text);
    if let Ok(descriptor) = Descriptor::parse_sddl(text) {
        comes_back(&descriptor);
        let shown = descriptor.sddl();
        assert_eq!(Descriptor::parse_sddl(&shown).ok(), Some(descriptor), "{shown}");
    }
    if let Ok(attributes) = Attributes::parse(text) {
        assert_eq!(Attributes::parse(&attributes.text()).ok(), Some(attributes));
    }
    if let Ok(key) = PermissionKey::parse(text) {
        assert_eq!(PermissionKey::parse(&key.to_string()), Ok(key));
    }
    if let Some(head) = head::decode(input) {
        let _ = operation(&head);
    }
}

fn comes_back(descriptor: &Descriptor) {
    let Ok(bytes) = descriptor.to_bytes() else { return };
    assert_eq!(Descriptor::from_bytes(&bytes).ok().as_ref(), Some(descriptor));
}

fn paths(text: &str) {
    for dots in [TrailingDots::Trim, TrailingDots::Keep] {
        let Ok(path) = FilePath::parse(text, dots) else { continue };
        assert!(path.names().len() <= 250);
        for name in path.names() {
            assert!(!name.as_str().contains(['/', '\\', '\0']), "{name}");
            assert!(name.as_str() != "." && name.as_str() != "..");
            assert_eq!(fold(&name.folded()), name.folded(), "upper case is upper case");
        }
        assert_eq!(FilePath::parse(path.as_str(), TrailingDots::Keep).as_ref(), Ok(&path));
    }
}

fn operation(head: &RequestHead) -> Result<(), ApiError> {
    let to = Destination::read(head, true)?;
    let asked = Asked::new(head, to, Some(0), ApiVersion::LATEST)?;
    let target = Target::parse(&asked.to.path)?;
    let kind = route(&target, &asked)?;
    let path = parse::path(kind, &target, &asked)?;
    parse::operation(kind, &target, path, &asked, &|| Ok(Guid(7)))?;
    Ok(())
}
