"""Readers beside writers: body, ETag and headers always belong to one version.

Every body names its version in each of its 8-byte words, so a mixture of two shows.
"""

from __future__ import annotations

import base64
import hashlib
import os
import random
import socket
import threading
import time

from crowd import Background, at_once

from harness import Client

READS = 5000
READERS = 4
MIB = 1024 * 1024
SEED = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))


def words(version: int, count: int) -> bytes:
    return version.to_bytes(8, "big") * count


def version_of(body: bytes) -> int:
    """The version that a body names; a torn body has more than one."""
    assert len(body) % 8 == 0 and body, f"{len(body)} bytes"
    first = body[:8]
    assert body == first * (len(body) // 8), f"torn: begins {first.hex()}, ends {body[-8:].hex()}"
    return int.from_bytes(first, "big")


def read_many(reader: Client, path: str, check) -> int:
    """5,000 reads by four readers; returns how many versions they saw."""
    seen: list[set[int]] = [set() for _ in range(READERS)]

    def read(me: int) -> None:
        for _ in range(READS // READERS):
            seen[me].add(check(reader.get(path)))

    at_once(READERS, lambda: None, read)
    return len(set().union(*seen))


def test_readers_during_overwrites(client, container):
    path, written, serial = f"/{container}/b", {}, iter(range(1, 10**9))
    turn = threading.Lock()
    choose = random.Random(SEED)

    def write() -> None:
        with turn:
            version, size = next(serial), choose.choice([1, 100, 1000, 8000])
        body = words(version, size)
        answer = client.put(path, body, {"x-ms-meta-version": str(version)}).expect(201)
        written[answer.etag] = version

    pairs: set[tuple[str, int]] = set()

    def check(answer) -> int:
        answer.expect(200)
        version = version_of(answer.body)
        assert answer.headers["x-ms-meta-version"] == str(version)
        assert answer.headers["content-md5"] == (
            base64.b64encode(hashlib.md5(answer.body).digest()).decode()
        )
        pairs.add((answer.etag, version))
        return version

    write()
    with Background(write, write, write, write) as writers:
        seen = read_many(client, path, check)
    assert all(written[etag] == version for etag, version in pairs)
    print(f"-- {READS} reads, {writers.rounds} overwrites, {seen} versions seen, 0 torn")
    assert seen > 50, f"only {seen} versions were seen: too little happened"


def test_readers_during_put_block_list(client, container):
    path, written, serial = f"/{container}/b", {}, iter(range(1, 10**9))
    blocks = [base64.b64encode(f"{i:04d}".encode()).decode() for i in range(4)]

    def write() -> None:
        version = next(serial)
        for block in blocks:
            client.put_block(path, block, words(version, 512)).expect(201)
        answer = client.put_block_list(path, blocks, {"x-ms-meta-version": str(version)})
        written[answer.expect(201).etag] = version

    pairs: set[tuple[str, int]] = set()

    def check(answer) -> int:
        answer.expect(200)
        assert len(answer.body) == 4 * 512 * 8
        version = version_of(answer.body)
        assert answer.headers["x-ms-meta-version"] == str(version)
        pairs.add((answer.etag, version))
        return version

    write()
    with Background(write) as writers:
        seen = read_many(client, path, check)
    assert all(written[etag] == version for etag, version in pairs)
    print(f"-- {READS} reads, {writers.rounds} block lists, {seen} versions seen, 0 torn")
    assert seen > 10, f"only {seen} versions were seen: too little happened"


def test_readers_of_bodies_in_many_extents(client, container):
    """3 MiB at a time: the body arrives in many reads of the store, all of one version."""
    path, serial = f"/{container}/b", iter(range(1, 10**9))

    def write() -> None:
        client.put(path, words(next(serial), 3 * MIB // 8)).expect(201)

    write()
    seen: set[int] = set()
    with Background(write, write, write) as writers:
        at_once(
            READERS,
            lambda: None,
            lambda _: [seen.add(version_of(client.get(path).expect(200).body)) for _ in range(60)],
        )
    print(f"-- {60 * READERS} reads of 3 MiB, {writers.rounds} overwrites, 0 torn")
    assert len(seen) > 3, f"only {len(seen)} versions were seen: too little happened"


def test_ranges_with_if_match_never_mix(client, container):
    """A reader that pins the ETag and reads in parts gets one version or 412."""
    path, serial = f"/{container}/b", iter(range(1, 10**9))
    size = 4096

    def write() -> None:
        client.put(path, words(next(serial), size)).expect(201)

    write()
    whole, moved = 0, 0
    with Background(write):
        for _ in range(300):
            first = client.get(path, {"x-ms-range": "bytes=0-16383"}).expect(206)
            rest = client.get(path, {"x-ms-range": "bytes=16384-32767", "If-Match": first.etag})
            rest.expect((206, 412))
            if rest.status == 206:
                version_of(first.body + rest.body)
                assert rest.etag == first.etag
                whole += 1
            else:
                moved += 1
    assert whole + moved == 300
    assert moved > 0, "no overwrite fell between two parts: too little happened"


def test_list_shows_one_version_of_each_blob(client, container):
    """Length, ETag and metadata of an entry belong together while the blob is overwritten."""
    path, written, serial = f"/{container}/b", {}, iter(range(1, 10**9))

    def write() -> None:
        version = next(serial)
        body = b"x" * (version % 997)
        answer = client.put(path, body, {"x-ms-meta-version": str(version)}).expect(201)
        written[answer.etag] = version

    entries = set()
    write()
    with Background(write, write):
        for _ in range(300):
            query = "restype=container&comp=list&include=metadata"
            root = client.get(f"/{container}", query=query).expect(200).xml()
            entry = root.find("Blobs/Blob")
            entries.add((
                '"' + entry.findtext("Properties/Etag").strip('"') + '"',
                int(entry.findtext("Properties/Content-Length")),
                int(entry.findtext("Metadata/version")),
            ))  # fmt: skip
    for etag, length, version in entries:
        assert written[etag] == version
        assert length == version % 997
    assert len(entries) > 20


class SlowReader:
    """A download over a small window, read a little at a time, checked to its last byte."""

    def __init__(self, server, client: Client, path: str) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        self.socket.settimeout(60)
        self.socket.connect((server.host, server.port))
        target = client.prefix + path
        headers = client.signed_headers("GET", target, "", {})
        head = f"GET {target} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\n"
        head += "".join(f"{n}: {v}\r\n" for n, v in headers.items()) + "\r\n"
        self.socket.sendall(head.encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.socket.recv(4096)
        head_text, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        assert b" 200 " in head_text.split(b"\r\n")[0], head_text
        lines = head_text.decode().split("\r\n")[1:]
        self.headers = {k.lower(): v.strip() for k, _, v in (x.partition(":") for x in lines)}
        self.length = int(self.headers["content-length"])
        self.got = len(self.buffer)
        self.hash = hashlib.sha256(self.buffer)

    def read(self, count: int) -> None:
        """Reads at least `count` more bytes, or what is left."""
        goal = min(self.length, self.got + count)
        while self.got < goal:
            chunk = self.socket.recv(65536)
            assert chunk, f"the download broke after {self.got} of {self.length} bytes"
            self.got += len(chunk)
            self.hash.update(chunk)

    def finish(self) -> str:
        self.read(self.length)
        assert self.got == self.length
        self.socket.close()
        return self.hash.hexdigest()


def big(version: int) -> bytes:
    return b"".join(hashlib.sha256(f"{version}-{i}".encode()).digest() * 2048 for i in range(512))


def outlast(server, client, path, body, meanwhile) -> None:
    reader = SlowReader(server, client, path)
    reader.read(MIB)
    meanwhile()
    for _ in range(8):
        reader.read(MIB)
        time.sleep(0.05)
    assert reader.finish() == hashlib.sha256(body).hexdigest()


def test_download_outlasts_an_overwrite(server, client, container):
    path, body = f"/{container}/b", big(1)
    client.put(path, body).expect(201)

    def meanwhile() -> None:
        for version in range(2, 5):
            client.put(path, big(version)).expect(201)

    outlast(server, client, path, body, meanwhile)
    assert client.get(path).body == big(4)


def test_download_outlasts_put_block_list(server, client, container):
    path, block = f"/{container}/b", "MDAwMQ=="
    body = big(1)
    client.put_block(path, block, body).expect(201)
    client.put_block_list(path, [block]).expect(201)

    def meanwhile() -> None:
        client.put_block(path, block, b"small").expect(201)
        client.put_block_list(path, [block]).expect(201)

    outlast(server, client, path, body, meanwhile)
    assert client.get(path).body == b"small"


def test_download_outlasts_deletion(server, client, container):
    path, body = f"/{container}/b", big(1)
    client.put(path, body).expect(201)

    def meanwhile() -> None:
        client.delete(path).expect(202)
        client.head(path).expect(404)
        client.put(f"/{container}/other", big(9)).expect(201)

    outlast(server, client, path, body, meanwhile)


def test_download_outlasts_deletion_of_the_container(server, client, container):
    path, body = f"/{container}/b", big(1)
    client.put(path, body).expect(201)

    def meanwhile() -> None:
        client.send("DELETE", f"/{container}", "restype=container").expect(202)
        client.create_container(container)
        client.put(path, b"new").expect(201)

    outlast(server, client, path, body, meanwhile)
    assert client.get(path).body == b"new"
