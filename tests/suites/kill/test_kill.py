"""kill -9 under load, again and again: what was acknowledged is back, the rest whole or absent."""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from harness import DEV_ACCOUNT, Client, Server, server_command
from harness.writers import BlockBlob, Crew, TableClient

CYCLES = int(os.environ.get("ZAFFRE_KILL_CYCLES", "100"))
OBJECTS = 100_000
BATCH = 100
LEAST_ACKNOWLEDGED = 10
SLOWEST_RESTART_SECONDS = 1.0
SEED = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))
A = "aaaaaaaa-1111-1111-1111-111111111111"
B = "bbbbbbbb-2222-2222-2222-222222222222"
BLOCKS = [base64.b64encode(f"{i:04d}".encode()).decode() for i in range(3)]


def fill(server: Server, objects: int) -> None:
    """Entities, a hundred at a time: the quickest way to many objects."""
    client = TableClient(server.table_url)
    headers = {"Content-Type": "application/json"}
    client.send("POST", "/Tables", "", headers, json.dumps({"TableName": "Many"})).expect(201)
    kind = {"Content-Type": "multipart/mixed; boundary=b", "x-ms-version": "2019-02-02"}
    url = f"{server.table_url}/{DEV_ACCOUNT}/Many"

    def batch(number: int) -> None:
        parts = []
        for row in range(BATCH):
            body = json.dumps({"PartitionKey": str(number), "RowKey": str(row), "V": "x" * 100})
            parts.append("--c\r\nContent-Type: application/http\r\n"
                         "Content-Transfer-Encoding: binary\r\n\r\n"
                         f"POST {url} HTTP/1.1\r\nContent-Type: application/json\r\n"
                         f"Prefer: return-no-content\r\n\r\n{body}\r\n")  # fmt: skip
        head = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"
        text = head + "".join(parts) + "--c--\r\n--b--\r\n"
        reply = client.send("POST", "/$batch", "", kind, text).expect(202)
        assert reply.body.count(b"HTTP/1.1 204") == BATCH, reply.body[:500]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(batch, range(objects // BATCH)))


def empty_start() -> float:
    """Seconds that a start without data takes."""
    began = time.monotonic()
    with Server():
        return time.monotonic() - began


def first_answer(server: Server) -> float:
    """Seconds from the start of the process to the answer to a request."""
    began = time.monotonic()
    server.start()
    Client(server.url).head("/written", query="restype=container").expect(200)
    return time.monotonic() - began


def test_kill_9_under_writers_of_all_services():
    choose = random.Random(SEED)
    kept, restarts, empty = 0, [], sorted(empty_start() for _ in range(5))[2]
    with Server() as server:
        fill(server, OBJECTS)
        crew = Crew(server, SEED)
        for _ in range(CYCLES):
            crew.start()
            time.sleep(choose.uniform(0.05, 0.3))
            server.kill()
            crew.join()
            restarts.append(first_answer(server))
            kept += crew.verify()
        listed = Client(server.url).get("/written", query="restype=container&comp=list").xml()
        names = {f"/written/{b.findtext('Name')}" for b in listed.iter("Blob")}
        wanted = {r.path for r in crew.resources if isinstance(r, BlockBlob) and r.sure}
        assert names == wanted
        # What the last journal holds goes into the tree first: that is no matter of seconds everywhere.
        assert server.stop(timeout=120) == 0
        checked = subprocess.run(
            [*server_command(), "check", server.location], capture_output=True, text=True
        )
        assert checked.returncode == 0, checked.stdout + checked.stderr
    restarts.sort()
    half, most = restarts[len(restarts) // 2], restarts[max(0, len(restarts) * 99 // 100 - 1)]
    print(
        f"-- figure kill: {CYCLES} kills, seed {SEED}, {crew.acknowledged} acknowledged writes "
        f"back, {kept} others whole, first answer after {half * 1000:.0f} ms (p50), "
        f"{most * 1000:.0f} ms (p99) with {OBJECTS} objects, {empty * 1000:.0f} ms without any"
    )
    least = CYCLES * LEAST_ACKNOWLEDGED
    assert crew.acknowledged >= least, f"only {crew.acknowledged}: too little happened"
    assert crew.least_of_a_kind() >= CYCLES // 2, "a service did too little"
    assert most <= SLOWEST_RESTART_SECONDS, f"p99 of restarts: {most:.2f} s, empty {empty:.2f} s"


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
