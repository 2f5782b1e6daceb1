//! Requests that the loader sends, as bytes.
//!
//! Must never send anything that one of the servers does not support: 3.1.1 with AES-GMAC.

/// The bytes of a header.
pub(crate) const HEADER: usize = 64;

pub(crate) const NEGOTIATE: u16 = 0;
pub(crate) const SESSION_SETUP: u16 = 1;
pub(crate) const TREE_CONNECT: u16 = 3;
pub(crate) const CREATE: u16 = 5;
pub(crate) const CLOSE: u16 = 6;
pub(crate) const FLUSH: u16 = 7;
pub(crate) const READ: u16 = 8;
pub(crate) const WRITE: u16 = 9;

/// A file's id as the server gave it.
pub(crate) type Id = [u8; 16];

/// The bytes that one credit pays for.
const CREDIT: usize = 64 * 1024;

/// A number below 2^32 as it is on the wire.
fn u32le(number: usize) -> [u8; 4] {
    u32::try_from(number).expect("messages are small").to_le_bytes()
}

/// A header with an empty signature; `payload` is what the request is paid for.
pub(crate) fn header(
    command: u16,
    message: u64,
    tree: u32,
    session: u64,
    payload: usize,
) -> Vec<u8> {
    let charge = u16::try_from(payload.div_ceil(CREDIT).max(1)).expect("small");
    let mut to = Vec::with_capacity(HEADER + 64);
    to.extend(b"\xFESMB\x40\0");
    to.extend(charge.to_le_bytes());
    to.extend([0; 4]);
    to.extend(command.to_le_bytes());
    to.extend(256_u16.to_le_bytes());
    to.extend([0; 8]);
    to.extend(message.to_le_bytes());
    to.extend([0; 4]);
    to.extend(tree.to_le_bytes());
    to.extend(session.to_le_bytes());
    to.extend([0; 16]);
    to
}

/// How many message ids a request takes.
pub(crate) fn charge(payload: usize) -> u64 {
    u64::try_from(payload.div_ceil(CREDIT).max(1)).expect("small")
}

/// 3.1.1 with SHA-512 and AES-GMAC.
pub(crate) fn negotiate() -> Vec<u8> {
    let mut to = Vec::new();
    // Size, one dialect, signing required, capability of large messages.
    to.extend([36, 0, 1, 0, 2, 0, 0, 0, 4, 0, 0, 0]);
    to.extend([0x11; 16]);
    // Contexts behind the dialect, at the next multiple of eight.
    to.extend(u32le(HEADER + 40));
    to.extend([2, 0, 0, 0]);
    to.extend([0x11, 3, 0, 0]);
    to.extend([1, 0, 38, 0, 0, 0, 0, 0]);
    to.extend([1, 0, 32, 0, 1, 0]);
    to.extend([7; 32]);
    to.extend([0; 2]);
    to.extend([8, 0, 4, 0, 0, 0, 0, 0]);
    to.extend([1, 0, 2, 0]);
    to
}

pub(crate) fn session_setup(token: &[u8]) -> Vec<u8> {
    let mut to = vec![25, 0, 0, 2];
    to.extend([0; 8]);
    to.extend(u16::try_from(HEADER + 24).expect("small").to_le_bytes());
    to.extend(u16::try_from(token.len()).expect("small").to_le_bytes());
    to.extend([0; 8]);
    to.extend(token);
    to
}

pub(crate) fn tree_connect(path: &str) -> Vec<u8> {
    let path = zaffre_testkit::ntlm::utf16(path);
    let mut to = vec![9, 0, 0, 0];
    to.extend(u16::try_from(HEADER + 8).expect("small").to_le_bytes());
    to.extend(u16::try_from(path.len()).expect("small").to_le_bytes());
    to.extend(path);
    to
}

/// Opens or makes a file, for reading and writing, shared with all.
pub(crate) fn create(name: &str) -> Vec<u8> {
    const READ_WRITE: u32 = 0x0012_019F;
    const OPEN_IF: u32 = 3;
    const NOT_A_DIRECTORY: u32 = 0x40;
    let name = zaffre_testkit::ntlm::utf16(name);
    let mut to = vec![57, 0, 0, 0];
    to.extend(2_u32.to_le_bytes());
    to.extend([0; 16]);
    to.extend(READ_WRITE.to_le_bytes());
    to.extend(0x80_u32.to_le_bytes());
    to.extend(7_u32.to_le_bytes());
    to.extend(OPEN_IF.to_le_bytes());
    to.extend(NOT_A_DIRECTORY.to_le_bytes());
    to.extend(u16::try_from(HEADER + 56).expect("small").to_le_bytes());
    to.extend(u16::try_from(name.len()).expect("small").to_le_bytes());
    to.extend([0; 8]);
    to.extend(name);
    to
}

pub(crate) fn close(id: Id) -> Vec<u8> {
    [&[24, 0, 0, 0, 0, 0, 0, 0][..], &id].concat()
}

pub(crate) fn flush(id: Id) -> Vec<u8> {
    [&[24, 0, 0, 0, 0, 0, 0, 0][..], &id].concat()
}

pub(crate) fn read(id: Id, offset: u64, length: usize) -> Vec<u8> {
    let mut to = vec![49, 0, 0x50, 0];
    to.extend(u32le(length));
    to.extend(offset.to_le_bytes());
    to.extend(id);
    to.extend([0; 17]);
    to
}

pub(crate) fn write(id: Id, offset: u64, data: &[u8]) -> Vec<u8> {
    let mut to = Vec::with_capacity(HEADER + 48 + data.len());
    to.extend([49, 0]);
    to.extend(u16::try_from(HEADER + 48).expect("small").to_le_bytes());
    to.extend(u32le(data.len()));
    to.extend(offset.to_le_bytes());
    to.extend(id);
    to.extend([0; 16]);
    to.extend(data);
    to
}
