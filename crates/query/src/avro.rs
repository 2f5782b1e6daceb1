//! The answer's frames: an Avro object container whose records are results, progress, faults, end.
//!
//! Must never change the schema's names: clients tell the records apart by them.

/// The schema that the answer begins with.
pub const SCHEMA: &str = concat!(
    r#"[{"type":"record","name":"com.microsoft.azure.storage.queryBlobContents.resultData","#,
    r#""doc":"Holds result data in the format specified for this query (CSV, JSON, etc.).","#,
    r#""fields":[{"name":"data","type":"bytes"}]},"#,
    r#"{"type":"record","name":"com.microsoft.azure.storage.queryBlobContents.error","#,
    r#""doc":"An error that occurred while processing the query.","#,
    r#""fields":[{"name":"fatal","type":"boolean","doc":"If true, this error prevents further "#,
    r#"query processing.  More result data may be returned, but there is no guarantee that all "#,
    r#"of the original data will be processed.  If false, this error does not prevent further "#,
    r#"query processing."},{"name":"name","type":"string","doc":"The name of the error"},"#,
    r#"{"name":"description","type":"string","doc":"A description of the error"},"#,
    r#"{"name":"position","type":"long","doc":"The blob offset at which the error occurred"}]},"#,
    r#"{"type":"record","name":"com.microsoft.azure.storage.queryBlobContents.progress","#,
    r#""doc":"Information about the progress of the query","#,
    r#""fields":[{"name":"bytesScanned","type":"long","#,
    r#""doc":"The number of bytes that have been scanned"},"#,
    r#"{"name":"totalBytes","type":"long","#,
    r#""doc":"The total number of bytes to be scanned in this query"}]},"#,
    r#"{"type":"record","name":"com.microsoft.azure.storage.queryBlobContents.end","#,
    r#""doc":"Sent as the final message of the response, indicating that all results have been "#,
    r#"sent.","fields":[{"name":"totalBytes","type":"long","#,
    r#""doc":"The total number of bytes to be scanned in this query"}]}]"#,
);

/// Makes frames, each a block with one record.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    /// Stands between blocks; any sixteen bytes will do.
    sync: [u8; 16],
}

impl Frames {
    /// Frames of one answer.
    pub fn new(sync: [u8; 16]) -> Self {
        Self { sync }
    }

    /// What the answer begins with.
    pub fn header(&self) -> Vec<u8> {
        let mut out = b"Obj\x01".to_vec();
        long(&mut out, 2);
        text(&mut out, b"avro.codec");
        text(&mut out, b"null");
        text(&mut out, b"avro.schema");
        text(&mut out, SCHEMA.as_bytes());
        long(&mut out, 0);
        out.extend_from_slice(&self.sync);
        out
    }

    /// Results.
    pub fn data(&self, out: &mut Vec<u8>, bytes: &[u8]) {
        let mut record = Vec::with_capacity(bytes.len() + 8);
        long(&mut record, 0);
        text(&mut record, bytes);
        self.block(out, &record);
    }

    /// A fault; a fatal one is the last record but the end.
    pub fn fault(&self, out: &mut Vec<u8>, fatal: bool, fault: &crate::Fault, position: u64) {
        let mut record = Vec::new();
        long(&mut record, 1);
        record.push(u8::from(fatal));
        text(&mut record, fault.name.as_bytes());
        text(&mut record, fault.description.as_bytes());
        long(&mut record, signed(position));
        self.block(out, &record);
    }

    /// How far the query is.
    pub fn progress(&self, out: &mut Vec<u8>, scanned: u64, total: u64) {
        let mut record = Vec::new();
        long(&mut record, 2);
        long(&mut record, signed(scanned));
        long(&mut record, signed(total));
        self.block(out, &record);
    }

    /// The last record.
    pub fn end(&self, out: &mut Vec<u8>, total: u64) {
        let mut record = Vec::new();
        long(&mut record, 3);
        long(&mut record, signed(total));
        self.block(out, &record);
    }

    fn block(&self, out: &mut Vec<u8>, record: &[u8]) {
        long(out, 1);
        long(out, i64::try_from(record.len()).unwrap_or(i64::MAX));
        out.extend_from_slice(record);
        out.extend_from_slice(&self.sync);
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Zigzag, seven bits a byte.
fn long(out: &mut Vec<u8>, value: i64) {
    let mut bits = value.cast_unsigned() << 1 ^ (value >> 63).cast_unsigned();
    loop {
        let low = u8::try_from(bits & 0x7F).unwrap_or(0);
        bits >>= 7;
        if bits == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

fn text(out: &mut Vec<u8>, bytes: &[u8]) {
    long(out, i64::try_from(bytes.len()).unwrap_or(i64::MAX));
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longs() {
        for (value, want) in [
            (0, vec![0]),
            (-1, vec![1]),
            (1, vec![2]),
            (63, vec![0x7E]),
            (64, vec![0x80, 1]),
            (-64, vec![0x7F]),
            (i64::MAX, vec![0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
        ] {
            let mut out = Vec::new();
            long(&mut out, value);
            assert_eq!(out, want, "{value}");
        }
    }

    #[test]
    fn frames() {
        let frames = Frames::new([7; 16]);
        assert!(frames.header().starts_with(b"Obj\x01\x04\x14avro.codec\x08null"));
        let mut out = Vec::new();
        frames.data(&mut out, b"ab");
        let mut want = vec![2, 8, 0, 4, b'a', b'b'];
        want.extend_from_slice(&[7; 16]);
        assert_eq!(out, [&[2, 8][..], &[0, 4, b'a', b'b'], &[7; 16]].concat());
        let mut out = Vec::new();
        frames.end(&mut out, 3);
        assert_eq!(out, [&[2, 4][..], &[6, 6], &[7; 16]].concat());
    }
}
