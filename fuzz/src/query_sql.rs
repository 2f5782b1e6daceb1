//! Statements of Query Blob Contents: whatever can be read can be run, over text and over JSON.

use zaffre_query::{CsvFormat, Engine, Frames, Input, Output, parse};

const CSV: &[u8] = b"a,b,c\n1,x,2026-11-15\n2,\"y,z\",\n,,\n";
const JSON: &[u8] = b"{\"a\":1,\"b\":[{\"c\":2.5},null],\"d\":\"2026-11-15T01:02Z\"}\n[1]\n7\n";

/// The target.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(select) = parse(text) else { return };
    let csv = Input::Csv(CsvFormat { header: true, ..CsvFormat::default() });
    for (input, data) in [(csv, CSV), (Input::Json, JSON)] {
        for output in [Output::Csv(CsvFormat::default()), Output::Json { record: vec![b'\n'] }] {
            let frames = Frames::new([0; 16]);
            let engine = Engine::new(select.clone(), input.clone(), output, 0, 0, frames);
            let Ok(mut engine) = engine else { continue };
            let mut out = Vec::new();
            engine.push(data, &mut out);
            engine.finish(&mut out);
            assert!(engine.is_done() && !out.is_empty());
        }
    }
}
