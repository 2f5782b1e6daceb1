//! Listing markers: where the next page starts, opaque to clients, refused unless made here.

use zaffre_base::base64;
use zaffre_base::checksum::crc32c_of;
use zaffre_domain::Refusal;

/// Which listing a marker belongs to; one is no use in another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Listing {
    Containers = 1,
    Blobs = 2,
}

impl Listing {
    fn tag(self) -> u8 {
        match self {
            Self::Containers => 1,
            Self::Blobs => 2,
        }
    }
}

/// A marker for the page that starts at `name`: a tag, the name, and a checksum over both, in the
/// alphabet that needs no escaping in a URL.
pub(crate) fn make(listing: Listing, name: &str) -> String {
    let tag = [listing.tag()];
    let crc = crc32c_of([&tag, name.as_bytes()]);
    let bytes = [&tag, name.as_bytes(), &crc.to_be_bytes()].concat();
    base64::encode(&bytes).replace('+', "-").replace('/', "_").replace('=', ".")
}

/// The name a marker stands for.
pub(crate) fn read(listing: Listing, marker: &str) -> Result<String, Refusal> {
    parse(listing, marker).ok_or(Refusal::InvalidMarker)
}

fn parse(listing: Listing, marker: &str) -> Option<String> {
    let bytes = base64::decode(&marker.replace('-', "+").replace('_', "/").replace('.', "="))?;
    let (body, crc) = bytes.split_last_chunk::<4>()?;
    let (tag, name) = body.split_first()?;
    let ours = *tag == listing.tag() && crc32c_of([body]) == u32::from_be_bytes(*crc);
    if ours { String::from_utf8(name.to_vec()).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_come_back() {
        for name in ["a", "photos/2026", "ü?&=+/", "\u{10000}"] {
            let marker = make(Listing::Blobs, name);
            assert!(marker.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)));
            assert_eq!(read(Listing::Blobs, &marker).as_deref(), Ok(name));
            assert!(read(Listing::Containers, &marker).is_err(), "another listing's");
        }
    }

    #[test]
    fn others_are_refused() {
        let good = make(Listing::Blobs, "photos");
        let mut swapped = good.clone().into_bytes();
        swapped.swap(2, 3);
        let swapped = String::from_utf8(swapped).unwrap_or_default();
        for bad in ["", "x", "AAAA", "2!68!MDAwMDAx", "photos", &good[1..], &swapped] {
            assert_eq!(read(Listing::Blobs, bad), Err(Refusal::InvalidMarker), "{bad}");
        }
    }
}
