"""SMB handles beside REST operations: the tables of spec/file_rest_*.csv, a real client at each door."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from impacket.nt_errors import STATUS_FILE_CLOSED, STATUS_SHARING_VIOLATION
from impacket.smb3 import SessionError

from .two_doors import (
    CACHING,
    DELETE_ON_CLOSE,
    DIRECTORY,
    EXCLUSIVE,
    FAIL_IMMEDIATELY,
    RIGHTS,
    SHARED,
    SHARES,
    UNLOCK,
    Asked,
    Context,
    RestClient,
    SmbClient,
    bits,
)

SPEC = Path(__file__).resolve().parents[3] / "spec"
ALL = RIGHTS["R"] | RIGHTS["W"] | RIGHTS["D"]
BATCH = 9


def rows(table: str) -> list[dict[str, str]]:
    lines = [line for line in (SPEC / table).read_text().splitlines() if not line.startswith("#")]
    head, *cells = [[cell.strip() for cell in line.split(",")] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in cells]


class Doors:
    """Both clients, and fresh names."""

    def __init__(self, share) -> None:
        self.share, self.rest = share, RestClient(share)
        self.clients: list[SmbClient] = []
        self.smb = self.client()
        self.serial = itertools.count(1)

    def client(self) -> SmbClient:
        self.clients.append(SmbClient(self.share))
        return self.clients[-1]

    def name(self) -> str:
        return f"n{next(self.serial)}"

    def file(self) -> str:
        name = self.name()
        self.rest.file(name).create_file(512)
        return name

    def directory(self) -> str:
        name = self.name()
        self.rest.directory(name).create_directory()
        return name


@pytest.fixture
def doors(share):
    both = Doors(share)
    yield both
    for client in both.clients:
        client.vanish()


def test_every_share_mode_against_every_operation(doors):
    ran = 0
    for row in rows("file_rest_sharing.csv"):
        name = doors.file()
        opened = doors.smb.open(name, bits(row["access"], RIGHTS), bits(row["share"], SHARES))
        assert doors.rest.run(row["operation"], name) == row["outcome"], row
        doors.smb.close(opened)
        ran += 1
    assert ran == 118


def test_every_lock_against_every_operation(doors):
    kinds, ran = {"shared": SHARED, "exclusive": EXCLUSIVE}, 0
    for row in rows("file_rest_locks.csv"):
        name = doors.file()
        opened = doors.smb.open(name, RIGHTS["R"] | RIGHTS["W"])
        assert doors.smb.lock(opened, 100, 100, kinds[row["lock"]] | FAIL_IMMEDIATELY) == 0
        assert doors.rest.run(row["operation"], name) == row["outcome"], row
        if row["outcome"] != "ok":
            assert doors.smb.lock(opened, 100, 100, UNLOCK) == 0
            assert doors.rest.run(row["operation"], name) == "ok", f"unlocked: {row}"
        doors.smb.close(opened)
        ran += 1
    assert ran == 22


# Only files have durable handles, so no client can leave a directory behind open; what it left open
# inside of a directory stands against renaming that.
NO_CLIENT_CAN = {("disconnected", "Delete Directory")}


def test_every_deletion_against_every_operation(doors):
    ran = 0
    for row in rows("file_rest_deletion.csv"):
        if (row["state"], row["operation"]) in NO_CLIENT_CAN:
            continue
        ran += 1
        assert deleting(doors, row["state"], row["operation"]) == row["outcome"], row
    assert ran == 34


def deleting(doors: Doors, state: str, operation: str) -> str:
    is_directory = operation.endswith("Directory")
    name = doors.directory() if is_directory else doors.file()
    if state == "disconnected":
        held = f"{name}/inside" if is_directory else name
        if is_directory:
            doors.rest.file(held).create_file(512)
        leave_behind(doors, held)
        return doors.rest.run(operation, name)
    options = (DIRECTORY if is_directory else 0) | (DELETE_ON_CLOSE if state == "on close" else 0)
    access = ALL if not is_directory else RIGHTS["R"] | RIGHTS["D"]
    opened = doors.smb.open(name, access, options=options)
    if state == "pending":
        doors.smb.mark(opened, True)
    if state == "cleared and closed":
        doors.smb.mark(opened, True)
        doors.smb.mark(opened, False)
        doors.smb.close(opened)
    got = doors.rest.run(operation, name)
    if operation == "List":
        assert (name in doors.rest.listed()) == (state != "pending")
    if state != "cleared and closed":
        doors.smb.close(opened)
    if state in ("pending", "on close"):
        assert name not in doors.rest.listed(), "gone with its last handle"
    return got


def leave_behind(doors: Doors, name: str) -> None:
    """A durable handle whose client is gone."""
    client = doors.client()
    client.open(name, RIGHTS["R"], oplock=BATCH, contexts=[Context(b"DHnQ", bytes(16))])
    client.vanish()


def test_every_break_by_every_operation(doors):
    ran = 0
    for row in rows("file_rest_breaks.csv"):
        name = doors.file()
        client = doors.client()
        opened = client.lease(name, RIGHTS["R"], row["held"])
        asked = Asked(lambda row=row, name=name: doors.rest.run(row["operation"], name))
        # An open handle that was given back, but not closed, still stands against a deletion.
        want = "SharingViolation" if row["operation"] == "Delete File" else "ok"
        if row["to"] != "-":
            held, left, answer_wanted = client.told()
            assert held == bits(row["held"], CACHING), row
            assert left == bits(row["to"], CACHING), row
            if row["then"] == "wait":
                assert asked.waits() and answer_wanted, row
            if answer_wanted:
                assert client.answer(left) == 0, row
        assert asked.done() == want, row
        client.close(opened)
        client.vanish()
        ran += 1
    assert ran == 27


def test_a_client_that_is_gone_is_not_waited_for(doors):
    name = doors.file()
    client = doors.client()
    client.lease(name, RIGHTS["R"], "RWH")
    asked = Asked(lambda: doors.rest.run("Put Range", name))
    client.told()
    assert asked.waits()
    client.vanish()
    assert asked.done() == "ok"


def test_a_rest_lease_keeps_smb_writers_out(doors):
    name = doors.file()
    assert doors.rest.run("Lease File", name) == "ok"
    for access in (RIGHTS["R"], 0):
        doors.smb.close(doors.smb.open(name, access))
    for letters in ("W", "D", "RW"):
        with pytest.raises(SessionError) as refused:
            doors.smb.open(name, bits(letters, RIGHTS))
        assert refused.value.get_error_code() == STATUS_SHARING_VIOLATION


def test_handles_are_listed_and_closed_by_force(doors):
    name = doors.file()
    opened = doors.smb.open(name, RIGHTS["R"])
    file = doors.rest.file(name)
    assert len(list(file.list_handles())) == 1
    assert file.close_all_handles()["closed_handles_count"] == 1
    with pytest.raises(SessionError) as refused:
        doors.smb.read(opened, 0, 1)
    assert refused.value.get_error_code() == STATUS_FILE_CLOSED
    assert doors.rest.run("Delete File", name) == "ok"


def test_a_forced_close_carries_out_marks_and_makes_none(doors):
    name = doors.file()
    file = doors.rest.file(name)
    doors.smb.open(name, RIGHTS["R"] | RIGHTS["D"], options=DELETE_ON_CLOSE)
    assert file.close_all_handles()["closed_handles_count"] == 1
    assert doors.rest.run("Get File", name) == "ok", "its client did not close it"
    doors.smb.mark(doors.smb.open(name, RIGHTS["R"] | RIGHTS["D"]), True)
    assert doors.rest.run("Get File", name) == "DeletePending"
    assert file.close_all_handles()["closed_handles_count"] == 1
    assert not file.exists()
    file.create_file(1)


def test_handles_below_a_directory(doors):
    name = doors.file()
    doors.smb.open(name, RIGHTS["R"])
    root = doors.rest.directory("")
    assert root.close_all_handles()["closed_handles_count"] == 0
    assert len(list(root.list_handles(recursive=True))) == 1
    assert root.close_all_handles(recursive=True)["closed_handles_count"] == 1


def test_a_deleted_share_cuts_its_clients_off(doors):
    name = doors.file()
    opened = doors.smb.open(name, RIGHTS["R"])
    doors.rest.share.delete_share()
    with pytest.raises(SessionError):
        doors.smb.read(opened, 0, 1)
    with pytest.raises(SessionError):
        doors.smb.open(name, RIGHTS["R"])
