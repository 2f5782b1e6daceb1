//! Cuts a stream of bytes into records: lines of CSV, documents of JSON.
//!
//! Must never hold more than one record beyond what it was just given.

use crate::Fault;
use crate::csv::CsvFormat;
use crate::limits::RECORD_BYTES;

/// Where a record's bytes are in the buffer, and where the next may start.
pub(crate) struct Cut {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The rule by which records end.
enum Rule {
    Csv { format: CsvFormat, quoted: bool, fresh: bool },
    Json { depth: usize, quoted: bool, escaped: bool, begun: bool },
}

/// Bytes that came and are not used up.
pub(crate) struct Splitter {
    rule: Rule,
    buffer: Vec<u8>,
    /// Where the record being read starts.
    start: usize,
    /// How far it was looked through.
    seen: usize,
    /// Bytes of the stream before the buffer.
    before: u64,
}

impl Splitter {
    pub(crate) fn csv(format: &CsvFormat) -> Self {
        Self::new(Rule::Csv { format: format.clone(), quoted: false, fresh: true })
    }

    pub(crate) fn json() -> Self {
        Self::new(Rule::Json { depth: 0, quoted: false, escaped: false, begun: false })
    }

    fn new(rule: Rule) -> Self {
        Self { rule, buffer: Vec::new(), start: 0, seen: 0, before: 0 }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.before += u64::try_from(self.start).unwrap_or(0);
        self.seen -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    pub(crate) fn bytes(&self, cut: &Cut) -> &[u8] {
        self.buffer.get(cut.start..cut.end).unwrap_or(&[])
    }

    /// Where in the stream a record starts.
    pub(crate) fn position(&self, cut: &Cut) -> u64 {
        self.before + u64::try_from(cut.start).unwrap_or(0)
    }

    /// Where in the stream the next record starts.
    pub(crate) fn next_position(&self) -> u64 {
        self.before + u64::try_from(self.start).unwrap_or(0)
    }

    /// The next whole record. `ended`: nothing more comes, so that what is left is one.
    pub(crate) fn next(&mut self, ended: bool) -> Result<Option<Cut>, Fault> {
        let found = match &mut self.rule {
            Rule::Csv { format, quoted, fresh } => {
                let mut scan = CsvScan { format, quoted, fresh, ended };
                scan.find(&self.buffer, &mut self.seen)
            }
            Rule::Json { depth, quoted, escaped, begun } => {
                let mut scan = JsonScan { depth, quoted, escaped, begun };
                scan.find(&self.buffer, &mut self.seen)
            }
        };
        let whole = match found {
            Some(found) => Some(found),
            None if ended && self.start < self.buffer.len() => {
                Some((self.buffer.len(), self.buffer.len()))
            }
            None => None,
        };
        let length = whole.map_or(self.buffer.len(), |(end, _)| end) - self.start;
        if length > RECORD_BYTES {
            let what = format!("A record has more than {RECORD_BYTES} bytes.");
            return Err(Fault::new("RecordTooLarge", what));
        }
        Ok(whole.map(|(end, next)| {
            let cut = Cut { start: self.start, end };
            (self.start, self.seen) = (next, next);
            cut
        }))
    }
}

struct CsvScan<'a> {
    format: &'a CsvFormat,
    quoted: &'a mut bool,
    fresh: &'a mut bool,
    ended: bool,
}

impl CsvScan<'_> {
    /// Where the record ends, and where the next starts.
    fn find(&mut self, buffer: &[u8], seen: &mut usize) -> Option<(usize, usize)> {
        let format = self.format;
        // A separator may be cut in two by the end of what has come.
        let longest = format.column.len().max(format.record.len()).max(2);
        while let Some(&byte) = buffer.get(*seen) {
            let rest = buffer.get(*seen..).unwrap_or(&[]);
            if rest.len() < longest && !self.ended {
                return None;
            }
            if Some(byte) == format.escape {
                *seen = (*seen + 2).min(buffer.len());
                *self.fresh = false;
                continue;
            }
            if *self.quoted {
                if Some(byte) == format.quote {
                    if rest.get(1) == Some(&byte) {
                        *seen += 1;
                    } else {
                        *self.quoted = false;
                    }
                }
                *seen += 1;
                continue;
            }
            if rest.starts_with(&format.record) {
                let mut end = *seen;
                // Lines may end in CR LF where LF alone was announced.
                if format.record == b"\n" && end > 0 && buffer.get(end - 1) == Some(&b'\r') {
                    end -= 1;
                }
                *self.fresh = true;
                return Some((end, *seen + format.record.len()));
            }
            if rest.starts_with(&format.column) {
                *self.fresh = true;
                *seen += format.column.len();
                continue;
            }
            *self.quoted = *self.fresh && Some(byte) == format.quote;
            *self.fresh = false;
            *seen += 1;
        }
        None
    }
}

struct JsonScan<'a> {
    depth: &'a mut usize,
    quoted: &'a mut bool,
    escaped: &'a mut bool,
    begun: &'a mut bool,
}

impl JsonScan<'_> {
    /// An object or array ends with its bracket, anything else with white space.
    fn find(&mut self, buffer: &[u8], seen: &mut usize) -> Option<(usize, usize)> {
        while let Some(&byte) = buffer.get(*seen) {
            *seen += 1;
            if *self.quoted {
                match byte {
                    _ if *self.escaped => *self.escaped = false,
                    b'\\' => *self.escaped = true,
                    b'"' => *self.quoted = false,
                    _ => {}
                }
                continue;
            }
            let blank = matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | 0x1E);
            match byte {
                b'"' => *self.quoted = true,
                b'{' | b'[' => *self.depth += 1,
                b'}' | b']' => *self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            let closes = matches!(byte, b'}' | b']') && *self.depth == 0;
            if closes || blank && *self.begun && *self.depth == 0 {
                *self.begun = false;
                return Some((*seen, *seen));
            }
            *self.begun |= !blank;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The records of a text that comes in pieces of one size.
    fn records(mut splitter: Splitter, text: &str, size: usize) -> Vec<String> {
        let mut found = Vec::new();
        let mut take = |splitter: &mut Splitter, ended| {
            while let Ok(Some(cut)) = splitter.next(ended) {
                found.push(String::from_utf8_lossy(splitter.bytes(&cut)).trim().to_owned());
            }
        };
        for piece in text.as_bytes().chunks(size) {
            splitter.push(piece);
            take(&mut splitter, false);
        }
        take(&mut splitter, true);
        found
    }

    #[test]
    fn the_size_of_pieces_does_not_matter() {
        let format = CsvFormat::default();
        let crlf = CsvFormat { record: b"\r\n".to_vec(), ..CsvFormat::default() };
        let csv = "a,b\r\n\"x\ny\",\"q\"\"q\n\"\n\nlast,\"1";
        let other = "a\nb,c\r\nd\r\n";
        let json = "{\"a\":\"}\\\"\"} [1,{\"b\":2}]\n3 \"x y\"\n{}";
        for size in 1..40 {
            let got = records(Splitter::csv(&format), csv, size);
            assert_eq!(got, ["a,b", "\"x\ny\",\"q\"\"q\n\"", "", "last,\"1"], "{size}");
            assert_eq!(records(Splitter::csv(&crlf), other, size), ["a\nb,c", "d"], "{size}");
            let got = records(Splitter::json(), json, size);
            assert_eq!(got, ["{\"a\":\"}\\\"\"}", "[1,{\"b\":2}]", "3", "\"x y\"", "{}"], "{size}");
        }
    }

    #[test]
    fn a_record_has_a_limit() {
        let mut splitter = Splitter::csv(&CsvFormat::default());
        splitter.push(&vec![b'x'; RECORD_BYTES + 10]);
        assert!(splitter.next(false).is_err());
        let mut splitter = Splitter::json();
        splitter.push(&vec![b'['; RECORD_BYTES + 10]);
        assert!(splitter.next(false).is_err());
    }
}
