//! Whole queries: what goes in, what comes out, whatever the size of the pieces.

use zaffre_query::{CsvFormat, Engine, Frames, Input, Output, parse};

const SYNC: [u8; 16] = [0xAB; 16];

/// One record of an answer.
#[derive(Clone, PartialEq, Debug)]
enum Record {
    Data(String),
    Fault { fatal: bool, name: String },
    Progress { scanned: i64, total: i64 },
    End { total: i64 },
}

/// Reads frames back, independently of how they were made.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn long(&mut self) -> i64 {
        let (mut bits, mut shift) = (0_u64, 0);
        loop {
            let (byte, rest) = self.0.split_first().expect("a byte");
            self.0 = rest;
            bits |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                let half = i64::try_from(bits >> 1).expect("small");
                return if bits & 1 == 0 { half } else { -half - 1 };
            }
        }
    }

    fn text(&mut self) -> String {
        let length = usize::try_from(self.long()).expect("a length");
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8(bytes.to_vec()).expect("text")
    }

    fn sync(&mut self) {
        let (sync, rest) = self.0.split_at(16);
        assert_eq!(sync, SYNC);
        self.0 = rest;
    }
}

fn records(answer: &[u8]) -> Vec<Record> {
    let mut reader = Reader(answer.strip_prefix(b"Obj\x01").expect("magic"));
    let pairs = reader.long();
    for _ in 0..pairs {
        let _ = (reader.text(), reader.text());
    }
    assert_eq!(reader.long(), 0);
    reader.sync();
    let mut records = Vec::new();
    while !reader.0.is_empty() {
        assert_eq!(reader.long(), 1);
        let size = usize::try_from(reader.long()).expect("a size");
        let left = reader.0.len();
        records.push(match reader.long() {
            0 => Record::Data(reader.text()),
            1 => {
                let fatal = reader.0[0] == 1;
                reader.0 = &reader.0[1..];
                let (name, _, _) = (reader.text(), reader.text(), reader.long());
                Record::Fault { fatal, name }
            }
            2 => Record::Progress { scanned: reader.long(), total: reader.long() },
            3 => Record::End { total: reader.long() },
            other => panic!("record {other}"),
        });
        assert_eq!(left - reader.0.len(), size);
        reader.sync();
    }
    records
}

fn run(sql: &str, input: &Input, output: &Output, text: &str, piece: usize) -> Vec<Record> {
    let select = parse(sql).unwrap_or_else(|fault| panic!("{sql}: {fault:?}"));
    let frames = Frames::new(SYNC);
    let total = text.len() as u64;
    let (input, output) = (input.clone(), output.clone());
    let engine = Engine::new(select, input, output, total, 1_700_000_000_000_000, frames);
    let mut engine = engine.unwrap_or_else(|fault| panic!("{sql}: {fault:?}"));
    let mut out = frames.header();
    for piece in text.as_bytes().chunks(piece) {
        if engine.is_done() {
            break;
        }
        engine.push(piece, &mut out);
    }
    engine.finish(&mut out);
    records(&out)
}

/// All results together, and the names of the faults.
fn outcome(
    sql: &str,
    input: &Input,
    output: &Output,
    text: &str,
    piece: usize,
) -> (String, String) {
    let (mut data, mut faults) = (String::new(), Vec::new());
    let records = run(sql, input, output, text, piece);
    assert!(matches!(records.last(), Some(Record::End { .. })), "{records:?}");
    for record in records {
        match record {
            Record::Data(text) => data.push_str(&text),
            Record::Fault { fatal, name } => {
                faults.push(format!("{}{name}", if fatal { "!" } else { "" }));
            }
            Record::Progress { .. } | Record::End { .. } => {}
        }
    }
    (data, faults.join(" "))
}

fn csv(header: bool) -> Input {
    Input::Csv(CsvFormat { header, ..CsvFormat::default() })
}

fn out_csv() -> Output {
    Output::Csv(CsvFormat::default())
}

fn out_json() -> Output {
    Output::Json { record: b"\n".to_vec() }
}

const PEOPLE: &str = "Name,Age,City\nann,31,Bern\n\"bo, jr\",7,Paris\ncy,64,\"New\nYork\"\n";

#[test]
fn delimited_text() {
    for (sql, want) in [
        ("SELECT * FROM BlobStorage", "ann,31,Bern\n\"bo, jr\",7,Paris\ncy,64,\"New\nYork\"\n"),
        ("select name from blobstorage", "ann\n\"bo, jr\"\ncy\n"),
        ("SELECT _2, Name FROM BlobStorage WHERE Age > 30", "31,ann\n64,cy\n"),
        ("SELECT b.Name FROM BlobStorage b WHERE b.Age = 7", "\"bo, jr\"\n"),
        ("SELECT BlobStorage.Name FROM BlobStorage WHERE \"Age\" <> 7 LIMIT 1", "ann\n"),
        ("SELECT Name FROM BlobStorage WHERE Age BETWEEN 7 AND 31", "ann\n\"bo, jr\"\n"),
        ("SELECT Name FROM BlobStorage WHERE Age NOT BETWEEN 7 AND 31", "cy\n"),
        ("SELECT Name FROM BlobStorage WHERE City IN ('Bern', 'Rome')", "ann\n"),
        ("SELECT Name FROM BlobStorage WHERE City NOT IN ('Bern')", "\"bo, jr\"\ncy\n"),
        ("SELECT Name FROM BlobStorage WHERE City LIKE 'P%s'", "\"bo, jr\"\n"),
        ("SELECT Name FROM BlobStorage WHERE Name LIKE '_y'", "cy\n"),
        ("SELECT Name FROM BlobStorage WHERE Name LIKE 'a!%' ESCAPE '!'", ""),
        ("SELECT Name FROM BlobStorage WHERE NOT (Age > 30 OR City = 'Paris')", ""),
        ("SELECT Name FROM BlobStorage WHERE Age > 60 AND City IS NOT NULL", "cy\n"),
        ("SELECT COUNT(*) FROM BlobStorage", "3\n"),
        ("SELECT COUNT(*) FROM BlobStorage WHERE Age > 100", "0\n"),
        ("SELECT SUM(Age), AVG(Age), MIN(CAST(Age AS INT)), MAX(Name) FROM BlobStorage", {
            "102,34,7,cy\n"
        }),
        ("SELECT AVERAGE(CAST(Age AS FLOAT)) FROM BlobStorage WHERE Age < 50", "19\n"),
        ("SELECT Age * 2 + 1 AS x, -Age, Age % 10, Age / 2 FROM BlobStorage LIMIT 1", {
            "63,-31,1,15\n"
        }),
        ("SELECT Age + 0.5 FROM BlobStorage LIMIT 1", "31.5\n"),
        ("SELECT Name FROM BlobStorage LIMIT 0", ""),
        ("SELECT 'it''s' FROM BlobStorage LIMIT 1", "it's\n"),
    ] {
        for piece in [1, 7, 1000] {
            let got = outcome(sql, &csv(true), &out_csv(), PEOPLE, piece);
            assert_eq!(got, (want.to_owned(), String::new()), "{sql} in pieces of {piece}");
        }
    }
}

#[test]
fn functions() {
    for (expression, want) in [
        ("CHARACTER_LENGTH('abcdefg')", "7"),
        ("CHAR_LENGTH('äöü')", "3"),
        ("LOWER('AbCdEfG')", "abcdefg"),
        ("UPPER('AbCdEfG')", "ABCDEFG"),
        ("SUBSTRING('123456789', 1, 5)", "23456"),
        ("SUBSTRING('12345' FROM 3)", "45"),
        ("SUBSTRING('12345', 9, 2)", ""),
        ("TRIM(BOTH '123' FROM '1112211Microsoft22211122')", "Microsoft"),
        ("TRIM('  x ')", "x"),
        ("TRIM(LEADING FROM '  x ')", "x "),
        ("TRIM(TRAILING 'x' FROM 'yxx')", "y"),
        ("DATE_ADD('minute', 1, CAST('2017-01-02T03:04:05.006Z' AS TIMESTAMP))", {
            "2017-01-02T03:05:05.006Z"
        }),
        ("DATE_DIFF('hour','2018-11-09T00:00+05:30','2018-11-09T01:00:23-08:00')", "14"),
        ("EXTRACT(YEAR FROM '2010-01-01T')", "2010"),
        ("EXTRACT(timezone_hour FROM '2018-11-09T00:00-08:00')", "-8"),
        ("TO_STRING(CAST('1969-07-20T20:18Z' AS TIMESTAMP), 'MMMM d, y')", "\"July 20, 1969\""),
        ("TO_TIMESTAMP('2007T')", "2007-01-01T00:00:00.000Z"),
        ("UTCNOW()", "2023-11-14T22:13:20.000Z"),
        ("NULLIF('a', 'a')", ""),
        ("NULLIF(1, 2)", "1"),
        ("COALESCE(NULL, 'b', 'c')", "b"),
        ("CAST('12' AS INT) + CAST('0.5' AS FLOAT)", "12.5"),
        ("CAST(1.9 AS INT)", "1"),
        ("CAST('true' AS BOOLEAN)", "true"),
        ("CAST(12 AS STRING)", "12"),
        ("1 = 1 AND NULL IS NULL", "true"),
        ("NULL = NULL", ""),
        ("'2020-01-01' < CAST('2021' AS TIMESTAMP)", "true"),
    ] {
        let sql = format!("SELECT {expression} FROM BlobStorage");
        let got = outcome(&sql, &csv(false), &out_csv(), "x\n", 100);
        assert_eq!(got, (format!("{want}\n"), String::new()), "{sql}");
    }
}

const MOUSE: &str = r#"{"id":1,"name":"mouse","price":12.50,"tags":["wireless","accessory"],
 "dimensions":{"length":3,"width":2},"weight":0.2,"warehouses":[{"latitude":41.8,"longitude":-87.6},
 {"latitude":1,"longitude":null}]}
{"id":2,"name":"key","tags":[]}"#;

#[test]
fn json() {
    for (sql, want) in [
        ("SELECT id FROM BlobStorage", "{\"id\":1}\n{\"id\":2}\n"),
        ("SELECT latitude FROM BlobStorage[*].warehouses[*]", {
            "{\"latitude\":41.8}\n{\"latitude\":1}\n"
        }),
        ("SELECT length FROM BlobStorage[*].dimensions", "{\"length\":3}\n"),
        ("SELECT weight,warehouses[0].longitude,id,tags[1] FROM BlobStorage[*] LIMIT 1", {
            "{\"weight\":0.2,\"longitude\":-87.6,\"id\":1,\"_4\":\"accessory\"}\n"
        }),
        ("SELECT id FROM BlobStorage WHERE price IS MISSING", "{\"id\":2}\n"),
        ("SELECT id FROM BlobStorage WHERE price IS NOT MISSING", "{\"id\":1}\n"),
        ("SELECT longitude FROM BlobStorage[*].warehouses[1]", "{\"longitude\":null}\n"),
        ("SELECT dimensions FROM BlobStorage WHERE id = 1", {
            "{\"dimensions\":{\"length\":3,\"width\":2}}\n"
        }),
        ("SELECT * FROM BlobStorage[*].dimensions", "{\"length\":3,\"width\":2}\n"),
        ("SELECT * FROM BlobStorage WHERE id = 2", "{\"id\":2,\"name\":\"key\",\"tags\":[]}\n"),
        ("SELECT COUNT(price) AS n FROM BlobStorage", "{\"n\":1}\n"),
        ("SELECT UPPER(name) AS \"N A\" FROM BlobStorage WHERE price > 12", {
            "{\"N A\":\"MOUSE\"}\n"
        }),
        ("SELECT \"Name\" FROM BlobStorage", "{}\n{}\n"),
    ] {
        for piece in [1, 13, 1000] {
            let got = outcome(sql, &Input::Json, &out_json(), MOUSE, piece);
            assert_eq!(got, (want.to_owned(), String::new()), "{sql} in pieces of {piece}");
        }
    }
}

#[test]
fn from_one_format_to_the_other() {
    let all = "SELECT * FROM BlobStorage";
    let got = outcome(all, &csv(true), &out_json(), "a,b\n1,\"x\"\n", 9);
    assert_eq!(got.0, "{\"a\":\"1\",\"b\":\"x\"}\n");
    let got = outcome(all, &csv(false), &out_json(), "1,2\n", 9);
    assert_eq!(got.0, "{\"_1\":\"1\",\"_2\":\"2\"}\n");
    let sql = "SELECT name, tags FROM BlobStorage";
    let got = outcome(sql, &Input::Json, &out_csv(), MOUSE, 50);
    assert_eq!(got.0, "mouse,\"[\"\"wireless\"\",\"\"accessory\"\"]\"\nkey,[]\n");
    let headed = Output::Csv(CsvFormat { header: true, ..CsvFormat::default() });
    assert_eq!(outcome(all, &csv(true), &headed, PEOPLE, 50).0, PEOPLE);
    let got = outcome("SELECT Age AS years FROM BlobStorage", &csv(true), &headed, PEOPLE, 50);
    assert_eq!(got.0, "years\n31\n7\n64\n");
    let odd = CsvFormat {
        column: b"|".to_vec(),
        quote: Some(b'\''),
        record: b";".to_vec(),
        ..CsvFormat::default()
    };
    let got = outcome(all, &csv(true), &Output::Csv(odd), PEOPLE, 50);
    assert_eq!(got.0, "ann|31|Bern;bo, jr|7|Paris;cy|64|'New\nYork';");
}

#[test]
fn faults_of_records_leave_the_others() {
    let text = "1,a\n2\nx,b\n3,c\n";
    for (sql, data, faults) in [
        ("SELECT _2 FROM BlobStorage", "a\nb\nc\n", "InvalidColumnOrdinal"),
        ("SELECT _1 FROM BlobStorage WHERE _1 > 1", "2\n3\n", "InvalidTypeConversion"),
        ("SELECT SUM(_1) FROM BlobStorage", "6\n", "InvalidTypeConversion"),
        ("SELECT 1 / 0 FROM BlobStorage LIMIT 1", "", {
            "DivideByZero DivideByZero DivideByZero DivideByZero"
        }),
        ("SELECT nobody FROM BlobStorage WHERE _1 = '3'", "", "InvalidColumnOrdinal"),
    ] {
        let got = outcome(sql, &csv(false), &out_csv(), text, 5);
        assert_eq!(got, (data.to_owned(), faults.to_owned()), "{sql}");
    }
    let got = outcome("SELECT a FROM BlobStorage", &Input::Json, &out_json(), "{\"a\":1}\n{x}", 5);
    assert_eq!(got, ("{\"a\":1}\n".to_owned(), "!ParseError".to_owned()));
    let many = "x\n".repeat(1_000);
    let got = outcome("SELECT _2 FROM BlobStorage", &csv(false), &out_csv(), &many, 500);
    assert_eq!(got.1.split(' ').count(), 100, "not every fault is worth a record");
}

#[test]
fn statements_that_cannot_be_read() {
    for sql in [
        "",
        "SELECT",
        "SELECT * FROM Other",
        "SELECT * FROM BlobStorage WHERE",
        "SELECT * FROM BlobStorage LIMIT x",
        "SELECT * FROM BlobStorage; DROP TABLE x",
        "SELECT a, COUNT(*) FROM BlobStorage",
        "SELECT NOSUCH(a) FROM BlobStorage",
        "SELECT LOWER(a, b) FROM BlobStorage",
        "SELECT 'open FROM BlobStorage",
        "SELECT CAST(a AS MONEY) FROM BlobStorage",
        "SELECT sys.split(5) FROM BlobStorage",
        "UPDATE BlobStorage SET a = 1",
        "SELECT a FROM BlobStorage WHERE a = = 1",
    ] {
        assert!(parse(sql).is_err(), "{sql}");
    }
    let deep = format!("SELECT {}1{} FROM BlobStorage", "(".repeat(10_000), ")".repeat(10_000));
    assert!(parse(&deep).is_err());
    let long = format!("SELECT 1 {} FROM BlobStorage", "+ 1".repeat(10_000));
    assert!(parse(&long).is_err());
    let wide = vec!["a"; 50].join(", ");
    assert!(parse(&format!("SELECT {wide} FROM BlobStorage")).is_err());
}

#[test]
fn large_inputs_are_framed_with_progress_and_splits_fall_between_records() {
    let line = format!("{},{}\n", "a".repeat(500), "b".repeat(522));
    let text = line.repeat(24 * 1024);
    let records = run("SELECT _1 FROM BlobStorage", &csv(false), &out_csv(), &text, 100_000);
    let total = i64::try_from(text.len()).expect("small");
    let mut scanned = Vec::new();
    let mut bytes = 0;
    for record in &records {
        match record {
            Record::Data(data) => {
                assert!(data.len() < 600_000, "a frame is bounded");
                bytes += data.len();
            }
            Record::Progress { scanned: s, total: t } => {
                assert_eq!(*t, total);
                scanned.push(*s);
            }
            Record::Fault { .. } => panic!("{record:?}"),
            Record::End { total: t } => assert_eq!(*t, total),
        }
    }
    assert_eq!(bytes, 501 * 24 * 1024);
    assert!(scanned.len() >= 6 && scanned.is_sorted() && scanned.last() == Some(&total));
    let sql = "SELECT sys.split(10485760) FROM BlobStorage";
    let (splits, _) = outcome(sql, &csv(false), &out_csv(), &text, 100_000);
    let sizes: Vec<usize> = splits.lines().map(|l| l.parse().expect("a size")).collect();
    assert_eq!(sizes.iter().sum::<usize>(), text.len());
    assert!(sizes.iter().all(|size| size % line.len() == 0), "{sizes:?}");
    assert_eq!(sizes.len(), 3);
}
