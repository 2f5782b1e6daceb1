//! Reading and writing little-endian fields with every bound checked.
//!
//! Must never index past a buffer or allocate by a length that a peer claims.

/// A message that is not what its command says it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

/// A cursor over one element: its header and what follows.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Starts at `at`; reading fails if that is past the end.
    pub fn starting_at(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(count).ok_or(Malformed)?;
        let taken = self.bytes.get(self.at..end).ok_or(Malformed)?;
        self.at = end;
        Ok(taken)
    }

    /// The next `N` bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    /// Passes over `count` bytes.
    pub fn skip(&mut self, count: usize) -> Result<(), Malformed> {
        self.take(count).map(|_| ())
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// Two bytes.
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Four bytes.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Eight bytes.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// Where the cursor is.
    pub fn position(&self) -> usize {
        self.at
    }

    /// What is left.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }
}

/// The bytes at `offset` of `element`; nothing wanted is nothing, wherever it is said to be.
pub fn slice(element: &[u8], offset: usize, length: usize) -> Result<&[u8], Malformed> {
    if length == 0 {
        return Ok(&[]);
    }
    let end = offset.checked_add(length).ok_or(Malformed)?;
    element.get(offset..end).ok_or(Malformed)
}

/// A length or offset of 32 bits as an index.
pub fn index(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// The units of a UTF-16LE string.
pub fn utf16(bytes: &[u8]) -> Result<Vec<u16>, Malformed> {
    if !bytes.len().is_multiple_of(2) {
        return Err(Malformed);
    }
    Ok(bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect())
}

/// A string as UTF-16LE bytes.
pub fn utf16_bytes(units: impl IntoIterator<Item = u16>) -> Vec<u8> {
    units.into_iter().flat_map(u16::to_le_bytes).collect()
}

/// Puts fields one after the other.
#[derive(Clone, Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) -> &mut Self {
        self.0.push(value);
        self
    }

    /// Two bytes.
    pub fn u16(&mut self, value: u16) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Four bytes.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Eight bytes.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.bytes(&value.to_le_bytes())
    }

    /// Bytes as they are.
    pub fn bytes(&mut self, value: &[u8]) -> &mut Self {
        self.0.extend_from_slice(value);
        self
    }

    /// So many zeros.
    pub fn zeros(&mut self, count: usize) -> &mut Self {
        self.0.resize(self.0.len() + count, 0);
        self
    }

    /// Zeros up to a multiple of `unit`.
    pub fn align(&mut self, unit: usize) -> &mut Self {
        let padded = self.0.len().next_multiple_of(unit);
        self.0.resize(padded, 0);
        self
    }

    /// A length as 32 bits; what is longer was cut before by a named limit.
    pub fn length(&mut self, length: usize) -> &mut Self {
        self.u32(length32(length))
    }

    /// How much there is.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Overwrites four bytes written before.
    pub fn set_u32(&mut self, at: usize, value: u32) {
        if let Some(field) = self.0.get_mut(at..at + 4) {
            field.copy_from_slice(&value.to_le_bytes());
        }
    }

    /// All of it.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

/// A length as a 32-bit field. Every message is far below that, by the limits.
pub fn length32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// A length as a 16-bit field; what does not fit was refused before.
pub fn length16(length: usize) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_past_the_end() {
        let mut reader = Reader::new(&[1, 2, 3]);
        assert_eq!(reader.u16(), Ok(0x0201));
        assert_eq!(reader.u16(), Err(Malformed));
        assert_eq!(reader.u8(), Ok(3));
        assert_eq!(reader.take(usize::MAX), Err(Malformed));
        assert_eq!(Reader::starting_at(&[1], 2).u8(), Err(Malformed));
    }

    #[test]
    fn slices() {
        let bytes = [0, 1, 2, 3];
        assert_eq!(slice(&bytes, 1, 2), Ok(&bytes[1..3]));
        assert_eq!(slice(&bytes, 9, 0), Ok(&[][..]));
        assert_eq!(slice(&bytes, 3, 2), Err(Malformed));
        assert_eq!(slice(&bytes, usize::MAX, 2), Err(Malformed));
    }
}
