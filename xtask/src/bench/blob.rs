//! The whole server over HTTP against a bare HTTP server and the bare disk.
//!
//! Must never compare with a figure from another run or machine.

use super::{Row, from_program};

pub(super) const PEER: &str = "a bare HTTP server and the bare disk, measured in the same run";

pub(super) fn measure() -> Result<Vec<Row>, String> {
    from_program("zaffre", "bench")
}
