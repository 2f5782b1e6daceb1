"""The Python client of 2015 (azure-storage 0.20.3, API version 2014-02-14), unmodified."""

from __future__ import annotations

import hashlib
import os

import pytest
from azure.common import AzureConflictHttpError, AzureHttpError, AzureMissingResourceHttpError
from azure.storage import AccessPolicy, SharedAccessPolicy
from azure.storage.blob import BlobService, BlobSharedAccessPermissions

from harness import DEV_ACCOUNT


@pytest.fixture(scope="session")
def old(server) -> BlobService:
    """Its road to a local server is the emulator switch in the environment."""
    os.environ["EMULATED"] = "true"
    return BlobService(dev_host=f"127.0.0.1:{server.port}")


@pytest.fixture
def box(old, name) -> str:
    assert old.create_container(name, x_ms_meta_name_values={"a": "1"})
    return name


def test_containers(old, box):
    assert old.get_container_metadata(box)["x-ms-meta-a"] == "1"
    old.set_container_metadata(box, {"b": "2"})
    assert old.get_container_properties(box)["x-ms-meta-b"] == "2"
    assert [c.name for c in old.list_containers(box)] == [box]
    with pytest.raises(AzureConflictHttpError):
        old.create_container(box, fail_on_exist=True)
    old.delete_container(box)
    with pytest.raises(AzureMissingResourceHttpError):
        old.get_container_properties(box)


def test_text_and_bytes(old, box):
    old.put_block_blob_from_text(box, "t", "grüße")
    assert old.get_blob_to_text(box, "t") == "grüße"
    old.put_blob(box, "b", b"0123", "BlockBlob", x_ms_meta_name_values={"k": "v"})
    assert old.get_blob(box, "b") == b"0123"
    assert old.get_blob(box, "b", x_ms_range="bytes=1-2") == b"12"
    p = old.get_blob_properties(box, "b")
    assert p["content-length"] == "4"
    assert p["x-ms-meta-k"] == "v"
    assert p["x-ms-lease-state"] == "available"


def test_empty_body_signs_a_literal_zero(old, box):
    """This version signs `0` for an empty body; every empty PUT below depends on it."""
    old.put_blob(box, "empty", b"", "BlockBlob")
    assert old.get_blob(box, "empty") == b""
    old.set_blob_metadata(box, "empty", {"k": "v"})
    assert old.get_blob_metadata(box, "empty")["x-ms-meta-k"] == "v"


def test_large_upload_in_blocks(old, box):
    data = os.urandom(1024 * 1024) * 70
    old.put_block_blob_from_bytes(box, "big", data, max_connections=4)
    got = old.get_blob_to_bytes(box, "big", max_connections=4)
    assert hashlib.sha256(got).digest() == hashlib.sha256(data).digest()


def test_blocks(old, box):
    old.put_block(box, "b", b"one", "0001")
    old.put_block(box, "b", b"two", "0002")
    lists = old.get_block_list(box, "b", blocklisttype="all")
    assert [b.id for b in lists.uncommitted_blocks] == ["0001", "0002"]
    old.put_block_list(box, "b", ["0002", "0001"])
    assert old.get_blob(box, "b") == b"twoone"


def test_lists(old, box):
    for each in ("a", "d/1", "d/2", "z"):
        old.put_blob(box, each, b"x", "BlockBlob")
    assert [b.name for b in old.list_blobs(box)] == ["a", "d/1", "d/2", "z"]
    page = old.list_blobs(box, maxresults=2)
    assert [b.name for b in page] == ["a", "d/1"]
    assert [b.name for b in old.list_blobs(box, marker=page.next_marker)] == ["d/2", "z"]
    tree = old.list_blobs(box, delimiter="/")
    assert [p.name for p in tree.prefixes] == ["d/"]


def test_leases(old, box):
    old.put_blob(box, "b", b"x", "BlockBlob")
    lease = old.lease_blob(box, "b", "acquire", x_ms_lease_duration=15)["x-ms-lease-id"]
    with pytest.raises(AzureHttpError) as error:
        old.put_blob(box, "b", b"y", "BlockBlob")
    assert error.value.status_code == 412
    old.put_blob(box, "b", b"y", "BlockBlob", x_ms_lease_id=lease)
    old.lease_blob(box, "b", "renew", lease)
    old.lease_blob(box, "b", "release", lease)
    old.delete_blob(box, "b")


def test_conditions_through_properties(old, box):
    old.put_blob(box, "b", b"x", "BlockBlob")
    old.set_blob_properties(box, "b", x_ms_blob_content_type="text/b")
    assert old.get_blob_properties(box, "b")["content-type"] == "text/b"


def test_public_access(old, box):
    old.set_container_acl(box, x_ms_blob_public_access="blob")
    acl = old.get_container_acl(box)
    assert acl.signed_identifiers == [] or list(acl.signed_identifiers) == []


def test_sas_of_that_time(old, server, box):
    from datetime import datetime, timedelta

    import requests

    old.put_blob(box, "b", b"x", "BlockBlob")
    policy = SharedAccessPolicy(
        AccessPolicy(
            (datetime.utcnow() - timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            (datetime.utcnow() + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            BlobSharedAccessPermissions.READ,
        )
    )
    token = old.generate_shared_access_signature(box, "b", policy)
    url = f"{server.url}/{DEV_ACCOUNT}/{box}/b?{token}"
    assert requests.get(url, timeout=10).content == b"x"
    # A missing permission was answered with 404 before 2015-04-05.
    assert requests.delete(url, timeout=10).status_code == 404


def test_delete(old, box):
    old.put_blob(box, "b", b"x", "BlockBlob")
    old.delete_blob(box, "b")
    with pytest.raises(AzureMissingResourceHttpError):
        old.get_blob(box, "b")
