//! How large blocks and block blobs may be, by version.
//!
//! Must never look at a body: the caller knows its length, or counts as it arrives.

use crate::Refusal;
use zaffre_base::ApiVersion;
use zaffre_base::limits::{COMMITTED_BLOCKS, MIB};

/// The largest sizes one version allows, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// One Put Block.
    pub block: u64,
    /// One Put Blob.
    pub put_blob: u64,
}

impl Sizes {
    /// The largest blob that can be put together: every block as large as it may be.
    pub fn blob(self) -> u64 {
        const BLOCKS: u64 = COMMITTED_BLOCKS as u64;
        self.block.saturating_mul(BLOCKS)
    }
}

/// The sizes of `version`.
pub fn sizes(version: ApiVersion) -> Sizes {
    const MIB_4000: ApiVersion = ApiVersion::new(2019, 12, 12);
    const MIB_100: ApiVersion = ApiVersion::new(2016, 5, 31);
    if version >= MIB_4000 {
        Sizes { block: 4000 * MIB, put_blob: 5000 * MIB }
    } else if version >= MIB_100 {
        Sizes { block: 100 * MIB, put_blob: 256 * MIB }
    } else {
        Sizes { block: 4 * MIB, put_blob: 64 * MIB }
    }
}

/// The largest Append Block of `version`.
pub fn append_block(version: ApiVersion) -> u64 {
    const MIB_100: ApiVersion = ApiVersion::new(2022, 11, 2);
    if version >= MIB_100 { 100 * MIB } else { 4 * MIB }
}

/// Refuses a body of more than `limit` bytes.
pub fn check_size(length: u64, limit: u64) -> Result<(), Refusal> {
    if length > limit { Err(Refusal::RequestBodyTooLarge { limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_version() {
        let v = ApiVersion::new;
        for (version, block_mib, put_mib) in [
            (ApiVersion::OLDEST, 4, 64),
            (v(2015, 12, 11), 4, 64),
            (v(2016, 5, 31), 100, 256),
            (v(2019, 7, 7), 100, 256),
            (v(2019, 10, 10), 100, 256),
            (v(2019, 12, 12), 4000, 5000),
            (ApiVersion::LATEST, 4000, 5000),
        ] {
            let want = Sizes { block: block_mib * MIB, put_blob: put_mib * MIB };
            assert_eq!(sizes(version), want, "{version}");
            assert_eq!(sizes(version).blob(), 50_000 * block_mib * MIB, "{version}");
        }
    }

    #[test]
    fn appended_blocks_by_version() {
        let v = ApiVersion::new;
        for (version, mib) in [
            (v(2015, 2, 21), 4),
            (v(2021, 12, 2), 4),
            (v(2022, 11, 2), 100),
            (ApiVersion::LATEST, 100),
        ] {
            assert_eq!(append_block(version), mib * MIB, "{version}");
        }
    }

    #[test]
    fn a_size_at_the_limit_passes() {
        assert_eq!(check_size(4, 4), Ok(()));
        assert_eq!(check_size(5, 4), Err(Refusal::RequestBodyTooLarge { limit: 4 }));
    }
}
