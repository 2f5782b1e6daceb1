"""Encryption at rest: nothing readable in the data directory, and only the right key opens it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from program import run

from harness import Client, Server
from harness.server import ANY_PORTS

MARK = b"plain text that must not be found on the disk "


def key_file(base: Path, name: str = "key", data: bytes | None = None) -> str:
    path = base / name
    path.write_bytes(data or os.urandom(32))
    path.chmod(0o600)
    return str(path)


def folder(base: Path, name: str = "data") -> Path:
    made = base / name
    made.mkdir()
    return made


def on_disk(location: str) -> bytes:
    files = (p for p in Path(location).rglob("*") if p.is_file() and p.name != "LOCK")
    return b"".join(p.read_bytes() for p in files)


def fill(server: Server) -> Client:
    client = Client(server.url)
    client.create_container("sealed-container")
    for name, size in (("small", 3), ("large", 60_000)):
        client.put(f"/sealed-container/{name}", MARK * size).expect(201)
    return client


def test_nothing_readable_at_rest_and_everything_back_after_a_kill(tmp_path):
    key = key_file(tmp_path)
    location = folder(tmp_path)
    with Server("--encryption-key-file", key, location=str(location)) as server:
        fill(server)
        server.kill()
        stored = on_disk(str(location))
        assert len(stored) > len(MARK) * 60_000
        assert MARK[:16] not in stored and b"sealed-container" not in stored
        wide = "sealed-container".encode("utf-16-be")
        assert wide not in stored
        server.start()
        client = Client(server.url)
        for name, size in (("small", 3), ("large", 60_000)):
            assert client.get(f"/sealed-container/{name}").expect(200).body == MARK * size
        server.stop()
    done = run("check", str(location), "--encryption-key-file", key, cwd=tmp_path)
    assert done.returncode == 0 and "problems: 0" in done.stdout, done.stderr


def test_without_encryption_the_mark_is_found(tmp_path):
    location = folder(tmp_path)
    with Server(location=str(location)) as server:
        fill(server)
        server.stop()
        assert MARK[:16] in on_disk(str(location)), "the search above can find something"


def test_only_the_right_key_opens(tmp_path):
    right, wrong = key_file(tmp_path), key_file(tmp_path, "wrong")
    sealed, plain = folder(tmp_path, "sealed"), folder(tmp_path, "plain")
    with Server("--encryption-key-file", right, location=str(sealed)) as server:
        fill(server)
    with Server(location=str(plain)) as server:
        fill(server)
    before = on_disk(str(sealed)), on_disk(str(plain))
    for location, options, said in (
        (sealed, [], "is encrypted; give its key with --encryption-key-file"),
        (sealed, ["--encryption-key-file", wrong], "encrypted with another key"),
        (plain, ["--encryption-key-file", right], "is not encrypted"),
    ):
        done = run(*ANY_PORTS, "--location", str(location), *options, cwd=tmp_path)
        assert done.returncode == 1 and said in done.stderr, (options, done.stderr)
        done = run("check", str(location), *options, cwd=tmp_path)
        assert done.returncode == 1 and said in done.stderr, (options, done.stderr)
    assert before == (on_disk(str(sealed)), on_disk(str(plain))), "refusing changes nothing"


@pytest.mark.parametrize("data", [b"short", b"z" * 64, b"\xff" * 33, b"x" * 2000])
def test_a_file_that_is_no_key(tmp_path, data):
    key = key_file(tmp_path, data=data)
    done = run("--encryption-key-file", key, *ANY_PORTS, cwd=tmp_path)
    assert done.returncode == 1 and "32 bytes" in done.stderr, done.stderr


def test_a_key_that_others_can_read_is_remarked_on(tmp_path):
    key = key_file(tmp_path)
    Path(key).chmod(0o644)
    with Server("--encryption-key-file", key, location=str(folder(tmp_path))) as server:
        server.stop()
        assert any("chmod 600" in line for line in server.stderr), server.stderr
