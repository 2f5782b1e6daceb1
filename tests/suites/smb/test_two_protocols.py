"""Random operations by two SMB clients and a REST client on one tree, each answer judged by a model.

ZAFFRE_SEED replays a run; every failure prints the steps of its round.
"""

from __future__ import annotations

import os
import random
import uuid

import pytest
from azure.core.exceptions import HttpResponseError
from impacket import nt_errors
from impacket.smb3 import SessionError

from .conftest import Share
from .two_doors import (
    CREATE_NEW,
    DELETE_ON_CLOSE,
    EXCLUSIVE,
    FAIL_IMMEDIATELY,
    OPEN,
    RIGHTS,
    SHARED,
    SHARES,
    UNLOCK,
    RestClient,
    SmbClient,
)
from .two_doors_model import Handle, Node, Refused, Tree

ROUNDS, STEPS, MOST_HANDLES, MOST_BYTES = 12, 150, 6, 2048
DIRECTORIES, FILES = ("d", "e"), ("one", "Two", "three")
STATUS = {getattr(nt_errors, f"STATUS_{name}"): name for name in (
    "OBJECT_PATH_NOT_FOUND", "OBJECT_NAME_NOT_FOUND", "DELETE_PENDING", "OBJECT_NAME_COLLISION",
    "SHARING_VIOLATION", "FILE_LOCK_CONFLICT", "END_OF_FILE", "ACCESS_DENIED", "LOCK_NOT_GRANTED",
    "RANGE_NOT_LOCKED")}  # fmt: skip


class Round:
    """One share, its clients, and the model of it."""

    def __init__(self, share: Share, seed: int) -> None:
        self.random, self.model = random.Random(seed), Tree()
        self.rest = RestClient(share)
        self.clients = [SmbClient(share), SmbClient(share)]
        self.steps: list[str] = []
        self.refused = 0

    # Choices.

    def path(self) -> str:
        name = self.random.choice(FILES)
        name = self.random.choice((name, name.upper()))
        return self.random.choice((name, *(f"{d}/{name}" for d in DIRECTORIES)))

    def handles(self) -> list[Handle]:
        return [handle for node in self.model.nodes.values() for handle in node.handles]

    def letters(self) -> set[str]:
        return {letter for letter in "RWD" if self.random.random() < 0.6}

    def bytes(self) -> bytes:
        return self.random.randbytes(self.random.randint(1, 700))

    def lease(self, path: str) -> str | None:
        """The id of the lease, as its holder would send it; now and then somebody else comes."""
        node = self.model.get(path)
        return node.lease if node and self.random.random() < 0.7 else None

    # Judging.

    def both(self, text: str, expect, do):
        """Asks the model, then the server; both must refuse alike or answer alike."""
        self.steps.append(text)
        try:
            want, refusals = expect(), [None]
        except Refused as refused:
            want, refusals = None, str(refused).split("|")
        got, answer = None, None
        try:
            got = do()
        except SessionError as error:
            answer = STATUS.get(error.get_error_code(), hex(error.get_error_code()))
        except HttpResponseError as error:
            answer = str(getattr(error.error_code, "value", error.error_code))
        assert answer in refusals, f"{text}: {answer}, not {refusals}"
        self.refused += answer is not None
        if want is not None:
            assert got == want, f"{text}: other bytes or names"
        return got

    def done(self, status: int) -> None:
        if status:
            raise SessionError(status)

    # Steps over SMB.

    def open(self) -> None:
        if len(self.handles()) >= MOST_HANDLES:
            return self.close()
        access, share = self.letters(), self.letters() | self.letters()
        handle = Handle(self.random.choice(self.clients), b"", self.path(), access, share, False)
        handle.on_close = "D" in access and self.random.random() < 0.15
        disposition = self.random.choice(("open", "open", "create"))

        def do() -> None:
            handle.id = handle.client.open(
                handle.path.replace("/", "\\"), sum(RIGHTS[a] for a in access),
                sum(SHARES[s] for s in share), DELETE_ON_CLOSE if handle.on_close else 0,
                CREATE_NEW if disposition == "create" else OPEN)  # fmt: skip

        self.both(f"{disposition} {handle.path} {access} sharing {share} {handle.on_close}",
                  lambda: self.model.open(handle, disposition), do)  # fmt: skip

    def some(self) -> Handle | None:
        return self.random.choice(self.handles() or [None])

    def close(self) -> None:
        if handle := self.some():
            self.both(f"close {handle.path}", lambda: self.model.close(handle),
                      lambda: handle.client.close(handle.id))  # fmt: skip

    def smb_write(self) -> None:
        if handle := self.some():
            data, offset = self.bytes(), self.random.randint(0, MOST_BYTES)
            self.both(f"smb write {handle.path} {offset}+{len(data)}",
                      lambda: self.model.smb_write(handle, data, offset),
                      lambda: handle.client.write(handle.id, data, offset))  # fmt: skip

    def smb_read(self) -> None:
        if handle := self.some():
            offset, length = self.random.randint(0, MOST_BYTES), self.random.randint(1, MOST_BYTES)
            self.both(f"smb read {handle.path} {offset}+{length}",
                      lambda: self.model.smb_read(handle, offset, length),
                      lambda: handle.client.read(handle.id, offset, length))  # fmt: skip

    def lock(self) -> None:
        if (handle := self.some()) and handle.access & {"R", "W"}:
            offset, length = self.random.randint(0, MOST_BYTES), self.random.randint(1, 600)
            exclusive = self.random.random() < 0.5
            kind = (EXCLUSIVE if exclusive else SHARED) | FAIL_IMMEDIATELY
            self.both(f"lock {handle.path} {offset}+{length} {exclusive}",
                      lambda: self.model.lock(handle, offset, length, exclusive),
                      lambda: self.done(handle.client.lock(handle.id, offset, length, kind)))  # fmt: skip

    def unlock(self) -> None:
        if (handle := self.some()) and handle.access & {"R", "W"}:
            offset, length, _ = self.random.choice(handle.locks or [(7, 7, False)])
            self.both(f"unlock {handle.path} {offset}+{length}",
                      lambda: self.model.unlock(handle, offset, length),
                      lambda: self.done(handle.client.lock(handle.id, offset, length, UNLOCK)))  # fmt: skip

    def mark(self) -> None:
        if handle := self.some():
            delete = self.random.random() < 0.6
            self.both(f"mark {handle.path} {delete}", lambda: self.model.mark(handle, delete),
                      lambda: handle.client.mark(handle.id, delete))  # fmt: skip

    def smb_rename(self) -> None:
        handle, target = self.some(), self.path()
        if handle and not self.model.get(handle.path).pending:
            self.both(f"smb rename {handle.path} to {target}",
                      lambda: self.model.smb_rename(handle, target),
                      lambda: handle.client.rename(handle.id, target, False))  # fmt: skip

    # Steps over REST.

    def rest_create(self) -> None:
        path, size = self.path(), self.random.randint(0, MOST_BYTES)
        lease = self.lease(path)
        self.both(f"create {path} {size}", lambda: self.model.rest_create(path, size, lease),
                  lambda: void(self.rest.file(path).create_file(size, lease=lease)))  # fmt: skip

    def rest_write(self) -> None:
        path, data, offset = self.path(), self.bytes(), self.random.randint(0, MOST_BYTES)
        lease = self.lease(path)
        self.both(f"put range {path} {offset}+{len(data)}",
                  lambda: self.model.rest_write(path, data, offset, lease),
                  lambda: void(self.rest.file(path).upload_range(data, offset, len(data), lease=lease)))  # fmt: skip

    def rest_read(self) -> None:
        path = self.path()
        self.both(f"get {path}", lambda: self.model.rest_read(path),
                  lambda: self.rest.file(path).download_file().readall())  # fmt: skip

    def rest_resize(self) -> None:
        path, size = self.path(), self.random.randint(0, MOST_BYTES)
        lease = self.lease(path)
        self.both(f"resize {path} {size}", lambda: self.model.rest_resize(path, size, lease),
                  lambda: void(self.rest.file(path).resize_file(size, lease=lease)))  # fmt: skip

    def rest_delete(self) -> None:
        path = self.path()
        lease = self.lease(path)
        self.both(f"delete {path}", lambda: self.model.rest_delete(path, lease),
                  lambda: void(self.rest.file(path).delete_file(lease=lease)))  # fmt: skip

    def rest_rename(self) -> None:
        path, target = self.path(), self.path()
        if not self.model.parent_is_there(target) or path.lower() == target.lower():
            return
        lease = self.lease(path)
        self.both(f"rename {path} to {target}", lambda: self.model.rest_rename(path, target, lease),
                  lambda: void(self.rest.file(path).rename_file(target, source_lease=lease)))  # fmt: skip

    def rest_lease(self) -> None:
        path, lease = self.path(), str(uuid.UUID(int=self.random.getrandbits(128)))
        node = self.model.get(path)
        if node and node.lease and self.random.random() < 0.7:
            held, node.lease = node.lease, None
            self.both(f"release {path}", lambda: None, lambda: void(
                self.lease_of(path, held).release()))  # fmt: skip
            return
        self.both(f"lease {path}", lambda: self.model.rest_acquire(path, lease),
                  lambda: void(self.rest.file(path).acquire_lease(lease_id=lease)))  # fmt: skip

    def lease_of(self, path: str, held: str):
        from azure.storage.fileshare import ShareLeaseClient

        return ShareLeaseClient(self.rest.file(path), held)

    def mkdir(self) -> None:
        path = self.random.choice(DIRECTORIES)
        self.both(f"mkdir {path}", lambda: self.make_directory(path),
                  lambda: void(self.rest.directory(path).create_directory()))  # fmt: skip

    def make_directory(self, path: str) -> None:
        if self.model.get(path) is not None:
            raise Refused("ResourceAlreadyExists")
        self.model.put(path, Node(None))

    def rmdir(self) -> None:
        path = self.random.choice(DIRECTORIES)
        self.both(f"rmdir {path}", lambda: self.model.rest_rmdir(path),
                  lambda: void(self.rest.directory(path).delete_directory()))  # fmt: skip

    def rename_directory(self) -> None:
        path, target = self.random.sample(DIRECTORIES, 2)
        self.both(f"rename directory {path} to {target}",
                  lambda: self.model.rest_rename_directory(path, target),
                  lambda: void(self.rest.directory(path).rename_directory(target)))  # fmt: skip

    def listed(self) -> None:
        path = self.random.choice(("", *DIRECTORIES))
        if path and self.model.get(path) is None:
            return
        self.both(f"list {path}", lambda: self.model.listed(path), lambda: self.rest.listed(path))
        client = self.random.choice(self.clients)
        self.both(f"smb list {path}", lambda: self.model.listed(path, pending=True),
                  lambda: names(client, path))  # fmt: skip

    def end(self) -> None:
        """Everything closed: the same tree at both doors."""
        while self.handles():
            self.close()
        for path in ("", *DIRECTORIES):
            if not path or self.model.get(path):
                self.both(f"list {path}", lambda path=path: self.model.listed(path),
                          lambda path=path: self.rest.listed(path))  # fmt: skip
        for path, node in list(self.model.nodes.items()):
            if node.data is None:
                continue
            self.both(f"get {path}", lambda node=node: bytes(node.data),
                      lambda path=path: self.rest.file(path).download_file().readall())  # fmt: skip
            handle = self.clients[0].open(path.replace("/", "\\"), RIGHTS["R"])
            if node.data:
                assert self.clients[0].read(handle, 0, 4096) == bytes(node.data), path
            self.clients[0].close(handle)

    STEP = (
        open, open, open, open, close, close, smb_write, smb_write, smb_read, smb_read, lock, unlock,
        mark, smb_rename, rest_create, rest_create, rest_write, rest_write, rest_read, rest_read,
        rest_resize, rest_delete, rest_rename, rest_lease, rest_lease, mkdir, mkdir, rmdir,
        rename_directory, listed,
    )  # fmt: skip

    def run(self) -> None:
        for _ in range(STEPS):
            self.random.choice(self.STEP)(self)
        self.end()


def void(_) -> None:
    """The answer does not matter, only that there was no refusal."""


def names(client: SmbClient, path: str) -> set[str]:
    found = client.connection.listPath(client.share_name, f"{path}\\*" if path else "*")
    return {entry.get_longname() for entry in found} - {".", ".."}


def test_two_protocols_on_one_tree(server):
    first = int(os.environ.get("ZAFFRE_SEED", random.randrange(1 << 32)))
    rounds = int(os.environ.get("ZAFFRE_ROUNDS", ROUNDS))
    steps = refused = 0
    for seed in range(first, first + rounds):
        share = Share(server, f"two{seed}")
        game = Round(share, seed)
        try:
            game.run()
        except Exception:
            print("\n".join(game.steps[-40:]))
            print(f"-- replay with ZAFFRE_SEED={seed} ZAFFRE_ROUNDS=1")
            raise
        finally:
            for client in game.clients:
                client.vanish()
        steps, refused = steps + len(game.steps), refused + game.refused
    print(f"-- two protocols: {rounds} trees, {steps} steps, {refused} of them refused, seed {first}")
    assert steps > 60 * rounds and refused > steps // 10, "too little was tried"
    assert refused < steps * 3 // 4, "too little was done"


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level("ERROR", logger="azure")
