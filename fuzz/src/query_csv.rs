//! The content of queries: any bytes are read, in pieces of any size with the same answer.

use zaffre_query::{CsvFormat, Engine, Frames, Input, Output, parse};

/// The target: the first byte chooses the format, the rest is the content.
pub fn run(input: &[u8]) {
    let Some((choice, data)) = input.split_first() else { return };
    let format = CsvFormat {
        quote: (choice & 1 == 0).then_some(b'"'),
        escape: (choice & 2 != 0).then_some(b'\\'),
        record: if choice & 4 == 0 { b"\n".to_vec() } else { b"\r\n".to_vec() },
        header: choice & 8 != 0,
        ..CsvFormat::default()
    };
    let input = if choice & 16 == 0 { Input::Csv(format) } else { Input::Json };
    let whole = answer(&input, data, data.len().max(1));
    for size in [1, 3] {
        assert_eq!(answer(&input, data, size), whole, "in pieces of {size}");
    }
}

/// The answer without its reports of progress, which follow the pieces.
fn answer(input: &Input, data: &[u8], size: usize) -> Vec<u8> {
    let select = parse("SELECT * FROM BlobStorage").expect("a good statement");
    let output = Output::Json { record: vec![b'\n'] };
    let frames = Frames::new([7; 16]);
    let engine = Engine::new(select, input.clone(), output, 0, 0, frames);
    let mut engine = engine.expect("a good query");
    let mut out = Vec::new();
    for piece in data.chunks(size) {
        engine.push(piece, &mut out);
    }
    // What the engine has scanned when a fault ends it depends on the pieces.
    let ended = engine.is_done();
    engine.finish(&mut out);
    if ended { Vec::new() } else { out }
}
