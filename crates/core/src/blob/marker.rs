//! Listing markers: where the next page starts, opaque to clients, refused unless made here.

use zaffre_base::base64;
use zaffre_base::checksum::crc32c_of;
use zaffre_domain::Refusal;

/// Which listing a marker belongs to; one is no use in another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Listing {
    Containers = 1,
    Blobs = 2,
    Found = 3,
    Queues = 4,
    Shares = 5,
    Entries = 6,
    Handles = 7,
}

impl Listing {
    fn tag(self) -> u8 {
        match self {
            Self::Containers => 1,
            Self::Blobs => 2,
            Self::Found => 3,
            Self::Queues => 4,
            Self::Shares => 5,
            Self::Entries => 6,
            Self::Handles => 7,
        }
    }
}

/// Where a page starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) name: String,
    /// What follows the name in the key of something that shares it with what is current; empty for
    /// what is current.
    pub(crate) position: Vec<u8>,
}

impl Place {
    /// What is current and has this name.
    pub(crate) fn blob(name: String) -> Self {
        Self { name, position: Vec::new() }
    }
}

/// Set in the tag of a marker that has a position.
const POSITIONED: u8 = 0x80;

/// A marker for the page that starts at `place`: a tag, the position with its length if there is
/// one, the name, and a checksum over all of them, in the alphabet that needs no escaping in a URL.
pub(crate) fn make(listing: Listing, place: &Place) -> String {
    let mut bytes = vec![listing.tag()];
    if let Ok(length @ 1..) = u8::try_from(place.position.len()) {
        bytes = vec![listing.tag() | POSITIONED, length];
        bytes.extend_from_slice(&place.position);
    }
    bytes.extend_from_slice(place.name.as_bytes());
    let crc = crc32c_of([bytes.as_slice()]);
    bytes.extend_from_slice(&crc.to_be_bytes());
    base64::encode(&bytes).replace('+', "-").replace('/', "_").replace('=', ".")
}

/// The place a marker stands for.
pub(crate) fn read(listing: Listing, marker: &str) -> Result<Place, Refusal> {
    parse(listing, marker).ok_or(Refusal::InvalidMarker)
}

fn parse(listing: Listing, marker: &str) -> Option<Place> {
    let bytes = base64::decode(&marker.replace('-', "+").replace('_', "/").replace('.', "="))?;
    let (body, crc) = bytes.split_last_chunk::<4>()?;
    let (tag, mut rest) = body.split_first()?;
    let ours = tag & !POSITIONED == listing.tag() && crc32c_of([body]) == u32::from_be_bytes(*crc);
    if !ours {
        return None;
    }
    let mut position = Vec::new();
    if tag & POSITIONED != 0 {
        let (length, after) = rest.split_first()?;
        let (found, name) = after.split_at_checked(usize::from(*length))?;
        (position, rest) = (found.to_vec(), name);
    }
    Some(Place { name: String::from_utf8(rest.to_vec()).ok()?, position })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_come_back() {
        for name in ["a", "photos/2026", "ü?&=+/", "\u{10000}"] {
            for position in [vec![], vec![0xFF; 9], vec![7]] {
                let place = Place { name: name.to_owned(), position };
                let marker = make(Listing::Blobs, &place);
                assert!(marker.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)));
                assert_eq!(read(Listing::Blobs, &marker).as_ref(), Ok(&place));
                assert!(read(Listing::Containers, &marker).is_err(), "another listing's");
            }
        }
    }

    #[test]
    fn others_are_refused() {
        let good = make(Listing::Blobs, &Place::blob("photos".to_owned()));
        let mut swapped = good.clone().into_bytes();
        swapped.swap(2, 3);
        let swapped = String::from_utf8(swapped).unwrap_or_default();
        for bad in ["", "x", "AAAA", "2!68!MDAwMDAx", "photos", &good[1..], &swapped] {
            assert_eq!(read(Listing::Blobs, bad), Err(Refusal::InvalidMarker), "{bad}");
        }
    }
}
