"""The File service on the wire: errors, version gates, headers and documents that clients hide."""

from __future__ import annotations

import hashlib
import re
import struct
from base64 import b64encode

import pytest

SHARE = "restype=share"
DIRECTORY = "restype=directory"
OLD = "2019-07-07"
SMB = {
    "x-ms-file-permission": "inherit",
    "x-ms-file-attributes": "None",
    "x-ms-file-creation-time": "now",
    "x-ms-file-last-write-time": "now",
}


def make_file(wire, path: str, data: bytes = b"", **more) -> None:
    headers = {"x-ms-type": "file", "x-ms-content-length": str(len(data)), **more}
    wire.send("PUT", path, headers=headers).expect(201)
    if data:
        put_range(wire, path, 0, data).expect(201)


def put_range(wire, path: str, start: int, data: bytes, **more):
    headers = {"x-ms-range": f"bytes={start}-{start + len(data) - 1}", "x-ms-write": "update"}
    return wire.send("PUT", path, "comp=range", headers={**headers, **more}, body=data)


def clear(wire, path: str, start: int, end: int):
    headers = {"x-ms-range": f"bytes={start}-{end}", "x-ms-write": "clear"}
    return wire.send("PUT", path, "comp=range", headers=headers)


def ranges(wire, path: str, query: str = "comp=rangelist", **headers) -> list[tuple[str, int, int]]:
    body = wire.send("GET", path, query, headers=headers).expect(200).body.decode()
    found = re.findall(r"<(Range|ClearRange)><Start>(\d+)</Start><End>(\d+)</End>", body)
    return [(kind, int(start), int(end)) for kind, start, end in found]


def test_every_answer_names_the_service(wire, box):
    reply = wire.send("GET", box, SHARE).expect(200)
    assert reply.headers["server"].startswith("Windows-Azure-File/1.0")
    assert reply.headers["x-ms-share-quota"] == "5120"
    assert reply.headers["x-ms-request-id"] and reply.headers["x-ms-version"]


@pytest.mark.parametrize("name", ["if-match", "if-none-match", "if-modified-since"])
def test_conditions_are_refused(wire, box, name):
    value = "Thu, 01 Jan 2026 00:00:00 GMT" if "since" in name else "*"
    wire.send("GET", box, SHARE, headers={name: value}).expect(400, "ConditionHeadersNotSupported")


GATES = [
    ("GET", f"{SHARE}&comp=stats", "2014-02-14"),
    ("GET", f"{SHARE}&comp=acl", "2014-02-14"),
    ("PUT", f"{SHARE}&comp=properties", "2014-02-14"),
    ("PUT", f"{SHARE}&comp=snapshot", "2016-05-31"),
    ("PUT", f"{SHARE}&comp=filepermission", "2018-11-09"),
    ("PUT", f"{SHARE}&comp=undelete", "2019-07-07"),
    ("PUT", f"{SHARE}&comp=lease", "2019-12-12"),
    ("GET", f"{DIRECTORY}&comp=listhandles", "2018-03-28"),
]


@pytest.mark.parametrize(("method", "query", "version"), GATES)
def test_operations_need_their_version(wire, box, method, query, version):
    headers = {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1"}
    reply = wire.send(method, box, query, headers=headers, version=version)
    reply.expect(400, "FeatureVersionMismatch")


@pytest.mark.parametrize(
    ("path", "version"),
    [("/d?restype=directory&comp=rename", "2020-10-02"), ("/f?comp=rename", "2020-10-02"),
     ("/f?comp=lease", "2018-11-09"), ("/d?restype=directory&comp=properties", "2018-11-09")],
)  # fmt: skip
def test_operations_inside_need_their_version(wire, box, path, version):
    path, query = path.split("?")
    wire.send("PUT", box + path, query, version=version).expect(400, "FeatureVersionMismatch")


def test_smb_headers_by_version(wire, box):
    file = {"x-ms-type": "file", "x-ms-content-length": "1"}
    reply = wire.send("PUT", f"{box}/a", headers=file, version="2018-11-09").expect(201)
    assert "x-ms-file-attributes" not in reply.headers
    for missing in SMB:
        some = {k: v for k, v in SMB.items() if k != missing}
        reply = wire.send("PUT", f"{box}/b", headers={**file, **some}, version=OLD)
        reply.expect(400, "MissingRequiredHeader")
    wire.send("PUT", f"{box}/b", headers={**file, **SMB}, version=OLD).expect(201)
    reply = wire.send("PUT", f"{box}/c", headers=file, version="2021-06-08").expect(201)
    for name in ("permission-key", "attributes", "creation-time", "last-write-time", "change-time",
                 "id", "parent-id"):  # fmt: skip
        assert reply.headers[f"x-ms-file-{name}"], name
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z", reply.headers["x-ms-file-creation-time"]
    )


BAD_FILES = [
    ({}, 400, "MissingRequiredHeader"),
    ({"x-ms-type": "directory", "x-ms-content-length": "1"}, 400, "InvalidHeaderValue"),
    ({"x-ms-type": "file"}, 400, "MissingRequiredHeader"),
    ({"x-ms-type": "file", "x-ms-content-length": "-1"}, 400, "InvalidHeaderValue"),
    ({"x-ms-type": "file", "x-ms-content-length": str(4 * 2**40 + 1)}, 400, "InvalidHeaderValue"),
    ({"x-ms-type": "file", "x-ms-content-length": "1", "x-ms-content-md5": "x"}, 400, "InvalidMd5"),
    ({"x-ms-type": "file", "x-ms-content-length": "1", "x-ms-file-attributes": "Wet"}, 400,
     "InvalidHeaderValue"),
    ({"x-ms-type": "file", "x-ms-content-length": "1", "x-ms-file-creation-time": "later"}, 400,
     "InvalidHeaderValue"),
    ({"x-ms-type": "file", "x-ms-content-length": "1", "x-ms-file-permission": "O:"}, 400,
     "FileInvalidPermission"),
    ({"x-ms-type": "file", "x-ms-content-length": "1", "x-ms-file-permission-key": "7"}, 400,
     "FileInvalidPermissionKey"),
    ({"x-ms-type": "file", "x-ms-content-length": "1", "x-ms-file-permission-key": "7*1"}, 400,
     "FileInvalidPermissionKey"),
    ({"x-ms-type": "file", "x-ms-content-length": "1", "x-ms-mode": "0777"}, 400,
     "UnsupportedHeader"),
    ({"x-ms-type": "file", "x-ms-content-length": "1", "x-ms-lease-id": "no"}, 400,
     "InvalidHeaderValue"),
    ({"x-ms-type": "file", "x-ms-content-length": "1", "x-ms-meta-1": "no"}, 400,
     "InvalidMetadata"),
]  # fmt: skip


@pytest.mark.parametrize(("headers", "status", "code"), BAD_FILES)
def test_bad_creations_change_nothing(wire, box, headers, status, code):
    wire.send("PUT", f"{box}/f", headers=headers).expect(status, code)
    wire.send("HEAD", f"{box}/f").expect(404)


def test_bad_ranges(wire, box):
    path = f"{box}/f"
    make_file(wire, path, b"x" * 1024)
    four = 4 * 1024 * 1024
    rows = [
        ({"x-ms-write": "update"}, b"x", 400, "MissingRequiredHeader"),
        ({"x-ms-write": "update", "x-ms-range": "bytes=0-"}, b"x", 400, "InvalidHeaderValue"),
        ({"x-ms-write": "update", "x-ms-range": "bytes=3-1"}, b"x", 400, "InvalidHeaderValue"),
        ({"x-ms-write": "update", "x-ms-range": "bytes=0-1"}, b"x", 400, "InvalidHeaderValue"),
        ({"x-ms-write": "other", "x-ms-range": "bytes=0-0"}, b"x", 400, "InvalidHeaderValue"),
        ({"x-ms-range": "bytes=0-0"}, b"x", 400, "MissingRequiredHeader"),
        ({"x-ms-write": "clear", "x-ms-range": "bytes=0-0"}, b"x", 400, "InvalidHeaderValue"),
        ({"x-ms-write": "clear", "x-ms-range": "bytes=0-511", "Content-MD5": "x"}, b"", 400,
         "InvalidHeaderValue"),
        ({"x-ms-write": "update", "x-ms-range": f"bytes=0-{four}"}, b"x", 413,
         "RequestBodyTooLarge"),
        ({"x-ms-write": "update", "x-ms-range": "bytes=1024-1024"}, b"x", 416, "InvalidRange"),
        ({"x-ms-write": "update", "x-ms-range": "bytes=0-0", "Content-MD5": b64encode(bytes(16)).decode()},
         b"x", 400, "Md5Mismatch"),
    ]  # fmt: skip
    for headers, body, status, code in rows:
        wire.send("PUT", path, "comp=range", headers=headers, body=body).expect(status, code)
    assert wire.send("GET", path).expect(200).body == b"x" * 1024
    wire.send("PUT", f"{box}/none", "comp=range", headers={
        "x-ms-write": "update", "x-ms-range": "bytes=0-0"}, body=b"x").expect(404, "ResourceNotFound")  # fmt: skip


def test_reads(wire, box):
    path = f"{box}/f"
    data = bytes(range(256)) * 8
    md5 = b64encode(hashlib.md5(data).digest()).decode()
    make_file(wire, path, data, **{"x-ms-content-md5": md5})
    whole = wire.send("GET", path).expect(200)
    assert whole.body == data and whole.headers["content-md5"] == md5
    assert whole.headers["accept-ranges"] == "bytes"
    part = wire.send("GET", path, headers={"Range": "bytes=0-1", "x-ms-range": "bytes=5-9"})
    part.expect(206)
    assert part.body == data[5:10] and part.headers["content-range"] == "bytes 5-9/2048"
    assert part.headers["x-ms-content-md5"] == md5 and part.headers.get("content-md5") is None
    summed = wire.send("GET", path, headers={
        "x-ms-range": "bytes=0-9", "x-ms-range-get-content-md5": "true"}).expect(206)  # fmt: skip
    assert summed.headers["content-md5"] == b64encode(hashlib.md5(data[:10]).digest()).decode()
    wire.send("GET", path, headers={"x-ms-range-get-content-md5": "true"}).expect(
        400, "InvalidHeaderValue"
    )
    wire.send("GET", path, headers={"x-ms-range": "bytes=2048-"}).expect(416, "InvalidRange")
    assert wire.send("GET", path, headers={"x-ms-range": "bytes=2000-9999"}).body == data[2000:]
    head = wire.send("HEAD", path).expect(200)
    assert head.headers["content-length"] == "2048" and head.headers["x-ms-type"] == "File"


def test_the_documents_own_example_of_a_clear(wire, box):
    path = f"{box}/f"
    make_file(wire, path, b"\1" * 65536)
    clear(wire, path, 768, 2303).expect(201)
    assert ranges(wire, path) == [("Range", 0, 1023), ("Range", 2048, 65535)]
    read = wire.send("GET", path).expect(200).body
    assert read == b"\1" * 768 + bytes(1536) + b"\1" * (65536 - 2304)


def test_a_new_file_may_bring_its_bytes(wire, box):
    headers = {"x-ms-type": "file", "x-ms-content-length": "10"}
    wire.send("PUT", f"{box}/f", headers=headers, body=b"first").expect(201)
    assert wire.send("GET", f"{box}/f").expect(200).body == b"first" + bytes(5)
    wire.send("PUT", f"{box}/g", headers={**headers, "x-ms-content-length": "4"}, body=b"first").expect(400)  # fmt: skip
    bad = {**headers, "Content-MD5": b64encode(bytes(16)).decode()}
    wire.send("PUT", f"{box}/g", headers=bad, body=b"first").expect(400, "Md5Mismatch")
    wire.send("HEAD", f"{box}/g").expect(404)


def test_listing_documents(wire, box):
    wire.send("PUT", f"{box}/sub", DIRECTORY).expect(201)
    make_file(wire, f"{box}/sub/b%20&amp", b"12")
    wire.send("PUT", f"{box}/sub/A", DIRECTORY).expect(201)
    text = wire.send("GET", f"{box}/sub", f"{DIRECTORY}&comp=list&maxresults=5&prefix=").body.decode()
    assert f'ShareName="{box[1:]}" DirectoryPath="sub"' in text
    assert "<DirectoryId>" in text and "<MaxResults>5</MaxResults>" in text
    assert text.index("<Directory><FileId>") < text.index("<File><FileId>"), "one order"
    assert "<Name>b &amp;amp</Name>" in text and "<Content-Length>2</Content-Length>" in text
    assert "<LastAccessTime>" not in text and "<Attributes>" not in text
    full = wire.send(
        "GET", f"{box}/sub", f"{DIRECTORY}&comp=list&include=Timestamps,ETag,Attributes,PermissionKey"
    ).body.decode()
    for element in ("CreationTime", "LastAccessTime", "LastWriteTime", "ChangeTime", "Last-Modified",
                    "Etag", "Attributes", "PermissionKey"):  # fmt: skip
        assert full.count(f"<{element}>") == 2, element
    old = wire.send("GET", f"{box}/sub", f"{DIRECTORY}&comp=list", version="2019-12-12").body.decode()
    assert "FileId" not in old and "DirectoryId" not in old
    for bad in ("include=nonsense", "maxresults=0", "maxresults=x", "marker=x"):
        reply = wire.send("GET", f"{box}/sub", f"{DIRECTORY}&comp=list&{bad}")
        assert reply.status == 400, bad


def test_shares_are_refused_by_name(wire):
    for name, code in (("UPPER", "InvalidResourceName"), ("a", "OutOfRangeInput"),
                       ("a--b", "InvalidResourceName"), ("-ab", "InvalidResourceName")):  # fmt: skip
        wire.send("PUT", f"/{name}", SHARE).expect(400, code)
    wire.send("GET", "/none-such", SHARE).expect(404, "ShareNotFound")
    wire.send("GET", "/none-such/f").expect(404, "ShareNotFound")
    wire.send("GET", "/none-such", f"{DIRECTORY}&comp=list").expect(404, "ShareNotFound")


def test_bad_share_headers(wire, name):
    for headers, code in (
        ({"x-ms-share-quota": "0"}, "InvalidHeaderValue"),
        ({"x-ms-share-quota": "x"}, "InvalidHeaderValue"),
        ({"x-ms-access-tier": "Premium"}, "InvalidHeaderValue"),
        ({"x-ms-enabled-protocols": "NFS"}, "InvalidHeaderValue"),
        ({"x-ms-root-squash": "NoRootSquash"}, "UnsupportedHeader"),
    ):
        wire.send("PUT", f"/{name}", SHARE, headers=headers).expect(400, code)
    wire.send("GET", f"/{name}", SHARE).expect(404)
    wire.send("PUT", f"/{name}", SHARE, headers={"x-ms-enabled-protocols": "SMB"}).expect(201)


def test_snapshots_are_read_only(wire, box):
    make_file(wire, f"{box}/f", b"1")
    taken = wire.send("PUT", box, f"{SHARE}&comp=snapshot").expect(201).headers["x-ms-snapshot"]
    query = f"sharesnapshot={taken}"
    file = {"x-ms-type": "file", "x-ms-content-length": "1"}
    for method, path, more, headers in (
        ("PUT", "/g", "", file),
        ("DELETE", "/f", "", {}),
        ("PUT", "/f", "comp=metadata&", {}),
        ("PUT", "/f", "comp=properties&", {}),
        ("PUT", "/d", "restype=directory&", {}),
        ("PUT", "", f"{SHARE}&comp=metadata&", {}),
        ("GET", "", f"{SHARE}&comp=acl&", {}),
        ("GET", "", f"{SHARE}&comp=stats&", {}),
        ("PUT", "/f", "comp=lease&", {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1"}),
    ):
        reply = wire.send(method, box + path, more + query, headers=headers)
        reply.expect(400, "InvalidQueryParameterValue")
    assert wire.send("GET", f"{box}/f", query).expect(200).body == b"1"
    missing = "sharesnapshot=2020-01-01T00:00:00.0000000Z"
    wire.send("GET", f"{box}/f", missing).expect(404, "ShareSnapshotNotFound")
    wire.send("GET", f"{box}/f", "sharesnapshot=yesterday").expect(400, "InvalidQueryParameterValue")
    header = {"x-ms-delete-snapshots": "include"}
    wire.send("DELETE", box, f"{SHARE}&{query}", headers=header).expect(400, "InvalidHeaderValue")


def test_quota(wire, name):
    wire.send("PUT", f"/{name}", SHARE, headers={"x-ms-share-quota": "1"}).expect(201)
    gib = 1024**3
    file = {"x-ms-type": "file", "x-ms-content-length": str(gib)}
    wire.send("PUT", f"/{name}/a", headers=file).expect(201)
    more = {"x-ms-type": "file", "x-ms-content-length": "1"}
    wire.send("PUT", f"/{name}/b", headers=more).expect(413, "ShareSizeLimitReached")
    wire.send("PUT", f"/{name}/b", headers={**more, "x-ms-content-length": "0"}).expect(201)
    text = wire.send("GET", f"/{name}", f"{SHARE}&comp=stats").body.decode()
    assert f"<ShareUsageBytes>{gib}</ShareUsageBytes>" in text
    old = wire.send("GET", f"/{name}", f"{SHARE}&comp=stats", version="2018-03-28").body.decode()
    assert "<ShareUsage>1</ShareUsage>" in old
    wire.send("DELETE", f"/{name}/a").expect(202)
    wire.send("PUT", f"/{name}/b", headers=more).expect(201)


def test_the_clients_odd_metadata_header(wire, box):
    headers = {"x-ms-meta": "{'k': 'v'}", "x-ms-meta-k": "v"}
    wire.send("PUT", f"{box}/d", DIRECTORY, headers=headers).expect(201)
    found = wire.send("GET", f"{box}/d", f"{DIRECTORY}&comp=metadata").expect(200).headers
    assert found["x-ms-meta-k"] == "v" and found.get("x-ms-meta") is None


def test_copy_headers(wire, box, endpoint):
    make_file(wire, f"{box}/s", b"source")
    copy = {"x-ms-copy-source": f"{endpoint}{box}/s"}
    rows = [
        ({"x-ms-copy-source": "nonsense"}, 400, "InvalidHeaderValue"),
        ({"x-ms-copy-source": "http://example.com/a/b"}, 403, "CannotVerifyCopySource"),
        ({**copy, "x-ms-file-permission-copy-mode": "override"}, 400, "MissingRequiredHeader"),
        ({**copy, "x-ms-file-permission-copy-mode": "other"}, 400, "InvalidHeaderValue"),
        ({**copy, "x-ms-file-attributes": "preserve"}, 400, "InvalidHeaderValue"),
        ({"x-ms-copy-source": f"{endpoint}{box}/none"}, 404, "ResourceNotFound"),
    ]
    for headers, status, code in rows:
        wire.send("PUT", f"{box}/t", headers=headers).expect(status, code)
    wire.send("HEAD", f"{box}/t").expect(404)
    wire.send("PUT", f"{box}/t", headers={**copy, "x-ms-file-copy-set-archive": "true"}).expect(202)
    found = wire.send("GET", f"{box}/t").expect(200)
    assert found.body == b"source" and found.headers["x-ms-copy-status"] == "success"
    abort = {"x-ms-copy-action": "abort"}
    wire.send("PUT", f"{box}/t", "comp=copy&copyid=x", headers=abort).expect(
        409, "NoPendingCopyOperation"
    )


def test_ranges_from_urls_need_a_readable_source(wire, box, endpoint):
    make_file(wire, f"{box}/s", b"0123456789")
    make_file(wire, f"{box}/t", b"..........")
    base = {
        "x-ms-write": "update", "x-ms-copy-source": f"{endpoint}{box}/s",
        "x-ms-range": "bytes=0-3", "x-ms-source-range": "bytes=2-5",
    }  # fmt: skip
    # The source must be readable by itself.
    wire.send("PUT", f"{box}/t", "comp=range", headers=base).expect(401)
    wrong = {**base, "x-ms-source-range": "bytes=2-6"}
    wire.send("PUT", f"{box}/t", "comp=range", headers=wrong).expect(400, "InvalidHeaderValue")
    clears = {**base, "x-ms-write": "clear"}
    wire.send("PUT", f"{box}/t", "comp=range", headers=clears).expect(400, "InvalidHeaderValue")


def crc64(data: bytes) -> bytes:
    """CRC-64/NVME, as the frames have it."""
    value = 0xFFFFFFFFFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x9A6C9329AC4BC9B5 if value & 1 else 0)
    return (value ^ 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little")


def framed(data: bytes) -> bytes:
    segment = struct.pack("<HQ", 1, len(data)) + data + crc64(data)
    length = 13 + len(segment) + 8
    return struct.pack("<BQHH", 1, length, 1, 1) + segment + crc64(data)


def test_framed_bodies(wire, box):
    path, data = f"{box}/f", bytes(range(200))
    kind = "XSM/1.0; properties=crc64"
    frames = {"x-ms-structured-body": kind, "x-ms-structured-content-length": "200"}
    file = {"x-ms-type": "file", "x-ms-content-length": "400", **frames}
    wire.send("PUT", path, headers=file, body=framed(data)).expect(201)
    more = {"x-ms-range": "bytes=200-399", "x-ms-write": "update", **frames}
    reply = wire.send("PUT", path, "comp=range", headers=more, body=framed(data[::-1])).expect(201)
    assert reply.headers["x-ms-structured-body"] == kind
    assert wire.send("GET", path).expect(200).body == data + data[::-1]
    got = wire.send("GET", path, headers={"x-ms-structured-body": kind}).expect(200)
    assert got.body == framed(data + data[::-1])
    assert got.headers["x-ms-structured-content-length"] == "400"
    broken = bytearray(framed(data))
    broken[40] ^= 1
    wire.send("PUT", path, "comp=range", headers=more, body=bytes(broken)).expect(400, "Crc64Mismatch")
    assert wire.send("GET", path).expect(200).body == data + data[::-1]
    bad = {**more, "x-ms-structured-body": "XSM/2.0"}
    wire.send("PUT", path, "comp=range", headers=bad, body=framed(data)).expect(400, "InvalidHeaderValue")


def test_only_directories_have_something_below(wire, box):
    make_file(wire, f"{box}/f", b"x")
    wire.send("PUT", f"{box}/d", "restype=directory").expect(201)
    close = {"x-ms-handle-id": "*"}
    for recursive in ("true", "false"):
        below = {"x-ms-recursive": recursive}
        for path, status, code in ((f"{box}/f", 400, "InvalidHeaderValue"), (f"{box}/d", 200, None),
                                   (f"{box}/none", 404, "ResourceNotFound")):  # fmt: skip
            wire.send("GET", path, "comp=listhandles", below).expect(status, code)
            wire.send("PUT", path, "comp=forceclosehandles", below | close).expect(status, code)
    wire.send("GET", f"{box}/d", "comp=listhandles", {"x-ms-recursive": "maybe"}).expect(
        400, "InvalidHeaderValue"
    )
