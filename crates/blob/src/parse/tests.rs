//! Heads of blob operations: one row per request, what it parses to or which error it gets.

use super::At;
use super::testing::{Ask, Headers};
use crate::operation::{BlobOperation, Kind};
use crate::route::route;
use crate::target::Target;
use zaffre_base::{AccountName, Guid};

fn parsed(ask: &Ask) -> Result<(Kind, BlobOperation), &'static str> {
    let fields = ask.fields();
    let account = AccountName::parse("devstoreaccount1").expect("a name");
    let path = ask.head().raw_path.trim_start_matches('/').to_owned();
    let restype = fields.query("restype");
    let target = Target::parse(&path, restype).map_err(|e| e.code)?;
    let kind = route(&target, &fields).map_err(|e| e.code)?;
    let at = At { account: &account, target: &target, fresh: &|| Ok(Guid(7)) };
    super::operation(kind, at, &fields).map(|op| (kind, op)).map_err(|e| e.code)
}

/// The error's code, or `ok`.
fn outcome(ask: &Ask) -> &'static str {
    parsed(ask).err().unwrap_or("ok")
}

fn ask(line: &str, headers: &[(&str, &str)]) -> Ask {
    let (method, url) = line.split_once(' ').expect("a method and a URL");
    Ask::new(method, url).with(headers)
}

const A: &str = "11111111-1111-1111-1111-111111111111";
const TIME: &str = "2026-11-15T00:00:00.0000000Z";

#[test]
fn snapshots_and_versions_are_never_taken_for_the_blob() {
    for (line, want) in [
        (format!("GET /abc/b?snapshot={TIME}"), "ok"),
        (format!("GET /abc/b?versionid={TIME}"), "ok"),
        (
            format!("GET /abc/b?snapshot={TIME}&versionid={TIME}"),
            "MutuallyExclusiveQueryParameters",
        ),
        ("GET /abc/b?snapshot=yesterday".to_owned(), "InvalidQueryParameterValue"),
        ("GET /abc/b?snapshot=".to_owned(), "InvalidQueryParameterValue"),
        (format!("HEAD /abc/b?snapshot={TIME}"), "ok"),
        (format!("DELETE /abc/b?snapshot={TIME}"), "ok"),
        (format!("GET /abc/b?comp=blocklist&snapshot={TIME}"), "ok"),
        (format!("PUT /abc/b?comp=metadata&snapshot={TIME}"), "InvalidQueryParameterValue"),
        (format!("PUT /abc/b?comp=lease&snapshot={TIME}"), "InvalidQueryParameterValue"),
        (format!("PUT /abc/b?comp=snapshot&snapshot={TIME}"), "InvalidQueryParameterValue"),
        (format!("PUT /abc/b?comp=undelete&versionid={TIME}"), "InvalidQueryParameterValue"),
    ] {
        assert_eq!(outcome(&ask(&line, &[])), want, "{line}");
    }
}

#[test]
fn what_is_not_done_is_not_ignored() {
    for (line, name, value, want) in [
        ("PUT /abc/b?comp=metadata", "x-ms-encryption-scope", "mine", "ok"),
        ("PUT /abc/b?comp=metadata", "x-ms-encryption-key", "a2V5", "MissingRequiredHeader"),
        ("GET /abc/b", "x-ms-encryption-key", "a2V5", "MissingRequiredHeader"),
    ] {
        assert_eq!(outcome(&ask(line, &[(name, value)])), want, "{line} {name}");
    }
    let expiry = [("x-ms-blob-type", "BlockBlob"), ("x-ms-expiry-option", "x")];
    assert_eq!(outcome(&ask("PUT /abc/b", &expiry).length(0)), "APINotImplemented");
}

#[test]
fn reads() {
    for (headers, want) in [
        (&[("range", "bytes=0-9")][..], Some((0, Some(9)))),
        (&[("range", "bytes=5-")][..], Some((5, None))),
        (&[("range", "bytes=0-9"), ("x-ms-range", "bytes=1-2")][..], Some((1, Some(2)))),
        (&[("range", "bytes=0-1,5-6")][..], None),
        (&[("range", "bytes=-5")][..], None),
        (&[("range", "bytes=9-0")][..], None),
        (&[][..], None),
    ] {
        let Ok((_, BlobOperation::GetBlob(get))) = parsed(&ask("GET /abc/b", headers)) else {
            panic!("{headers:?} must parse");
        };
        assert_eq!(get.op.range, want, "{headers:?}");
    }
    for (line, headers, want) in [
        ("GET /abc/b?timeout=30", &[][..], "ok"),
        ("GET /abc/b?timeout=soon", &[][..], "InvalidQueryParameterValue"),
        ("GET /abc/b", &[("x-ms-lease-id", "x")][..], "InvalidHeaderValue"),
        ("GET /abc/b", &[("x-ms-lease-id", A)][..], "ok"),
        ("GET /abc/b", &[("x-ms-range-get-content-md5", "true")][..], "InvalidHeaderValue"),
        ("GET /abc/b", &[("x-ms-structured-body", "XSM/1.0; properties=crc64")][..], "ok"),
        ("GET /abc/b", &[("x-ms-structured-body", "XSM/9")][..], "InvalidHeaderValue"),
        ("GET /abc/b?comp=blocklist&blocklisttype=all", &[][..], "ok"),
        ("GET /abc/b?comp=blocklist&blocklisttype=Some", &[][..], "InvalidQueryParameterValue"),
        ("DELETE /abc/b", &[("x-ms-delete-snapshots", "include")][..], "ok"),
        ("DELETE /abc/b", &[("x-ms-delete-snapshots", "all")][..], "InvalidHeaderValue"),
        ("DELETE /abc/b?deletetype=permanent", &[][..], "InvalidQueryParameterValue"),
        ("DELETE /abc/b?deletetype=soft", &[][..], "InvalidQueryParameterValue"),
        ("PUT /abc/b?comp=metadata", &[("x-ms-meta-1", "x")][..], "InvalidMetadata"),
        ("PUT /abc/b?comp=properties", &[("x-ms-blob-content-md5", "x")][..], "InvalidMd5"),
    ] {
        assert_eq!(outcome(&ask(line, headers)), want, "{line} {headers:?}");
    }
}

#[test]
fn put_blob() {
    let md5 = zaffre_base::base64::encode(&[1; 16]);
    let crc = zaffre_base::base64::encode(&[2; 8]);
    let framed = [
        ("x-ms-structured-body", "XSM/1.0; properties=crc64"),
        ("x-ms-structured-content-length", "5"),
    ];
    let rows: [(Headers<'_>, Option<u64>, &str); 13] = [
        (&[], Some(0), "ok"),
        (&[("transfer-encoding", "chunked")], None, "ok"),
        (&[], Some(5), "ok"),
        (&[], None, "MissingContentLengthHeader"),
        (&[("content-md5", &md5)], Some(5), "ok"),
        (&[("content-md5", &md5), ("x-ms-content-crc64", &crc)], Some(5), {
            "BothCrc64AndMd5HeaderPresent"
        }),
        (&[("x-ms-blob-content-length", "512")], Some(0), "InvalidHeaderValue"),
        (&[("x-ms-access-tier", "Lukewarm")], Some(0), "InvalidHeaderValue"),
        (&framed, Some(49), "ok"),
        (&framed, Some(4), "InvalidHeaderValue"),
        (&framed, None, "MissingContentLengthHeader"),
        (&framed[..1], Some(49), "MissingRequiredHeader"),
        (&[("x-ms-structured-body", "XSM/2.0")], Some(49), "InvalidHeaderValue"),
    ];
    for (headers, length, want) in rows {
        let mut ask = ask("PUT /abc/b", headers).with(&[("x-ms-blob-type", "BlockBlob")]);
        if let Some(length) = length {
            ask = ask.length(length);
        }
        assert_eq!(outcome(&ask), want, "{headers:?} {length:?}");
    }
}

#[test]
fn the_stored_md5_is_verified_when_no_other_is_given() {
    let md5 = zaffre_base::base64::encode(&[1; 16]);
    let headers = [("x-ms-blob-type", "BlockBlob"), ("x-ms-blob-content-md5", md5.as_str())];
    let Ok((_, BlobOperation::PutBlob(upload))) = parsed(&ask("PUT /abc/b", &headers).length(1))
    else {
        panic!("must parse");
    };
    assert_eq!(upload.op.expect.md5, Some([1; 16]));
    assert_eq!(upload.op.properties.content_md5, Some([1; 16]));
    assert_eq!(upload.op.length, Some(1));
}

#[test]
fn put_block() {
    let long = zaffre_base::base64::encode(&[7; 65]);
    for (query, length, want) in [
        ("blockid=YQ==".to_owned(), Some(1), "ok"),
        ("blockid=YQ%3D%3D".to_owned(), Some(1), "ok"),
        ("blockid=++++".to_owned(), Some(1), "ok"),
        (String::new(), Some(1), "MissingRequiredQueryParameter"),
        ("blockid=".to_owned(), Some(1), "InvalidQueryParameterValue"),
        ("blockid=*".to_owned(), Some(1), "InvalidQueryParameterValue"),
        (format!("blockid={long}"), Some(1), "OutOfRangeInput"),
        ("blockid=YQ==".to_owned(), Some(0), "InvalidHeaderValue"),
        ("blockid=YQ==".to_owned(), None, "MissingContentLengthHeader"),
    ] {
        let mut ask = ask(&format!("PUT /abc/b?comp=block&{query}"), &[]);
        if let Some(length) = length {
            ask = ask.length(length);
        }
        assert_eq!(outcome(&ask), want, "{query} {length:?}");
    }
}

#[test]
fn put_block_list() {
    let line = "PUT /abc/b?comp=blocklist";
    assert_eq!(outcome(&ask(line, &[]).length(10)), "ok");
    assert_eq!(outcome(&ask(line, &[])), "MissingContentLengthHeader");
    assert_eq!(outcome(&ask(line, &[("transfer-encoding", "chunked")])), "ok");
    assert_eq!(outcome(&ask(line, &[]).length(u64::MAX)), "RequestBodyTooLarge");
    let Ok((_, BlobOperation::PutBlockList(list))) =
        parsed(&ask(line, &[("content-type", "application/xml")]).length(10))
    else {
        panic!("must parse");
    };
    // The request's own content type is that of the list, not of the blob.
    assert_eq!(list.op.properties.content_type.as_deref(), Some("application/octet-stream"));
}

#[test]
fn repeated_parameters_are_refused() {
    let head = zaffre_http::RequestHead::sample("GET", "/abc?comp=list&Comp=acl");
    let version = zaffre_base::ApiVersion::LATEST;
    let refused = crate::fields::Fields::new(&head, None, version).err().map(|e| e.code);
    assert_eq!(refused, Some("InvalidQueryParameterValue"));
    let head = zaffre_http::RequestHead::sample("GET", "/abc?include=copy&include=metadata");
    assert!(crate::fields::Fields::new(&head, None, version).is_ok());
}
