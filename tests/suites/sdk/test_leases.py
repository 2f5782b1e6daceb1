"""Pessimistic concurrency through the Python SDK: blob leases."""

from __future__ import annotations

import uuid

import pytest
from azure.storage.blob import BlobLeaseClient

A = "aaaaaaaa-1111-1111-1111-111111111111"
B = "bbbbbbbb-2222-2222-2222-222222222222"


@pytest.fixture
def made(blob):
    blob.upload_blob(b"first")
    return blob


def state(blob):
    lease = blob.get_blob_properties().lease
    return lease.status, lease.state, lease.duration


def test_life_of_a_fixed_lease(made, refused):
    lease = made.acquire_lease(15, lease_id=A)
    assert lease.id == A
    assert state(made) == ("locked", "leased", "fixed")
    with refused(409, "LeaseAlreadyPresent"):
        made.acquire_lease(15)
    assert made.acquire_lease(-1, lease_id=A).id == A, "re-acquire with the same id"
    assert state(made) == ("locked", "leased", "infinite")
    lease.renew()
    lease.change(B)
    with refused(409, "LeaseIdMismatchWithLeaseOperation"):
        BlobLeaseClient(made, A).renew()
    lease.release()
    assert state(made) == ("unlocked", "available", None)


def test_server_makes_an_id(made):
    lease = BlobLeaseClient(made)
    lease.acquire(-1)
    assert str(uuid.UUID(lease.id)) == lease.id


WRITES = {
    "upload": lambda b, **kw: b.upload_blob(b"second", overwrite=True, **kw),
    "metadata": lambda b, **kw: b.set_blob_metadata({"v": "2"}, **kw),
    "headers": lambda b, **kw: b.set_http_headers(None, **kw),
    "stage": lambda b, **kw: b.stage_block("a", b"x", **kw),
    "commit": lambda b, **kw: b.commit_block_list([], **kw),
    "delete": lambda b, **kw: b.delete_blob(**kw),
}
READS = {
    "download": lambda b, **kw: b.download_blob(**kw).readall(),
    "properties": lambda b, **kw: b.get_blob_properties(**kw),
    "block_list": lambda b, **kw: b.get_block_list("all", **kw),
}


@pytest.mark.parametrize("operation", WRITES)
def test_write_under_lease(made, operation, refused):
    lease = made.acquire_lease(-1, lease_id=A)
    with refused(412, "LeaseIdMissing"):
        WRITES[operation](made)
    with refused(412, "LeaseIdMismatchWithBlobOperation"):
        WRITES[operation](made, lease=B)
    WRITES[operation](made, lease=lease)
    if operation != "delete":
        assert state(made) == ("locked", "leased", "infinite"), "an overwrite keeps the lease"


@pytest.mark.parametrize("operation", READS)
def test_read_under_lease(made, operation, refused):
    READS[operation](made)
    with refused(412, "LeaseNotPresentWithBlobOperation"):
        READS[operation](made, lease=A)
    lease = made.acquire_lease(-1, lease_id=A)
    READS[operation](made)
    READS[operation](made, lease=lease)
    with refused(412, "LeaseIdMismatchWithBlobOperation"):
        READS[operation](made, lease=B)


@pytest.mark.parametrize("operation", WRITES)
def test_write_with_id_but_no_lease(made, operation, refused):
    with refused(412, "LeaseNotPresentWithBlobOperation"):
        WRITES[operation](made, lease=A)


def test_break_with_period(made, refused):
    lease = made.acquire_lease(-1, lease_id=A)
    assert lease.break_lease(20) == 20
    assert state(made) == ("locked", "breaking", None)
    with refused(409, "LeaseIsBrokenAndCannotBeRenewed"):
        lease.renew()
    with refused(409, "LeaseIsBreakingAndCannotBeAcquired"):
        made.acquire_lease(-1, lease_id=A)
    with refused(409, "LeaseIsBreakingAndCannotBeChanged"):
        lease.change(B)
    made.set_blob_metadata({"still": "mine"}, lease=A)
    assert lease.break_lease(60) in (19, 20), "a break can only be shortened"
    assert lease.break_lease(0) == 0
    assert state(made) == ("unlocked", "broken", None)
    with refused(412, "LeaseLost"):
        made.set_blob_metadata({"no": "more"}, lease=A)
    made.set_blob_metadata({"free": "now"})
    assert state(made) == ("unlocked", "available", None)


def test_break_infinite_at_once(made):
    lease = made.acquire_lease(-1)
    assert lease.break_lease() == 0
    assert state(made)[1] == "broken"


def test_lease_blocks_creation_race(made, refused):
    """A lease failure precedes If-None-Match: *."""
    made.acquire_lease(-1, lease_id=A)
    with refused(412, "LeaseIdMissing"):
        made.upload_blob(b"x", overwrite=False)
    # With the right id the condition is not applied.
    made.upload_blob(b"x", overwrite=False, lease=A)


def test_lease_on_missing_blob(blob, refused):
    with refused(404, "BlobNotFound"):
        blob.acquire_lease(15)
    with refused(412, "LeaseNotPresentWithBlobOperation"):
        blob.upload_blob(b"x", lease=A)


@pytest.mark.parametrize("duration", [0, 1, 14, 61, -2])
def test_bad_durations(made, duration, refused):
    with refused(400, "InvalidHeaderValue"):
        made.acquire_lease(duration)


def test_lease_keeps_etag(made):
    before = made.get_blob_properties()
    lease = made.acquire_lease(30)
    assert lease.etag == before.etag
    lease.release()
    assert made.get_blob_properties().etag == before.etag
