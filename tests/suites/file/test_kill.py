"""kill -9 while files are written and whole directories renamed: what was acknowledged is back."""

from __future__ import annotations

import hashlib
import http.client
import os
import random
import subprocess
import threading
import time

from harness import DEV_ACCOUNT, Client, Server, server_command

CYCLES = 6
WRITERS = 4
LEAST_ACKNOWLEDGED = 100
SEED = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))
SHARE = "/killed"


def digest(body: bytes) -> str:
    return hashlib.md5(body).hexdigest()


class Tree(threading.Thread):
    """Owns one directory: knows its name, and what each file in it holds."""

    def __init__(self, url: str, number: int) -> None:
        super().__init__()
        self.number, self.serial = number, 0
        self.random = random.Random(SEED * 1000 + number)
        self.names = {f"t{number}-0"}  # more than one while a rename is in flight
        self.files: dict[str, set[str | None]] = {}  # None: absent
        self.acknowledged = self.renames = 0
        self.wrong: list[str] = []
        self.connect(url)

    def connect(self, url: str) -> None:
        self.client, self.url = Client(url), url

    @property
    def path(self) -> str:
        (name,) = self.names
        return f"{SHARE}/{name}"

    def again(self, url: str) -> Tree:
        other = Tree(url, self.number)
        other.serial, other.random = self.serial, self.random
        other.names, other.files = self.names, self.files
        return other

    def run(self) -> None:
        try:
            while True:
                self.step()
        except (OSError, http.client.HTTPException):
            return
        except AssertionError as error:
            self.wrong.append(str(error))

    def send(self, method: str, path: str, query: str = "", headers=None, body: bytes = b""):
        return self.client.send(method, path, query, headers or {}, body, retry=False)

    def step(self) -> None:
        choice = self.random.random()
        if choice < 0.3:
            self.rename()
        elif choice < 0.4 and self.files:
            self.delete(self.random.choice(sorted(self.files)))
        else:
            self.write(f"f{self.random.randrange(4)}")
        self.acknowledged += 1

    def rename(self) -> None:
        self.serial += 1
        source, new = self.path, f"t{self.number}-{self.serial}"
        self.names.add(new)
        headers = {"x-ms-file-rename-source": f"{self.url}/{DEV_ACCOUNT}{source}"}
        query = "restype=directory&comp=rename"
        self.send("PUT", f"{SHARE}/{new}", query, headers).expect(200)
        self.names = {new}
        self.renames += 1

    def delete(self, file: str) -> None:
        self.files[file].add(None)
        self.send("DELETE", f"{self.path}/deep/{file}").expect((202, 404))
        self.files[file] = {None}

    def write(self, file: str) -> None:
        body = self.random.randbytes(self.random.choice([1, 700, 5000, 200_000]))
        before = self.files.setdefault(file, {None})
        # A new file may come with its bytes: one commit, whole or not at all.
        headers = {"x-ms-type": "file", "x-ms-content-length": str(len(body))}
        before.add(digest(body))
        self.send("PUT", f"{self.path}/deep/{file}", "", headers, body).expect(201)
        self.files[file] = {digest(body)}

    def verify(self) -> int:
        """Finds the directory under exactly one of its names, and each file as it may be."""
        found = [n for n in sorted(self.names)
                 if self.client.send("HEAD", f"{SHARE}/{n}", "restype=directory").status == 200]  # fmt: skip
        assert len(found) == 1, f"one of {self.names}, found {found}"
        in_flight = len(self.names) - 1
        self.names = set(found)
        for file, may_be in self.files.items():
            got = self.client.send("GET", f"{self.path}/deep/{file}").expect((200, 404))
            state = digest(got.body) if got.status == 200 else None
            assert state in may_be, f"{file}: {state} is none of {may_be}"
            self.files[file] = {state}
        return in_flight


def test_kill_with_renames_in_flight(tmp_path):
    print(f"seed {SEED}")
    location = str(tmp_path)
    server = Server(location=location).start()
    Client(server.file_url).send("PUT", SHARE, "restype=share").expect(201)
    trees = [Tree(server.file_url, number) for number in range(WRITERS)]
    for tree in trees:
        tree.send("PUT", tree.path, "restype=directory").expect(201)
        tree.send("PUT", f"{tree.path}/deep", "restype=directory").expect(201)
    acknowledged = renames = in_flight = 0
    pause = random.Random(SEED)
    for cycle in range(CYCLES):
        for tree in trees:
            tree.start()
        time.sleep(pause.uniform(0.3, 0.8))
        server.kill()
        for tree in trees:
            tree.join()
            assert not tree.wrong, tree.wrong
            acknowledged, renames = acknowledged + tree.acknowledged, renames + tree.renames
        server = Server(location=location).start()
        trees = [tree.again(server.file_url) for tree in trees]
        for tree in trees:
            in_flight += tree.verify()
    assert server.stop() == 0
    checked = subprocess.run([*server_command(), "check", location], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    print(f"-- {CYCLES} kills, {acknowledged} acknowledged, {renames} renames, {in_flight} in flight")
    assert acknowledged >= LEAST_ACKNOWLEDGED and renames >= LEAST_ACKNOWLEDGED // 10
