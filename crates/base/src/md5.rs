//! MD5, for one body, or for four at once in the lanes of a vector.
//!
//! A step of MD5 needs the result of the one before, so that one body leaves most of a core unused:
//! four cost little more than one. Must never stand for more than a checksum: anybody can make two
//! bodies with the same MD5.

use std::array;
use std::ops::{BitAnd, BitOr, BitXor, Not};
use wide::u32x4;

/// Bodies that are hashed at once.
pub const LANES: usize = 4;

/// Bytes that are hashed in one go.
pub const BLOCK: usize = 64;

/// What every digest begins with.
const BEGIN: [u32; 4] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476];

/// One for each step: the sines of 1, 2, 3…, as RFC 1321 has them.
#[rustfmt::skip]
const SINES: [u32; 64] = [
    0xD76A_A478, 0xE8C7_B756, 0x2420_70DB, 0xC1BD_CEEE, 0xF57C_0FAF, 0x4787_C62A, 0xA830_4613, 0xFD46_9501,
    0x6980_98D8, 0x8B44_F7AF, 0xFFFF_5BB1, 0x895C_D7BE, 0x6B90_1122, 0xFD98_7193, 0xA679_438E, 0x49B4_0821,
    0xF61E_2562, 0xC040_B340, 0x265E_5A51, 0xE9B6_C7AA, 0xD62F_105D, 0x0244_1453, 0xD8A1_E681, 0xE7D3_FBC8,
    0x21E1_CDE6, 0xC337_07D6, 0xF4D5_0D87, 0x455A_14ED, 0xA9E3_E905, 0xFCEF_A3F8, 0x676F_02D9, 0x8D2A_4C8A,
    0xFFFA_3942, 0x8771_F681, 0x6D9D_6122, 0xFDE5_380C, 0xA4BE_EA44, 0x4BDE_CFA9, 0xF6BB_4B60, 0xBEBF_BC70,
    0x289B_7EC6, 0xEAA1_27FA, 0xD4EF_3085, 0x0488_1D05, 0xD9D4_D039, 0xE6DB_99E5, 0x1FA2_7CF8, 0xC4AC_5665,
    0xF429_2244, 0x432A_FF97, 0xAB94_23A7, 0xFC93_A039, 0x655B_59C3, 0x8F0C_CC92, 0xFFEF_F47D, 0x8584_5DD1,
    0x6FA8_7E4F, 0xFE2C_E6E0, 0xA301_4314, 0x4E08_11A1, 0xF753_7E82, 0xBD3A_F235, 0x2AD7_D2BB, 0xEB86_D391,
];

/// A running MD5.
#[derive(Clone)]
pub struct Md5 {
    state: [u32; 4],
    /// Bytes so far.
    length: u64,
    /// The last of them, which are not a whole block yet.
    rest: [u8; BLOCK],
}

impl Default for Md5 {
    fn default() -> Self {
        Self { state: BEGIN, length: 0, rest: [0; BLOCK] }
    }
}

impl Md5 {
    /// Adds bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        let filled = self.filled();
        self.count(bytes.len());
        if filled > 0 {
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK - filled));
            self.rest[filled..filled + now.len()].copy_from_slice(now);
            if filled + now.len() < BLOCK {
                return;
            }
            hash(&mut self.state, &words(&self.rest));
            bytes = later;
        }
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        for block in blocks {
            hash(&mut self.state, &words(block));
        }
        self.rest[..rest.len()].copy_from_slice(rest);
    }

    /// Bytes that the last block still has room for; none if it is whole.
    pub fn missing(&self) -> usize {
        (BLOCK - self.filled()) % BLOCK
    }

    /// The digest.
    pub fn finish(mut self) -> [u8; 16] {
        let bits = self.length.wrapping_mul(8);
        // A one, as many zeros as it takes, and the length at the end of a block.
        let zeros = (BLOCK + 55 - self.filled()) % BLOCK;
        let mut end = [0; BLOCK + 8];
        end[0] = 0x80;
        end[zeros + 1..zeros + 9].copy_from_slice(&bits.to_le_bytes());
        self.update(&end[..zeros + 9]);
        let mut digest = [0; 16];
        for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(self.state) {
            *bytes = word.to_le_bytes();
        }
        digest
    }

    fn filled(&self) -> usize {
        usize::try_from(self.length % 64).unwrap_or(0)
    }

    /// Whether no byte was added yet.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn count(&mut self, bytes: usize) {
        self.length = self.length.wrapping_add(u64::try_from(bytes).unwrap_or(u64::MAX));
    }
}

/// Adds to every one of up to four, none of which misses bytes of a block, as many whole blocks as
/// all of them have here. Returns how many bytes of each that were.
pub fn update_together(bodies: &mut [(&mut Md5, &[u8])]) -> usize {
    let Some((_, first)) = bodies.first() else { return 0 };
    debug_assert!(bodies.len() <= LANES && bodies.iter().all(|(md5, _)| md5.missing() == 0));
    // A lane that nobody needs repeats the first.
    let mut lanes = [first.as_chunks::<BLOCK>().0; LANES];
    let mut begin = [BEGIN; LANES];
    for ((lane, state), (md5, bytes)) in lanes.iter_mut().zip(&mut begin).zip(&*bodies) {
        (*lane, *state) = (bytes.as_chunks::<BLOCK>().0, md5.state);
    }
    let blocks = lanes.iter().map(|lane| lane.len()).min().unwrap_or(0);
    let lanes = lanes.map(|lane| &lane[..blocks]);
    let mut state: [u32x4; 4] = array::from_fn(|word| begin.map(|lane| lane[word]).into());
    for at in 0..blocks {
        hash(&mut state, &beside(&lanes, at));
    }
    let state = state.map(u32x4::to_array);
    for (lane, (md5, _)) in bodies.iter_mut().enumerate() {
        md5.state = state.map(|word| word[lane]);
        md5.count(blocks * BLOCK);
    }
    blocks * BLOCK
}

fn words(block: &[u8; BLOCK]) -> [u32; 16] {
    let mut words = [0; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// A block of each, word beside word.
fn beside(lanes: &[&[[u8; BLOCK]]; LANES], at: usize) -> [u32x4; 16] {
    let [a, b, c, d] = lanes;
    let (a, b, c, d) = (words(&a[at]), words(&b[at]), words(&c[at]), words(&d[at]));
    let mut beside = [u32x4::default(); 16];
    for (word, beside) in beside.iter_mut().enumerate() {
        *beside = u32x4::new([a[word], b[word], c[word], d[word]]);
    }
    beside
}

/// A number of one body, or of four.
trait Word:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    fn all(number: u32) -> Self;
    fn plus(self, other: Self) -> Self;
    fn turned(self, left: u32) -> Self;
}

impl Word for u32 {
    #[inline]
    fn all(number: u32) -> Self {
        number
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline]
    fn turned(self, left: u32) -> Self {
        self.rotate_left(left)
    }
}

impl Word for u32x4 {
    #[inline]
    fn all(number: u32) -> Self {
        Self::splat(number)
    }

    #[inline]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline]
    fn turned(self, left: u32) -> Self {
        (self << left) | (self >> (32 - left))
    }
}

/// Sixteen steps, written out: in a loop each would look its numbers up.
macro_rules! round {
    ($state:ident, $block:ident, $mix:expr, $first:literal, $turns:expr, [$($word:literal)*]) => {
        let (mut step, turns, mix) = (0, $turns, $mix);
        $({
            let [a, b, c, d]: [W; 4] = $state;
            let sum = a.plus($block[$word]).plus(W::all(SINES[$first + step]));
            let sum = mix(sum, b, c, d);
            $state = [d, b.plus(sum.turned(turns[step % 4])), b, c];
            step += 1;
        })*
        let _ = step;
    };
}

/// Hashes one block.
#[inline]
fn hash<W: Word>(state: &mut [W; 4], block: &[W; 16]) {
    let mut now = *state;
    let either = |sum: W, b: W, c: W, d: W| sum.plus(d ^ (b & (c ^ d)));
    round!(now, block, either, 0, [7, 12, 17, 22], [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]);
    // Bits of the one are never bits of the other: they can be added one after the other, and the
    // first before `b` is known.
    let other = |sum: W, b: W, c: W, d: W| sum.plus(c & !d).plus(b & d);
    round!(now, block, other, 16, [5, 9, 14, 20], [1 6 11 0 5 10 15 4 9 14 3 8 13 2 7 12]);
    let odd = |sum: W, b: W, c: W, d: W| sum.plus(b ^ (c ^ d));
    round!(now, block, odd, 32, [4, 11, 16, 23], [5 8 11 14 1 4 7 10 13 0 3 6 9 12 15 2]);
    let last = |sum: W, b: W, c: W, d: W| sum.plus(c ^ (b | !d));
    round!(now, block, last, 48, [6, 10, 15, 21], [0 7 14 5 12 3 10 1 8 15 6 13 4 11 2 9]);
    for (word, now) in state.iter_mut().zip(now) {
        *word = word.plus(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use md5::Digest;

    fn body(seed: u32, length: usize) -> Vec<u8> {
        let mut number = seed.wrapping_mul(0x9E37_79B9) | 1;
        let next = || {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            number.to_be_bytes()[0]
        };
        std::iter::repeat_with(next).take(length).collect()
    }

    #[test]
    fn one_body_in_pieces_of_every_size() {
        for length in (0..300).chain([4096, 10_000]) {
            let body = body(7, length);
            let expected: [u8; 16] = md5::Md5::digest(&body).into();
            for piece in [1, 3, 55, 56, 63, 64, 65, 127, 128, 1000, 10_000] {
                let mut md5 = Md5::default();
                body.chunks(piece).for_each(|piece| md5.update(piece));
                assert_eq!(md5.finish(), expected, "{length} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn up_to_four_bodies_at_once() {
        for count in 1..=LANES {
            let lengths = [1000, 640, 10_000, 64];
            let bodies: Vec<Vec<u8>> =
                (1..).zip(&lengths[..count]).map(|(seed, length)| body(seed, *length)).collect();
            let mut md5s = vec![Md5::default(); count];
            let mut left: Vec<_> = md5s.iter_mut().zip(bodies.iter().map(Vec::as_slice)).collect();
            let taken = update_together(&mut left);
            assert_eq!(taken, lengths[..count].iter().min().copied().unwrap_or(0) / 64 * 64);
            for (mut md5, body) in md5s.into_iter().zip(&bodies) {
                md5.update(&body[taken..]);
                let expected: [u8; 16] = md5::Md5::digest(body).into();
                assert_eq!(md5.finish(), expected, "{count} bodies");
            }
        }
    }

    #[test]
    fn nothing_at_once_is_nothing() {
        assert_eq!(update_together(&mut []), 0);
        assert_eq!(update_together(&mut [(&mut Md5::default(), &[7; 63])]), 0);
    }
}
