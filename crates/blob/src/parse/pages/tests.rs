//! Tables of the headers that page operations take.

use super::*;
use crate::parse::testing::{Ask, Headers, blob_path};

type Row<'a, T> = (Headers<'a>, Result<T, &'static str>);
type SizedRow<'a, T> = (Headers<'a>, u64, Result<T, &'static str>);

fn code<T>(result: Result<T, ApiError>) -> Result<T, &'static str> {
    result.map_err(|error| error.code)
}

#[test]
fn creating() {
    let rows: [Row<'_, (u64, u64)>; 12] = [
        (&[(LENGTH, "0")], Ok((0, 0))),
        (&[(LENGTH, "512")], Ok((512, 0))),
        (&[(LENGTH, "8796093022208"), (SEQUENCE, "7")], Ok((8_796_093_022_208, 7))),
        (&[(LENGTH, "8796093022720")], Err("InvalidHeaderValue")),
        (&[(LENGTH, "511")], Err("InvalidHeaderValue")),
        (&[(LENGTH, "-512")], Err("InvalidHeaderValue")),
        (&[], Err("MissingRequiredHeader")),
        (&[(LENGTH, "512"), (SEQUENCE, "-1")], Err("InvalidHeaderValue")),
        (&[(LENGTH, "512"), (SEQUENCE, "9223372036854775808")], Err("InvalidHeaderValue")),
        (&[(LENGTH, "512"), ("x-ms-access-tier", "p10")], Ok((512, 0))),
        (&[(LENGTH, "512"), ("x-ms-access-tier", "Hot")], Err("AccessTierNotSupportedForBlobType")),
        (&[(LENGTH, "512"), ("x-ms-access-tier", "P11")], Err("InvalidHeaderValue")),
    ];
    for (headers, want) in rows {
        let ask = Ask::put("/c/b").with(headers).length(0);
        let got = code(create(&ask.fields(), blob_path())).map(|op| match op.new {
            NewBlob::Page { length, sequence_number } => (length, sequence_number),
            NewBlob::Append => panic!("an append blob"),
        });
        assert_eq!(got, want, "{headers:?}");
    }
    let old = Ask::put("/c/b").with(&[(LENGTH, "512")]).length(0).version("2009-07-17");
    let got = code(create(&old.fields(), blob_path())).map(|_| ());
    assert_eq!(got, Err("InvalidVersionForPageBlobOperation"));
    let body = Ask::put("/c/b").with(&[(LENGTH, "512")]).length(512);
    assert_eq!(code(create(&body.fields(), blob_path())).map(|_| ()), Err("InvalidHeaderValue"));
}

#[test]
fn writing() {
    const R: &str = "range";
    const MS: &str = "x-ms-range";
    let rows: [SizedRow<'_, Range<u64>>; 19] = [
        (&[(WRITE, "update"), (R, "bytes=0-511")], 512, Ok(0..512)),
        (&[(WRITE, "Update"), (MS, "bytes=512-1023"), (R, "bytes=0-1")], 512, Ok(512..1024)),
        (&[(WRITE, "clear"), (R, "bytes=0-1048575")], 0, Ok(0..1_048_576)),
        (&[(WRITE, "CLEAR"), (R, "bytes=0-8796093022207")], 0, Ok(0..8_796_093_022_208)),
        (&[(WRITE, "update"), (R, "bytes=0-4194303")], 4_194_304, Ok(0..4_194_304)),
        (&[(WRITE, "update"), (R, "bytes=0-4194815")], 4_194_816, Err("RequestBodyTooLarge")),
        (&[(R, "bytes=0-511")], 512, Err("MissingRequiredHeader")),
        (&[(WRITE, "update")], 512, Err("MissingRequiredHeader")),
        (&[(WRITE, "append"), (R, "bytes=0-511")], 512, Err("InvalidHeaderValue")),
        (&[(WRITE, "update"), (R, "bytes=0-510")], 511, Err("InvalidHeaderValue")),
        (&[(WRITE, "update"), (R, "bytes=1-512")], 512, Err("InvalidHeaderValue")),
        (&[(WRITE, "update"), (R, "bytes=0-")], 512, Err("InvalidHeaderValue")),
        (&[(WRITE, "update"), (R, "bytes=512-0")], 512, Err("InvalidHeaderValue")),
        (&[(WRITE, "update"), (R, "pages 1")], 512, Err("InvalidHeaderValue")),
        (&[(WRITE, "update"), (R, "bytes=0-511")], 511, Err("InvalidHeaderValue")),
        (&[(WRITE, "update"), (R, "bytes=0-511")], 1024, Err("InvalidHeaderValue")),
        (&[(WRITE, "clear"), (R, "bytes=0-511")], 512, Err("InvalidHeaderValue")),
        (
            &[(WRITE, "update"), (R, "bytes=0-511"), ("x-ms-if-sequence-number-le", "-1")],
            512,
            Err("InvalidInput"),
        ),
        (
            &[(WRITE, "update"), (R, "bytes=0-511"), ("x-ms-if-sequence-number-eq", "x")],
            512,
            Err("InvalidInput"),
        ),
    ];
    for (headers, length, want) in rows {
        let ask = Ask::put("/c/b?comp=page").with(headers).length(length);
        let got = code(put_page(&ask.fields(), blob_path())).map(|upload| upload.op.pages);
        assert_eq!(got, want, "{headers:?} {length}");
    }
}

#[test]
fn sizes_and_sequence_numbers() {
    let rows: [Row<'_, Option<SequenceAction>>; 10] = [
        (&[(LENGTH, "1024")], Ok(None)),
        (&[(LENGTH, "1023")], Err("InvalidHeaderValue")),
        (&[(ACTION, "max"), (SEQUENCE, "7")], Ok(Some(SequenceAction::Max(7)))),
        (&[(ACTION, "Update"), (SEQUENCE, "7")], Ok(Some(SequenceAction::Update(7)))),
        (&[(ACTION, "increment")], Ok(Some(SequenceAction::Increment))),
        (&[(ACTION, "increment"), (SEQUENCE, "7")], Err("InvalidHeaderValue")),
        (&[(ACTION, "max")], Err("MissingRequiredHeader")),
        (&[(ACTION, "update")], Err("MissingRequiredHeader")),
        (&[(SEQUENCE, "7")], Err("MissingRequiredHeader")),
        (&[(ACTION, "decrement"), (SEQUENCE, "7")], Err("InvalidHeaderValue")),
    ];
    for (headers, want) in rows {
        let ask = Ask::put("/c/b?comp=properties").with(headers).length(0);
        assert_eq!(are_changed(&ask.fields()).map_err(|e| e.code), Ok(true));
        let got = code(set_properties(&ask.fields(), blob_path())).map(|op| op.sequence);
        assert_eq!(got, want, "{headers:?}");
    }
    let both = [(LENGTH, "512"), ("x-ms-blob-content-type", "text/plain")];
    let ask = Ask::put("/c/b?comp=properties").with(&both).length(0);
    let op = set_properties(&ask.fields(), blob_path()).expect("legal");
    assert!(op.properties.is_some() && op.length == Some(512));
}

#[test]
fn listing() {
    for (query, version, want) in [
        ("", "2024-08-04", Ok((None, None))),
        ("&maxresults=7&marker=512", "2024-08-04", Ok((Some(7), Some(512)))),
        ("&maxresults=99999", "2024-08-04", Ok((Some(10_000), None))),
        ("&maxresults=7&marker=x", "2019-12-12", Ok((None, None))),
        ("&maxresults=0", "2024-08-04", Err("OutOfRangeQueryParameterValue")),
        ("&maxresults=-1", "2024-08-04", Err("OutOfRangeQueryParameterValue")),
        ("&maxresults=x", "2024-08-04", Err("InvalidQueryParameterValue")),
        ("&marker=-5", "2024-08-04", Err("OutOfRangeInput")),
    ] {
        let ask = Ask::get(&format!("/c/b?comp=pagelist{query}")).version(version);
        let got = code(get_ranges(&ask.fields(), blob_path()));
        assert_eq!(got.map(|op| (op.max_results, op.marker)), want, "{query}");
    }
}
