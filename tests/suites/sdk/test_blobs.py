"""Block blobs in one request: upload, read, ranges, checksums, properties, metadata, delete."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from datetime import UTC, datetime

import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob import BlobType, ContentSettings, StandardBlobTier

ETAG = re.compile(r'^"0x[0-9A-F]{15}"$')


def md5(data: bytes) -> bytes:
    return hashlib.md5(data).digest()


def test_upload_and_properties(blob):
    data = b"hello world"
    answer = blob.upload_blob(data, metadata={"Mixed": "Case", "n": "1"})
    assert ETAG.match(answer["etag"])
    assert bytes(answer["content_md5"]) == md5(data)
    # CRC-64/NVME of "hello world", as the real service answers it.
    assert base64.b64encode(bytes(answer["content_crc64"])).decode() == "vo7q9sPVKY0="
    assert answer["request_server_encrypted"] is True
    p = blob.get_blob_properties()
    assert p.etag == answer["etag"]
    assert p.last_modified == answer["last_modified"]
    assert p.size == len(data)
    assert p.blob_type == BlobType.BLOCKBLOB
    assert p.metadata == {"Mixed": "Case", "n": "1"}
    assert p.content_settings.content_type == "application/octet-stream"
    assert bytes(p.content_settings.content_md5) == md5(data)
    assert p.server_encrypted is True
    assert p.blob_tier == "Hot"
    assert p.blob_tier_inferred is True
    assert (p.lease.status, p.lease.state) == ("unlocked", "available")
    assert abs((datetime.now(UTC) - p.creation_time).total_seconds()) < 60


def test_content_settings_round_trip(blob):
    settings = ContentSettings(
        content_type="text/plain; charset=utf-8",
        content_encoding="identity",
        content_language="de-CH",
        content_disposition='attachment; filename="x y.txt"',
        cache_control="max-age=60, public",
    )
    blob.upload_blob(b"x", content_settings=settings)
    got = blob.get_blob_properties().content_settings
    for field in (
        "content_type",
        "content_encoding",
        "content_language",
        "content_disposition",
        "cache_control",
    ):
        assert getattr(got, field) == getattr(settings, field), field
    download = blob.download_blob()
    assert download.properties.content_settings.content_disposition == settings.content_disposition
    assert download.properties.content_settings.cache_control == settings.cache_control


def test_empty_blob(blob):
    blob.upload_blob(b"")
    assert blob.get_blob_properties().size == 0
    assert blob.download_blob().readall() == b""


def test_overwrite_rules(blob, refused):
    first = blob.upload_blob(b"one", metadata={"a": "1"})
    created = blob.get_blob_properties().creation_time
    with refused(409, "BlobAlreadyExists"):
        blob.upload_blob(b"two")
    second = blob.upload_blob(b"two!", overwrite=True)
    assert second["etag"] != first["etag"]
    p = blob.get_blob_properties()
    assert (p.size, p.metadata) == (4, {})
    assert p.creation_time == created, "creation time survives an overwrite"
    assert blob.download_blob().readall() == b"two!"


def test_missing_blob_and_container(service, box, name):
    with pytest.raises(ResourceNotFoundError) as error:
        box.get_blob_client("none").download_blob()
    assert error.value.error_code == "BlobNotFound"
    with pytest.raises(ResourceNotFoundError) as error:
        service.get_blob_client(f"{name}-none", "b").upload_blob(b"x")
    assert error.value.error_code == "ContainerNotFound"
    assert not box.get_blob_client("none").exists()


@pytest.mark.parametrize(
    "blob_name",
    [
        "simple",
        "with space",
        "a/b/c/d.txt",
        "ünïcødé/Grüße.txt",
        "日本語/ファイル",
        "emoji-😀",
        "percent%25sign",
        "plus+plus",
        "q?mark&amp=x#frag",
        "a//b",
        "~tilde!$'()*,;=:@",
        "Upper and lower",
        "[brackets]{braces}|^`",
        "dots..in..name",
        "x" * 1024,
        "é" * 512,
        "/".join(["s"] * 254),
    ],
    ids=lambda n: n.encode("ascii", "replace").decode()[:24].replace("/", "_"),
)
def test_names_round_trip(box, blob_name):
    data = blob_name.encode()
    box.upload_blob(blob_name, data)
    assert box.download_blob(blob_name).readall() == data
    assert [b.name for b in box.list_blobs()] == [blob_name]
    box.delete_blob(blob_name)
    assert list(box.list_blobs()) == []


def test_ranges(blob, refused):
    data = bytes(range(256)) * 4
    blob.upload_blob(data)
    assert blob.download_blob(offset=10, length=20).readall() == data[10:30]
    assert blob.download_blob(offset=1000).readall() == data[1000:]
    assert blob.download_blob(offset=1020, length=100).readall() == data[1020:]
    assert blob.download_blob(offset=0, length=1).readall() == data[:1]
    with refused(416, "InvalidRange"):
        blob.download_blob(offset=1024, length=1).readall()


def test_validate_content_upload_and_download(box):
    data = os.urandom(9 * 1024 * 1024 + 17)
    blob = box.get_blob_client("checked")
    blob.upload_blob(data, validate_content=True)
    assert blob.download_blob(validate_content=True).readall() == data


def test_wrong_md5_is_refused(client, container):
    # The SDK computes the checksum itself, so a wrong one needs the wire.
    wrong = base64.b64encode(md5(b"other")).decode()
    client.put(f"/{container}/b", b"data", {"Content-MD5": wrong}).expect(400, "Md5Mismatch")
    client.head(f"/{container}/b").expect(404)
    crc = base64.b64encode(b"12345678").decode()
    client.put(f"/{container}/b", b"data", {"x-ms-content-crc64": crc}).expect(400, "Crc64Mismatch")
    client.head(f"/{container}/b").expect(404)


def test_set_http_headers_replaces_all_six(blob):
    blob.upload_blob(
        b"abc",
        content_settings=ContentSettings(content_type="text/a", cache_control="no-cache"),
        metadata={"keep": "me"},
    )
    before = blob.get_blob_properties()
    answer = blob.set_http_headers(ContentSettings(content_language="fr"))
    assert answer["etag"] != before.etag
    after = blob.get_blob_properties()
    assert after.content_settings.content_language == "fr"
    assert after.content_settings.cache_control is None
    assert after.content_settings.content_md5 is None
    assert after.metadata == {"keep": "me"}
    assert after.size == 3


def test_set_metadata(blob):
    blob.upload_blob(b"abc", metadata={"a": "1"})
    before = blob.get_blob_properties()
    answer = blob.set_blob_metadata({"b": "2", "C": "Three"})
    assert answer["etag"] != before.etag
    after = blob.get_blob_properties()
    assert after.metadata == {"b": "2", "C": "Three"}
    assert after.content_settings.content_md5 == before.content_settings.content_md5
    blob.set_blob_metadata({})
    assert blob.get_blob_properties().metadata == {}


def test_metadata_limits(blob, refused):
    blob.upload_blob(b"abc")
    with refused(400, "InvalidMetadata"):
        blob.set_blob_metadata({"not-an-identifier": "x"})
    with refused(400, "MetadataTooLarge"):
        blob.set_blob_metadata({"big": "v" * 8192})
    blob.set_blob_metadata({"big": "v" * 8000})


def test_delete(blob, refused):
    blob.upload_blob(b"abc")
    blob.delete_blob()
    assert not blob.exists()
    with refused(404, "BlobNotFound"):
        blob.delete_blob()


@pytest.mark.parametrize(
    "tier", [StandardBlobTier.HOT, StandardBlobTier.COOL, StandardBlobTier.COLD]
)
def test_tier_at_upload_is_kept(blob, tier):
    blob.upload_blob(b"abc", standard_blob_tier=tier)
    p = blob.get_blob_properties()
    assert p.blob_tier == tier.value
    assert not p.blob_tier_inferred


def test_tier_inherited_by_put_block_list(blob):
    blob.upload_blob(b"abc", standard_blob_tier=StandardBlobTier.COOL)
    blob.stage_block("a", b"def")
    blob.commit_block_list(["a"])
    assert blob.get_blob_properties().blob_tier == "Cool"


def test_last_modified_moves_only_with_content_or_metadata(blob):
    blob.upload_blob(b"abc")
    before = blob.get_blob_properties()
    blob.stage_block("a", b"def")
    blob.download_blob().readall()
    blob.acquire_lease(15).release()
    after = blob.get_blob_properties()
    assert (after.etag, after.last_modified) == (before.etag, before.last_modified)


def test_streaming_upload_of_unknown_length(box):
    data = os.urandom(3 * 1024 * 1024 + 5)
    pieces = (data[i : i + 65536] for i in range(0, len(data), 65536))
    blob = box.upload_blob("stream", pieces)
    assert blob.download_blob().readall() == data


def test_download_in_chunks(box):
    data = os.urandom(1024 * 1024)
    box.upload_blob("chunks", data)
    got = b"".join(box.download_blob("chunks").chunks())
    assert got == data
