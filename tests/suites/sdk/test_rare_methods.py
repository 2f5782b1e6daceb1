"""Methods of the Python client that no other suite calls."""

from __future__ import annotations

import socket

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobServiceClient, PremiumPageBlobTier

from harness import DEV_ACCOUNT, DEV_KEY, Server

KEY = {"account_name": DEV_ACCOUNT, "account_key": DEV_KEY}


@pytest.fixture(scope="module")
def keeping():
    """A server with what Azure keeps in its management plane."""
    settings = ("container-retention-days=3", "sku=Premium_LRS", "kind=StorageV2")
    with Server(*(part for line in settings for part in ("--setting", line))) as running:
        yield running
        assert running.alive(), running.output()[-4000:]


def connect(server: Server, **options) -> BlobServiceClient:
    return BlobServiceClient(f"{server.url}/{DEV_ACCOUNT}", credential=KEY, **options)


def test_get_service_stats(server, monkeypatch):
    """The client asks a host of its own, which the resolver of the machine may not know."""
    resolve = socket.getaddrinfo

    def here(host, *rest, **options):
        named = isinstance(host, str) and host.endswith(".localhost")
        return resolve("127.0.0.1" if named else host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", here)
    url = f"http://{DEV_ACCOUNT}.blob.localhost:{server.port}"
    other = f"{DEV_ACCOUNT}-secondary.blob.localhost:{server.port}"
    service = BlobServiceClient(url, credential=KEY, secondary_hostname=other, retry_total=0)
    stats = service.get_service_stats()
    assert stats["geo_replication"]["status"] == "live"


def test_undelete_container(keeping, name):
    service = connect(keeping)
    service.create_container(name).upload_blob("b", b"kept")
    service.delete_container(name)
    (gone,) = service.list_containers(name_starts_with=name, include_deleted=True)
    assert gone.deleted and gone.version
    box = service.undelete_container(name, gone.version)
    assert box.get_blob_client("b").download_blob().readall() == b"kept"


def test_premium_page_blob_tiers(keeping, name):
    box = connect(keeping).create_container(name)
    disks = [box.get_blob_client(f"disk{n}") for n in range(2)]
    for disk in disks:
        disk.create_page_blob(1024, premium_page_blob_tier=PremiumPageBlobTier.P4)
        assert disk.get_blob_properties().blob_tier == "P4"
    disks[0].set_premium_page_blob_tier(PremiumPageBlobTier.P10)
    assert disks[0].get_blob_properties().blob_tier == "P10"
    box.set_premium_page_blob_tier_blobs(PremiumPageBlobTier.P20, "disk0", "disk1")
    assert [disk.get_blob_properties().blob_tier for disk in disks] == ["P20", "P20"]


def test_page_ranges_of_managed_disks(box):
    disk = box.get_blob_client("disk")
    disk.create_page_blob(2048)
    snapshot = disk.create_snapshot()["snapshot"]
    disk.upload_page(bytes([1]) * 512, 512, 512)
    url = f"{disk.url}?snapshot={snapshot}"
    written, cleared = disk.get_page_range_diff_for_managed_disk(url)
    assert [(r["start"], r["end"]) for r in written] == [(512, 1023)] and not cleared
    with pytest.raises(HttpResponseError):
        disk.get_page_range_diff_for_managed_disk(f"{disk.url}?snapshot=nonsense")
