"""Soft delete through the SDK: what is deleted is kept, listed, brought back or removed for good."""

from __future__ import annotations

import pytest
from azure.storage.blob import BlobServiceClient

ON = "<Enabled>true</Enabled><Days>7</Days><AllowPermanentDelete>true</AllowPermanentDelete>"


def entries(box, *include: str) -> list[tuple[str | None, bool]]:
    """(snapshot or None, deleted) of every entry."""
    found = box.list_blobs(include=list(include))
    return [("snapshot" if b.snapshot else None, bool(b.deleted)) for b in found]


def test_a_deleted_blob_comes_back(box, blob, keeping):
    made = blob.upload_blob(b"one", metadata={"a": "1"})
    blob.delete_blob()
    assert not blob.exists()
    assert list(box.list_blobs()) == []
    (gone,) = box.list_blobs(include=["deleted", "metadata"])
    assert (gone.deleted, gone.remaining_retention_days) == (True, 6)
    assert gone.deleted_time is not None
    assert gone.metadata == {"a": "1"}
    blob.undelete_blob()
    p = blob.get_blob_properties()
    assert (p.etag, p.metadata) == (made["etag"], {"a": "1"})
    blob.undelete_blob()


def test_nothing_to_bring_back(blob, refused, keeping):
    with refused(404, "BlobNotFound"):
        blob.undelete_blob()


def test_a_blob_comes_back_with_its_snapshots(box, blob, keeping):
    blob.upload_blob(b"one")
    taken = blob.create_snapshot()["snapshot"]
    blob.delete_blob(delete_snapshots="include")
    assert entries(box, "snapshots", "deleted") == [("snapshot", True), (None, True)]
    assert entries(box, "deleted") == [(None, True)]
    blob.undelete_blob()
    assert entries(box, "snapshots") == [("snapshot", False), (None, False)]
    old = box.get_blob_client("blob.txt", snapshot=taken)
    assert old.download_blob().readall() == b"one"


def test_an_overwritten_state_is_a_deleted_snapshot(box, blob, keeping):
    blob.upload_blob(b"one")
    blob.upload_blob(b"two", overwrite=True)
    blob.set_blob_metadata({"a": "1"})
    assert entries(box, "snapshots", "deleted") == [("snapshot", True), (None, False)]
    blob.undelete_blob()
    (old, _) = box.list_blobs(include=["snapshots"])
    client = box.get_blob_client("blob.txt", snapshot=old.snapshot)
    assert client.download_blob().readall() == b"one"
    assert blob.download_blob().readall() == b"two"


def test_a_deleted_snapshot(box, blob, keeping, refused):
    blob.upload_blob(b"one")
    old = box.get_blob_client("blob.txt", snapshot=blob.create_snapshot()["snapshot"])
    old.delete_blob()
    with refused(404, "BlobNotFound"):
        old.download_blob()
    assert entries(box, "snapshots") == [(None, False)]
    blob.undelete_blob()
    assert old.download_blob().readall() == b"one"


def test_a_name_can_be_used_again(box, blob, keeping):
    blob.upload_blob(b"one")
    blob.delete_blob()
    blob.upload_blob(b"two")
    assert entries(box, "snapshots", "deleted") == [("snapshot", True), (None, False)]


def test_removing_for_good(client, box, blob, keeping):
    blob.upload_blob(b"one")
    snapshot = blob.create_snapshot()["snapshot"]
    path, query = f"/{box.container_name}/blob.txt", f"snapshot={snapshot}"

    def for_good():
        return client.send("DELETE", path, f"{query}&deletetype=permanent")

    for_good().expect(409, "PermanentDeleteIsOff")
    body = f"<DeleteRetentionPolicy>{ON}</DeleteRetentionPolicy>"
    body = f"<StorageServiceProperties>{body}</StorageServiceProperties>".encode()
    client.send("PUT", "/", "restype=service&comp=properties", body=body).expect(202)
    for_good().expect(409, "BlobOperationNotSupported")
    soft = client.send("DELETE", path, query).expect(202)
    assert soft.headers["x-ms-delete-type-permanent"] == "false"
    assert for_good().expect(202).headers["x-ms-delete-type-permanent"] == "true"
    for_good().expect(404, "BlobNotFound")
    client.send("DELETE", path, "deletetype=permanent").expect(400, "InvalidQueryParameterValue")


@pytest.mark.parametrize("count", [250])
def test_many_snapshots_go_and_come_back_at_once(client, box, blob, keeping, count):
    blob.upload_blob(b"one")
    path = f"/{box.container_name}/blob.txt"
    for _ in range(count):
        client.send("PUT", path, "comp=snapshot").expect(201)
    blob.delete_blob(delete_snapshots="include")
    assert entries(box, "snapshots") == []
    blob.undelete_blob()
    assert len(entries(box, "snapshots")) == count + 1


def test_without_a_policy_deletion_is_final(service: BlobServiceClient, box, blob, refused):
    assert service.get_service_properties()["delete_retention_policy"].enabled is False
    blob.upload_blob(b"one")
    blob.delete_blob()
    assert entries(box, "snapshots", "deleted") == []
    with refused(404, "BlobNotFound"):
        blob.undelete_blob()
