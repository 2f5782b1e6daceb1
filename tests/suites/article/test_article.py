"""One test per row of the concurrency article's container and blob tables and lists.

Rows about copies and page blobs are not covered yet.
"""

from __future__ import annotations

import re
import time

import pytest

A = "aaaaaaaa-1111-1111-1111-111111111111"
B = "bbbbbbbb-2222-2222-2222-222222222222"
BLOCK = "MDAwMQ=="
LATER = "Fri, 01 Jan 2100 00:00:00 GMT"
EARLIER = "Sat, 01 Jan 2000 00:00:00 GMT"
OTHER = '"0x8D0000000000001"'
ETAG = re.compile(r'^"0x[0-9A-F]{15}"$')
CONTAINER = "restype=container"


def lease(client, path, headers, query):
    fields = {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1", **headers}
    fields["x-ms-proposed-lease-id"] = fields.pop("x-ms-lease-id", A)
    return client.send("PUT", path, query, fields)


CONTAINER_OPERATIONS = {
    "Create Container": lambda c, p, h: c.send("PUT", f"{p}-new", CONTAINER, h),
    "Get Container Properties": lambda c, p, h: c.get(p, h, CONTAINER),
    "Get Container Metadata": lambda c, p, h: c.get(p, h, f"{CONTAINER}&comp=metadata"),
    "Set Container Metadata": lambda c, p, h: c.send("PUT", p, f"{CONTAINER}&comp=metadata", h),
    "Get Container ACL": lambda c, p, h: c.get(p, h, f"{CONTAINER}&comp=acl"),
    "Set Container ACL": lambda c, p, h: c.send("PUT", p, f"{CONTAINER}&comp=acl", h),
    "Delete Container": lambda c, p, h: c.send("DELETE", p, CONTAINER, h),
    "Lease Container": lambda c, p, h: lease(c, p, h, f"{CONTAINER}&comp=lease"),
    "List Blobs": lambda c, p, h: c.get(p, h, f"{CONTAINER}&comp=list"),
}
BLOB_OPERATIONS = {
    "Put Blob": lambda c, p, h: c.put(p, b"new", h),
    "Get Blob": lambda c, p, h: c.get(p, h),
    "Get Blob Properties": lambda c, p, h: c.head(p, h),
    "Set Blob Properties": lambda c, p, h: c.send("PUT", p, "comp=properties", h),
    "Get Blob Metadata": lambda c, p, h: c.get(p, h, "comp=metadata"),
    "Set Blob Metadata": lambda c, p, h: c.send("PUT", p, "comp=metadata", h),
    "Lease Blob": lambda c, p, h: lease(c, p, h, "comp=lease"),
    "Snapshot Blob": lambda c, p, h: c.send("PUT", p, "comp=snapshot", h),
    "Delete Blob": lambda c, p, h: c.delete(p, h),
    "Put Block": lambda c, p, h: c.put_block(p, BLOCK, b"x", h),
    "Put Block List": lambda c, p, h: c.put_block_list(p, [], h),
    "Get Block List": lambda c, p, h: c.get(p, h, "comp=blocklist"),
}

# Operation, returns an ETag, accepts conditional headers: as printed in the article.
CONTAINER_TABLE = [
    ("Create Container", True, False),
    ("Get Container Properties", True, False),
    ("Get Container Metadata", True, False),
    ("Set Container Metadata", True, True),
    ("Get Container ACL", True, False),
    ("Set Container ACL", True, True),
    ("Delete Container", False, True),
    ("Lease Container", True, True),
    ("List Blobs", False, False),
]
BLOB_TABLE = [
    ("Put Blob", True, True),
    ("Get Blob", True, True),
    ("Get Blob Properties", True, True),
    ("Set Blob Properties", True, True),
    ("Get Blob Metadata", True, True),
    ("Set Blob Metadata", True, True),
    ("Lease Blob", True, True),
    ("Snapshot Blob", True, True),
    ("Delete Blob", False, True),
    ("Put Block", False, False),
    ("Put Block List", True, True),
    ("Get Block List", True, False),
]
READS = {"Get Blob", "Get Blob Properties", "Get Blob Metadata"}
# "Can use leases": writes are refused without the id, reads only with a wrong one.
BLOB_LEASES = [
    ("Put Blob", "write"),
    ("Get Blob", "read"),
    ("Get Blob Properties", "read"),
    ("Set Blob Properties", "write"),
    ("Get Blob Metadata", "read"),
    ("Set Blob Metadata", "write"),
    ("Delete Blob", "write"),
    ("Put Block", "write"),
    ("Put Block List", "write"),
    ("Get Block List", "read"),
    ("Snapshot Blob", "read"),
]
CONTAINER_LEASES = [
    ("Delete Container", "write"),
    ("Get Container Properties", "read"),
    ("Get Container Metadata", "read"),
    ("Set Container Metadata", "read"),
    ("Get Container ACL", "read"),
    ("Set Container ACL", "read"),
]


def named(table):
    return [row[0].replace(" ", "") for row in table]


@pytest.fixture
def blob(client, container):
    """(path, ETag) of a blob that was committed from a block, so that it has a block list."""
    path = f"/{container}/b"
    client.put_block(path, BLOCK, b"old").expect(201)
    return path, client.put_block_list(path, [BLOCK]).expect(201).etag


def failing(etag: str) -> dict[str, tuple[str, str]]:
    return {
        "If-Match": ("If-Match", OTHER),
        "If-None-Match": ("If-None-Match", etag),
        "If-Modified-Since": ("If-Modified-Since", LATER),
        "If-Unmodified-Since": ("If-Unmodified-Since", EARLIER),
    }


@pytest.mark.parametrize(
    ("operation", "returns", "_accepts"), CONTAINER_TABLE, ids=named(CONTAINER_TABLE)
)
def test_container_returns_etag(client, container, operation, returns, _accepts):
    answer = CONTAINER_OPERATIONS[operation](client, f"/{container}", {}).expect((200, 201, 202))
    assert bool(ETAG.match(answer.etag)) == returns, answer.headers


@pytest.mark.parametrize(
    ("operation", "_returns", "accepts"), CONTAINER_TABLE, ids=named(CONTAINER_TABLE)
)
def test_container_accepts_conditions(client, container, operation, _returns, accepts):
    run = CONTAINER_OPERATIONS[operation]
    path = f"/{container}"
    modified = {"If-Modified-Since": LATER}
    unmodified = {"If-Unmodified-Since": EARLIER}
    if not accepts:
        run(client, path, modified).expect((200, 201))
        if operation != "Create Container":
            run(client, path, unmodified).expect((200, 201))
        return
    run(client, path, modified).expect(412, "ConditionNotMet")
    if operation != "Set Container Metadata":  # takes If-Modified-Since alone
        run(client, path, unmodified).expect(412, "ConditionNotMet")
    run(client, path, {"If-Modified-Since": EARLIER}).expect((200, 201, 202))


@pytest.mark.parametrize(("operation", "returns", "_accepts"), BLOB_TABLE, ids=named(BLOB_TABLE))
def test_blob_returns_etag(client, blob, operation, returns, _accepts):
    path, _ = blob
    answer = BLOB_OPERATIONS[operation](client, path, {}).expect((200, 201, 202))
    assert bool(ETAG.match(answer.etag)) == returns, answer.headers


@pytest.mark.parametrize(("operation", "_returns", "accepts"), BLOB_TABLE, ids=named(BLOB_TABLE))
def test_blob_accepts_conditions(client, blob, operation, _returns, accepts):
    path, etag = blob
    run = BLOB_OPERATIONS[operation]
    for name, header in failing(etag).items():
        answer = run(client, path, dict([header]))
        if not accepts:
            answer.expect((200, 201))
            continue
        not_modified = operation in READS and name in ("If-None-Match", "If-Modified-Since")
        answer.expect(304 if not_modified else 412, "ConditionNotMet")
    assert client.head(path).etag == etag, "nothing changed"
    if accepts:
        run(client, path, {"If-Match": etag}).expect((200, 201, 202))


@pytest.mark.parametrize(("operation", "kind"), BLOB_LEASES, ids=named(BLOB_LEASES))
def test_blob_uses_lease(client, blob, operation, kind):
    path, _ = blob
    run = BLOB_OPERATIONS[operation]
    client.lease(path, "acquire", duration=15, proposed=A).expect(201)
    if kind == "write":
        run(client, path, {}).expect(412, "LeaseIdMissing")
    else:
        run(client, path, {}).expect((200, 201))
    run(client, path, {"x-ms-lease-id": B}).expect(412, "LeaseIdMismatchWithBlobOperation")
    run(client, path, {"x-ms-lease-id": A}).expect((200, 201, 202))


@pytest.mark.parametrize(("operation", "kind"), CONTAINER_LEASES, ids=named(CONTAINER_LEASES))
def test_container_uses_lease(client, container, operation, kind):
    path = f"/{container}"
    run = CONTAINER_OPERATIONS[operation]
    client.lease(path, "acquire", container=True, duration=15, proposed=A).expect(201)
    if kind == "write":
        run(client, path, {}).expect(412, "LeaseIdMissing")
    else:
        run(client, path, {}).expect(200)
    run(client, path, {"x-ms-lease-id": B}).expect(412, "LeaseIdMismatchWithContainerOperation")
    run(client, path, {"x-ms-lease-id": A}).expect((200, 202))


@pytest.mark.parametrize("kind", ["LeaseBlob", "LeaseContainer"])
def test_lease_operation_itself(client, blob, container, kind):
    """Acquire, a second acquire refused with 409, renew, change, release, break."""
    path = blob[0] if kind == "LeaseBlob" else f"/{container}"
    where = {"container": kind == "LeaseContainer"}
    client.lease(path, "acquire", duration=30, proposed=A, **where).expect(201)
    client.lease(path, "acquire", duration=30, **where).expect(409, "LeaseAlreadyPresent")
    client.lease(path, "renew", id=A, **where).expect(200)
    client.lease(path, "change", id=A, proposed=B, **where).expect(200)
    client.lease(path, "release", id=B, **where).expect(200)
    client.lease(path, "acquire", duration=60, proposed=A, **where).expect(201)
    client.lease(path, "break", period=0, **where).expect(202)


def test_step_1_to_5_of_the_outline(client, blob):
    path, _ = blob
    first = client.get(path).expect(200).etag
    second = client.put(path, b"mine", {"If-Match": first}).expect(201).etag
    assert second != first
    client.put(path, b"late", {"If-Match": first}).expect(412, "ConditionNotMet")
    assert client.get(path).body == b"mine"


def test_identifier_changes_with_every_update(client, blob):
    path, etag = blob
    seen = {etag}
    for update in (
        lambda: client.put(path, b"1"),
        lambda: client.put(path, b"1"),
        lambda: client.send("PUT", path, "comp=metadata", {"x-ms-meta-a": "1"}),
        lambda: client.send("PUT", path, "comp=metadata", {"x-ms-meta-a": "1"}),
        lambda: client.send("PUT", path, "comp=properties", {"x-ms-blob-content-type": "a/b"}),
        lambda: client.put_block_list(path, []),
        lambda: client.put_block_list(path, []),
    ):
        answer = update().expect((200, 201))
        assert answer.etag not in seen
        assert client.head(path).etag == answer.etag
        seen.add(answer.etag)


def test_delete_and_recreate_does_not_look_unchanged(client, blob):
    path, etag = blob
    client.delete(path).expect(202)
    again = client.put(path, b"old").expect(201).etag
    assert again != etag
    client.put(path, b"x", {"If-Match": etag}).expect(412, "ConditionNotMet")


def test_lease_does_not_change_the_etag(client, blob):
    path, etag = blob
    for action, fields in (
        ("acquire", {"duration": 15, "proposed": A}),
        ("renew", {"id": A}),
        ("change", {"id": A, "proposed": B}),
        ("break", {"period": 0}),
        ("release", {"id": B}),
    ):
        assert client.lease(path, action, **fields).expect((200, 201, 202)).etag == etag
    assert client.head(path).etag == etag


def test_last_writer_wins_by_default(client, blob):
    path, _ = blob
    client.put(path, b"one").expect(201)
    client.put(path, b"two").expect(201)
    assert client.get(path).body == b"two"


@pytest.mark.parametrize(
    ("duration", "status"), [(14, 400), (15, 201), (60, 201), (61, 400), (-1, 201)]
)
def test_lease_between_15_and_60_seconds_or_infinite(client, blob, duration, status):
    client.lease(blob[0], "acquire", duration=duration).expect(status)


def test_other_container_operations_succeed_on_a_leased_container(client, container):
    client.lease(f"/{container}", "acquire", container=True, duration=-1).expect(201)
    client.put(f"/{container}/b", b"x").expect(201)
    client.get(f"/{container}", query=f"{CONTAINER}&comp=list").expect(200)
    client.delete(f"/{container}/b").expect(202)


def test_expired_lease_with_its_id_is_refused_and_others_may_write(client, blob):
    """The service releases a finite lease by itself; its former holder gets 412."""
    path, _ = blob
    client.lease(path, "acquire", duration=15, proposed=A).expect(201)
    client.put(path, b"held", {"x-ms-lease-id": A}).expect(201)
    time.sleep(15.2)
    client.put(path, b"late", {"x-ms-lease-id": A}).expect(412, "LeaseLost")
    client.put(path, b"free").expect(201)
    assert client.get(path).body == b"free"
