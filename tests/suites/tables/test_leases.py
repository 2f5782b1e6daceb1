"""Every cell of the lease tables over HTTP, for blobs and containers.

All rows are set up first and their clocks run side by side; then each row is its own test.
"""

from __future__ import annotations

import itertools

import pytest
from cells import IDS, Leased, Script, Timeline, label, near, rows

from harness import Client

ACTIONS = [
    (row, kind)
    for row in rows("lease_actions")
    for kind in ("blob", "container")
    if row["on"] in ("both", kind)
]
STATES = [(row, kind) for row in rows("lease_states") for kind in ("blob", "container")]
# One row waits until a millisecond before the end; over a network that cannot be hit.
BREAKS = [row for row in rows("lease_break") if "14999ms" not in row["script"]]
OLD_BREAKS = rows("lease_break_before_2012")
BLOB_USE = rows("lease_use_blob")
CONTAINER_USE = rows("lease_use_container")

BLOB_WRITES = {
    "PutBlob": lambda c, p, h: c.put(p, b"new", h),
    "PutBlock": lambda c, p, h: c.put_block(p, "MDAwMQ==", b"x", h),
    "PutBlockList": lambda c, p, h: c.put_block_list(p, [], h),
    "SetBlobMetadata": lambda c, p, h: c.send("PUT", p, "comp=metadata", h),
    "SetBlobProperties": lambda c, p, h: c.send("PUT", p, "comp=properties", h),
    "DeleteBlob": lambda c, p, h: c.delete(p, h),
}
BLOB_READS = {
    "GetBlob": lambda c, p, h: c.get(p, h),
    "GetBlobProperties": lambda c, p, h: c.head(p, h),
    "GetBlobMetadata": lambda c, p, h: c.get(p, h, "comp=metadata"),
    "GetBlockList": lambda c, p, h: c.get(p, h, "comp=blocklist"),
}
CONTAINER_OTHERS = {
    "GetContainerProperties": lambda c, p, h: c.get(p, h, "restype=container"),
    "GetContainerMetadata": lambda c, p, h: c.get(p, h, "restype=container&comp=metadata"),
    "SetContainerMetadata": lambda c, p, h: c.send("PUT", p, "restype=container&comp=metadata", h),
    "GetContainerAcl": lambda c, p, h: c.get(p, h, "restype=container&comp=acl"),
    "SetContainerAcl": lambda c, p, h: c.send("PUT", p, "restype=container&comp=acl", h),
}
BLOB_USES = [
    (row, operation)
    for row in BLOB_USE
    for operation in (BLOB_WRITES if row["use"] == "write" else BLOB_READS)
]
CONTAINER_USES = [
    (row, operation)
    for row in CONTAINER_USE
    for operation in (["DeleteContainer"] if row["use"] == "delete" else CONTAINER_OTHERS)
]


def action_key(row, kind) -> str:
    return f"action {kind} {label(row, 'action', 'state')}"


def state_key(row, kind) -> str:
    return f"state {kind} {row['state']}"


def break_key(row) -> str:
    return f"break {label(row, 'script', 'action')}"


def old_key(row) -> str:
    return f"old {label(row, 'action', 'state')}"


def use_key(row, operation) -> str:
    return f"use {operation} {label(row, 'id', 'state')}"


def run_action(row, target: Leased) -> Script:
    yield from target.steps(row["state"])
    before = target.headers()
    answer = target.act(row["action"])
    answer.expect(int(row["status"]), None if row["outcome"] == "ok" else row["outcome"])
    holder = IDS.get(row["holder"], "")
    if row["outcome"] == "ok":
        assert answer.etag == before["etag"], "a lease action leaves the ETag"
        assert answer.headers["last-modified"] == before["last-modified"]
    found = answer.headers.get("x-ms-lease-id", "")
    if row["reply_id"] == "X":
        assert found and found not in IDS.values(), found
        holder = found
    elif row["outcome"] == "ok":
        assert found == ("" if row["reply_id"] == "-" else IDS[row["reply_id"]])
    if row["lease_time"] != "-":
        assert near(answer.headers["x-ms-lease-time"], row["lease_time"]), answer.headers
    target.expect_state(row["state_after"])
    target.expect_holder(row["state_after"], holder)
    if row["state_after"] == "leased":
        # How long it had left shows when it is broken without a period.
        left = target.act("break -").expect(202).headers["x-ms-lease-time"]
        assert near(left, "0" if row["left"] == "-" else row["left"]), (left, row["left"])


def run_state(row, target: Leased) -> Script:
    yield from target.steps(row["state"])
    found = target.headers()
    assert found["x-ms-lease-state"] == row["lease_state"]
    assert found["x-ms-lease-status"] == row["status"]
    assert found.get("x-ms-lease-duration", "-") == row["duration"]
    target.expect_holder(row["lease_state"], IDS.get(row["holder"], ""))


def run_break(row, target: Leased) -> Script:
    yield from target.steps(row["script"])
    answer = target.act(row["action"]).expect(202)
    # Half-second rows tell rounding up from rounding down; they have slack enough of their own.
    slack = 1
    assert near(answer.headers["x-ms-lease-time"], row["lease_time"], slack), answer.headers
    target.expect_state(row["state_after"])


def run_old(row, target: Leased, old: Client) -> Script:
    yield from target.steps(row["state"])
    answer = target.act(row["action"], old)
    answer.expect(int(row["status"]), None if row["outcome"] == "ok" else row["outcome"])
    target.expect_state(row["state_after"])


def run_use(row, target: Leased, operation) -> Script:
    yield from target.steps(row["state"])
    headers = {} if row["id"] == "-" else {"x-ms-lease-id": IDS[row["id"]]}
    answer = operation(target.client, target.path, headers)
    if row["status"] == "ok":
        answer.expect((200, 201, 202))
    else:
        answer.expect(int(row["status"]), row["outcome"])
    deleted = answer.status == 202 and answer.request.startswith("DELETE")
    if row["state_after"] != "-" and not deleted:
        target.expect_state(row["state_after"])


@pytest.fixture(scope="module")
def ran(server, client) -> Timeline:
    """Every row of every lease table, run at once."""
    timeline, serial = Timeline(), itertools.count(1)
    client.create_container("leasecells")
    old = Client(server.url, version="2011-08-18")

    def make(kind: str) -> Leased:
        number = next(serial)
        if kind == "container":
            client.create_container(f"lease{number:05d}")
            return Leased(client, f"/lease{number:05d}", True)
        path = f"/leasecells/b{number:05d}"
        client.put(path, b"x").expect(201)
        return Leased(client, path, False)

    for row, kind in ACTIONS:
        timeline.add(action_key(row, kind), run_action(row, make(kind)))
    for row, kind in STATES:
        timeline.add(state_key(row, kind), run_state(row, make(kind)))
    for row in BREAKS:
        timeline.add(break_key(row), run_break(row, make("blob")))
    for row in OLD_BREAKS:
        timeline.add(old_key(row), run_old(row, make("blob"), old))
    for row, operation in BLOB_USES:
        use = (BLOB_WRITES | BLOB_READS)[operation]
        timeline.add(use_key(row, operation), run_use(row, make("blob"), use))
    for row, operation in CONTAINER_USES:
        use = CONTAINER_OTHERS.get(operation) or (
            lambda c, p, h: c.send("DELETE", p, "restype=container", h)
        )
        timeline.add(use_key(row, operation), run_use(row, make("container"), use))
    timeline.run()
    return timeline


def ids(keys):
    return list(keys)


@pytest.mark.parametrize("key", ids(state_key(r, k) for r, k in STATES))
def test_state(ran, key):
    ran.check(key)


@pytest.mark.parametrize("key", ids(action_key(r, k) for r, k in ACTIONS))
def test_action(ran, key):
    ran.check(key)


@pytest.mark.parametrize("key", ids(break_key(r) for r in BREAKS))
def test_break(ran, key):
    ran.check(key)


@pytest.mark.parametrize("key", ids(old_key(r) for r in OLD_BREAKS))
def test_before_2012(ran, key):
    ran.check(key)


@pytest.mark.parametrize("key", ids(use_key(r, o) for r, o in BLOB_USES))
def test_use_of_blob(ran, key):
    ran.check(key)


@pytest.mark.parametrize("key", ids(use_key(r, o) for r, o in CONTAINER_USES))
def test_use_of_container(ran, key):
    ran.check(key)
