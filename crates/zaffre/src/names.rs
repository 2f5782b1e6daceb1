//! The name the program was called by: under Azurite's names it starts what Azurite would.
//!
//! Must never change anything but which services start.

use std::ffi::OsStr;
use std::path::Path;

/// Which services start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each service starts or does not")]
pub(crate) struct Chosen {
    pub(crate) blob: bool,
    pub(crate) queue: bool,
    pub(crate) table: bool,
    /// What Azurite does not have.
    pub(crate) ours: bool,
}

impl Chosen {
    /// By the name that this process was started by.
    pub(crate) fn by_name() -> Self {
        Self::of(std::env::args_os().next().as_deref().unwrap_or_default())
    }

    fn of(path: &OsStr) -> Self {
        let none = Self { blob: false, queue: false, table: false, ours: false };
        match Path::new(path).file_stem().and_then(OsStr::to_str) {
            Some("azurite") => Self { blob: true, queue: true, table: true, ours: false },
            Some("azurite-blob") => Self { blob: true, ..none },
            Some("azurite-queue") => Self { queue: true, ..none },
            Some("azurite-table") => Self { table: true, ..none },
            _ => Self { blob: true, queue: true, table: true, ours: true },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (path, services) in [
            ("zaffre", [true; 4]),
            ("/usr/bin/zaffre", [true; 4]),
            ("azurite", [true, true, true, false]),
            ("/usr/local/bin/azurite-blob", [true, false, false, false]),
            ("./azurite-queue", [false, true, false, false]),
            ("azurite-table", [false, false, true, false]),
            ("", [true; 4]),
        ] {
            let Chosen { blob, queue, table, ours } = Chosen::of(OsStr::new(path));
            assert_eq!([blob, queue, table, ours], services, "{path}");
        }
    }
}
