//! The text form of a descriptor: `O:owner G:group D:flags(entry)(entry) S:flags(entry)`.
//!
//! Must never accept a name that only a domain can resolve: there is none.

use super::{Ace, AceKind, Acl, Descriptor, Sid, control, flags};
use crate::fs::FileRefusal;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// Entries that a list may have in its text form.
const ENTRIES: usize = 1_024;

/// Two letters that stand for an identifier which is the same everywhere.
const NAMES: [(&str, u64, &[u32]); 49] = [
    ("AA", 5, &[32, 579]),
    ("AC", 15, &[2, 1]),
    ("AN", 5, &[7]),
    ("AO", 5, &[32, 548]),
    ("AS", 18, &[1]),
    ("AU", 5, &[11]),
    ("BA", 5, &[32, 544]),
    ("BG", 5, &[32, 546]),
    ("BO", 5, &[32, 551]),
    ("BU", 5, &[32, 545]),
    ("CD", 5, &[32, 574]),
    ("CG", 3, &[1]),
    ("CO", 3, &[0]),
    ("CY", 5, &[32, 569]),
    ("ED", 5, &[9]),
    ("ER", 5, &[32, 573]),
    ("ES", 5, &[32, 576]),
    ("HA", 5, &[32, 578]),
    ("HI", 16, &[12_288]),
    ("IS", 5, &[32, 568]),
    ("IU", 5, &[4]),
    ("LS", 5, &[19]),
    ("LU", 5, &[32, 559]),
    ("LW", 16, &[4_096]),
    ("ME", 16, &[8_192]),
    ("MP", 16, &[8_448]),
    ("MS", 5, &[32, 577]),
    ("MU", 5, &[32, 558]),
    ("NO", 5, &[32, 556]),
    ("NS", 5, &[20]),
    ("NU", 5, &[2]),
    ("OW", 3, &[4]),
    ("PO", 5, &[32, 550]),
    ("PS", 5, &[10]),
    ("PU", 5, &[32, 547]),
    ("RA", 5, &[32, 575]),
    ("RC", 5, &[12]),
    ("RD", 5, &[32, 555]),
    ("RE", 5, &[32, 552]),
    ("RM", 5, &[32, 580]),
    ("RU", 5, &[32, 554]),
    ("SI", 16, &[16_384]),
    ("SO", 5, &[32, 549]),
    ("SS", 18, &[2]),
    ("SU", 5, &[6]),
    ("SY", 5, &[18]),
    ("UD", 5, &[84, 0, 0, 0, 0, 0]),
    ("WD", 1, &[0]),
    ("WR", 5, &[33]),
];
/// Rights for whole groups of bits; shown only when they are all there is.
const WHOLE_RIGHTS: [(&str, u32); 8] = [
    ("FA", 0x001F_01FF),
    ("FR", 0x0012_0089),
    ("FW", 0x0012_0116),
    ("FX", 0x0012_00A0),
    ("KA", 0x000F_003F),
    ("KR", 0x0002_0019),
    ("KX", 0x0002_0019),
    ("KW", 0x0002_0006),
];

/// Rights for single bits.
const SINGLE_RIGHTS: [(&str, u32); 17] = [
    ("GA", 0x1000_0000),
    ("GX", 0x2000_0000),
    ("GW", 0x4000_0000),
    ("GR", 0x8000_0000),
    ("RC", 0x0002_0000),
    ("SD", 0x0001_0000),
    ("WD", 0x0004_0000),
    ("WO", 0x0008_0000),
    ("CC", 0x0001),
    ("DC", 0x0002),
    ("LC", 0x0004),
    ("SW", 0x0008),
    ("RP", 0x0010),
    ("WP", 0x0020),
    ("DT", 0x0040),
    ("LO", 0x0080),
    ("CR", 0x0100),
];

/// The rights of a level of integrity.
const LABEL_RIGHTS: [(&str, u32); 3] = [("NW", 1), ("NR", 2), ("NX", 4)];

const KINDS: [(&str, AceKind); 4] = [
    ("A", AceKind::Allow),
    ("D", AceKind::Deny),
    ("AU", AceKind::Audit),
    ("ML", AceKind::MandatoryLabel),
];

const FLAGS: [(&str, u8); 7] = [
    ("OI", flags::OBJECT_INHERIT),
    ("CI", flags::CONTAINER_INHERIT),
    ("NP", flags::NO_PROPAGATE),
    ("IO", flags::INHERIT_ONLY),
    ("ID", flags::INHERITED),
    ("SA", flags::AUDIT_SUCCESS),
    ("FA", flags::AUDIT_FAILURE),
];

type Read<T> = Result<T, FileRefusal>;

fn wrong() -> FileRefusal {
    FileRefusal::InvalidPermission
}

impl Descriptor {
    /// Reads the text form.
    pub fn parse_sddl(text: &str) -> Read<Self> {
        let mut descriptor = Self::default();
        let mut rest = text.trim();
        let mut seen = Vec::new();
        while !rest.is_empty() {
            let (letter, after) = rest.split_once(':').ok_or_else(wrong)?;
            let end = part_end(after);
            let (part, next) = after.split_at_checked(end).ok_or_else(wrong)?;
            if seen.contains(&letter) {
                return Err(wrong());
            }
            seen.push(letter);
            let part = part.trim();
            match letter {
                "O" => descriptor.owner = Some(Sid::parse(part)?),
                "G" => descriptor.group = Some(Sid::parse(part)?),
                "D" => descriptor.dacl = Some(descriptor.read_acl(part, false)?),
                "S" => descriptor.sacl = Some(descriptor.read_acl(part, true)?),
                _ => return Err(wrong()),
            }
            rest = next.trim_start();
        }
        Ok(descriptor)
    }

    fn read_acl(&mut self, part: &str, system: bool) -> Read<Acl> {
        let start = part.find('(').unwrap_or(part.len());
        let (mut front, mut entries) = part.split_at_checked(start).ok_or_else(wrong)?;
        let bits = |dacl, sacl| if system { sacl } else { dacl };
        let protected = bits(control::DACL_PROTECTED, control::SACL_PROTECTED);
        let required = bits(control::DACL_AUTO_INHERIT_REQ, control::SACL_AUTO_INHERIT_REQ);
        let inherited = bits(control::DACL_AUTO_INHERITED, control::SACL_AUTO_INHERITED);
        let mut null = false;
        while !front.is_empty() {
            let known =
                [("P", protected), ("AR", required), ("AI", inherited), ("NO_ACCESS_CONTROL", 0)];
            let (name, bit) =
                known.iter().find(|(name, _)| front.starts_with(name)).ok_or_else(wrong)?;
            null |= *bit == 0;
            self.control |= bit;
            front = front.strip_prefix(name).unwrap_or_default().trim_start();
        }
        let mut list = Vec::new();
        while !entries.is_empty() {
            let (entry, next) =
                entries.strip_prefix('(').and_then(|e| e.split_once(')')).ok_or_else(wrong)?;
            if list.len() == ENTRIES {
                return Err(wrong());
            }
            list.push(read_ace(entry)?);
            entries = next.trim_start();
        }
        match (null, list.is_empty()) {
            (true, true) => Ok(Acl::Null),
            (true, false) => Err(wrong()),
            (false, _) => Ok(Acl::Entries(list)),
        }
    }

    /// The text form.
    pub fn sddl(&self) -> String {
        let mut text = String::new();
        for (letter, sid) in [("O:", &self.owner), ("G:", &self.group)] {
            if let Some(sid) = sid {
                text.push_str(letter);
                text.push_str(&sid.to_string());
            }
        }
        let dacl = [
            ("P", control::DACL_PROTECTED),
            ("AR", control::DACL_AUTO_INHERIT_REQ),
            ("AI", control::DACL_AUTO_INHERITED),
        ];
        let sacl = [
            ("P", control::SACL_PROTECTED),
            ("AR", control::SACL_AUTO_INHERIT_REQ),
            ("AI", control::SACL_AUTO_INHERITED),
        ];
        for (letter, acl, bits) in [("D:", &self.dacl, dacl), ("S:", &self.sacl, sacl)] {
            let Some(acl) = acl else { continue };
            text.push_str(letter);
            for (name, _) in bits.iter().filter(|(_, bit)| self.control & bit != 0) {
                text.push_str(name);
            }
            match acl {
                Acl::Null => text.push_str("NO_ACCESS_CONTROL"),
                Acl::Entries(entries) => {
                    for ace in entries {
                        text.push_str(&ace_text(ace));
                    }
                }
            }
        }
        text
    }
}

/// Where a part ends: before the letter and colon of the next one.
fn part_end(text: &str) -> usize {
    let starts = ["O:", "G:", "D:", "S:"];
    let next = text.char_indices().map(|(at, _)| at).find(|at| {
        let rest = text.get(*at..).unwrap_or_default();
        starts.iter().any(|start| rest.starts_with(start))
    });
    next.unwrap_or(text.len())
}

fn read_ace(text: &str) -> Read<Ace> {
    let mut fields = text.split(';').map(str::trim);
    let mut field = || fields.next().ok_or_else(wrong);
    let (kind, flag_text, rights, object, inherited, sid) =
        (field()?, field()?, field()?, field()?, field()?, field()?);
    if fields.next().is_some() || !object.is_empty() || !inherited.is_empty() {
        return Err(wrong());
    }
    let kind = KINDS.iter().find(|(name, _)| *name == kind).ok_or_else(wrong)?.1;
    let mut flags = 0;
    for name in pairs(flag_text)? {
        flags |= FLAGS.iter().find(|(known, _)| *known == name).ok_or_else(wrong)?.1;
    }
    Ok(Ace { kind, flags, mask: read_rights(rights, kind)?, sid: Sid::parse(sid)? })
}

/// The text, two letters at a time.
fn pairs(text: &str) -> Read<Vec<&str>> {
    let pair = |at: usize| text.get(at..at + 2).ok_or_else(wrong);
    (0..text.len()).step_by(2).map(pair).collect()
}

fn read_rights(text: &str, kind: AceKind) -> Read<u32> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return number(text).and_then(|n| u32::try_from(n).ok()).ok_or_else(wrong);
    }
    let mut mask = 0;
    for name in pairs(text)? {
        let mut known = WHOLE_RIGHTS.iter().chain(&SINGLE_RIGHTS);
        let label = LABEL_RIGHTS.iter().find(|(known, _)| *known == name);
        let found = match kind {
            AceKind::MandatoryLabel => label,
            _ => known.find(|(known, _)| *known == name),
        };
        mask |= found.ok_or_else(wrong)?.1;
    }
    Ok(mask)
}

fn number(text: &str) -> Option<u64> {
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((text, 10), |hex| (hex, 16));
    let plain = digits.chars().all(|c| c.is_digit(radix));
    if plain { u64::from_str_radix(digits, radix).ok() } else { None }
}

fn ace_text(ace: &Ace) -> String {
    let kind = KINDS.iter().find(|(_, kind)| *kind == ace.kind).map_or("", |(name, _)| name);
    let set: String =
        FLAGS.iter().filter(|(_, bit)| ace.flags & bit != 0).map(|(name, _)| *name).collect();
    let rights = rights_text(ace.mask, ace.kind);
    format!("({kind};{set};{rights};;;{})", ace.sid)
}

fn rights_text(mask: u32, kind: AceKind) -> String {
    let singles: &[(&str, u32)] = match kind {
        AceKind::MandatoryLabel => &LABEL_RIGHTS,
        _ => &SINGLE_RIGHTS,
    };
    let whole = WHOLE_RIGHTS.iter().find(|(_, bits)| *bits == mask);
    if let Some((name, _)) = whole.filter(|_| kind != AceKind::MandatoryLabel) {
        return (*name).to_string();
    }
    let known = singles.iter().fold(0, |all, (_, bit)| all | bit);
    if mask & !known == 0 {
        return singles.iter().filter(|(_, bit)| mask & bit != 0).map(|(name, _)| *name).collect();
    }
    format!("{mask:#x}")
}

impl Sid {
    /// Reads `S-1-5-32-544` or two letters that stand for it.
    pub fn parse(text: &str) -> Read<Self> {
        if let Some((_, authority, parts)) = NAMES.iter().find(|(name, ..)| *name == text) {
            return Ok(Self { authority: *authority, parts: parts.to_vec() });
        }
        let rest = text.strip_prefix("S-1-").or_else(|| text.strip_prefix("s-1-"));
        let mut numbers = rest.ok_or_else(wrong)?.split('-').map(number);
        let authority = numbers.next().flatten().filter(|a| *a >> 48 == 0).ok_or_else(wrong)?;
        let part = |n: Option<u64>| n.and_then(|n| u32::try_from(n).ok()).ok_or_else(wrong);
        let parts = numbers.map(part).collect::<Read<Vec<u32>>>()?;
        if parts.is_empty() || parts.len() > 15 {
            return Err(wrong());
        }
        Ok(Self { authority, parts })
    }
}

impl fmt::Display for Sid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let same = |(_, authority, parts): &&(&str, u64, &[u32])| self.is((*authority, parts));
        if let Some((name, ..)) = NAMES.iter().find(same) {
            return f.write_str(name);
        }
        write!(f, "S-1-{}", self.authority)?;
        self.parts.iter().try_for_each(|part| write!(f, "-{part}"))
    }
}
