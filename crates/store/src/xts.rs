//! AES-256 in XTS mode (IEEE 1619): every 16-byte block is encrypted for the place it lies at.
//!
//! Keeps length and offsets, and blocks do not depend on each other: what was torn or rewritten in
//! part reads back like an unencrypted file would. Must never be taken for proof that bytes are
//! unchanged: checksums above it find damage.

use aes::Aes256;
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use zaffre_base::Secret;

/// Bytes of a cipher block.
pub const BLOCK: usize = 16;
/// The same, for counting the blocks before an offset.
pub const BLOCK_BYTES: u64 = 16;
/// Blocks that share one encrypted tweak; a power of two, small because a lone block in the middle
/// costs that many doublings at most.
const UNIT_BLOCKS: u64 = 32;

type Block = aes::Block;

/// The two keys of one file or content.
pub struct Xts {
    data: Aes256,
    tweak: Aes256,
}

impl Xts {
    /// With these keys.
    pub fn new(data: &Secret<[u8; 32]>, tweak: &Secret<[u8; 32]>) -> Self {
        Self {
            data: Aes256::new(&Array(*data.expose())),
            tweak: Aes256::new(&Array(*tweak.expose())),
        }
    }

    /// With keys made of a master key, for the one thing that `of` names.
    pub fn derived(master: &Secret<[u8; 32]>, of: &[u8]) -> Self {
        let key = |label: &str| {
            let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(master.expose()) else {
                unreachable!("HMAC takes keys of any length")
            };
            mac.update(label.as_bytes());
            mac.update(of);
            Secret::new(mac.finalize().into_bytes().into())
        };
        Self::new(&key("zaffre content data\0"), &key("zaffre content place\0"))
    }

    /// Encrypts bytes that end where their file or content ends, or are whole blocks: what is less
    /// than a block is masked.
    pub fn seal(&self, first: u64, bytes: &mut [u8]) {
        let (whole, tail) = split(bytes);
        self.encrypt(first, whole);
        self.mask_tail(first, whole.len(), tail);
    }

    /// The reverse of [`Xts::seal`].
    pub fn open(&self, first: u64, bytes: &mut [u8]) {
        let (whole, tail) = split(bytes);
        self.decrypt(first, whole);
        self.mask_tail(first, whole.len(), tail);
    }

    fn mask_tail(&self, first: u64, before: usize, tail: &mut [u8]) {
        let blocks = u64::try_from(before / BLOCK).unwrap_or(u64::MAX);
        let pad = self.tail_pad(first.saturating_add(blocks));
        for (byte, pad) in tail.iter_mut().zip(pad) {
            *byte ^= pad;
        }
    }

    /// Encrypts whole blocks, the first of which is the file's block number `first`.
    pub fn encrypt(&self, first: u64, bytes: &mut [u8]) {
        self.each_unit(first, bytes, Aes256::encrypt_blocks);
    }

    /// Decrypts whole blocks. A block of zeros was never written (a hole, or space reserved ahead)
    /// and stays zeros.
    pub fn decrypt(&self, first: u64, bytes: &mut [u8]) {
        let holes: Vec<usize> = bytes
            .chunks_exact(BLOCK)
            .enumerate()
            .filter(|(_, block)| block.iter().all(|byte| *byte == 0))
            .map(|(at, _)| at)
            .collect();
        self.each_unit(first, bytes, Aes256::decrypt_blocks);
        for at in holes {
            bytes[at * BLOCK..(at + 1) * BLOCK].fill(0);
        }
    }

    /// A pad for the last bytes of a file whose length is no multiple of a block.
    pub fn tail_pad(&self, block: u64) -> [u8; BLOCK] {
        let mut pad = [0xFF; BLOCK];
        pad[..8].copy_from_slice(&block.to_le_bytes());
        let mut pad = Array(pad);
        self.tweak.encrypt_block(&mut pad);
        pad.0
    }

    fn each_unit(&self, first: u64, bytes: &mut [u8], work: impl Fn(&Aes256, &mut [Block])) {
        debug_assert!(bytes.len().is_multiple_of(BLOCK), "whole blocks only");
        let (blocks, _) = Block::slice_as_chunks_mut(bytes);
        let mut tweaks = Vec::with_capacity(32);
        let (mut at, mut rest) = (first, blocks);
        while !rest.is_empty() {
            let room = usize::try_from(UNIT_BLOCKS - at % UNIT_BLOCKS).unwrap_or(1);
            let (unit, after) = rest.split_at_mut(room.min(rest.len()));
            self.tweaks(at, unit.len(), &mut tweaks);
            mask(unit, &tweaks);
            work(&self.data, unit);
            mask(unit, &tweaks);
            at += unit.len() as u64;
            rest = after;
        }
    }

    /// The tweaks of `count` blocks of one unit, from block `first` on.
    fn tweaks(&self, first: u64, count: usize, out: &mut Vec<u128>) {
        let mut number = Array([0; BLOCK]);
        number[..8].copy_from_slice(&(first / UNIT_BLOCKS).to_le_bytes());
        self.tweak.encrypt_block(&mut number);
        let mut tweak = u128::from_le_bytes(number.0);
        for _ in 0..first % UNIT_BLOCKS {
            tweak = doubled(tweak);
        }
        out.clear();
        for _ in 0..count {
            out.push(tweak);
            tweak = doubled(tweak);
        }
    }
}

/// Whole blocks, and what is left.
fn split(bytes: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    bytes.split_at_mut(bytes.len() / BLOCK * BLOCK)
}

fn mask(blocks: &mut [Block], tweaks: &[u128]) {
    for (block, tweak) in blocks.iter_mut().zip(tweaks) {
        block.0 = (u128::from_le_bytes(block.0) ^ tweak).to_le_bytes();
    }
}

/// Multiplication by x in GF(2^128) as XTS counts its bits.
fn doubled(tweak: u128) -> u128 {
    (tweak << 1) ^ if tweak >> 127 == 1 { 0x87 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(data: [u8; 32], tweak: [u8; 32]) -> Xts {
        Xts::new(&Secret::new(data), &Secret::new(tweak))
    }

    fn hex(text: &str) -> Vec<u8> {
        let digit = |i: usize| u8::from_str_radix(&text[i..i + 2], 16).expect("hex");
        (0..text.len()).step_by(2).map(digit).collect()
    }

    /// IEEE 1619-2007, vector 10: data unit 0xff, 512 bytes 00 01 … ff 00 … ff.
    #[test]
    fn the_standards_vector() {
        let data = hex("2718281828459045235360287471352662497757247093699959574966967627");
        let tweak = hex("3141592653589793238462643383279502884197169399375105820974944592");
        let whole = |bytes: Vec<u8>| <[u8; 32]>::try_from(bytes).expect("32 bytes");
        let xts = keys(whole(data), whole(tweak));
        let mut bytes: Vec<u8> =
            (0..512_u32).map(|i| u8::try_from(i % 256).expect("a byte")).collect();
        xts.encrypt(0xFF * UNIT_BLOCKS, &mut bytes);
        let begin = "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b";
        assert_eq!(&bytes[..32], hex(begin));
        let end = "c4f36ffda9fcea70b9c6e693e148c151";
        assert_eq!(&bytes[496..], hex(end));
        xts.decrypt(0xFF * UNIT_BLOCKS, &mut bytes);
        assert!((0..512).all(|i| usize::from(bytes[i]) == i % 256));
    }

    #[test]
    fn any_part_decrypts_alone() {
        let xts = keys([7; 32], [9; 32]);
        let plain: Vec<u8> =
            (0..100 * BLOCK).map(|i| u8::try_from(i % 251).expect("a byte")).collect();
        let mut sealed = plain.clone();
        xts.encrypt(1000, &mut sealed);
        for (from, to) in [(0, 1), (31, 33), (7, 100), (99, 100), (24, 56)] {
            let mut part = sealed[from * BLOCK..to * BLOCK].to_vec();
            xts.decrypt(1000 + from as u64, &mut part);
            assert_eq!(part, plain[from * BLOCK..to * BLOCK], "{from}..{to}");
        }
    }

    #[test]
    fn any_length_comes_back() {
        let xts = Xts::derived(&Secret::new([5; 32]), b"one");
        let other = Xts::derived(&Secret::new([5; 32]), b"two");
        for length in [0, 1, 15, 16, 17, 31, 32, 100, 512, 515] {
            let plain: Vec<u8> =
                (0..length).map(|i| u8::try_from(i % 251).expect("a byte")).collect();
            let (mut sealed, mut others) = (plain.clone(), plain.clone());
            xts.seal(7, &mut sealed);
            other.seal(7, &mut others);
            assert!(length < 8 || (sealed != plain && sealed != others), "{length}");
            xts.open(7, &mut sealed);
            assert_eq!(sealed, plain, "{length}");
        }
    }

    #[test]
    fn holes_read_as_zeros_and_zeros_are_hidden() {
        let xts = keys([7; 32], [9; 32]);
        let mut bytes = vec![0; 4 * BLOCK];
        xts.decrypt(5, &mut bytes);
        assert!(bytes.iter().all(|byte| *byte == 0));
        xts.encrypt(5, &mut bytes);
        assert!(bytes.chunks(BLOCK).all(|block| block.iter().any(|byte| *byte != 0)));
        assert_ne!(bytes[..BLOCK], bytes[BLOCK..2 * BLOCK]);
        xts.decrypt(5, &mut bytes);
        assert!(bytes.iter().all(|byte| *byte == 0));
    }
}
