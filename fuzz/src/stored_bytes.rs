//! What is on the disk, damaged in any way: it is read as far as it makes sense, and no further.

use zaffre_store::raw;

/// Bytes of a row in a journal before its key and value.
const ROW_START: usize = 6;

/// The target.
pub fn run(input: &[u8]) {
    let sensible = raw::journal(input);
    assert!(sensible <= input.len(), "more of a journal than there is");
    if let Some(rows) = raw::rows(input) {
        assert!(rows * ROW_START <= input.len(), "more rows than there is room for");
    }
    if let Some((front, whole)) = raw::record(input) {
        assert!(front <= input.len(), "a front longer than what was read");
        assert!(whole >= u64::try_from(front).expect("small"), "a record shorter than its front");
        assert_eq!(whole % 8, 0, "records start at multiples of eight");
    }
}
