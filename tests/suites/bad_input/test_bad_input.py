"""Every row of the tables of bad input: the answer, the connection after it, the server after all.

After each row a good request must work: on the same connection if the server left it open, and
on a new one in any case.
"""

from __future__ import annotations

import datetime
import os
import socket

import pytest
from credentials_table import ROWS as CREDENTIALS
from framing_table import ROWS as FRAMES
from requests_table import TABLE

from harness import Client, raw_exchange
from harness.signing import http_date, shared_key, shared_key_lite

MIB = 1024 * 1024
GROWTH_MIB = 64


@pytest.fixture(scope="module")
def box(client) -> str:
    client.create_container("badinput")
    client.put("/badinput/b", bytes(range(100))).expect(201)
    # Good requests go to a container of their own, out of reach of the bad ones.
    client.create_container("goodinput")
    client.put("/goodinput/b", bytes(range(100))).expect(201)
    client.put("/badinput/five", b"5" * (5 * MIB)).expect(201)
    client.put_block("/badinput/staged", "YWFhYQ==", b"x").expect(201)
    return "badinput"


@pytest.fixture(scope="module", autouse=True)
def bounded_memory(server, client, box):
    """What thousands of refusals leave behind stays small."""
    client.get(f"/{box}/b")
    before = server.rss_kib()
    yield
    grown = (server.rss_kib() - before) / 1024
    print(f"-- resident memory grew by {grown:.0f} MiB over all rows")
    assert grown < GROWTH_MIB, f"resident memory grew by {grown:.0f} MiB"


def good_request(client: Client) -> bytes:
    return build(client, "GET", f"{client.prefix}/goodinput/b", {})


def build(client, method, target, headers, body=b"", auth=True, length=None) -> bytes:
    path, _, query = target.partition("?")
    if auth:
        headers = client.signed_headers(method, path, query, headers, length=length)
    else:
        headers = {n: v for n, v in headers.items() if v is not None}
        if length is not None:
            headers["Content-Length"] = str(length)
    lines = [f"{method} {target} HTTP/1.1", f"Host: {client.host}:{client.port}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


def exchange_then_good(server, client, data: bytes):
    """Sends the row, then a good request on the same connection and on a new one."""
    good = good_request(client)
    replies, closed = raw_exchange(server.host, server.port, data, timeout=20)
    fresh, _ = raw_exchange(server.host, server.port, good)
    assert [r.status for r in fresh] == [200], "a good request on a new connection"
    assert server.alive()
    if not closed:
        # Sent together, so that bytes of the first that were left unread would show.
        both, _ = raw_exchange(server.host, server.port, data + good, timeout=20)
        final = [r for r in both if r.status != 100]
        if replies[-1].status >= 400:
            assert final[0].status == replies[-1].status
        if len(final) > 1:
            assert final[1].status == 200, f"the second answer is {final[1]}"
            assert final[1].body == bytes(range(100))
    return [r for r in replies if r.status != 100]


def check_error_shape(reply, method: str) -> None:
    """Azure's error XML, the code in both places, a request id."""
    if reply.status < 400:
        return
    assert reply.headers.get("x-ms-request-id"), reply.headers
    if method == "HEAD" or not reply.body:
        return
    root = reply.xml()
    assert root.tag == "Error"
    assert root.findtext("Code") == reply.headers["x-ms-error-code"]
    assert "RequestId:" in root.findtext("Message")


@pytest.mark.parametrize("row", TABLE, ids=[r.name.replace(" ", "_") for r in TABLE])
def test_request(server, client, box, row):
    filled = {
        "{c}": box,
        "{ago16}": http_date(-16 * 60),
        "{ahead16}": http_date(16 * 60),
        "{rfc850}": datetime.datetime.now(datetime.UTC).strftime("%A, %d-%b-%y %H:%M:%S GMT"),
    }

    def fill(text):
        for mark, value in filled.items():
            text = text.replace(mark, value) if isinstance(text, str) else text
        return text

    target = fill(row.target)
    target = target[1:] if target.startswith("@") else client.prefix + target
    headers = {name: fill(value) for name, value in row.headers.items()}
    body = row.body.encode() if isinstance(row.body, str) else row.body
    length = len(body) if body or row.method in ("PUT", "POST", "PATCH") else None
    data = build(client, row.method, target, headers, body, auth=row.auth == "key", length=length)
    replies = exchange_then_good(server, client, data)
    assert replies, "no answer"
    reply = replies[0]
    reply.request = f"{row.method} {target[:120]} {headers if len(str(headers)) < 400 else '...'}"
    reply.expect(row.statuses, None if "*" in row.codes else row.codes)
    if reply.status not in (414, 431):
        check_error_shape(reply, row.method)


class Attempt:
    """A good GET of the blob, to be spoiled by a row."""

    def __init__(self, client: Client, container: str) -> None:
        self.client, self.container = client, container
        self.method, self.target = "GET", "/{c}/b"
        self.headers = {"x-ms-date": http_date(), "x-ms-version": client.version}

    def url(self) -> str:
        return self.client.prefix + self.target.replace("{c}", self.container)

    def unsigned(self) -> None:
        self.headers = {"x-ms-version": self.client.version}

    def sign(self, key: str | None = None, lite_as_full: bool = False) -> None:
        path, _, query = self.url().partition("?")
        make = shared_key_lite if lite_as_full else shared_key
        value = make(self.method, path, query, self.headers, self.client.account,
                     key or self.client.key)  # fmt: skip
        self.headers["Authorization"] = value.replace("SharedKeyLite ", "SharedKey ")


@pytest.mark.parametrize("row", CREDENTIALS, ids=[r[0].replace(" ", "_") for r in CREDENTIALS])
def test_credentials(server, client, box, row):
    name, spoil, status, code = row
    attempt = Attempt(client, box)
    spoil(attempt)
    length = 0 if attempt.method == "PUT" else None
    data = build(client, attempt.method, attempt.url(), attempt.headers, auth=False, length=length)
    replies = exchange_then_good(server, client, data)
    reply = replies[0]
    reply.request = f"{attempt.method} {attempt.url()} {attempt.headers}"
    reply.expect(status, None if code == "*" else code)
    check_error_shape(reply, attempt.method)
    assert b"secret" not in reply.body
    client.head(f"/{box}/b").expect(200)


@pytest.mark.parametrize("row", FRAMES, ids=[r[0].replace(" ", "_") for r in FRAMES])
def test_framing(server, client, box, row):
    name, template, statuses, must_close = row
    path = f"{client.prefix}/{box}/frame"
    signed = client.signed_headers("PUT", path, "", {"x-ms-blob-type": "BlockBlob"}, length=0)
    signed.pop("Content-Length")
    lines = "".join(f"{n}: {v}\r\n" for n, v in signed.items()).encode()
    data = template.replace(b"{path}", path.encode()).replace(b"{good}", lines)
    data = data.replace(b"{host}", f"{server.host}:{server.port}".encode())
    replies, closed = raw_exchange(
        server.host, server.port, data, timeout=20, linger=1.0 if must_close else 0.1
    )
    found = replies[0].status if replies else 0
    assert found in statuses, f"{found} {replies[0].code if replies else 'closed'}"
    assert found or closed
    if must_close:
        assert closed, "the connection was left open"
    assert len(replies) <= 1, f"a smuggled request was answered: {replies}"
    fresh, _ = raw_exchange(server.host, server.port, good_request(client))
    assert [r.status for r in fresh] == [200]
    assert server.alive()


@pytest.mark.parametrize(
    ("query", "version", "size"),
    [
        ("", "2025-05-05", 5000 * MIB + 1),
        ("", "2025-05-05", 5 * MIB * MIB),
        ("", "2018-03-28", 256 * MIB + 1),
        ("", "2015-04-05", 64 * MIB + 1),
        ("comp=block&blockid=YWFhYQ%3D%3D", "2025-05-05", 4000 * MIB + 1),
        ("comp=block&blockid=YWFhYQ%3D%3D", "2018-03-28", 100 * MIB + 1),
        ("comp=block&blockid=YWFhYQ%3D%3D", "2015-04-05", 4 * MIB + 1),
    ],
)
def test_oversized_body_is_refused_before_it_is_sent(server, client, box, query, version, size):
    target = f"{client.prefix}/{box}/huge"
    given = {"x-ms-blob-type": "BlockBlob", "x-ms-version": version}
    url = target + (f"?{query}" if query else "")
    data = build(client, "PUT", url, given, length=size)
    replies, closed = raw_exchange(server.host, server.port, data, linger=1)
    replies[0].expect(413, "RequestBodyTooLarge")
    assert closed, "the body that was announced must not be taken for a request"


@pytest.mark.parametrize("sent", [0, 1, 50, 99])
def test_truncated_body_makes_no_blob(server, client, box, sent):
    path = f"/{box}/truncated-{sent}"
    full = build(client, "PUT", client.prefix + path, {"x-ms-blob-type": "BlockBlob"}, length=100)
    raw_exchange(server.host, server.port, full + b"x" * sent, timeout=3, half_close=True)
    client.head(path).expect(404)


def test_truncated_chunked_body_makes_no_blob(server, client, box):
    path = f"/{box}/truncated-chunks"
    head = build(
        client, "PUT", client.prefix + path,
        {"x-ms-blob-type": "BlockBlob", "Transfer-Encoding": "chunked"},
    )  # fmt: skip
    raw_exchange(server.host, server.port, head + b"3\r\nabc\r\n", timeout=3, half_close=True)
    client.head(path).expect(404)


def test_truncated_overwrite_keeps_the_old(server, client, box):
    path = f"/{box}/kept"
    etag = client.put(path, b"old").expect(201).etag
    full = build(client, "PUT", client.prefix + path, {"x-ms-blob-type": "BlockBlob"}, length=9999)
    raw_exchange(server.host, server.port, full + b"new", timeout=3, half_close=True)
    got = client.get(path).expect(200)
    assert (got.body, got.etag) == (b"old", etag)


def test_500_abandoned_connections(server, client, box):
    """Half a request and gone; nobody else notices."""
    for i in range(500):
        with socket.create_connection((server.host, server.port), timeout=5) as sock:
            sock.sendall(b"PUT /devstoreaccount1/x HTTP/1.1\r\nHost: x\r\n"[: 5 + i % 40])
    client.get(f"/{box}/b").expect(200)


def test_200_open_idle_connections(server, client, box):
    held = [socket.create_connection((server.host, server.port), timeout=5) for _ in range(200)]
    try:
        client.get(f"/{box}/b").expect(200)
    finally:
        for sock in held:
            sock.close()


def test_300_random_requests(server, client, box):
    """Noise around a valid head: never a 5xx, never a dead server."""
    import random

    seed = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))
    choose = random.Random(seed)
    good = good_request(client)
    for _ in range(300):
        data = bytearray(good)
        for _ in range(choose.randint(1, 8)):
            data[choose.randrange(len(data))] = choose.randrange(256)
        replies, _ = raw_exchange(server.host, server.port, bytes(data), timeout=1)
        assert all(r.status < 500 or r.status in (501, 505) for r in replies), bytes(data)
    client.get(f"/{box}/b").expect(200)


def test_malformed_data_never_panics(server):
    """A panic is a bug even where the client saw only a closed connection."""
    text = server.output()
    assert "panicked" not in text, text[text.index("panicked") - 500 :][:2000]
