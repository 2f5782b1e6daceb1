"""Traffic that must be refused: not signed, tampered with, replayed, cut short, downgraded."""

from __future__ import annotations

import socket
import struct
import uuid

import pytest
from smbprotocol.connection import Connection, Dialects
from smbprotocol.exceptions import AccessDenied, SMBException
from smbprotocol.session import Session
from smbprotocol.tree import TreeConnect

DIALECTS = [Dialects.SMB_2_0_2, Dialects.SMB_2_1_0, Dialects.SMB_3_0_0, Dialects.SMB_3_0_2,
            Dialects.SMB_3_1_1]  # fmt: skip


class Wire:
    """A session whose messages can be changed on their way out."""

    def __init__(self, share, dialect, encrypt=False) -> None:
        self.share = share
        self.connection = Connection(uuid.uuid4(), share.host, share.port)
        self.connection.connect(dialect=dialect, timeout=10)
        self.session = Session(self.connection, share.account, share.key,
                               require_encryption=encrypt, auth_protocol="ntlm")  # fmt: skip
        self.session.connect()
        self.sent: list[bytes] = []

    def changing(self, change) -> None:
        """From now on every message goes through `change`."""
        send = self.connection.transport.send

        def changed(message):
            packed = message.pack() if hasattr(message, "pack") else bytes(message)
            self.sent.append(packed)
            return send(change(packed))

        self.connection.transport.send = changed

    def tree(self):
        tree = TreeConnect(self.session, rf"\\{self.share.host}\{self.share.name}")
        tree.connect(require_secure_negotiate=False)
        return tree

    def close(self) -> None:
        try:
            self.connection.disconnect(close=False, timeout=2)
        except (SMBException, OSError, ValueError):
            pass  # It was cut off, which is what most tests want.


@pytest.fixture
def wire(share):
    opened: list[Wire] = []

    def make(dialect, **options) -> Wire:
        opened.append(Wire(share, dialect, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def plain(share):
    return socket.create_connection((share.host, share.port), timeout=10)


def framed(message: bytes) -> bytes:
    return struct.pack(">I", len(message)) + message


def is_cut_off(connection: socket.socket) -> bool:
    connection.settimeout(10)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("dialect", DIALECTS)
def test_unsigned(wire, dialect):
    at = wire(dialect)
    at.changing(lambda m: m[:16] + bytes([m[16] & ~8]) + m[17:48] + bytes(16) + m[64:])
    with pytest.raises(AccessDenied):
        at.tree()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("where", [14, 28, 50, 70, -1], ids=str)
def test_tampered(wire, dialect, where):
    at = wire(dialect)

    def flip(message: bytes) -> bytes:
        changed = bytearray(message)
        changed[where] ^= 1
        return bytes(changed)

    at.changing(flip)
    with pytest.raises((SMBException, OSError)):
        at.tree()


@pytest.mark.parametrize("dialect", DIALECTS[2:])
@pytest.mark.parametrize("where", [4, 20, 44, 60, -1], ids=str)
def test_tampered_when_encrypted(wire, dialect, where):
    at = wire(dialect, encrypt=True)

    def flip(message: bytes) -> bytes:
        changed = bytearray(message)
        changed[where] ^= 1
        return bytes(changed)

    at.changing(flip)
    with pytest.raises((SMBException, OSError)):
        at.tree()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_replayed(wire, dialect):
    at = wire(dialect)
    at.changing(lambda message: message)
    tree = at.tree()
    at.connection.transport.send(at.sent[0])
    with pytest.raises((SMBException, OSError)):
        tree.disconnect()


def test_a_request_of_another_session(wire):
    one, other = wire(Dialects.SMB_3_1_1), wire(Dialects.SMB_3_1_1)
    foreign = struct.pack("<Q", one.session.session_id)
    other.changing(lambda m: m[:40] + foreign + m[48:])
    with pytest.raises((SMBException, OSError)):
        other.tree()


@pytest.mark.parametrize("dialect", [Dialects.SMB_3_0_0, Dialects.SMB_3_0_2])
def test_downgraded(share, wire, dialect):
    at = wire(dialect)
    # As if somebody in between had changed what the client said of itself.
    at.connection.client_guid = uuid.uuid4()
    tree = TreeConnect(at.session, rf"\\{share.host}\{share.name}")
    with pytest.raises((SMBException, OSError)):
        tree.connect(require_secure_negotiate=True)


@pytest.mark.parametrize("dialect", [Dialects.SMB_3_0_0, Dialects.SMB_3_0_2])
def test_not_downgraded(share, wire, dialect):
    at = wire(dialect)
    TreeConnect(at.session, rf"\\{share.host}\{share.name}").connect(require_secure_negotiate=True)


SMB1 = b"\xffSMB\x72" + bytes(27) + b"\0" + struct.pack("<H", 12) + b"\x02NT LM 0.12\0"


@pytest.mark.parametrize(
    "message",
    [SMB1, b"\xfeSMB", b"\xfeSMB" + bytes(60), b"GET / HTTP/1.1\r\n\r\n", bytes(64),
     b"\xfdSMB" + bytes(200), b"\xfeSMB\x40\0" + bytes(58)],
    ids=["smb1", "short", "no-size", "http", "zeros", "encrypted", "empty-negotiate"],
)  # fmt: skip
def test_strangers_are_cut_off_or_refused(share, message):
    with plain(share) as connection:
        connection.sendall(framed(message))
        connection.settimeout(10)
        answer = connection.recv(4096)
        if answer:
            (status,) = struct.unpack("<I", answer[12:16])
            assert status == 0xC000000D, "only what is no request at all is answered"


@pytest.mark.parametrize("length", [0, 128 * 1024 + 1, 0xFFFFFF, 0x81000044, 0xFFFFFFFF])
def test_lengths_are_not_believed(share, length):
    with plain(share) as connection:
        connection.sendall(struct.pack(">I", length) + bytes(64))
        assert is_cut_off(connection)


def test_every_cut_of_a_message(share, wire):
    at = wire(Dialects.SMB_3_1_1)
    at.changing(lambda message: message)
    at.tree()
    whole = at.sent[0]
    for length in range(1, len(whole), 3):
        with plain(share) as connection:
            connection.sendall(framed(whole[:length]))
            assert is_cut_off(connection), length
    assert share.server.alive()
