//! Inputs without coverage guidance: seeds changed by a generator that always does the same.
//!
//! Must never depend on anything but the seed number and the committed corpus.

use std::path::Path;

/// Words the formats are made of: chance alone would hardly ever write them.
const WORDS: &[&str] = &[
    "?comp=",
    "comp=block",
    "comp=blocklist",
    "comp=list",
    "comp=lease",
    "comp=acl",
    "comp=metadata",
    "comp=properties",
    "restype=container",
    "restype=account",
    "&",
    "=",
    "%",
    "%2F",
    "%25",
    "%00",
    "%C3%A9",
    "%ff",
    "+",
    "//",
    "/$root/",
    "-secondary",
    "snapshot=2026-11-15T00:00:00.0000000Z",
    "versionid=",
    "blockid=YQ==",
    "maxresults=",
    "include=",
    "prefix=",
    "marker=",
    "\r\n",
    "\n",
    "x-ms-version: 2024-08-04",
    "x-ms-date: ",
    "x-ms-meta-a: b",
    "x-ms-lease-action: break",
    "x-ms-lease-id: 11111111-1111-1111-1111-111111111111",
    "x-ms-range: bytes=0-1",
    "Range: bytes=",
    "Content-Length: 5",
    "Content-MD5: ",
    "x-ms-blob-type: BlockBlob",
    "If-Match: *",
    "If-None-Match: \"0x8DE240000000001\"",
    "Sun, 15 Nov 2026 04:42:16 GMT",
    "2026-11-15T00:00:00Z",
    "sv=2024-08-04",
    "sr=b",
    "sr=c",
    "ss=b",
    "srt=sco",
    "sp=rwdl",
    "se=2030-01-01",
    "sig=",
    "si=x",
    "sip=1.2.3.4-1.2.3.5",
    "spr=https",
    "st=2020-01-01",
    "sdd=1",
    "rscc=a",
    "skoid=x",
    "<BlockList>",
    "</BlockList>",
    "<Latest>YQ==</Latest>",
    "<Committed>",
    "<SignedIdentifiers>",
    "<Id>",
    "<![CDATA[",
    "]]>",
    "&amp;",
    "&#x41;",
    "&#0;",
    "<!DOCTYPE x [<!ENTITY a \"b\">]>",
    "<!--",
    "-->",
    "<?xml ?>",
    "bytes=",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "0",
    "\u{FEFF}",
    "\u{FFFF}",
    "*",
];

/// Small and good enough: every seed number gives another, always the same, sequence.
pub struct Random(u64);

impl Random {
    /// A sequence.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, or 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.number() % end).unwrap_or_default()
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.number() & 0xFF).unwrap_or_default()
    }
}

/// The committed seeds of a target, in order of their names.
#[must_use]
pub fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// Another input: a seed after a few changes.
pub fn input(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = seeds.get(random.below(seeds.len())).cloned().unwrap_or_default();
    for _ in 0..=random.below(6) {
        change(&mut input, seeds, random);
    }
    input
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    let end = (at + random.below(16)).min(input.len());
    match random.below(9) {
        0 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(at) {
                *byte = random.byte();
            }
        }
        2 => input.insert(at, random.byte()),
        3 => drop(input.drain(at..end)),
        4 => input.truncate(at),
        5 | 6 => {
            let word = WORDS.get(random.below(WORDS.len())).copied().unwrap_or_default();
            drop(input.splice(at..at, word.bytes()));
        }
        7 => {
            let copy = input.get(at..end).unwrap_or_default().to_vec();
            drop(input.splice(at..at, copy));
        }
        _ => {
            let other = seeds.get(random.below(seeds.len())).cloned().unwrap_or_default();
            let from = random.below(other.len());
            input.truncate(at);
            input.extend_from_slice(other.get(from..).unwrap_or_default());
        }
    }
}
