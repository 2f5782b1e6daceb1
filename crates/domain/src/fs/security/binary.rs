//! The self-relative form of a descriptor: what SMB carries and what is stored.
//!
//! ```text
//! descriptor   01 00, control (2), offsets of owner, group, SACL, DACL (4 each; 0 = none)
//! acl          02, 00, size (2), entries (2), 00 00, then the entries
//! entry        type (1), flags (1), size (2), mask (4), identifier
//! identifier   01, parts (1), authority (6, big-endian), parts (4 each)
//! ```
//! All else is little-endian.

use super::{Ace, AceKind, Acl, Descriptor, Sid, control};
use crate::fs::FileRefusal;
use alloc::vec::Vec;
use zaffre_base::limits::DESCRIPTOR_BYTES;

const HEADER_BYTES: usize = 20;
const SID_PARTS: usize = 15;
const ACL_REVISION: u8 = 2;
/// The revision of a list with entries for objects of a directory service.
const ACL_REVISION_DS: u8 = 4;

const KINDS: [(u8, AceKind); 4] = [
    (0x00, AceKind::Allow),
    (0x01, AceKind::Deny),
    (0x02, AceKind::Audit),
    (0x11, AceKind::MandatoryLabel),
];

type Read<T> = Result<T, FileRefusal>;

fn wrong() -> FileRefusal {
    FileRefusal::InvalidPermission
}

impl Descriptor {
    /// Reads the self-relative form.
    pub fn from_bytes(bytes: &[u8]) -> Read<Self> {
        if bytes.len() > DESCRIPTOR_BYTES || bytes.first() != Some(&1) {
            return Err(wrong());
        }
        let word = u16::from_le_bytes(array(bytes, 2)?);
        let offset = |at: usize| -> Read<Option<usize>> {
            let value = usize::try_from(u32::from_le_bytes(array(bytes, at)?));
            let value = value.map_err(|_| wrong())?;
            Ok((value != 0).then_some(value))
        };
        let sid = |at: Option<usize>| at.map(|at| read_sid(bytes, at).map(|(sid, _)| sid));
        let acl = |bit: u16, at: Option<usize>| match (word & bit != 0, at) {
            (false, _) => Ok(None),
            (true, None) => Ok(Some(Acl::Null)),
            (true, Some(at)) => read_acl(bytes, at).map(Some),
        };
        Ok(Self {
            owner: sid(offset(4)?).transpose()?,
            group: sid(offset(8)?).transpose()?,
            sacl: acl(control::SACL_PRESENT, offset(12)?)?,
            dacl: acl(control::DACL_PRESENT, offset(16)?)?,
            control: word & control::KEPT,
        })
    }

    /// The self-relative form.
    pub fn to_bytes(&self) -> Read<Vec<u8>> {
        let mut word = self.control & control::KEPT | control::SELF_RELATIVE;
        for (acl, bit) in [(&self.dacl, control::DACL_PRESENT), (&self.sacl, control::SACL_PRESENT)]
        {
            if acl.is_some() {
                word |= bit;
            }
        }
        let mut rest = Vec::new();
        let mut place = |part: Option<Vec<u8>>| -> Read<u32> {
            let Some(part) = part else { return Ok(0) };
            let at = u32::try_from(HEADER_BYTES + rest.len()).map_err(|_| wrong())?;
            rest.extend_from_slice(&part);
            Ok(at)
        };
        let acl = |acl: &Option<Acl>| match acl {
            None | Some(Acl::Null) => Ok(None),
            Some(Acl::Entries(entries)) => write_acl(entries).map(Some),
        };
        let sid = |sid: &Option<Sid>| sid.as_ref().map(write_sid).transpose();
        let sacl = place(acl(&self.sacl)?)?;
        let dacl = place(acl(&self.dacl)?)?;
        let owner = place(sid(&self.owner)?)?;
        let group = place(sid(&self.group)?)?;
        let mut bytes = Vec::from([1, 0]);
        bytes.extend_from_slice(&word.to_le_bytes());
        for at in [owner, group, sacl, dacl] {
            bytes.extend_from_slice(&at.to_le_bytes());
        }
        bytes.extend_from_slice(&rest);
        if bytes.len() > DESCRIPTOR_BYTES { Err(wrong()) } else { Ok(bytes) }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Read<[u8; N]> {
    let end = at.checked_add(N).ok_or_else(wrong)?;
    bytes.get(at..end).and_then(|part| part.try_into().ok()).ok_or_else(wrong)
}

/// An identifier and where it ends.
fn read_sid(bytes: &[u8], at: usize) -> Read<(Sid, usize)> {
    let [revision, count] = array(bytes, at)?;
    let count = usize::from(count);
    if revision != 1 || count > SID_PARTS {
        return Err(wrong());
    }
    let authority: [u8; 6] = array(bytes, at + 2)?;
    let authority = authority.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    let part = |index: usize| array(bytes, at + 8 + 4 * index).map(u32::from_le_bytes);
    let parts = (0..count).map(part).collect::<Read<Vec<u32>>>()?;
    Ok((Sid { authority, parts }, at + 8 + 4 * count))
}

fn write_sid(sid: &Sid) -> Read<Vec<u8>> {
    let count = u8::try_from(sid.parts.len()).map_err(|_| wrong())?;
    let authority = sid.authority.to_be_bytes();
    if sid.parts.len() > SID_PARTS || authority[..2] != [0, 0] {
        return Err(wrong());
    }
    let mut bytes = Vec::from([1, count]);
    bytes.extend_from_slice(&authority[2..]);
    for part in &sid.parts {
        bytes.extend_from_slice(&part.to_le_bytes());
    }
    Ok(bytes)
}

fn read_acl(bytes: &[u8], at: usize) -> Read<Acl> {
    let [revision, _] = array(bytes, at)?;
    if revision != ACL_REVISION && revision != ACL_REVISION_DS {
        return Err(wrong());
    }
    let size = usize::from(u16::from_le_bytes(array(bytes, at + 2)?));
    let count = u16::from_le_bytes(array(bytes, at + 4)?);
    let end = at.checked_add(size).filter(|end| *end <= bytes.len()).ok_or_else(wrong)?;
    let bytes = bytes.get(..end).ok_or_else(wrong)?;
    let mut next = at + 8;
    let mut entries = Vec::new();
    for _ in 0..count {
        let [kind, flags] = array(bytes, next)?;
        let size = usize::from(u16::from_le_bytes(array(bytes, next + 2)?));
        let kind = KINDS.iter().find(|(byte, _)| *byte == kind).ok_or_else(wrong)?.1;
        let mask = u32::from_le_bytes(array(bytes, next + 4)?);
        let (sid, sid_end) = read_sid(bytes, next + 8)?;
        if sid_end > next + size {
            return Err(wrong());
        }
        entries.push(Ace { kind, flags, mask, sid });
        next += size;
    }
    Ok(Acl::Entries(entries))
}

fn write_acl(entries: &[Ace]) -> Read<Vec<u8>> {
    let mut body = Vec::new();
    for ace in entries {
        let sid = write_sid(&ace.sid)?;
        let kind = KINDS.iter().find(|(_, kind)| *kind == ace.kind).ok_or_else(wrong)?.0;
        let size = u16::try_from(8 + sid.len()).map_err(|_| wrong())?;
        body.extend_from_slice(&[kind, ace.flags]);
        body.extend_from_slice(&size.to_le_bytes());
        body.extend_from_slice(&ace.mask.to_le_bytes());
        body.extend_from_slice(&sid);
    }
    let size = u16::try_from(8 + body.len()).map_err(|_| wrong())?;
    let count = u16::try_from(entries.len()).map_err(|_| wrong())?;
    let mut bytes = Vec::from([ACL_REVISION, 0]);
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(&count.to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes.extend_from_slice(&body);
    Ok(bytes)
}
