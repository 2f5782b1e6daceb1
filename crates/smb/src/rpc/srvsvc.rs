//! `srvsvc`: which shares there are, and what the server is.
//!
//! Must never name a share of another account.

use super::dcerpc::{BAD_STUB, NO_SUCH_OPERATION};
use crate::wire::cursor::{Malformed, Reader, Writer, index, length32, utf16};

const INVALID_LEVEL: u32 = 124;
const NO_SUCH_SHARE: u32 = 2310;
const DISK: u32 = 0;
const HIDDEN_PIPES: u32 = 0x8000_0003;

/// What the caller's account has to show.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The server's name.
    pub server: &'a str,
    /// Its shares, besides IPC$.
    pub shares: &'a [String],
}

/// Runs an operation: its results in NDR, or the code of a fault.
pub fn run(view: View<'_>, operation: u16, stub: &[u8]) -> Result<Vec<u8>, u32> {
    let bad = |_: Malformed| BAD_STUB;
    match operation {
        15 => share_enum(view, stub).map_err(bad),
        16 => share_info(view, stub).map_err(bad),
        21 => server_info(view, stub).map_err(bad),
        _ => Err(NO_SUCH_OPERATION),
    }
}

/// A pointer that may be null, and the string it points to.
fn optional_string(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    if reader.u32()? != 0 {
        string(reader)?;
    }
    Ok(())
}

fn string(reader: &mut Reader<'_>) -> Result<String, Malformed> {
    let (_most, _offset) = (reader.u32()?, reader.u32()?);
    let count = index(reader.u32()?);
    let units = utf16(reader.take(count.checked_mul(2).ok_or(Malformed)?)?)?;
    if count % 2 == 1 {
        // Alignment may be missing at the very end.
        let _ = reader.skip(2);
    }
    let text = String::from_utf16(&units).map_err(|_| Malformed)?;
    Ok(text.trim_end_matches('\0').to_owned())
}

/// Fields that point to strings, which follow later.
#[derive(Default)]
struct Ndr {
    fixed: Writer,
    strings: Writer,
    pointers: u32,
}

impl Ndr {
    fn pointer(&mut self) {
        self.pointers += 1;
        let reference = 0x0002_0000 + self.pointers * 4;
        self.fixed.u32(reference);
    }

    fn text(&mut self, text: &str) {
        self.pointer();
        let units: Vec<u16> = text.encode_utf16().chain([0]).collect();
        let count = length32(units.len());
        self.strings.u32(count).u32(0).u32(count);
        for unit in units {
            self.strings.u16(unit);
        }
        self.strings.align(4);
    }

    fn share(&mut self, level: u32, name: &str, kind: u32) {
        self.text(name);
        if level == 0 {
            return;
        }
        self.fixed.u32(kind);
        self.text(if kind == DISK { "" } else { "Remote IPC" });
        if level == 2 {
            // Permissions, most uses (no limit), uses now; a path of the host is nobody's business.
            self.fixed.u32(0).u32(u32::MAX).u32(0);
            self.text("");
            self.fixed.u32(0);
        }
    }

    fn finish(mut self) -> Vec<u8> {
        let strings = self.strings.finish();
        self.fixed.bytes(&strings);
        self.fixed.finish()
    }
}

fn share_enum(view: View<'_>, stub: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut reader = Reader::new(stub);
    optional_string(&mut reader)?;
    let level = reader.u32()?;
    let mut to = Writer::new();
    to.u32(level).u32(level);
    if level > 2 {
        // No container, no entries, nothing to resume.
        to.u32(0).u32(0).u32(0).u32(INVALID_LEVEL);
        return Ok(to.finish());
    }
    let count = length32(view.shares.len() + 1);
    let mut ndr = Ndr::default();
    ndr.pointer();
    ndr.fixed.u32(count);
    ndr.pointer();
    ndr.fixed.u32(count);
    for share in view.shares {
        ndr.share(level, share, DISK);
    }
    ndr.share(level, "IPC$", HIDDEN_PIPES);
    to.bytes(&ndr.finish()).u32(count).u32(0).u32(0);
    Ok(to.finish())
}

fn share_info(view: View<'_>, stub: &[u8]) -> Result<Vec<u8>, Malformed> {
    let mut reader = Reader::new(stub);
    optional_string(&mut reader)?;
    let name = string(&mut reader)?;
    let level = reader.u32()?;
    let mut to = Writer::new();
    to.u32(level);
    let disk = view.shares.iter().find(|share| share.eq_ignore_ascii_case(&name));
    let found = match disk {
        Some(share) => Some((share.as_str(), DISK)),
        None => name.eq_ignore_ascii_case("IPC$").then_some(("IPC$", HIDDEN_PIPES)),
    };
    match found {
        _ if level > 2 => to.u32(0).u32(INVALID_LEVEL),
        None => to.u32(0).u32(NO_SUCH_SHARE),
        Some((name, kind)) => {
            let mut ndr = Ndr::default();
            ndr.pointer();
            ndr.share(level, name, kind);
            to.bytes(&ndr.finish()).u32(0)
        }
    };
    Ok(to.finish())
}

fn server_info(view: View<'_>, stub: &[u8]) -> Result<Vec<u8>, Malformed> {
    const NT: u32 = 500;
    const SERVER: u32 = 0x0000_0002;
    let mut reader = Reader::new(stub);
    optional_string(&mut reader)?;
    let level = reader.u32()?;
    let mut to = Writer::new();
    to.u32(level);
    if level != 100 && level != 101 {
        to.u32(0).u32(INVALID_LEVEL);
        return Ok(to.finish());
    }
    let mut ndr = Ndr::default();
    ndr.pointer();
    ndr.fixed.u32(NT);
    ndr.text(view.server);
    if level == 101 {
        ndr.fixed.u32(10).u32(0).u32(SERVER);
        ndr.text("");
    }
    to.bytes(&ndr.finish()).u32(0);
    Ok(to.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels() {
        let shares = ["docs".to_owned(), "pictures".to_owned()];
        let view = View { server: "ZAFFRE", shares: &shares };
        let ask = |level: u32| [0_u32.to_le_bytes(), level.to_le_bytes()].concat();
        for (operation, level, code) in [
            (15, 0, 0),
            (15, 1, 0),
            (15, 2, 0),
            (15, 502, 124),
            (21, 100, 0),
            (21, 101, 0),
            (21, 7, 124),
        ] {
            let made = run(view, operation, &ask(level)).expect("an answer");
            let (_, last) = made.split_last_chunk::<4>().expect("a code");
            assert_eq!(u32::from_le_bytes(*last), code, "{operation} {level}");
        }
        let listed = run(view, 15, &ask(1)).expect("an answer");
        let text: String =
            char::decode_utf16(listed.chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]])))
                .map(|c| c.unwrap_or('?'))
                .collect();
        for name in ["docs", "pictures", "IPC$"] {
            assert!(text.contains(name), "{name}");
        }
        assert_eq!(run(view, 99, &[]), Err(NO_SUCH_OPERATION));
        assert_eq!(run(view, 15, &[1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]), Err(BAD_STUB));
    }

    #[test]
    fn one_share_by_name() {
        let shares = ["docs".to_owned()];
        let view = View { server: "ZAFFRE", shares: &shares };
        let ask = |name: &str| {
            let mut to = Writer::new();
            let units: Vec<u16> = name.encode_utf16().chain([0]).collect();
            let count = length32(units.len());
            to.u32(0).u32(count).u32(0).u32(count);
            for unit in units {
                to.u16(unit);
            }
            to.align(4).u32(1);
            run(view, 16, &to.finish()).expect("an answer")
        };
        for (name, code) in [("docs", 0), ("DOCS", 0), ("IPC$", 0), ("doc", NO_SUCH_SHARE)] {
            let made = ask(name);
            let (_, last) = made.split_last_chunk::<4>().expect("a code");
            assert_eq!(u32::from_le_bytes(*last), code, "{name}");
        }
    }
}
