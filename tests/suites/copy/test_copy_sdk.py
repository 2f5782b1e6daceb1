"""Copies through the Python client: every method that copies."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import (
    BlobSasPermissions,
    BlobServiceClient,
    StandardBlobTier,
    generate_blob_sas,
)

from harness import DEV_ACCOUNT, DEV_KEY, Server

DATA = bytes(range(256)) * 300
LARGE = 9 * 1024 * 1024


def connect(server: Server) -> BlobServiceClient:
    return BlobServiceClient(
        f"{server.url}/{DEV_ACCOUNT}", credential={"account_name": DEV_ACCOUNT, "account_key": DEV_KEY}
    )  # fmt: skip


@pytest.fixture(scope="module")
def slow():
    with Server("--copy-bytes-per-second", "1048576") as running:
        yield running
        assert running.alive(), running.output()[-4000:]


@pytest.fixture
def box(server, name):
    return connect(server).create_container(name)


def signed(blob, permission="r") -> str:
    token = generate_blob_sas(
        DEV_ACCOUNT,
        blob.container_name,
        blob.blob_name,
        account_key=DEV_KEY,
        permission=BlobSasPermissions.from_string(permission),
        expiry=datetime.now(UTC) + timedelta(hours=1),
    )
    return f"{blob.url}?{token}"


def ended(blob):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        properties = blob.get_blob_properties()
        if properties.copy.status != "pending":
            return properties
        time.sleep(0.05)
    raise AssertionError("the copy does not end")


def refused(code: str):
    return pytest.raises(HttpResponseError, match=code)


def test_start_copy_from_url(box):
    source, made = box.get_blob_client("source"), box.get_blob_client("made")
    source.upload_blob(DATA, metadata={"color": "blue"})
    answer = made.start_copy_from_url(source.url)
    assert answer["copy_status"] == "success" and answer["copy_id"]
    properties = made.get_blob_properties()
    assert properties.copy.id == answer["copy_id"] and properties.copy.status == "success"
    assert properties.copy.source == source.url and properties.copy.completion_time
    assert properties.copy.progress == f"{len(DATA)}/{len(DATA)}"
    assert properties.metadata == {"color": "blue"}
    assert made.download_blob().readall() == DATA
    with refused("NoPendingCopyOperation"):
        made.abort_copy(answer["copy_id"])
    (listed,) = box.list_blobs(name_starts_with="made", include=["copy"])
    assert listed.copy.id == answer["copy_id"] and listed.copy.source == source.url


def test_with_everything(box):
    source, made = box.get_blob_client("source"), box.get_blob_client("made")
    source.upload_blob(DATA)
    made.upload_blob(b"old")
    etag = made.get_blob_properties().etag
    made.start_copy_from_url(
        source.url,
        metadata={"a": "1"},
        tags={"b": "2"},
        standard_blob_tier=StandardBlobTier.COOL,
        source_etag=source.get_blob_properties().etag,
        source_match_condition=MatchConditions.IfNotModified,
        etag=etag,
        match_condition=MatchConditions.IfNotModified,
    )
    assert made.get_blob_tags() == {"b": "2"}
    assert made.get_blob_properties().blob_tier == "Cool"
    source.upload_blob(b"new", overwrite=True)
    assert made.download_blob().readall() == DATA


def test_requires_sync(box):
    source, made = box.get_blob_client("source"), box.get_blob_client("made")
    source.upload_blob(DATA, tags={"t": "1"})
    answer = made.start_copy_from_url(signed(source, "rt"), requires_sync=True, tags="COPY")
    assert answer["copy_status"] == "success"
    assert made.get_blob_tags() == {"t": "1"}
    made.upload_blob_from_url(signed(source), overwrite=True, metadata={"m": "1"})
    assert made.download_blob().readall() == DATA
    made.upload_blob_from_url(signed(source), overwrite=True, tags={"u": "2"})
    assert made.get_blob_tags() == {"u": "2"}


def test_pages_blocks_and_appends_from_url(box):
    source = box.get_blob_client("source")
    source.upload_blob(DATA)
    disk = box.get_blob_client("disk")
    disk.create_page_blob(4096, tags={"kind": "disk"})
    assert disk.get_blob_tags() == {"kind": "disk"}
    disk.upload_pages_from_url(signed(source), offset=512, length=1024, source_offset=512)
    assert disk.download_blob().readall()[512:1536] == DATA[512:1536]
    ranges, _ = disk.get_page_ranges()
    assert [(r["start"], r["end"]) for r in ranges] == [(512, 1535)]
    log = box.get_blob_client("log")
    log.create_append_blob()
    log.append_block_from_url(signed(source), source_offset=0, source_length=100)
    assert log.download_blob().readall() == DATA[:100]
    blocks = box.get_blob_client("blocks")
    blocks.stage_block_from_url("b1", signed(source), source_offset=0, source_length=500)
    blocks.commit_block_list(["b1"])
    assert blocks.download_blob().readall() == DATA[:500]
    for kind in (disk, log, blocks):
        copied = box.get_blob_client(f"{kind.blob_name}-copy")
        copied.start_copy_from_url(kind.url)
        assert copied.get_blob_properties().blob_type == kind.get_blob_properties().blob_type
        assert copied.download_blob().readall() == kind.download_blob().readall()
    listed, _ = box.get_blob_client("blocks-copy").get_block_list()
    assert [(b.id, b.size) for b in listed] == [("b1", 500)]


def test_incremental_copy(box):
    disk, follower = box.get_blob_client("disk"), box.get_blob_client("follower")
    disk.create_page_blob(1 << 20)
    disk.upload_page(DATA[:512], 0, 512)
    first = disk.create_snapshot()
    snapshot = box.get_blob_client("disk", snapshot=first["snapshot"])
    answer = follower.start_copy_from_url(snapshot.url, incremental_copy=True)
    assert answer["copy_status"] == "pending"
    properties = ended(follower)
    assert properties.copy.incremental_copy is True
    made = box.get_blob_client("follower", snapshot=properties.copy.destination_snapshot)
    assert made.download_blob().readall()[:512] == DATA[:512]
    with refused("OperationNotAllowedOnIncrementalCopyBlob"):
        follower.download_blob()


def test_abort_copy(slow, name):
    box = connect(slow).create_container(name)
    source, made = box.get_blob_client("source"), box.get_blob_client("made")
    source.upload_blob(bytes(LARGE))
    answer = made.start_copy_from_url(source.url)
    assert answer["copy_status"] == "pending"
    with refused("PendingCopyOperation"):
        made.set_blob_metadata({"a": "1"})
    made.abort_copy(answer["copy_id"])
    properties = made.get_blob_properties()
    assert properties.copy.status == "aborted" and properties.size == 0
    assert made.download_blob().readall() == b""
    made.upload_blob(b"x", overwrite=True)


def test_overwrites_and_copies_at_the_same_time(box):
    """Every answer is true: what is there at the end is whole, and made by one of them."""
    from concurrent.futures import ThreadPoolExecutor

    sources = [box.get_blob_client(f"source{n}") for n in range(3)]
    contents = [bytes([n]) * (200_000 + n) for n in range(3)]
    for source, content in zip(sources, contents, strict=True):
        source.upload_blob(content)
    made = box.get_blob_client("made")

    def step(n: int) -> None:
        if n % 3 == 0:
            made.upload_blob(contents[n % 2], overwrite=True)
        else:
            made.start_copy_from_url(sources[n % 3].url)
        assert made.download_blob().readall() in contents

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(step, range(60)))
    assert made.download_blob().readall() in contents
