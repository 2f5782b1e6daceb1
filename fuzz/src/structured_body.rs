//! A framed body gives the same content or the same fault however it is cut into pieces, and never
//! more content than was announced.

use bytes::Bytes;
use zaffre_blob::body::structured::{Decoder, Fault};

/// The target: how many bytes of content are announced, then the message.
pub fn run(input: &[u8]) {
    let Some((announced, message)) = input.split_first() else { return };
    let whole = decode(message, u64::from(*announced), message.len().max(1));
    for step in [1, 2, 7] {
        assert_eq!(decode(message, u64::from(*announced), step), whole, "in pieces of {step}");
    }
    if let Ok(content) = whole {
        assert_eq!(content.len(), usize::from(*announced));
    }
}

fn decode(message: &[u8], announced: u64, step: usize) -> Result<Vec<u8>, Fault> {
    let length = u64::try_from(message.len()).unwrap_or(u64::MAX);
    let mut decoder = Decoder::new(length, announced);
    let mut content = Vec::new();
    for piece in message.chunks(step) {
        decoder.push(Bytes::copy_from_slice(piece), &mut content)?;
    }
    decoder.finish()?;
    Ok(content.concat())
}
