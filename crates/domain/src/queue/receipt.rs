//! Pop receipts: which delivery or update of which message, opaque to clients.
//!
//! Must never be taken for a secret: the right to receive messages is what protects them.

use crate::Refusal;
use alloc::borrow::ToOwned;
use alloc::string::String;
use zaffre_base::checksum::crc32c_of;
use zaffre_base::{Guid, Stamp, base64};

/// The commit that delivered or updated a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Receipt(pub Stamp);

impl Receipt {
    /// As clients see it: the commit and a checksum that ties it to the message, in 16 characters
    /// that need no escaping in a URL.
    pub fn text(self, id: Guid) -> String {
        let stamp = self.0.0.to_be_bytes();
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&stamp);
        bytes[8..].copy_from_slice(&sum(id, stamp).to_be_bytes());
        base64::encode(&bytes).replace('+', "-").replace('/', "_")
    }

    /// Reads a receipt that is presented for the message `id`. One that was never made here is told
    /// apart from one that was made for another message.
    pub fn read(id: Guid, presented: &str) -> Result<Self, Refusal> {
        let garbled = || Refusal::InvalidPopReceipt { presented: presented.to_owned() };
        let bytes = base64::decode(&presented.replace('-', "+").replace('_', "/"));
        let bytes: [u8; 12] = bytes.and_then(|b| b.try_into().ok()).ok_or_else(garbled)?;
        let (stamp, crc) = bytes.split_first_chunk::<8>().ok_or_else(garbled)?;
        if crc == sum(id, *stamp).to_be_bytes() {
            Ok(Self(Stamp(u64::from_be_bytes(*stamp))))
        } else {
            Err(Refusal::PopReceiptMismatch)
        }
    }
}

fn sum(id: Guid, stamp: [u8; 8]) -> u32 {
    crc32c_of([id.0.to_be_bytes().as_slice(), &stamp])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receipts_come_back() {
        for (id, stamp) in [(0, 0), (u128::MAX, u64::MAX), (0x1234, 638_000_000_000_000_001)] {
            let text = Receipt(Stamp(stamp)).text(Guid(id));
            assert!(
                text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)),
                "{text}"
            );
            assert_eq!(Receipt::read(Guid(id), &text), Ok(Receipt(Stamp(stamp))));
        }
    }

    #[test]
    fn others_are_refused() {
        let good = Receipt(Stamp(9)).text(Guid(1));
        assert_eq!(Receipt::read(Guid(2), &good), Err(Refusal::PopReceiptMismatch));
        assert_eq!(Receipt::read(Guid(1), "AAAAAAAAAAAAAAAA"), Err(Refusal::PopReceiptMismatch));
        for bad in ["", "x", "AAAA", "!!!!!!!!!!!!!!!!", &good[1..], "AgAAAAMAAAAAAAAAMwBVJ1Dq2AE="]
        {
            let refused = Receipt::read(Guid(1), bad);
            assert!(matches!(refused, Err(Refusal::InvalidPopReceipt { .. })), "{bad}");
        }
    }
}
