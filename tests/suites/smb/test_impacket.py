"""impacket: it starts with SMB 1 and asks for more, and lists shares over RPC."""

from __future__ import annotations

import io
import os

import pytest
from impacket.smb3structs import SMB2_DIALECT_002, SMB2_DIALECT_21, SMB2_DIALECT_30, SMB2_DIALECT_311
from impacket.smbconnection import SessionError, SMBConnection

DIALECTS = (None, SMB2_DIALECT_002, SMB2_DIALECT_21, SMB2_DIALECT_30, SMB2_DIALECT_311)


def connect(share, dialect=None, user=None, key=None):
    connection = SMBConnection(
        "ZAFFRE", share.host, sess_port=share.port, preferredDialect=dialect, timeout=30
    )
    connection.login(user or share.account, share.key if key is None else key)
    return connection


@pytest.mark.parametrize("dialect", DIALECTS)
def test_files(share, dialect):
    connection = connect(share, dialect)
    body = os.urandom(200_000)
    connection.createDirectory(share.name, "d")
    connection.putFile(share.name, "d\\f", io.BytesIO(body).read)
    got = io.BytesIO()
    connection.getFile(share.name, "d\\F", got.write)
    assert got.getvalue() == body
    names = {entry.get_longname() for entry in connection.listPath(share.name, "d\\*")}
    assert names == {".", "..", "f"}
    connection.deleteFile(share.name, "d\\f")
    connection.deleteDirectory(share.name, "d")
    connection.logoff()


def test_shares(share):
    names = {entry["shi1_netname"][:-1] for entry in connect(share).listShares()}
    assert {share.name, "IPC$"} <= names


@pytest.mark.parametrize(("user", "key"), [(None, "wrong"), ("nobody1", None), ("", "")])
def test_strangers(share, user, key):
    with pytest.raises(SessionError, match="LOGON_FAILURE"):
        connect(share, user=user, key=key)
