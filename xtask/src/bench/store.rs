//! The store against the bare disk.
//!
//! Must never compare with a figure from another run or machine.

use super::{Row, from_program};

pub(super) const PEER: &str = "the same disk without us, measured in the same run";

pub(super) fn measure() -> Result<Vec<Row>, String> {
    from_program("zaffre-store", "bench")
}
