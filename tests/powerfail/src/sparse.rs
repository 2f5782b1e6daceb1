//! Bytes of a file, kept in pages: absent pages are zeros and take no space.
//!
//! Must never give a page that was not asked for: the space in use is counted by pages.

use std::collections::HashMap;

/// Size of the pieces that content is kept in, and the unit of space.
pub const PAGE: u64 = 4096;
const PAGE_LEN: usize = 4096;

/// What a file holds. A page without bytes is reserved and reads as zeros.
#[derive(Clone, Debug, Default)]
pub struct Sparse {
    pages: HashMap<u64, Option<Box<[u8]>>>,
    len: u64,
}

/// Splits `offset..offset+len` into (page, start in page, start in buffer, length).
fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == len {
            return None;
        }
        let at = offset + done as u64;
        let start = usize::try_from(at % PAGE).unwrap_or(0);
        let step = (PAGE_LEN - start).min(len - done);
        let piece = (at / PAGE, start, done, step);
        done += step;
        Some(piece)
    })
}

impl Sparse {
    /// Its length.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Pages it takes.
    pub fn pages(&self) -> u64 {
        self.pages.len() as u64
    }

    /// Pages that a write or reservation of this range would add.
    pub fn missing(&self, offset: u64, len: u64) -> u64 {
        let range = offset / PAGE..offset.saturating_add(len).div_ceil(PAGE);
        range.filter(|page| !self.pages.contains_key(page)).count() as u64
    }

    /// Up to `len` bytes from `offset`, fewer at the end.
    pub fn read(&self, offset: u64, len: u64) -> Vec<u8> {
        let len = len.min(self.len.saturating_sub(offset));
        let mut out = vec![0; usize::try_from(len).unwrap_or(0)];
        let wanted = out.len();
        for (page, start, from, step) in pieces(offset, wanted) {
            if let Some(Some(bytes)) = self.pages.get(&page) {
                out[from..from + step].copy_from_slice(&bytes[start..start + step]);
            }
        }
        out
    }

    /// Writes, growing as needed.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        for (page, start, from, step) in pieces(offset, data.len()) {
            let bytes = self.pages.entry(page).or_default();
            let bytes = bytes.get_or_insert_with(|| vec![0; PAGE_LEN].into_boxed_slice());
            bytes[start..start + step].copy_from_slice(&data[from..from + step]);
        }
        self.len = self.len.max(offset + data.len() as u64);
    }

    /// Cuts or grows.
    pub fn set_len(&mut self, len: u64) {
        if len < self.len {
            self.punch(len, self.len.next_multiple_of(PAGE) - len);
        }
        self.len = len;
    }

    /// Takes space for a range; grows unless `keep_size`.
    pub fn reserve(&mut self, offset: u64, len: u64, keep_size: bool) {
        let end = offset.saturating_add(len);
        for page in offset / PAGE..end.div_ceil(PAGE) {
            self.pages.entry(page).or_default();
        }
        if !keep_size {
            self.len = self.len.max(end);
        }
    }

    /// Makes a range read as zeros and gives its whole pages back.
    pub fn punch(&mut self, offset: u64, len: u64) {
        let end = offset.saturating_add(len);
        let whole = offset.div_ceil(PAGE)..end / PAGE;
        self.pages.retain(|page, _| !whole.contains(page));
        for page in [offset / PAGE, end / PAGE] {
            if let Some(Some(bytes)) = self.pages.get_mut(&page) {
                let base = page * PAGE;
                let within = |at: u64| usize::try_from(at.clamp(base, base + PAGE) - base);
                if let (Ok(from), Ok(to)) = (within(offset), within(end)) {
                    bytes[from..to].fill(0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_space_and_holes() {
        let mut file = Sparse::default();
        assert_eq!(file.missing(4000, 200), 2);
        file.write(4000, &[7; 200]);
        assert_eq!((file.len(), file.pages()), (4200, 2));
        assert_eq!(file.read(3999, 3), [0, 7, 7]);
        file.punch(4096, 4096);
        assert_eq!((file.read(4095, 9)[..2].to_vec(), file.pages()), (vec![7, 0], 1));
        file.set_len(4001);
        file.set_len(4200);
        assert_eq!(file.read(4000, 3), [7, 0, 0]);
        file.reserve(8192, 100, true);
        assert_eq!((file.len(), file.pages()), (4200, 2));
    }
}
