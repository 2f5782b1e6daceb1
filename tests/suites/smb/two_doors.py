"""One file at two doors: an SMB client (impacket) and a REST client (the File SDK) on the same share."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import uuid

from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import ContentSettings, ShareServiceClient
from impacket.smb3 import SessionError
from impacket.smb3structs import SMB2_CLOSE, SMB2_LOCK, SMB2_OPLOCK_BREAK
from impacket.smbconnection import SMBConnection

RIGHTS = {"R": 0x1, "W": 0x2, "D": 0x1_0000}
ATTRIBUTES = 0x80
SHARES = {"R": 0x1, "W": 0x2, "D": 0x4}
SHARE_ALL = 0x7
CREATE_NEW, OPEN, OVERWRITE_IF = 2, 1, 5
DIRECTORY, DELETE_ON_CLOSE = 0x1, 0x1000
LEASE = 0xFF
CACHING = {"R": 0x1, "H": 0x2, "W": 0x4}
SHARED, EXCLUSIVE, UNLOCK, FAIL_IMMEDIATELY = 0x1, 0x2, 0x4, 0x10
BASIC, RENAME, DISPOSITION, END_OF_FILE = 4, 10, 13, 20
NOTICE = 0xFFFF_FFFF_FFFF_FFFF


def bits(letters: str, of: dict[str, int]) -> int:
    return sum(bit for letter, bit in of.items() if letters not in ("none", "attributes") and letter in letters)


class Context:
    """A create context as it stands on the wire."""

    def __init__(self, tag: bytes, data: bytes) -> None:
        self.tag, self.data = tag, data

    def getData(self) -> bytes:
        head = struct.pack("<IHHHHI", 0, 16, len(self.tag), 0, 24, len(self.data))
        return (head + self.tag).ljust(24, b"\0") + self.data


class SmbClient:
    """A session on a share, with handles by number."""

    def __init__(self, share) -> None:
        self.connection = SMBConnection("ZAFFRE", share.host, sess_port=share.port, timeout=20)
        self.connection.login(share.account, share.key)
        self.smb = self.connection.getSMBServer()
        self.share_name = share.name
        self.tree = self.connection.connectTree(share.name)

    def open(self, name: str, access: int, share: int = SHARE_ALL, options: int = 0,
             disposition: int = OPEN, oplock: int = 0, contexts=None) -> bytes:  # fmt: skip
        return self.smb.create(self.tree, name, access | ATTRIBUTES, share, options, disposition, 0,
                               oplockLevel=oplock, createContexts=contexts)  # fmt: skip

    def lease(self, name: str, access: int, caching: str) -> bytes:
        """Opens with a lease of this caching."""
        self.key = uuid.uuid4().bytes
        wanted = struct.pack("<16sIIQ", self.key, bits(caching, CACHING), 0, 0)
        return self.open(name, access, oplock=LEASE, contexts=[Context(b"RqLs", wanted)])

    def send(self, command: int, body: bytes) -> int:
        packet = self.smb.SMB_PACKET()
        packet["Command"], packet["TreeID"], packet["Data"] = command, self.tree, body
        return self.smb.sendSMB(packet)

    def told(self) -> tuple[int, int, bool]:
        """The next notice of a broken lease: from, to, whether it wants an answer."""
        data = self.smb.recvSMB(NOTICE)["Data"]
        # The client takes the notice for an answer that gave a message's number back.
        self.smb._Connection["SequenceWindow"] += 1
        _, _, flags, key, held, left = struct.unpack("<HHI16sII", data[:32])
        assert key == self.key, "the lease that was broken is ours"
        return held, left, bool(flags & 1)

    def answer(self, caching: int) -> int:
        body = struct.pack("<HHI16sIQ", 36, 0, 0, self.key, caching, 0)
        return self.smb.recvSMB(self.send(SMB2_OPLOCK_BREAK, body))["Status"]

    def lock(self, handle: bytes, offset: int, length: int, flags: int) -> int:
        """The status of the answer."""
        body = struct.pack("<HHI", 48, 1, 0) + handle + struct.pack("<QQII", offset, length, flags, 0)
        return self.smb.recvSMB(self.send(SMB2_LOCK, body))["Status"]

    def mark(self, handle: bytes, delete: bool) -> None:
        self.smb.setInfo(self.tree, handle, bytes([delete]), fileInfoClass=DISPOSITION)

    def resize(self, handle: bytes, size: int) -> None:
        self.smb.setInfo(self.tree, handle, struct.pack("<Q", size), fileInfoClass=END_OF_FILE)

    def rename(self, handle: bytes, target: str, replace: bool) -> None:
        name = target.replace("/", "\\").encode("utf-16le")
        info = struct.pack("<B7xQI", replace, 0, len(name)) + name
        self.smb.setInfo(self.tree, handle, info, fileInfoClass=RENAME)

    def read(self, handle: bytes, offset: int, length: int) -> bytes:
        return self.smb.read(self.tree, handle, offset, length)

    def write(self, handle: bytes, data: bytes, offset: int) -> None:
        self.smb.write(self.tree, handle, data, offset, len(data))

    def close(self, handle: bytes) -> None:
        # Its own way to close forgets the file's name, and fails when a name was open twice.
        body = struct.pack("<HHI", 24, 0, 0) + handle
        status = self.smb.recvSMB(self.send(SMB2_CLOSE, body))["Status"]
        if status:
            raise SessionError(status)

    def vanish(self) -> None:
        """Leaves without a word, and waits until the server has seen that: it then hangs up too."""
        line = self.smb._NetBIOSSession.get_socket()
        with contextlib.suppress(OSError):
            line.shutdown(socket.SHUT_WR)
            while line.recv(1 << 16):
                pass
        line.close()


class RestClient:
    """The File SDK on the share; every call is tried once."""

    def __init__(self, share) -> None:
        service = ShareServiceClient(f"{share.server.file_url}/{share.account}", credential={
            "account_name": share.account, "account_key": share.key}, retry_total=0)  # fmt: skip
        self.share = service.get_share_client(share.name)
        self.root = self.share.get_directory_client("")

    def file(self, name: str):
        return self.share.get_file_client(name)

    def directory(self, name: str):
        return self.share.get_directory_client(name)

    def listed(self, name: str = "") -> set[str]:
        return {entry.name for entry in self.directory(name).list_directories_and_files()}

    def run(self, operation: str, name: str) -> str:
        """Runs an operation of the tables: `ok`, or the error's code."""
        return outcome(self.operations(name)[operation])

    def operations(self, name: str):
        file, directory = self.file(name), self.directory(name)
        return {
            "Create File": lambda: file.create_file(512),
            "Get File": lambda: file.download_file().readall(),
            "Get File inside": lambda: file.download_file(offset=150, length=10).readall(),
            "Get File beside": lambda: file.download_file(offset=200, length=10).readall(),
            "Get File Properties": file.get_file_properties,
            "Set File Properties": lambda: file.set_http_headers(ContentSettings()),
            "Set File Size below": lambda: file.resize_file(150),
            "Set File Size above": lambda: file.resize_file(300),
            "Put Range": lambda: file.upload_range(b"r" * 512, 0, 512),
            "List Ranges": lambda: list(file.list_ranges()),
            "List Ranges inside": lambda: list(file.list_ranges(offset=150, length=10)),
            "List Ranges beside": lambda: list(file.list_ranges(offset=200, length=10)),
            "Delete File": file.delete_file,
            "Lease File": file.acquire_lease,
            "Rename File": lambda: file.rename_file(f"{name}-renamed"),
            "Delete Directory": directory.delete_directory,
            "Rename Directory": lambda: directory.rename_directory(f"{name}-renamed"),
            "List": lambda: self.listed(),
        }


def outcome(call) -> str:
    try:
        call()
    except HttpResponseError as error:
        assert error.status_code == 409, f"{error.status_code} {error.error_code}"
        return str(getattr(error.error_code, "value", error.error_code))
    return "ok"


class Asked:
    """A REST operation under way."""

    def __init__(self, call) -> None:
        self.reply = None
        self.thread = threading.Thread(target=lambda: setattr(self, "reply", call()))
        self.thread.start()

    def waits(self) -> bool:
        return self.reply is None

    def done(self) -> str:
        self.thread.join(40)
        assert self.reply is not None, "the operation never ended"
        return self.reply
