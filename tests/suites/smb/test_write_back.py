"""Writes that wait: everybody sees them at once, and after kill -9 a file is a state that was."""

from __future__ import annotations

import os
import random
import subprocess

import pytest
from harness import Client, Server, server_command
from harness.signing import DEV_ACCOUNT, DEV_KEY
from impacket.smbconnection import SMBConnection

SEED = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))
SIZE = 200_000
READ_WRITE, SHARE_ALL, OPEN_IF, WRITE_THROUGH = 0x0012_019F, 7, 3, 2
CYCLES = 4


class Writer:
    """A handle of one file, and every state that the file has had since it was last durable."""

    def __init__(self, port: int, share: str, name: str, held: bytes, options: int = 0) -> None:
        connection = SMBConnection("ZAFFRE", "127.0.0.1", sess_port=port, timeout=30)
        connection.login(DEV_ACCOUNT, DEV_KEY)
        self.smb = connection.getSMBServer()
        self.tree = connection.connectTree(share)
        self.through = options == WRITE_THROUGH
        self.file = self.smb.create(self.tree, name, READ_WRITE, SHARE_ALL, options, OPEN_IF, 0)
        self.states = [held]

    def write(self, draw: random.Random) -> None:
        length = draw.choice([1, 100, 4096, 40_000])
        at, data = draw.randrange(SIZE - length), draw.randbytes(length)
        old = self.states[-1].ljust(at + length, b"\0")
        self.states.append(old[:at] + data + old[at + length :])
        self.smb.write(self.tree, self.file, data, at, length)
        if self.through:
            self.durable()

    def durable(self) -> None:
        self.states = self.states[-1:]

    def flush(self) -> None:
        self.smb.flush(self.tree, self.file)
        self.durable()

    def close(self) -> None:
        self.smb.close(self.tree, self.file)
        self.durable()


@pytest.mark.parametrize("way", ["flush", "close", "through"])
def test_what_is_durable_survives_kill_9(way):
    draw = random.Random(f"{SEED}-{way}")
    held, lost = b"", 0
    with Server() as server:
        Client(server.file_url).send("PUT", "/work", query={"restype": "share"}).expect(201)
        for _ in range(CYCLES):
            options = WRITE_THROUGH if way == "through" else 0
            writer = Writer(server.ports["SMB"], "work", "f", held, options)
            for _ in range(draw.randrange(1, 20)):
                writer.write(draw)
            if way == "flush":
                writer.flush()
                for _ in range(draw.randrange(5)):
                    writer.write(draw)
            if way == "close":
                writer.close()
            server.kill()
            server.start()
            found = Client(server.file_url).get("/work/f").expect(200).body
            assert found in writer.states, f"a state that never was, seed {SEED}"
            lost += len(writer.states) - 1 - writer.states.index(found)
            held = found
        assert server.stop() == 0
        checked = subprocess.run([*server_command(), "check", server.location], capture_output=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    assert way == "flush" or lost == 0


def test_rest_sees_at_once_what_was_written(share):
    draw = random.Random(SEED)
    writer = Writer(share.port, share.name, "f", b"")
    other = Writer(share.port, share.name, "f", b"")
    for _ in range(30):
        writer.write(draw)
        want = writer.states[-1]
        assert other.smb.read(other.tree, other.file, 0, SIZE) == want
        if draw.random() < 0.5:
            assert share.rest.get(f"/{share.name}/f").expect(200).body == want
        else:
            got = share.rest.send("HEAD", f"/{share.name}/f").expect(200)
            assert int(got.headers["content-length"]) == len(want)
    writer.close()
    other.close()


def test_a_stop_in_order_loses_nothing():
    draw = random.Random(SEED)
    with Server() as server:
        Client(server.file_url).send("PUT", "/work", query={"restype": "share"}).expect(201)
        writer = Writer(server.ports["SMB"], "work", "f", b"")
        for _ in range(10):
            writer.write(draw)
        assert server.stop() == 0
        server.start()
        assert Client(server.file_url).get("/work/f").expect(200).body == writer.states[-1]
