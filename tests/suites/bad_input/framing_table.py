"""Bytes that are not a proper HTTP/1.1 request, as data.

A row is (name, bytes, statuses, must the connection be closed). `{good}` in the bytes stands for
the header lines of a properly signed Put Blob without its length; `{host}` for the host. The
status 0 stands for a connection that is closed without an answer.
"""

from __future__ import annotations

HEAD = b"PUT {path} HTTP/1.1\r\nHost: {host}\r\n"
GET = b"GET {path} HTTP/1.1\r\nHost: {host}\r\n"
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: {host}\r\n\r\n"

ROWS = [
    ("length and chunked", HEAD + b"{good}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
     b"0\r\n\r\n" + SMUGGLED, (400,), True),
    ("chunked and length", HEAD + b"{good}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"
     b"0\r\n\r\n" + SMUGGLED, (400,), True),
    ("two lengths that differ", HEAD + b"{good}Content-Length: 1\r\nContent-Length: 50\r\n\r\nx"
     + SMUGGLED, (400,), True),
    ("a list of lengths", HEAD + b"{good}Content-Length: 1, 50\r\n\r\nx" + SMUGGLED, (400,), True),
    ("length text", HEAD + b"{good}Content-Length: abc\r\n\r\nx", (400,), True),
    ("length negative", HEAD + b"{good}Content-Length: -1\r\n\r\nx", (400,), True),
    ("length with plus", HEAD + b"{good}Content-Length: +1\r\n\r\nx", (400,), True),
    ("length in hex", HEAD + b"{good}Content-Length: 0x1\r\n\r\nx", (400,), True),
    ("length beyond 64 bits", HEAD + b"{good}Content-Length: 18446744073709551616\r\n\r\n",
     (400, 413), True),
    ("unknown coding", HEAD + b"{good}Transfer-Encoding: rot13\r\n\r\nx", (400, 501), True),
    ("coding after chunked", HEAD + b"{good}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
     (400, 501), True),
    ("chunked twice", HEAD + b"{good}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"
     b"\r\n0\r\n\r\n", (400, 411, 501), True),
    ("xchunked", HEAD + b"{good}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", (400, 501), True),
    ("folded header", GET + b"x-a: one\r\n two\r\n\r\n", (400,), True),
    ("folded first header", b"GET {path} HTTP/1.1\r\n Host: {host}\r\n\r\n", (400,), True),
    ("space before colon", GET + b"x-a : one\r\n\r\n", (400,), True),
    ("space before colon of length", HEAD + b"{good}Content-Length : 1\r\n\r\nx", (400,), True),
    ("header without colon", GET + b"nonsense\r\n\r\n", (400,), True),
    ("header without name", GET + b": nonsense\r\n\r\n", (400,), True),
    ("NUL in a value", GET + b"x-a: a\x00b\r\n\r\n", (400,), True),
    ("CR in a value", GET + b"x-a: a\rb\r\n\r\n", (400,), True),
    ("NUL in a name", GET + b"x-\x00a: b\r\n\r\n", (400,), True),
    ("space in the target", b"GET /a b HTTP/1.1\r\nHost: {host}\r\n\r\n", (400,), True),
    ("no target", b"GET HTTP/1.1\r\nHost: {host}\r\n\r\n", (400,), True),
    ("no version", b"GET {path}\r\nHost: {host}\r\n\r\n", (400, 505, 0), True),
    ("version 9.9", b"GET {path} HTTP/9.9\r\nHost: {host}\r\n\r\n", (400, 505, 0), True),
    ("nonsense version", b"GET {path} HTTQ/1.1\r\nHost: {host}\r\n\r\n", (400, 505, 0), True),
    ("http/2 preface", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505, 0), True),
    ("TLS hello on a plain port", b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03" + b"\x55" * 150,
     (400, 0), True),
    ("binary noise", bytes(range(128, 256)) * 4 + b"\r\n\r\n", (400, 0), True),
    ("no host", b"GET {path} HTTP/1.1\r\n\r\n", (400,), False),
    ("two hosts", GET + b"Host: elsewhere\r\n\r\n", (400,), False),
    ("CONNECT", b"CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n\r\n", (400, 405), False),
    ("asterisk", b"OPTIONS * HTTP/1.1\r\nHost: {host}\r\n\r\n", (200, 400, 403, 404, 405), False),
    ("bad chunk size", HEAD + b"{good}Transfer-Encoding: chunked\r\n\r\nZZ\r\nx\r\n0\r\n\r\n",
     (400, 411), True),
    ("huge chunk size", HEAD + b"{good}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nx",
     (400, 411, 413), True),
    ("chunk without end", HEAD + b"{good}Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n"
     b"0\r\n\r\n", (400, 411), True),
    ("no length at all", HEAD + b"{good}\r\n", (411,), False),
    ("expectation unknown", HEAD + b"{good}Expect: miracles\r\nContent-Length: 0\r\n\r\n",
     (201, 400, 417), False),
    ("duplicate authorization", GET + b"Authorization: SharedKey a:b\r\n"
     b"Authorization: SharedKey c:d\r\n\r\n", (400, 403), False),
    ("duplicate version", GET + b"x-ms-version: 2019-12-12\r\nx-ms-version: 2020-12-06\r\n\r\n",
     (400, 401), False),
    ("duplicate metadata", HEAD + b"{good}x-ms-meta-a: 1\r\nx-ms-meta-A: 2\r\n"
     b"Content-Length: 0\r\n\r\n", (400, 403), False),
]  # fmt: skip
