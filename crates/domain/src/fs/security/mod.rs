//! Security descriptors: who owns a file, and who may do what. They are kept and shown, and new
//! files inherit them; who uses the account's key may do everything, unless the server is told to
//! enforce them.
//!
//! Must never panic on bytes or text from outside.

mod binary;
mod check;
mod inherit;
mod sddl;
#[cfg(test)]
mod tests;

pub use check::{Token, granted, permitted};
pub use inherit::{default_root, inherited, merged};

use inherit::meaning;

use alloc::vec::Vec;

/// A security identifier: an authority and the way down from it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Sid {
    /// 48 bits.
    pub authority: u64,
    /// At most 15 of them.
    pub parts: Vec<u32>,
}

/// One entry of an access control list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ace {
    /// What kind of entry it is.
    pub kind: AceKind,
    /// How it is inherited, and what it audits; see [`flags`].
    pub flags: u8,
    /// Which rights it is about.
    pub mask: u32,
    /// Whom it is about.
    pub sid: Sid,
}

/// The kinds of entries that have a mask and an identifier and nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AceKind {
    /// Grants.
    Allow,
    /// Denies.
    Deny,
    /// Audits.
    Audit,
    /// Gives a level of integrity.
    MandatoryLabel,
}

/// Bits of an entry's flags.
pub mod flags {
    /// New files inherit it.
    pub const OBJECT_INHERIT: u8 = 0x01;
    /// New directories inherit it.
    pub const CONTAINER_INHERIT: u8 = 0x02;
    /// Only children inherit it, not their children.
    pub const NO_PROPAGATE: u8 = 0x04;
    /// It is there to be inherited and does not count here.
    pub const INHERIT_ONLY: u8 = 0x08;
    /// It was inherited.
    pub const INHERITED: u8 = 0x10;
    /// Audits what succeeds.
    pub const AUDIT_SUCCESS: u8 = 0x40;
    /// Audits what fails.
    pub const AUDIT_FAILURE: u8 = 0x80;
}

/// Bits of a descriptor's control word that outlive its form.
pub mod control {
    /// There is a DACL.
    pub const DACL_PRESENT: u16 = 0x0004;
    /// There is a SACL.
    pub const SACL_PRESENT: u16 = 0x0010;
    /// The DACL is to be inherited again.
    pub const DACL_AUTO_INHERIT_REQ: u16 = 0x0100;
    /// The SACL is to be inherited again.
    pub const SACL_AUTO_INHERIT_REQ: u16 = 0x0200;
    /// The DACL was inherited automatically.
    pub const DACL_AUTO_INHERITED: u16 = 0x0400;
    /// The SACL was inherited automatically.
    pub const SACL_AUTO_INHERITED: u16 = 0x0800;
    /// The DACL inherits nothing.
    pub const DACL_PROTECTED: u16 = 0x1000;
    /// The SACL inherits nothing.
    pub const SACL_PROTECTED: u16 = 0x2000;
    /// One piece of memory; every stored descriptor is.
    pub const SELF_RELATIVE: u16 = 0x8000;
    /// Those that are kept beside the lists themselves.
    pub const KEPT: u16 = DACL_AUTO_INHERIT_REQ
        | SACL_AUTO_INHERIT_REQ
        | DACL_AUTO_INHERITED
        | SACL_AUTO_INHERITED
        | DACL_PROTECTED
        | SACL_PROTECTED;
}

/// An access control list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acl {
    /// No list although there is one: everybody may do everything.
    Null,
    /// These entries, in order.
    Entries(Vec<Ace>),
}

/// A security descriptor.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Descriptor {
    /// Who owns it.
    pub owner: Option<Sid>,
    /// Its owner's group.
    pub group: Option<Sid>,
    /// Who may do what.
    pub dacl: Option<Acl>,
    /// What is audited.
    pub sacl: Option<Acl>,
    /// The bits of [`control::KEPT`].
    pub control: u16,
}

/// Identifiers that everybody knows.
impl Sid {
    /// Who makes something, in entries that are inherited.
    pub const CREATOR_OWNER: (u64, &'static [u32]) = (3, &[0]);
    /// Their group.
    pub const CREATOR_GROUP: (u64, &'static [u32]) = (3, &[1]);
    /// The administrators.
    pub const ADMINISTRATORS: (u64, &'static [u32]) = (5, &[32, 544]);
    /// The system.
    pub const SYSTEM: (u64, &'static [u32]) = (5, &[18]);

    /// One of these.
    pub fn known((authority, parts): (u64, &[u32])) -> Self {
        Self { authority, parts: parts.to_vec() }
    }

    /// Whether it is one of these.
    pub fn is(&self, (authority, parts): (u64, &[u32])) -> bool {
        self.authority == authority && self.parts == parts
    }
}

impl Descriptor {
    /// The descriptor with the generic rights of its entries spelled out, except of those that are
    /// only there to be inherited.
    #[must_use]
    pub fn spelled_out(mut self) -> Self {
        if let Some(Acl::Entries(entries)) = &mut self.dacl {
            for ace in entries.iter_mut().filter(|ace| ace.flags & flags::INHERIT_ONLY == 0) {
                ace.mask = meaning(ace.mask);
            }
        }
        self
    }

    /// The bits of the control word that stay when this is set: that a list was inherited is kept if
    /// the same request asks for it to be inherited.
    pub fn kept_dacl_control(&self) -> u16 {
        const BOTH: u16 = control::DACL_AUTO_INHERITED | control::DACL_AUTO_INHERIT_REQ;
        let inherited = if self.control & BOTH == BOTH { control::DACL_AUTO_INHERITED } else { 0 };
        self.control & control::DACL_PROTECTED | inherited
    }

    /// Whether it has what a request must give: owner, group and DACL.
    pub fn is_complete(&self) -> bool {
        self.owner.is_some() && self.group.is_some() && self.dacl.is_some()
    }
}
