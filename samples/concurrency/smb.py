"""A file on a share, held over SMB: opened with or without sharing, bytes of it locked.

    pip install smbprotocol

`SmbFile` is what concurrency.py uses. Run as a program it obeys lines on its standard input
(`open alone`, `open shared`, `lock 0 5`, `unlock 0 5`, `close`) and answers each with `ok`: for
concurrency.mjs, which has no SMB client of its own.
"""

from __future__ import annotations

import sys
import uuid

from smbprotocol.connection import Connection
from smbprotocol.header import Commands
from smbprotocol.open import (
    CreateDisposition,
    FileAttributes,
    FilePipePrinterAccessMask,
    ImpersonationLevel,
    Open,
    ShareAccess,
)
from smbprotocol.session import Session
from smbprotocol.structure import BytesField, IntField, Structure
from smbprotocol.tree import TreeConnect

EXCLUSIVE_OR_FAIL, UNLOCK = 0x12, 0x04
READ_WRITE = FilePipePrinterAccessMask.FILE_READ_DATA | FilePipePrinterAccessMask.FILE_WRITE_DATA
EVERYBODY = (
    ShareAccess.FILE_SHARE_READ | ShareAccess.FILE_SHARE_WRITE | ShareAccess.FILE_SHARE_DELETE
)


class LockRequest(Structure):
    """SMB2 LOCK of one range ([MS-SMB2] 2.2.26), which smbprotocol does not have."""

    COMMAND = Commands.SMB2_LOCK

    def __init__(self) -> None:
        self.fields = {
            "structure_size": IntField(size=2, default=48),
            "lock_count": IntField(size=2, default=1),
            "lock_sequence": IntField(size=4),
            "file_id": BytesField(size=16),
            "offset": IntField(size=8),
            "length": IntField(size=8),
            "flags": IntField(size=4),
            "reserved": IntField(size=4),
        }
        super().__init__()


class SmbFile:
    """One file, and at most one handle to it at a time."""

    def __init__(self, host: str, port: int, account: str, key: str, share: str, name: str) -> None:
        self.connection = Connection(uuid.uuid4(), host, port)
        self.connection.connect(timeout=10)
        session = Session(self.connection, account, key, auth_protocol="ntlm")
        session.connect()
        self.tree = TreeConnect(session, rf"\\{host}\{share}")
        self.tree.connect()
        self.name, self.handle = name, None

    def open(self, *, shared: bool) -> None:
        self.handle = Open(self.tree, self.name)
        self.handle.create(
            ImpersonationLevel.Impersonation,
            READ_WRITE,
            FileAttributes.FILE_ATTRIBUTE_NORMAL,
            EVERYBODY if shared else 0,
            CreateDisposition.FILE_OPEN,
            0,
        )

    def _lock(self, offset: int, length: int, flags: int) -> None:
        request = LockRequest()
        request["file_id"] = self.handle.file_id
        request["offset"], request["length"], request["flags"] = offset, length, flags
        session, tree = self.tree.session, self.tree
        sent = self.connection.send(request, session.session_id, tree.tree_connect_id)
        self.connection.receive(sent)

    def lock(self, offset: int, length: int) -> None:
        self._lock(offset, length, EXCLUSIVE_OR_FAIL)

    def unlock(self, offset: int, length: int) -> None:
        self._lock(offset, length, UNLOCK)

    def close(self) -> None:
        if self.handle:
            self.handle.close(get_attributes=False)
            self.handle = None

    def end(self) -> None:
        self.close()
        self.connection.disconnect()


def main() -> None:
    host, port, account, key, share, name = sys.argv[1:]
    file = SmbFile(host, int(port), account, key, share, name)
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "open":
            file.open(shared=words == ["shared"])
        elif verb == "close":
            file.close()
        else:
            getattr(file, verb)(*map(int, words))
        print("ok", flush=True)
    file.end()


if __name__ == "__main__":
    main()
