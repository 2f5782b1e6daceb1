"""Uploads whose content is read from a URL: what they make, what they refuse, and how."""

from __future__ import annotations

import base64
import hashlib

import pytest

from harness import DEV_ACCOUNT, Client, account_sas, service_sas

DATA = bytes(range(256)) * 300


def base(client: Client) -> str:
    return f"{client.scheme}://{client.host}:{client.port}"


def source_url(client: Client, container: str, blob: str, query: str = "") -> str:
    if not query:
        query = service_sas(container, blob, permissions="r")
    return f"{base(client)}/{DEV_ACCOUNT}/{container}/{blob}?{query}"


@pytest.fixture
def source(client, container):
    headers = {"x-ms-meta-color": "blue", "x-ms-blob-content-type": "text/plain"}
    client.put(f"/{container}/source", DATA, headers=headers).expect(201)
    return source_url(client, container, "source")


def block_blob(source: str, **headers: str) -> dict[str, str]:
    return {"x-ms-blob-type": "BlockBlob", "x-ms-copy-source": source, **headers}


def test_put_blob_from_url(client, container, source):
    made = client.send("PUT", f"/{container}/made", headers=block_blob(source)).expect(201)
    md5 = base64.b64encode(hashlib.md5(DATA).digest()).decode()
    assert made.headers["content-md5"] == md5
    read = client.get(f"/{container}/made").expect(200)
    assert read.body == DATA and read.headers["content-type"] == "text/plain"
    assert read.headers["x-ms-meta-color"] == "blue"


def test_what_is_given_wins_over_the_source(client, container, source):
    headers = block_blob(source)
    headers |= {"x-ms-meta-size": "big", "x-ms-blob-content-type": "image/png"}
    client.send("PUT", f"/{container}/made", headers=headers).expect(201)
    read = client.head(f"/{container}/made").expect(200)
    assert read.headers["content-type"] == "image/png"
    assert "x-ms-meta-color" not in read.headers and read.headers["x-ms-meta-size"] == "big"
    headers = block_blob(source) | {"x-ms-copy-source-blob-properties": "false"}
    client.send("PUT", f"/{container}/plain", headers=headers).expect(201)
    read = client.head(f"/{container}/plain").expect(200)
    assert read.headers.get("content-type") != "text/plain"


def test_put_block_from_url_with_ranges(client, container, source):
    ids = []
    for number, (first, last) in enumerate([(0, 9_999), (10_000, 49_999), (50_000, len(DATA) - 1)]):
        block = base64.b64encode(b"%04d" % number).decode()
        headers = {"x-ms-copy-source": source, "x-ms-source-range": f"bytes={first}-{last}"}
        query = {"comp": "block", "blockid": block}
        client.send("PUT", f"/{container}/blocks", query=query, headers=headers).expect(201)
        ids.append(block)
    client.put_block_list(f"/{container}/blocks", ids).expect(201)
    assert client.get(f"/{container}/blocks").body == DATA


def test_append_block_from_url(client, container, source):
    client.put(f"/{container}/log", b"", headers={"x-ms-blob-type": "AppendBlob"}).expect(201)
    headers = {"x-ms-copy-source": source, "x-ms-source-range": "bytes=0-999"}
    query = {"comp": "appendblock"}
    for offset in (0, 1000):
        reply = client.send("PUT", f"/{container}/log", query=query, headers=headers).expect(201)
        assert reply.headers["x-ms-blob-append-offset"] == str(offset)
    assert client.get(f"/{container}/log").body == DATA[:1000] * 2
    headers["x-ms-blob-condition-appendpos"] = "5"
    client.send("PUT", f"/{container}/log", query=query, headers=headers).expect(
        412, "AppendPositionConditionNotMet"
    )


def test_the_sources_checksum_is_verified(client, container, source):
    good = base64.b64encode(hashlib.md5(DATA).digest()).decode()
    bad = base64.b64encode(hashlib.md5(b"other").digest()).decode()
    for sum_, status, code in ((good, 201, None), (bad, 400, "Md5Mismatch")):
        headers = block_blob(source) | {"x-ms-source-content-md5": sum_}
        client.send("PUT", f"/{container}/sum{status}", headers=headers).expect(status, code)
    client.head(f"/{container}/sum400").expect(404)


OLD = "Sun, 01 Jan 2017 00:00:00 GMT"
NEW = "Fri, 01 Jan 2100 00:00:00 GMT"
OTHER = '"0x8D4BCC2E4835CD0"'


@pytest.mark.parametrize(
    ("header", "value", "whole", "part"),
    [
        ("x-ms-source-if-match", OTHER, (412, "SourceConditionNotMet"), (412, "CannotVerifyCopySource")),
        ("x-ms-source-if-unmodified-since", OLD, (412, "CannotVerifyCopySource"), (412, "CannotVerifyCopySource")),
        ("x-ms-source-if-none-match", "*", (304, None), (304, None)),
        ("x-ms-source-if-modified-since", NEW, (304, None), (304, None)),
    ],
)  # fmt: skip
def test_conditions_of_the_source(client, container, source, header, value, whole, part):
    headers = block_blob(source) | {header: value}
    if value == "*":
        headers[header] = client.head(f"/{container}/source").etag
    condition = {header: headers[header]}
    client.send("PUT", f"/{container}/made", headers=headers).expect(*whole)
    client.head(f"/{container}/made").expect(404)
    query = {"comp": "block", "blockid": "AAAA"}
    headers = {"x-ms-copy-source": source} | condition
    client.send("PUT", f"/{container}/made", query=query, headers=headers).expect(*whole)
    client.put(f"/{container}/log", b"", headers={"x-ms-blob-type": "AppendBlob"}).expect(201)
    query = {"comp": "appendblock"}
    client.send("PUT", f"/{container}/log", query=query, headers=headers).expect(*part)


def test_conditions_of_the_destination(client, container, source):
    client.put(f"/{container}/made", b"old").expect(201)
    for header, value, want in (
        ("If-Match", OTHER, (412, "TargetConditionNotMet")),
        ("If-Unmodified-Since", OLD, (412, "ConditionNotMet")),
        ("If-None-Match", "*", (409, "BlobAlreadyExists")),
    ):
        headers = block_blob(source) | {header: value}
        client.send("PUT", f"/{container}/made", headers=headers).expect(*want)
    assert client.get(f"/{container}/made").body == b"old"


def test_a_source_needs_its_own_permission(client, container, source):
    bare = source.split("?")[0]
    write_only = service_sas(container, "source", permissions="w")
    other_blob = service_sas(container, "other", permissions="r")
    for url, status in (
        (bare, 401),
        (f"{bare}?{write_only}", 403),
        (f"{bare}?{other_blob}", 403),
        (f"{source}x", 403),
    ):
        reply = client.send("PUT", f"/{container}/made", headers=block_blob(url))
        reply.expect(status, "CannotVerifyCopySource")
    missing = source_url(client, container, "nobody")
    client.send("PUT", f"/{container}/made", headers=block_blob(missing)).expect(
        404, "CannotVerifyCopySource"
    )
    client.head(f"/{container}/made").expect(404)


def test_a_public_source_needs_none(client, name):
    client.create_container(name, **{"x-ms-blob-public-access": "blob"}).expect(201)
    client.put(f"/{name}/source", DATA).expect(201)
    url = f"{base(client)}/{DEV_ACCOUNT}/{name}/source"
    client.send("PUT", f"/{name}/made", headers=block_blob(url)).expect(201)
    assert client.get(f"/{name}/made").body == DATA


def test_an_account_sas_for_the_source(client, container):
    client.put(f"/{container}/source", DATA).expect(201)
    url = source_url(client, container, "source", account_sas(permissions="r"))
    client.send("PUT", f"/{container}/made", headers=block_blob(url)).expect(201)


HOSTILE = [
    "http://169.254.169.254/latest/meta-data/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://127.0.0.1:22/",
    "http://127.0.0.1:1/a/b/c",
    "http://127.1/a/b/c",
    "http://0.0.0.0/a/b/c",
    "http://0/a/b/c",
    "http://2130706433/a/b/c",
    "http://0x7f000001/a/b/c",
    "http://017700000001/a/b/c",
    "http://[::1]:22/a/b/c",
    "http://[::ffff:127.0.0.1]:22/a/b/c",
    "http://[fe80::1]/a/b/c",
    "http://[fd00::1]/a/b/c",
    "http://localhost:22/a/b/c",
    "http://localhost.localdomain/a/b/c",
    "http://10.0.0.1/a/b/c",
    "http://172.16.0.1/a/b/c",
    "http://192.168.1.1/a/b/c",
    "http://100.64.0.1/a/b/c",
    "http://224.0.0.1/a/b/c",
    "http://255.255.255.255/a/b/c",
    "http://example.com/a/b/c",
    "https://evil.example/a/b/c",
    "http://user:secret@127.0.0.1/a/b/c",
    "http://127.0.0.1@evil.example/a/b/c",
    "http://evil.example\\@127.0.0.1/a",
    "file:///etc/passwd",
    "ftp://127.0.0.1/a",
    "gopher://127.0.0.1:25/x",
    "dict://127.0.0.1:11211/stats",
    "ldap://127.0.0.1/",
    "http://",
    "//127.0.0.1/a/b",
    "/etc/passwd",
    "http://127.0.0.1:0/a/b/c",
    "http://127.0.0.1:99999/a/b/c",
    "http://a b/c",
    "http://" + "x" * 3000,
]


@pytest.mark.parametrize("url", HOSTILE)
def test_hostile_sources(client, container, url):
    """Nothing is ever fetched: each is refused at once, by its form or because it is elsewhere."""
    reply = client.send("PUT", f"/{container}/made", headers=block_blob(url))
    assert (reply.status, reply.code) in (
        (400, "InvalidHeaderValue"),
        (403, "CannotVerifyCopySource"),
    ), reply
    client.head(f"/{container}/made").expect(404)


@pytest.mark.parametrize("path", ["", "/c?restype=container&comp=list", "?comp=list", "/%zz/b"])
def test_urls_of_ours_that_are_no_blob(client, container, path):
    url = f"{base(client)}/{DEV_ACCOUNT}{path}"
    reply = client.send("PUT", f"/{container}/made", headers=block_blob(url))
    assert 400 <= reply.status < 405, reply
    client.head(f"/{container}/made").expect(404)
