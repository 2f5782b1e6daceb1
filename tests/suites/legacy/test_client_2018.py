"""The Python client of 2018 (azure-storage-blob 1.5.0, API version 2018-03-28), unmodified."""

from __future__ import annotations

import hashlib
import os
from datetime import datetime, timedelta

import pytest
from azure.common import AzureConflictHttpError, AzureHttpError, AzureMissingResourceHttpError
from azure.storage.blob import (
    BlobBlock,
    BlobPermissions,
    BlockBlobService,
    ContainerPermissions,
    ContentSettings,
    PublicAccess,
)
from azure.storage.common.retry import no_retry

from harness import DEV_ACCOUNT, DEV_KEY


@pytest.fixture(scope="session")
def old(server) -> BlockBlobService:
    service = BlockBlobService(
        account_name=DEV_ACCOUNT,
        account_key=DEV_KEY,
        protocol="http",
        custom_domain=f"{server.url}/{DEV_ACCOUNT}",
    )
    service.retry = no_retry
    return service


@pytest.fixture
def box(old, name) -> str:
    assert old.create_container(name, metadata={"a": "1"})
    return name


def test_containers(old, box):
    p = old.get_container_properties(box)
    assert p.metadata == {"a": "1"}
    old.set_container_metadata(box, {"b": "2"})
    assert old.get_container_metadata(box) == {"b": "2"}
    assert [c.name for c in old.list_containers(prefix=box)] == [box]
    with pytest.raises(AzureConflictHttpError):
        old.create_container(box, fail_on_exist=True)
    assert old.exists(box)
    old.delete_container(box)
    with pytest.raises(AzureMissingResourceHttpError):
        old.get_container_properties(box)


def test_bytes_text_and_ranges(old, box):
    old.create_blob_from_text(box, "t", "grüße", metadata={"k": "v"})
    assert old.get_blob_to_text(box, "t").content == "grüße"
    old.create_blob_from_bytes(box, "b", b"0123456789", validate_content=True)
    assert old.get_blob_to_bytes(box, "b", start_range=2, end_range=4).content == b"234"
    p = old.get_blob_properties(box, "b").properties
    assert p.content_length == 10
    assert p.blob_type == "BlockBlob"


def test_validate_content_download(old, box):
    data = os.urandom(5 * 1024 * 1024)
    old.create_blob_from_bytes(box, "b", data, validate_content=True)
    assert old.get_blob_to_bytes(box, "b", validate_content=True).content == data


def test_blocks(old, box):
    old.put_block(box, "b", b"one", "0001")
    old.put_block(box, "b", b"two", "0002")
    lists = old.get_block_list(box, "b", block_list_type="all")
    assert [b.id for b in lists.uncommitted_blocks] == ["0001", "0002"]
    old.put_block_list(box, "b", [BlobBlock("0002"), BlobBlock("0001")])
    assert old.get_blob_to_bytes(box, "b").content == b"twoone"
    lists = old.get_block_list(box, "b", block_list_type="all")
    assert [b.id for b in lists.committed_blocks] == ["0002", "0001"]


def test_parallel_upload(old, box):
    old.MAX_SINGLE_PUT_SIZE, before = 1024 * 1024, old.MAX_SINGLE_PUT_SIZE
    try:
        data = os.urandom(1024 * 1024) * 33
        old.create_blob_from_bytes(box, "big", data, max_connections=4)
        got = old.get_blob_to_bytes(box, "big", max_connections=4).content
        assert hashlib.sha256(got).digest() == hashlib.sha256(data).digest()
    finally:
        old.MAX_SINGLE_PUT_SIZE = before


def test_properties_and_metadata(old, box):
    old.create_blob_from_bytes(box, "b", b"x", content_settings=ContentSettings("text/a"))
    old.set_blob_metadata(box, "b", {"m": "1"})
    assert old.get_blob_metadata(box, "b") == {"m": "1"}
    old.set_blob_properties(box, "b", ContentSettings(content_type="text/b"))
    assert old.get_blob_properties(box, "b").properties.content_settings.content_type == "text/b"


def test_lists(old, box):
    for each in ("a", "d/1", "d/2", "z"):
        old.create_blob_from_bytes(box, each, b"x")
    assert [b.name for b in old.list_blobs(box)] == ["a", "d/1", "d/2", "z"]
    assert sorted(b.name for b in old.list_blobs(box, delimiter="/")) == ["a", "d/", "z"]
    page = old.list_blobs(box, num_results=2)
    assert [b.name for b in page] == ["a", "d/1"]
    rest = old.list_blobs(box, marker=page.next_marker)
    assert [b.name for b in rest] == ["d/2", "z"]


def test_leases(old, box):
    old.create_blob_from_bytes(box, "b", b"x")
    lease = old.acquire_blob_lease(box, "b", 15)
    with pytest.raises(AzureHttpError) as error:
        old.set_blob_metadata(box, "b", {"a": "1"})
    assert error.value.status_code == 412
    old.renew_blob_lease(box, "b", lease)
    old.set_blob_metadata(box, "b", {"a": "1"}, lease_id=lease)
    assert old.break_blob_lease(box, "b", lease_break_period=0) == 0
    old.release_blob_lease(box, "b", lease)
    held = old.acquire_container_lease(box, -1)
    with pytest.raises(AzureHttpError):
        old.delete_container(box)
    old.release_container_lease(box, held)


def test_conditions(old, box):
    etag = old.create_blob_from_bytes(box, "b", b"x").etag
    with pytest.raises(AzureConflictHttpError):
        old.create_blob_from_bytes(box, "b", b"y", if_none_match="*")
    old.create_blob_from_bytes(box, "b", b"y", if_match=etag)
    with pytest.raises(AzureHttpError) as error:
        old.create_blob_from_bytes(box, "b", b"z", if_match=etag)
    assert error.value.status_code == 412


def test_sas_and_public_access(old, server, box):
    old.create_blob_from_bytes(box, "b", b"x")
    expiry = datetime.utcnow() + timedelta(hours=1)
    for token in (
        old.generate_blob_shared_access_signature(box, "b", BlobPermissions.READ, expiry),
        old.generate_container_shared_access_signature(box, ContainerPermissions.READ, expiry),
    ):
        reader = BlockBlobService(
            account_name=DEV_ACCOUNT,
            sas_token=token,
            protocol="http",
            custom_domain=f"{server.url}/{DEV_ACCOUNT}",
        )
        reader.retry = no_retry
        assert reader.get_blob_to_bytes(box, "b").content == b"x"
        with pytest.raises(AzureHttpError) as error:
            reader.delete_blob(box, "b")
        assert error.value.status_code == 403
    old.set_container_acl(box, public_access=PublicAccess.Container)
    assert old.get_container_acl(box).public_access == "container"


def test_delete(old, box):
    old.create_blob_from_bytes(box, "b", b"x")
    old.delete_blob(box, "b")
    assert not old.exists(box, "b")
    with pytest.raises(AzureMissingResourceHttpError):
        old.delete_blob(box, "b")


def test_account_information(old):
    assert old.get_blob_account_information().sku_name
