//! Heads of requests as tables: what each is understood as, or refused with.

use super::{operation, path};
use crate::route::route;
use crate::target::Target;
use hyper::header::HeaderValue;
use zaffre_base::{ApiVersion, Guid};
use zaffre_http::{ApiError, Asked, Destination, RequestHead};

type Headers<'a> = &'a [(&'static str, &'a str)];

fn parsed(
    method: &str,
    target: &str,
    headers: Headers<'_>,
    version: &str,
) -> Result<String, String> {
    let read = || -> Result<String, ApiError> {
        let mut head = RequestHead::sample(method, &format!("/acct{target}"));
        for (name, value) in headers {
            head.headers.insert(*name, HeaderValue::from_str(value).expect("a test's header"));
        }
        let length = headers.iter().find(|(name, _)| *name == "content-length");
        let length = length.and_then(|(_, value)| value.parse().ok());
        let version = ApiVersion::parse(version).expect("a version");
        let to = Destination::read(&head, false)?;
        let asked = Asked::new(&head, to, length, version)?;
        let target = Target::parse(&asked.to.path)?;
        let kind = route(&target, &asked)?;
        let path = path(kind, &target, &asked)?;
        let parsed = operation(kind, &target, path, &asked, &|| Ok(Guid(7)))?;
        Ok(format!("{parsed:?}"))
    };
    read().map_err(|error| error.code.to_owned())
}

const NOW: &str = "2026-04-06";
const FILE: (&str, &str) = ("x-ms-type", "file");
const LENGTH: (&str, &str) = ("x-ms-content-length", "10");

#[test]
fn what_is_understood() {
    let rows: [(&str, &str, Headers<'_>, &str); 14] = [
        ("PUT", "/abc/f", &[FILE, LENGTH], "permission: Inherit"),
        (
            "PUT",
            "/abc/f",
            &[FILE, LENGTH, ("x-ms-file-creation-time", "2001-02-03T04:05:06Z")],
            "created: At(",
        ),
        ("PUT", "/abc/f?comp=properties", &[], "attributes: Preserve"),
        ("PUT", "/abc/f?comp=properties", &[LENGTH], "length: Some(10), properties: None"),
        ("PUT", "/abc/f?comp=properties", &[("x-ms-cache-control", "c")], "content_type: None"),
        ("GET", "/abc/f", &[("range", "bytes=1-2"), ("x-ms-range", "bytes=3-")], "Some((3, None))"),
        ("GET", "/abc/f", &[("range", "nonsense")], "range: None"),
        ("GET", "/abc/f?timeout=5", &[], "wait: 5s"),
        ("GET", "/abc/f?timeout=500", &[], "wait: 30s"),
        (
            "PUT",
            "/abc/f?comp=range",
            &[("x-ms-write", "Clear"), ("x-ms-range", "bytes=0-511"), ("content-length", "0")],
            "bytes: 0..512, write: Clear",
        ),
        ("GET", "/abc/a./b..?restype=directory", &[], "text: \"a/b\""),
        (
            "GET",
            "/abc/a./b..?restype=directory",
            &[("x-ms-allow-trailing-dot", "true")],
            "text: \"a./b..\"",
        ),
        ("DELETE", "/abc?restype=share", &[("x-ms-delete-snapshots", "include-leased")], {
            "IncludeLeased"
        }),
        (
            "PUT",
            "/abc/t",
            &[
                ("x-ms-copy-source", "http://h/acct/abc/f?sharesnapshot=x&sig=secret"),
                ("x-ms-file-permission-copy-mode", "source"),
            ],
            "source: \"http://h/acct/abc/f?sharesnapshot=x\"",
        ),
    ];
    for (method, target, headers, want) in rows {
        let got = parsed(method, target, headers, NOW);
        assert!(got.as_ref().is_ok_and(|shown| shown.contains(want)), "{target} {want}: {got:?}");
    }
}

#[test]
fn what_is_refused() {
    let update = ("x-ms-write", "update");
    let rows: [(&str, &str, Headers<'_>, &str, &str); 13] = [
        ("PUT", "/abc/f", &[FILE], NOW, "MissingRequiredHeader"),
        ("PUT", "/abc/f", &[FILE, LENGTH], "2019-02-02", "MissingRequiredHeader"),
        ("PUT", "/abc/f", &[FILE, LENGTH, ("if-match", "*")], NOW, "ConditionHeadersNotSupported"),
        ("PUT", "/abc/f", &[FILE, LENGTH, ("x-ms-file-attributes", "preserve")], NOW, {
            "InvalidHeaderValue"
        }),
        ("PUT", "/abc/f?sharesnapshot=2026-01-01", &[FILE, LENGTH], NOW, {
            "InvalidQueryParameterValue"
        }),
        ("PUT", "/abc/f?comp=range", &[update, ("content-length", "1")], NOW, {
            "MissingRequiredHeader"
        }),
        (
            "PUT",
            "/abc/f?comp=range",
            &[update, ("x-ms-range", "bytes=0-4194304"), ("content-length", "4194305")],
            NOW,
            "RequestBodyTooLarge",
        ),
        ("PUT", "/abc/f?comp=lease", &[("x-ms-lease-action", "renew")], NOW, "InvalidHeaderValue"),
        ("PUT", "/abc?restype=share&comp=lease", &[("x-ms-lease-action", "renew")], NOW, {
            "MissingRequiredHeader"
        }),
        ("PUT", "/abc?restype=share&comp=snapshot", &[], "2016-05-31", "FeatureVersionMismatch"),
        ("GET", "/abc/a%3Ab", &[], NOW, "InvalidResourceName"),
        ("GET", "/abc/f", &[("x-ms-structured-body", "XSM/9")], NOW, "InvalidHeaderValue"),
        (
            "PUT",
            "/abc/g?comp=rename",
            &[
                ("x-ms-file-rename-source", "http://h/acct/abc/f"),
                ("x-ms-file-rename-ignore-readonly", "true"),
            ],
            NOW,
            "InvalidHeaderValue",
        ),
    ];
    for (method, target, headers, version, want) in rows {
        let got = parsed(method, target, headers, version);
        assert_eq!(got, Err(want.to_owned()), "{method} {target} {headers:?}");
    }
}
