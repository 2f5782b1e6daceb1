"""Requests at wire level: signed requests over keep-alive connections, and raw bytes.

Sends exactly what the test says; adds nothing but date, version and signature.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from .signing import DEV_ACCOUNT, DEV_KEY, http_date, shared_key, shared_key_lite

VERSION = "2025-05-05"
TIMEOUT_SECONDS = 60.0
EARLY_ANSWER_BYTES = 1024 * 1024


@dataclass
class Reply:
    """One response, headers by lower-case name."""

    status: int
    reason: str
    headers: dict[str, str]
    body: bytes = b""
    request: str = field(default="", repr=False)

    @property
    def code(self) -> str:
        """Azure's error code: the header, else the element in the body."""
        if "x-ms-error-code" in self.headers:
            return self.headers["x-ms-error-code"]
        if b"<Code>" in self.body:
            return self.body.split(b"<Code>")[1].split(b"</Code>")[0].decode()
        return ""

    @property
    def etag(self) -> str:
        return self.headers.get("etag", "")

    def xml(self) -> ElementTree.Element:
        return ElementTree.fromstring(self.body.decode("utf-8-sig"))

    def expect(self, status: int | tuple[int, ...], code: str | tuple[str, ...] | None = None):
        """Asserts status and code, and says what was asked and answered when they differ."""
        statuses = (status,) if isinstance(status, int) else status
        codes = (code,) if isinstance(code, str) else code
        if self.status not in statuses or (codes is not None and self.code not in codes):
            raise AssertionError(
                f"{self.request}\n  expected {status} {code or ''}\n"
                f"  got      {self.status} {self.code}\n  {self.body[:600]!r}"
            )
        return self


def encode_query(query: dict[str, str] | str) -> str:
    if isinstance(query, str):
        return query
    return "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items())


class Client:
    """Signed requests for one account, path style, one connection per thread."""

    def __init__(
        self,
        url: str,
        account: str = DEV_ACCOUNT,
        key: str = DEV_KEY,
        version: str = VERSION,
        host_header: str | None = None,
        ca_file: str | None = None,
    ) -> None:
        parts = urlsplit(url)
        self.scheme, self.host, self.port = parts.scheme, parts.hostname, parts.port
        self.account, self.key, self.version = account, key, version
        self.host_header = host_header
        self.prefix = "" if host_header else f"/{account}"
        self.ca_file = ca_file
        self._local = threading.local()

    def connection(self) -> http.client.HTTPConnection:
        existing = getattr(self._local, "connection", None)
        if existing is None:
            if self.scheme == "https":
                context = ssl.create_default_context(cafile=self.ca_file)
                existing = http.client.HTTPSConnection(
                    self.host, self.port, timeout=TIMEOUT_SECONDS, context=context
                )
            else:
                existing = http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_SECONDS)
            self._local.connection = existing
        return existing

    def drop(self) -> None:
        """Closes this thread's connection; the next request opens a new one."""
        existing = getattr(self._local, "connection", None)
        if existing is not None:
            existing.close()
            self._local.connection = None

    def signed_headers(
        self,
        method: str,
        path: str,
        query: str,
        headers: dict[str, str],
        *,
        auth: str = "key",
        version: str | None = None,
        length: int | None = None,
    ) -> dict[str, str]:
        """`headers` plus date, version, length and Authorization; a None value removes one."""
        out = {"x-ms-date": http_date(), "x-ms-version": version or self.version}
        if length is not None:
            out["Content-Length"] = str(length)
        lower = {name.lower() for name in headers}
        out = {name: value for name, value in out.items() if name.lower() not in lower}
        out.update({name: value for name, value in headers.items() if value is not None})
        if auth == "key":
            out["Authorization"] = shared_key(method, path, query, out, self.account, self.key)
        elif auth == "lite":
            out["Authorization"] = shared_key_lite(method, path, query, out, self.account, self.key)
        return out

    def send(
        self,
        method: str,
        path: str = "/",
        query: dict[str, str] | str = "",
        headers: dict[str, str | None] | None = None,
        body: bytes | str = b"",
        *,
        auth: str = "key",
        version: str | None = None,
        retry: bool = True,
    ) -> Reply:
        """One request. `auth`: key, lite, or none (SAS goes into the query)."""
        body = body.encode() if isinstance(body, str) else body
        target = self.prefix + path
        text = encode_query(query)
        length = len(body) if body or method in ("PUT", "POST") else None
        sent = self.signed_headers(
            method, target, text, dict(headers or {}), auth=auth, version=version, length=length
        )
        url = target + (f"?{text}" if text else "")
        for attempt in (0, 1):
            connection = self.connection()
            try:
                connection.putrequest(
                    method, url, skip_host=bool(self.host_header), skip_accept_encoding=True
                )
                if self.host_header:
                    connection.putheader("Host", self.host_header)
                for name, value in sent.items():
                    connection.putheader(name, value)
                try:
                    connection.endheaders(body or None)
                except (BrokenPipeError, ConnectionResetError):
                    # A refusal may come before the body was taken; then it is there to be read.
                    if len(body) < EARLY_ANSWER_BYTES:
                        raise
                answer = connection.getresponse()
                data = answer.read()
                break
            except (ConnectionError, http.client.BadStatusLine, http.client.CannotSendRequest):
                # An idle keep-alive connection may have been closed by the server meanwhile.
                self.drop()
                if attempt or not retry:
                    raise
            except Exception:
                self.drop()
                raise
        found: dict[str, str] = {}
        for name, value in answer.getheaders():
            found[name.lower()] = value
        if answer.will_close:
            self.drop()
        shown = {k: v for k, v in sent.items() if k.lower() != "authorization"}
        request = f"{method} {url} {shown} body={body[:80]!r}"
        return Reply(answer.status, answer.reason, found, data, request)

    # -- the handful of requests every suite needs ---------------------------------------------

    def create_container(self, name: str, **headers: str) -> Reply:
        return self.send("PUT", f"/{name}", "restype=container", headers).expect(201)

    def put(self, path: str, body: bytes | str = b"x", headers: dict | None = None, **kw) -> Reply:
        return self.send(
            "PUT", path, "", {"x-ms-blob-type": "BlockBlob", **(headers or {})}, body, **kw
        )

    def get(self, path: str, headers: dict | None = None, query: dict | str = "", **kw) -> Reply:
        return self.send("GET", path, query, headers, **kw)

    def head(self, path: str, headers: dict | None = None, query: dict | str = "", **kw) -> Reply:
        return self.send("HEAD", path, query, headers, **kw)

    def delete(self, path: str, headers: dict | None = None, **kw) -> Reply:
        return self.send("DELETE", path, "", headers, **kw)

    def put_block(self, path: str, block_id: str, body: bytes | str, headers: dict | None = None):
        return self.send("PUT", path, {"comp": "block", "blockid": block_id}, headers, body)

    def put_block_list(self, path: str, ids: list[str], headers: dict | None = None, kind="Latest"):
        rows = "".join(f"<{kind}>{i}</{kind}>" for i in ids)
        body = f'<?xml version="1.0" encoding="utf-8"?><BlockList>{rows}</BlockList>'
        return self.send("PUT", path, "comp=blocklist", headers, body)

    def lease(
        self, path: str, action: str, *, container: bool = False, **fields: str | int
    ) -> Reply:
        """`fields`: id, proposed, duration, period; other names are sent as given."""
        names = {
            "id": "x-ms-lease-id",
            "proposed": "x-ms-proposed-lease-id",
            "duration": "x-ms-lease-duration",
            "period": "x-ms-lease-break-period",
        }
        headers = {"x-ms-lease-action": action}
        for name, value in fields.items():
            headers[names.get(name, name)] = str(value)
        query = "restype=container&comp=lease" if container else "comp=lease"
        return self.send("PUT", path, query, headers)


def raw_exchange(
    host: str,
    port: int,
    data: bytes,
    *,
    timeout: float = 10.0,
    linger: float = 0.03,
    half_close: bool = False,
) -> tuple[list[Reply], bool]:
    """Sends bytes as they are; returns every response that came back and whether EOF followed.

    Waits until the server closes, or until it has been silent for `linger` after an answer.
    """
    with socket.create_connection((host, port), timeout=timeout) as sock:
        try:
            sock.sendall(data)
            if half_close:
                sock.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it may refuse before it has read everything; its answer is still there
        received, closed = b"", False
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            replies = [r for r in parse_responses(received)[0] if r.status != 100]
            closing = any(r.headers.get("connection") == "close" for r in replies)
            sock.settimeout(timeout if closing or not replies else linger)
            try:
                chunk = sock.recv(65536)
            except TimeoutError:
                break
            except ConnectionResetError:
                closed = True
                break
            if not chunk:
                closed = True
                break
            received += chunk
    return parse_responses(received)[0], closed


def parse_responses(data: bytes) -> tuple[list[Reply], bytes]:
    """Splits a byte stream into responses with a sized or absent body; returns the rest."""
    replies: list[Reply] = []
    while b"\r\n\r\n" in data:
        head, rest = data.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        parts = lines[0].split(" ", 2)
        if len(parts) < 2 or not parts[1].isdigit():
            break
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        if parts[1] == "100":
            replies.append(Reply(100, "Continue", headers))
            data = rest
            continue
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body, rest, complete = dechunk(rest)
            if not complete:
                break
        else:
            size = int(headers.get("content-length", "0"))
            if len(rest) < size:
                break
            body, rest = rest[:size], rest[size:]
        replies.append(Reply(int(parts[1]), parts[2] if len(parts) > 2 else "", headers, body))
        data = rest
    return replies, data


def dechunk(data: bytes) -> tuple[bytes, bytes, bool]:
    """(body, rest, complete) of a chunked body at the start of `data`."""
    body = b""
    while b"\r\n" in data:
        line, rest = data.split(b"\r\n", 1)
        size = int(line.split(b";")[0], 16)
        if len(rest) < size + 2:
            return body, data, False
        body, data = body + rest[:size], rest[size + 2 :]
        if size == 0:
            return body, data, True
    return body, data, False
