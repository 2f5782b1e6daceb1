"""SMB handles beside REST operations: the tables of spec/file_rest_*.csv over both wires."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from smbprotocol.connection import Connection
from smbprotocol.file_info import FileDispositionInformation
from smbprotocol.open import (
    CreateDisposition,
    CreateOptions,
    FileAttributes,
    ImpersonationLevel,
    Open,
    SMB2SetInfoRequest,
)
from smbprotocol.session import Session
from smbprotocol.tree import TreeConnect

SPEC = Path(__file__).resolve().parents[3] / "spec"
DELETE, ATTRIBUTES = 0x1_0000, 0x80
RIGHTS = {"R": 0x1, "W": 0x2, "D": DELETE}
SHARES = {"R": 0x1, "W": 0x2, "D": 0x4}


def rows(table: str) -> list[dict[str, str]]:
    lines = [line for line in (SPEC / table).read_text().splitlines() if not line.startswith("#")]
    head, *cells = [[cell.strip() for cell in line.split(",")] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in cells]


def bits(letters: str, of: dict[str, int]) -> int:
    return sum(bit for letter, bit in of.items() if letters not in ("none", "attributes") and letter in letters)


class Beside:
    """A file that SMB has open and REST asks for."""

    def __init__(self, share, tree) -> None:
        self.share, self.tree, self.rest = share, tree, share.rest
        self.name = f"f{uuid.uuid4().hex[:8]}"
        self.path = f"/{share.name}/{self.name}"
        self.create().expect(201)

    def create(self):
        headers = {"x-ms-type": "file", "x-ms-content-length": "512"}
        return self.rest.send("PUT", self.path, headers=headers)

    def open(self, access: int, share_access: int, options: int = 0) -> Open:
        opened = Open(self.tree, self.name)
        opened.create(ImpersonationLevel.Impersonation, access | ATTRIBUTES,
                      FileAttributes.FILE_ATTRIBUTE_NORMAL, share_access,
                      CreateDisposition.FILE_OPEN, options)  # fmt: skip
        return opened

    def run(self, operation: str):
        """(the answer, the status of a success)"""
        send, path = self.rest.send, self.path
        return {
            "Create File": lambda: (self.create(), 201),
            "Get File": lambda: (send("GET", path), 200),
            "Get File Properties": lambda: (send("HEAD", path), 200),
            "Set File Properties": lambda: (send("PUT", path, query={"comp": "metadata"}), 200),
            "Put Range": lambda: (
                send("PUT", path, body=b"x" * 512, query={"comp": "range"},
                     headers={"x-ms-write": "update", "x-ms-range": "bytes=0-511"}), 201),
            "List Ranges": lambda: (send("GET", path, query={"comp": "rangelist"}), 200),
            "Delete File": lambda: (send("DELETE", path), 202),
            "Lease File": lambda: (
                send("PUT", path, query={"comp": "lease"},
                     headers={"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1"}), 201),
        }[operation]()  # fmt: skip


@pytest.fixture
def tree(share):
    connection = Connection(uuid.uuid4(), share.host, share.port)
    connection.connect(timeout=10)
    session = Session(connection, share.account, share.key, auth_protocol="ntlm")
    session.connect()
    tree = TreeConnect(session, rf"\\{share.host}\{share.name}")
    tree.connect()
    yield tree
    connection.disconnect()


def test_every_share_mode_against_every_operation(share, tree):
    ran = 0
    for row in rows("file_rest_sharing.csv"):
        beside = Beside(share, tree)
        opened = beside.open(bits(row["access"], RIGHTS), bits(row["share"], SHARES))
        answer, good = beside.run(row["operation"])
        if row["outcome"] == "ok":
            answer.expect(good)
        else:
            answer.expect(409, row["outcome"])
        opened.close(get_attributes=False)
        ran += 1
    assert ran == 118


OPERATIONS = ("Get File", "Put Range", "List Ranges", "Set File Properties", "Delete File",
              "Lease File", "Create File")  # fmt: skip


def mark(opened: Open, delete: bool) -> None:
    request = SMB2SetInfoRequest()
    request["info_type"], request["file_info_class"] = 1, 13
    request["file_id"] = opened.file_id
    info = FileDispositionInformation()
    info["delete_pending"] = delete
    request["buffer"] = info
    connection = opened.connection
    session, tree = opened.tree_connect.session, opened.tree_connect
    connection.receive(connection.send(request, session.session_id, tree.tree_connect_id))


def test_a_file_marked_for_deletion(share, tree):
    beside = Beside(share, tree)
    opened = beside.open(RIGHTS["R"] | DELETE, 7)
    mark(opened, True)
    for operation in OPERATIONS:
        beside.run(operation)[0].expect(409, "DeletePending")
    listed = share.rest.send("GET", f"/{share.name}", query={"restype": "directory", "comp": "list"})
    assert beside.name.encode() not in listed.body
    mark(opened, False)
    beside.run("Get File")[0].expect(200)
    mark(opened, True)
    opened.close(get_attributes=False)
    beside.run("Get File")[0].expect(404, "ResourceNotFound")


def test_delete_on_close_marks_when_it_closes(share, tree):
    beside = Beside(share, tree)
    opened = beside.open(RIGHTS["R"] | DELETE, 7, CreateOptions.FILE_DELETE_ON_CLOSE)
    beside.run("Get File")[0].expect(200)
    beside.run("Delete File")[0].expect(409, "SharingViolation")
    opened.close(get_attributes=False)
    beside.run("Get File")[0].expect(404, "ResourceNotFound")


def test_a_rest_lease_keeps_smb_writers_out(share, tree):
    beside = Beside(share, tree)
    beside.run("Lease File")[0].expect(201)
    beside.open(RIGHTS["R"], 7).close(get_attributes=False)
    beside.open(0, 7).close(get_attributes=False)
    for letters in ("W", "D", "RW"):
        with pytest.raises(Exception, match="0xc0000043"):
            beside.open(bits(letters, RIGHTS), 7)


def test_handles_are_listed_and_closed_by_force(share, tree):
    beside = Beside(share, tree)
    opened = beside.open(RIGHTS["R"], 7)
    listed = share.rest.send("GET", beside.path, query={"comp": "listhandles"})
    assert listed.expect(200).body.count(b"<HandleId>") == 1
    closed = share.rest.send("PUT", beside.path, query={"comp": "forceclosehandles"},
                             headers={"x-ms-handle-id": "*"})  # fmt: skip
    assert closed.expect(200).headers["x-ms-number-of-handles-closed"] == "1"
    with pytest.raises(Exception, match="0xc0000128"):
        opened.read(0, 1)
    beside.run("Delete File")[0].expect(202)
