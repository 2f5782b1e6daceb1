"""What an SMB client caches or has locked, and REST: it gives it back first, or refuses."""

from __future__ import annotations

import struct
import threading

import pytest
from impacket.smb3structs import SMB2_LOCK, SMB2_OPLOCK_BREAK
from impacket.smbconnection import SMBConnection

NOTICE = 0xFFFF_FFFF_FFFF_FFFF
BATCH, LEVEL2, NONE = 9, 1, 0
READ_WRITE, SHARE_ALL, OPEN = 0x3, 0x7, 1
EXCLUSIVE, FAIL_IMMEDIATELY, UNLOCK = 0x2, 0x10, 0x4
RANGE = {"x-ms-write": "update", "x-ms-range": "bytes=0-3"}


class Holder:
    """An SMB client with one file open."""

    def __init__(self, share, oplock: int) -> None:
        self.rest, self.path = share.rest, f"/{share.name}/f"
        headers = {"x-ms-type": "file", "x-ms-content-length": "4"}
        self.rest.send("PUT", self.path, headers=headers).expect(201)
        self.client = SMBConnection("ZAFFRE", share.host, sess_port=share.port, timeout=20)
        self.client.login(share.account, share.key)
        self.smb = self.client.getSMBServer()
        self.tree = self.client.connectTree(share.name)
        self.file = self.smb.create(self.tree, "f", READ_WRITE, SHARE_ALL, 0, OPEN, 0, oplockLevel=oplock)

    def send(self, command: int, body: bytes) -> int:
        packet = self.smb.SMB_PACKET()
        packet["Command"], packet["TreeID"], packet["Data"] = command, self.tree, body
        return self.smb.sendSMB(packet)

    def broken_to(self) -> int:
        """The level that the server asks to come down to."""
        level = self.smb.recvSMB(NOTICE)["Data"][2]
        # The client takes the notice for an answer that gave a message's number back.
        self.smb._Connection["SequenceWindow"] += 1
        return level

    def answer(self, level: int) -> int:
        body = struct.pack("<HBBI", 24, level, 0, 0) + self.file
        return self.smb.recvSMB(self.send(SMB2_OPLOCK_BREAK, body))["Status"]

    def lock(self, flags: int) -> int:
        body = struct.pack("<HHI", 48, 1, 0) + self.file + struct.pack("<QQII", 0, 4, flags, 0)
        return self.smb.recvSMB(self.send(SMB2_LOCK, body))["Status"]

    def get(self):
        return self.rest.send("GET", self.path)

    def put(self):
        return self.rest.send("PUT", self.path, body=b"rest", headers=RANGE, query={"comp": "range"})


@pytest.fixture
def holder(share):
    opened: list[Holder] = []

    def make(oplock: int) -> Holder:
        opened.append(Holder(share, oplock))
        return opened[-1]

    yield make
    for each in opened:
        each.client.close()


class Asked:
    """A REST request under way."""

    def __init__(self, send) -> None:
        self.reply = None
        self.thread = threading.Thread(target=lambda: setattr(self, "reply", send()))
        self.thread.start()

    def done(self):
        self.thread.join(30)
        assert self.reply is not None, "the request never ended"
        return self.reply


def test_rest_reads_what_the_client_had_cached(holder):
    client = holder(BATCH)
    asked = Asked(client.get)
    assert client.broken_to() == LEVEL2
    assert asked.reply is None, "it waits for the client"
    client.smb.write(client.tree, client.file, b"smb!", 0, 4)
    assert client.answer(LEVEL2) == 0
    assert asked.done().expect(200).body == b"smb!"


def test_a_write_over_rest_ends_all_caching(holder):
    client = holder(BATCH)
    asked = Asked(client.put)
    assert client.broken_to() == NONE
    assert asked.reply is None, "it waits for the client"
    assert client.answer(NONE) == 0
    asked.done().expect(201)
    assert client.smb.read(client.tree, client.file, 0, 4) == b"rest"


def test_cached_reads_end_without_waiting(holder):
    client = holder(LEVEL2)
    client.put().expect(201)
    assert client.broken_to() == NONE


def test_a_cached_handle_is_let_go_for_a_delete(holder):
    client = holder(BATCH)
    asked = Asked(lambda: client.rest.send("DELETE", client.path))
    assert client.broken_to() == LEVEL2
    client.smb.close(client.tree, client.file)
    asked.done().expect(202)


def test_locks(holder):
    client = holder(NONE)
    assert client.lock(EXCLUSIVE | FAIL_IMMEDIATELY) == 0
    client.get().expect(409, "FileLockConflict")
    client.put().expect(409, "FileLockConflict")
    client.rest.send("HEAD", client.path).expect(200)
    assert client.lock(UNLOCK) == 0
    client.put().expect(201)
