//! The dialects, and what each of them has.
//!
//! Must never know SMB 1: it has no signature worth the name.

/// A dialect of SMB 2 or 3.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Dialect {
    /// 2.0.2
    V2_0_2,
    /// 2.1
    V2_1,
    /// 3.0
    V3_0,
    /// 3.0.2
    V3_0_2,
    /// 3.1.1
    V3_1_1,
}

impl Dialect {
    const ALL: [Self; 5] = [Self::V3_1_1, Self::V3_0_2, Self::V3_0, Self::V2_1, Self::V2_0_2];

    /// Its number on the wire.
    pub fn number(self) -> u16 {
        match self {
            Self::V2_0_2 => 0x0202,
            Self::V2_1 => 0x0210,
            Self::V3_0 => 0x0300,
            Self::V3_0_2 => 0x0302,
            Self::V3_1_1 => 0x0311,
        }
    }

    /// The highest one of those offered.
    pub fn best(offered: &[u16]) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| offered.contains(&dialect.number()))
    }

    /// Whether one credit pays for 64 KiB only, and messages may be larger than that.
    pub fn has_large_messages(self) -> bool {
        self > Self::V2_0_2
    }

    /// Whether it belongs to SMB 3.
    pub fn is_third(self) -> bool {
        self >= Self::V3_0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_common_one() {
        for (offered, want) in [
            (&[0x0202, 0x0210, 0x0300, 0x0302, 0x0311][..], Some(Dialect::V3_1_1)),
            (&[0x0311, 0x0202], Some(Dialect::V3_1_1)),
            (&[0x0210, 0x0202], Some(Dialect::V2_1)),
            (&[0x0312, 0x02FF], None),
            (&[], None),
        ] {
            assert_eq!(Dialect::best(offered), want);
        }
    }
}
