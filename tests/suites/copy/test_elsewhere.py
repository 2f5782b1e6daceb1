"""Sources on other servers: only those that the operator allowed, only once, only as they are."""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from harness import Client, Server

DATA = bytes(range(256)) * 40_000
MD5 = base64.b64encode(hashlib.md5(DATA).digest()).decode()


class Other(BaseHTTPRequestHandler):
    """Another server. What it serves is in its path."""

    protocol_version = "HTTP/1.1"
    etag = '"v1"'
    asked: list[tuple[str, dict]] = []

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        Other.asked.append((self.path, dict(self.headers)))
        path = self.path.split("?")[0]
        if path == "/secret" and self.headers.get("Authorization") != "Bearer letmein":
            return self.answer(403, b"")
        if path.startswith("/status/"):
            code = int(path.split("/")[2])
            return self.answer(code, b"", Location="http://127.0.0.1:1/elsewhere")
        if path == "/chunked":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"3\r\nabc\r\n0\r\n\r\n")
            return None
        if path == "/short":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b"abc")
            self.close_connection = True
            return None
        if self.headers.get("If-Match") not in (None, Other.etag):
            return self.answer(412, b"")
        body, first = DATA, 0
        if path == "/pages":
            body = bytes(512) + DATA[:1024] + bytes(512)
        wanted = self.headers.get("Range") or self.headers.get("x-ms-range")
        extra = {"ETag": Other.etag, "Content-Type": "text/other", "x-ms-meta-from": "afar"}
        if path == "/pages":
            extra |= {"x-ms-blob-type": "PageBlob", "x-ms-blob-sequence-number": "5"}
        if wanted:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            first, end = int(first), int(last or len(body) - 1) + 1
            extra["Content-Range"] = f"bytes {first}-{end - 1}/{len(body)}"
            return self.answer(206, body[first:end], **extra)
        return self.answer(200, body, **extra)

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass


@pytest.fixture(scope="module")
def other():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()


@pytest.fixture(scope="module")
def reaching(other):
    """Allowed: one port of one address, and names that stand for this machine."""
    hosts = [f"127.0.0.1:{other}", "localhost", "*.example.invalid"]
    args = [part for host in hosts for part in ("--copy-source-host", host)]
    with Server(*args) as running:
        yield running
        assert running.alive(), running.output()[-4000:]


@pytest.fixture(scope="module")
def far(reaching) -> Client:
    client = Client(reaching.url)
    client.create_container("box")
    return client


def ask(client: Client, blob: str, source: str, query: str = "", **headers: str):
    headers = {"x-ms-copy-source": source, **headers}
    return client.send("PUT", f"/box/{blob}", query, headers)


def ended(client: Client, blob: str):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        seen = client.head(f"/box/{blob}").expect(200)
        if seen.headers["x-ms-copy-status"] != "pending":
            return seen
        time.sleep(0.02)
    raise AssertionError("the copy does not end")


def test_copy_blob(far, other):
    source = f"http://127.0.0.1:{other}/data?sig=secret&x=1"
    started = ask(far, "made", source).expect(202)
    assert started.headers["x-ms-copy-status"] == "pending"
    seen = ended(far, "made")
    assert seen.headers["x-ms-copy-status"] == "success"
    assert seen.headers["x-ms-copy-progress"] == f"{len(DATA)}/{len(DATA)}"
    assert "secret" not in seen.headers["x-ms-copy-source"]
    read = far.get("/box/made").expect(200)
    assert read.body == DATA and read.headers["content-type"] == "text/other"
    assert read.headers["x-ms-meta-from"] == "afar"
    sent = [headers for path, headers in Other.asked if path.startswith("/data")]
    assert sent and not any("Authorization" in headers for headers in sent)


def test_pages(far, other):
    ask(far, "disk", f"http://127.0.0.1:{other}/pages").expect(202)
    seen = ended(far, "disk")
    assert (seen.headers["x-ms-blob-type"], seen.headers["x-ms-blob-sequence-number"]) == ("PageBlob", "5")
    listed = far.get("/box/disk", query="comp=pagelist").xml()
    assert [(r.findtext("Start"), r.findtext("End")) for r in listed.iter("PageRange")] == [("512", "1535")]
    headers = {"x-ms-page-write": "update", "x-ms-range": "bytes=0-511", "x-ms-source-range": "bytes=256-767"}
    ask(far, "disk", f"http://127.0.0.1:{other}/data", "comp=page", **headers).expect(201)
    assert far.get("/box/disk").body[:512] == DATA[256:768]


def test_from_url(far, other):
    source = f"http://127.0.0.1:{other}/data"
    sync = {"x-ms-requires-sync": "true"}
    ask(far, "sync", source, **sync, **{"x-ms-source-content-md5": MD5}).expect(202)
    assert far.get("/box/sync").body == DATA
    wrong = base64.b64encode(bytes(16)).decode()
    ask(far, "sync", source, **sync, **{"x-ms-source-content-md5": wrong}).expect(400, "Md5Mismatch")
    ask(far, "whole", source, **{"x-ms-blob-type": "BlockBlob"}).expect(201)
    assert far.get("/box/whole").body == DATA
    part = {"x-ms-source-range": "bytes=100-199"}
    ask(far, "blocks", source, "comp=block&blockid=AAAA", **part).expect(201)
    far.put_block_list("/box/blocks", ["AAAA"]).expect(201)
    assert far.get("/box/blocks").body == DATA[100:200]
    secret = f"http://127.0.0.1:{other}/secret"
    ask(far, "sync", secret, **sync).expect(403, "CannotVerifyCopySource")
    token = {"x-ms-copy-source-authorization": "Bearer letmein"}
    ask(far, "sync", secret, **sync, **token).expect(202)
    never = {"x-ms-source-if-match": '"v0"'}
    ask(far, "sync", source, **sync, **never).expect(412, "SourceConditionNotMet")


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("/status/301", 403),
        ("/status/302", 403),
        ("/status/307", 403),
        ("/status/308", 403),
        ("/status/401", 401),
        ("/status/404", 404),
        ("/status/500", 502),
        ("/status/204", 502),
        ("/chunked", 502),
    ],
)
def test_answers_that_are_no_source(far, other, path, want):
    source = f"http://127.0.0.1:{other}{path}"
    before = len(Other.asked)
    for headers in ({}, {"x-ms-requires-sync": "true"}, {"x-ms-blob-type": "BlockBlob"}):
        ask(far, "none", source, **headers).expect(want, "CannotVerifyCopySource")
    far.head("/box/none").expect(404)
    assert len(Other.asked) == before + 3, "a redirect was followed"


def test_a_body_that_breaks_off_leaves_nothing(far, other):
    source = f"http://127.0.0.1:{other}/short"
    reply = ask(far, "none", source, **{"x-ms-blob-type": "BlockBlob"})
    assert reply.status >= 400
    far.head("/box/none").expect(404)


def hostile(port: int) -> list[str]:
    return [
        "http://127.0.0.1:22/",
        "http://127.0.0.1:1/a",
        "http://127.0.0.1/a",
        "http://127.0.0.2:{p}/a",
        "http://127.1:{p}/a",
        "http://0:{p}/a",
        "http://0.0.0.0:{p}/a",
        "http://2130706433:{p}/a",
        "http://0x7f000001:{p}/a",
        "http://0x7f.0.0.1:{p}/a",
        "http://017700000001:{p}/a",
        "http://0177.0.0.1:{p}/a",
        "http://127.0.0.1.:{p}/a",
        "http://[::1]:{p}/a",
        "http://[::ffff:127.0.0.1]:{p}/a",
        "http://[::ffff:7f00:1]:{p}/a",
        "http://[0:0:0:0:0:0:0:1]:{p}/a",
        "http://[::]:{p}/a",
        "http://[fe80::1]/a",
        "http://[fd00:ec2::254]/latest/meta-data",
        "http://[64:ff9b::7f00:1]:{p}/a",
        "http://169.254.169.254/latest/meta-data/",
        "http://169.254.170.2/v2/credentials",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://100.100.100.200/latest/meta-data",
        "http://localhost:{p}/data",
        "http://LOCALHOST:{p}/data",
        "http://localhost.:{p}/data",
        "http://localhost:22/",
        "http://user@127.0.0.1:{p}/data",
        "http://user:pass@127.0.0.1:{p}/data",
        "http://127.0.0.1:{p}@evil.example/data",
        "http://evil.example\\@127.0.0.1:{p}/data",
        "http://evil.example#@127.0.0.1:{p}/data",
        "http://evil.example?@127.0.0.1:{p}/data",
        "http://example.invalid/a",
        "http://a.example.invalid.evil.example/a",
        "http://evilexample.invalid/a",
        "http://10.0.0.1/a",
        "http://172.16.0.1/a",
        "http://192.168.1.1/a",
        "http://100.64.0.1/a",
        "http://224.0.0.1/a",
        "http://255.255.255.255/a",
        "file:///etc/passwd",
        "ftp://127.0.0.1:{p}/data",
        "gopher://127.0.0.1:{p}/_GET",
        "http://127.0.0.1:{p}:{p}/data",
        "http://127.0.0.1:0{p}x/data",
        "http://127.0.0.1:0/data",
        "http://127.0.0.1%00.evil.example:{p}/data",
        "//127.0.0.1:{p}/data",
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(len(hostile(0))))
def test_hostile_sources(far, other, number):
    """`localhost` is allowed by name, but names must not stand for this machine."""
    source = hostile(other)[number].replace("{p}", str(other))
    before = len(Other.asked)
    for headers in ({}, {"x-ms-requires-sync": "true"}):
        reply = ask(far, "none", source, **headers)
        assert (reply.status, reply.code) in (
            (400, "InvalidHeaderValue"),
            (403, "CannotVerifyCopySource"),
            (502, "CannotVerifyCopySource"),
        ), reply
    assert len(Other.asked) == before, "it was asked"
    far.head("/box/none").expect(404)
