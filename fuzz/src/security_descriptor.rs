//! Security descriptors as text and as bytes, and names and paths of files.
//!
//! What is read can be written, and what was written reads back the same.

use zaffre_domain::fs::name::{TrailingDots, fold};
use zaffre_domain::fs::security::{inherited, merged};
use zaffre_domain::fs::{Attributes, Descriptor, FilePath, PermissionKey};

/// One input, taken for each of the forms.
pub fn run(input: &[u8]) {
    if let Ok(read) = Descriptor::from_bytes(input) {
        round_trip(&read);
    }
    let text = String::from_utf8_lossy(input);
    if let Ok(read) = Descriptor::parse_sddl(&text) {
        round_trip(&read);
    }
    for dots in [TrailingDots::Trim, TrailingDots::Keep] {
        if let Ok(path) = FilePath::parse(&text, dots) {
            let again = FilePath::parse(&path.to_string(), TrailingDots::Keep);
            assert_eq!(again.as_ref(), Ok(&path), "a path reads back the same");
            for name in path.names() {
                assert_eq!(fold(&name.folded()), name.folded(), "upper case is the end of it");
            }
        }
    }
    if let Ok(attributes) = Attributes::parse(&text) {
        assert_eq!(Attributes::parse(&attributes.text()), Ok(attributes));
    }
    if let Ok(key) = PermissionKey::parse(&text) {
        assert_eq!(PermissionKey::parse(&key.to_string()), Ok(key));
    }
}

fn round_trip(read: &Descriptor) {
    let Ok(bytes) = read.to_bytes() else { return };
    assert_eq!(Descriptor::from_bytes(&bytes).as_ref(), Ok(read), "bytes read back the same");
    let text = read.sddl();
    if let Ok(again) = Descriptor::parse_sddl(&text) {
        assert_eq!(again.sddl(), text, "text reads back the same");
    }
    for directory in [false, true] {
        let child = inherited(read, directory);
        assert!(child.is_complete(), "whoever is made has an owner and a list");
        let _ = merged(read, &child, directory).to_bytes();
    }
}
