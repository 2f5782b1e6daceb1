"""kill -9 under load, again and again: what was acknowledged is back, the rest whole or absent."""

from __future__ import annotations

import base64
import hashlib
import http.client
import os
import random
import subprocess
import threading
import time
from dataclasses import dataclass, field

from harness import Client, Server, server_command

CYCLES = 20
WRITERS = 8
KEYS = 12
LEAST_ACKNOWLEDGED = 1000
SEED = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))
A = "aaaaaaaa-1111-1111-1111-111111111111"
B = "bbbbbbbb-2222-2222-2222-222222222222"
BLOCKS = [base64.b64encode(f"{i:04d}".encode()).decode() for i in range(3)]


def md5(body: bytes) -> str:
    return hashlib.md5(body).hexdigest()


@dataclass
class State:
    """What one key holds: `body` None means absent; `etag` None means not told to us."""

    body: str | None = None
    etag: str | None = None
    tag: str = ""


@dataclass
class Key:
    """The acknowledged state, and the one write that was under way when the server died."""

    path: str
    sure: State = field(default_factory=State)
    maybe: State | None = None


class Writer(threading.Thread):
    """Owns its keys, so that it knows what each must hold."""

    def __init__(self, client: Client, keys: list[Key], seed: int) -> None:
        super().__init__()
        self.client, self.keys = client, keys
        self.random = random.Random(seed)
        self.acknowledged = 0
        self.wrong: list[str] = []

    def run(self) -> None:
        while True:
            try:
                self.step()
            except (OSError, http.client.HTTPException):
                return  # the server is gone; `maybe` says what was under way
            except AssertionError as error:
                self.wrong.append(str(error))
                return

    def step(self) -> None:
        key = self.random.choice(self.keys)
        choice = self.random.random()
        tag = f"{self.random.getrandbits(32):08x}"
        meta = {"x-ms-meta-tag": tag}
        if choice < 0.15 and key.sure.body is not None:
            key.maybe = State(None)
            self.client.delete(key.path, retry=False).expect(202)
            self.settle(key, State(None))
        elif choice < 0.30 and key.sure.body is not None:
            key.maybe = State(key.sure.body, None, tag)
            got = self.client.send("PUT", key.path, "comp=metadata", meta, retry=False).expect(200)
            self.settle(key, State(key.sure.body, got.etag, tag))
        elif choice < 0.50:
            parts = [self.random.randbytes(self.random.choice([10, 5000, 60000])) for _ in BLOCKS]
            for block, part in zip(BLOCKS, parts, strict=True):
                query = {"comp": "block", "blockid": block}
                self.client.send("PUT", key.path, query, {}, part, retry=False).expect(201)
            key.maybe = State(md5(b"".join(parts)), None, tag)
            rows = "".join(f"<Uncommitted>{b}</Uncommitted>" for b in BLOCKS)
            body = f"<BlockList>{rows}</BlockList>"
            got = self.client.send("PUT", key.path, "comp=blocklist", meta, body, retry=False)
            self.settle(key, State(key.maybe.body, got.expect(201).etag, tag))
        else:
            size = self.random.choice([1, 100, 4096, 20000, 200000, 1500000])
            body = self.random.randbytes(size)
            key.maybe = State(md5(body), None, tag)
            got = self.client.put(key.path, body, meta, retry=False).expect(201)
            self.settle(key, State(md5(body), got.etag, tag))

    def settle(self, key: Key, state: State) -> None:
        key.sure, key.maybe = state, None
        self.acknowledged += 1


def matches(got, wanted: State) -> bool:
    if wanted.body is None:
        return got.status == 404
    return (
        got.status == 200
        and md5(got.body) == wanted.body
        and wanted.etag in (None, got.etag)
        and got.headers.get("x-ms-meta-tag", "") == wanted.tag
    )


def verify(client: Client, keys: list[Key]) -> int:
    """Compares every key; adopts what is found. Returns how many in flight were kept."""
    kept = 0
    for key in keys:
        got = client.get(key.path).expect((200, 404))
        if key.maybe is not None and not matches(got, key.sure):
            assert matches(got, key.maybe), (
                f"{key.path}: neither {key.sure} nor {key.maybe}, but {got.status} "
                f"{got.etag} md5 {md5(got.body)} tag {got.headers.get('x-ms-meta-tag')}"
            )
            kept += 1
        else:
            assert matches(got, key.sure), (
                f"{key.path}: acknowledged {key.sure}, found {got.status} {got.etag} "
                f"md5 {md5(got.body)} tag {got.headers.get('x-ms-meta-tag')}"
            )
        if got.status == 200:
            key.sure = State(md5(got.body), got.etag, got.headers.get("x-ms-meta-tag", ""))
        else:
            key.sure = State(None)
        key.maybe = None
    return kept


def test_20_cycles_of_kill_9_under_8_writers():
    keys = [Key(f"/kill/w{w}-{k}") for w in range(WRITERS) for k in range(KEYS)]
    choose = random.Random(SEED)
    acknowledged = kept = 0
    slowest = 0.0
    with Server() as server:
        client = Client(server.url)
        client.create_container("kill")
        for cycle in range(CYCLES):
            client = Client(server.url)
            writers = [
                Writer(client, keys[w * KEYS : (w + 1) * KEYS], SEED + cycle * 100 + w)
                for w in range(WRITERS)
            ]
            for writer in writers:
                writer.start()
            time.sleep(choose.uniform(0.2, 0.8))
            server.kill()
            for writer in writers:
                writer.join()
            wrong = [text for writer in writers for text in writer.wrong]
            assert not wrong, wrong[0]
            acknowledged += sum(writer.acknowledged for writer in writers)
            began = time.monotonic()
            server.start()
            slowest = max(slowest, time.monotonic() - began)
            client = Client(server.url)
            kept += verify(client, keys)
            listed = client.get("/kill", query="restype=container&comp=list").expect(200).xml()
            names = {f"/kill/{b.findtext('Name')}" for b in listed.iter("Blob")}
            assert names == {k.path for k in keys if k.sure.body is not None}
        assert server.stop() == 0
        checked = subprocess.run(
            [*server_command(), "check", server.location], capture_output=True, text=True
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr
    print(
        f"-- {CYCLES} kills, {acknowledged} acknowledged writes back, {kept} unacknowledged ones "
        f"whole, slowest restart {slowest * 1000:.0f} ms"
    )
    assert acknowledged >= LEAST_ACKNOWLEDGED, f"only {acknowledged} writes: too little happened"


def test_a_single_acknowledged_write_survives_at_once():
    """No grace period: killed in the very moment after the answer."""
    with Server() as server:
        client = Client(server.url)
        client.create_container("now")
        for i in range(5):
            etag = client.put(f"/now/{i}", str(i)).expect(201).etag
            server.kill()
            server.start()
            client = Client(server.url)
            got = client.get(f"/now/{i}").expect(200)
            assert (got.body, got.etag) == (str(i).encode(), etag)


def test_containers_policies_and_deletions_survive():
    policy = (
        "<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy><Permission>r</Permission>"
        "</AccessPolicy></SignedIdentifier></SignedIdentifiers>"
    )
    with Server() as server:
        client = Client(server.url)
        client.create_container("one", **{"x-ms-meta-a": "1"})
        client.create_container("two")
        headers = {"x-ms-blob-public-access": "blob"}
        client.send("PUT", "/one", "restype=container&comp=acl", headers, policy).expect(200)
        client.put("/two/b", b"x").expect(201)
        client.send("DELETE", "/two", "restype=container").expect(202)
        before = client.head("/one", query="restype=container").expect(200)
        server.kill()
        server.start()
        client = Client(server.url)
        after = client.head("/one", query="restype=container").expect(200)
        for header in ("etag", "last-modified", "x-ms-meta-a", "x-ms-blob-public-access"):
            assert after.headers[header] == before.headers[header], header
        acl = client.get("/one", query="restype=container&comp=acl").expect(200)
        assert b"<Id>p</Id>" in acl.body
        client.head("/two", query="restype=container").expect(404)
        client.create_container("two")
        client.head("/two/b").expect(404)


def test_staged_blocks_survive():
    with Server() as server:
        client = Client(server.url)
        client.create_container("staged")
        for block in BLOCKS:
            client.put_block("/staged/b", block, block).expect(201)
        server.kill()
        server.start()
        client = Client(server.url)
        client.put_block_list("/staged/b", BLOCKS, kind="Uncommitted").expect(201)
        assert client.get("/staged/b").body == "".join(BLOCKS).encode()


def test_leases_survive_as_absolute_times():
    with Server() as server:
        client = Client(server.url)
        client.create_container("leases")
        for blob in ("infinite", "fixed", "breaking", "broken"):
            client.put(f"/leases/{blob}", b"x").expect(201)
        client.lease("/leases/infinite", "acquire", duration=-1, proposed=A).expect(201)
        client.lease("/leases/fixed", "acquire", duration=15, proposed=A).expect(201)
        began = time.monotonic()
        client.lease("/leases/breaking", "acquire", duration=-1, proposed=A).expect(201)
        client.lease("/leases/breaking", "break", period=60).expect(202)
        client.lease("/leases/broken", "acquire", duration=-1, proposed=A).expect(201)
        client.lease("/leases/broken", "break", period=0).expect(202)
        client.lease("/leases", "acquire", container=True, duration=-1, proposed=B).expect(201)
        server.kill()
        server.start()
        client = Client(server.url)
        states = {
            blob: client.head(f"/leases/{blob}").expect(200).headers["x-ms-lease-state"]
            for blob in ("infinite", "fixed", "breaking", "broken")
        }
        assert states == {
            "infinite": "leased",
            "fixed": "leased",
            "breaking": "breaking",
            "broken": "broken",
        }
        for blob in ("infinite", "fixed", "breaking"):
            client.put(f"/leases/{blob}", b"y").expect(412, "LeaseIdMissing")
            client.put(f"/leases/{blob}", b"y", {"x-ms-lease-id": A}).expect(201)
        client.put("/leases/broken", b"y", {"x-ms-lease-id": A}).expect(412, "LeaseLost")
        client.send("DELETE", "/leases", "restype=container").expect(412, "LeaseIdMissing")
        # The fixed lease ends when it would have ended without the restart.
        time.sleep(max(0.0, 15.1 - (time.monotonic() - began)))
        assert client.head("/leases/fixed").headers["x-ms-lease-state"] == "expired"
        client.put("/leases/fixed", b"z").expect(201)


def test_graceful_stop_keeps_everything_too():
    with Server() as server:
        client = Client(server.url)
        client.create_container("calm")
        etag = client.put("/calm/b", b"x" * 100_000).expect(201).etag
        assert server.stop() == 0
        server.start()
        client = Client(server.url)
        assert client.get("/calm/b").expect(200).etag == etag
