"""Append blobs through the current SDK and on the wire."""

from __future__ import annotations

import base64
import hashlib
import threading

import pytest
from azure.core import MatchConditions
from azure.storage.blob import BlobType, ContentSettings

MIB = 1024 * 1024


@pytest.fixture
def log(box):
    blob = box.get_blob_client("log.txt")
    blob.create_append_blob(metadata={"Kind": "log"})
    return blob


@pytest.fixture
def wire(client, container):
    """The path of a fresh append blob."""
    path = f"/{container}/a"
    client.send("PUT", path, "", {"x-ms-blob-type": "AppendBlob"}).expect(201)
    return path


def append(client, path, body=b"x", headers=None, query="comp=appendblock"):
    return client.send("PUT", path, query, headers or {}, body)


def test_create_and_properties(box):
    blob = box.get_blob_client("a")
    answer = blob.create_append_blob(
        content_settings=ContentSettings(content_type="text/plain", cache_control="no-store"),
        metadata={"Mixed": "Case"},
    )
    got = blob.get_blob_properties()
    assert got.blob_type == BlobType.APPENDBLOB
    assert (got.size, got.append_blob_committed_block_count) == (0, 0)
    assert got.metadata == {"Mixed": "Case"}
    assert got.content_settings.content_type == "text/plain"
    assert got.content_settings.content_md5 is None
    assert got.etag == answer["etag"]
    assert got.is_append_blob_sealed is None
    assert got.blob_tier is None
    assert blob.download_blob().readall() == b""


def test_append_answers_offset_and_count(log):
    whole = b""
    for count, size in enumerate([5, 4096, 9000, 300_000, 4 * MIB], start=1):
        data = bytes([count]) * size
        answer = log.append_block(data)
        assert int(answer["blob_append_offset"]) == len(whole)
        assert answer["blob_committed_block_count"] == count
        whole += data
        assert log.get_blob_properties().etag == answer["etag"]
    assert log.download_blob().readall() == whole
    assert log.download_blob(offset=4000, length=6000).readall() == whole[4000:10000]
    assert log.get_blob_properties().append_blob_committed_block_count == 5


def test_upload_blob_appends_in_chunks(box):
    blob = box.get_blob_client("stream")
    data = bytes(range(256)) * 40_000
    blob.upload_blob(data, blob_type=BlobType.APPENDBLOB)
    blob.upload_blob(b"more", blob_type=BlobType.APPENDBLOB)
    assert blob.download_blob().readall() == data + b"more"
    blob.upload_blob(b"anew", blob_type=BlobType.APPENDBLOB, overwrite=True)
    assert blob.download_blob().readall() == b"anew"
    blob.upload_blob(b"0123456789", blob_type=BlobType.APPENDBLOB, length=4)
    assert blob.download_blob().readall() == b"anew0123"


def test_validate_content(log):
    log.append_block(b"checked", validate_content=True)
    assert log.download_blob(validate_content=True).readall() == b"checked"


def test_append_position_and_max_size(log, refused):
    log.append_block(b"12345", appendpos_condition=0, maxsize_condition=5)
    with refused(412, "AppendPositionConditionNotMet"):
        log.append_block(b"x", appendpos_condition=4)
    with refused(412, "MaxBlobSizeConditionNotMet"):
        log.append_block(b"x", maxsize_condition=5)
    with refused(412, "MaxBlobSizeConditionNotMet"):
        log.append_block(b"x", maxsize_condition=3)
    log.append_block(b"x", appendpos_condition=5, maxsize_condition=6)
    assert log.download_blob().readall() == b"12345x"


def test_conditions_and_lease(log, refused):
    before = log.get_blob_properties()
    log.append_block(b"1", etag=before.etag, match_condition=MatchConditions.IfNotModified)
    with refused(412, "ConditionNotMet"):
        log.append_block(b"2", etag=before.etag, match_condition=MatchConditions.IfNotModified)
    with refused(412, "ConditionNotMet"):
        log.append_block(b"2", if_unmodified_since=before.last_modified.replace(year=2000))
    lease = log.acquire_lease()
    with refused(412, "LeaseIdMissing"):
        log.append_block(b"2")
    log.append_block(b"2", lease=lease)
    held = lease.id
    lease.release()
    with refused(412, "LeaseNotPresentWithBlobOperation"):
        log.append_block(b"3", lease=held)
    assert log.download_blob().readall() == b"12"


def test_seal(log, box, refused):
    log.append_block(b"end")
    before = log.get_blob_properties()
    with refused(412, "AppendPositionConditionNotMet"):
        log.seal_append_blob(appendpos_condition=2)
    answer = log.seal_append_blob(appendpos_condition=3)
    assert answer["blob_sealed"] is True
    assert answer["etag"] != before.etag
    assert log.seal_append_blob()["blob_sealed"] is True
    got = log.get_blob_properties()
    assert got.is_append_blob_sealed is True
    with refused(409, "BlobIsSealed"):
        log.append_block(b"x")
    log.set_blob_metadata({"still": "editable"})
    log.set_http_headers(ContentSettings(content_type="text/x"))
    download = log.download_blob()
    assert (download.properties.is_append_blob_sealed, download.readall()) == (True, b"end")
    [listed] = list(box.list_blobs())
    assert listed.is_append_blob_sealed is True
    assert listed.blob_type == BlobType.APPENDBLOB
    log.create_append_blob()
    log.append_block(b"again")
    assert log.get_blob_properties().is_append_blob_sealed is None
    log.seal_append_blob()
    log.delete_blob()


def test_listing_fields(client, container, wire):
    append(client, wire, b"abc").expect(201)
    query = "restype=container&comp=list"
    blob = client.get(f"/{container}", {}, query).expect(200).xml().find("Blobs/Blob")
    text = lambda name: blob.findtext(f"Properties/{name}")  # noqa: E731
    assert text("BlobType") == "AppendBlob"
    assert text("Content-Length") == "3"
    assert blob.find("Properties/Sealed") is None
    assert blob.find("Properties/AccessTier") is None


def test_success_headers(client, wire):
    got = append(client, wire, b"hello world").expect(201)
    assert got.headers["x-ms-content-crc64"] == "vo7q9sPVKY0="
    assert got.headers["x-ms-request-server-encrypted"] == "true"
    assert (got.headers["x-ms-blob-append-offset"], got.headers["x-ms-blob-committed-block-count"]) == ("0", "1")  # fmt: skip
    assert "content-md5" not in got.headers
    md5 = base64.b64encode(hashlib.md5(b"more").digest()).decode()
    got = append(client, wire, b"more", {"Content-MD5": md5}).expect(201)
    assert got.headers["content-md5"] == md5
    assert "x-ms-content-crc64" not in got.headers
    head = client.send("HEAD", wire, "", {}).expect(200)
    assert head.headers["x-ms-blob-committed-block-count"] == "2"
    assert "x-ms-blob-sealed" not in head.headers


@pytest.mark.parametrize(
    ("body", "headers", "query", "status", "code"),
    [
        (b"", {}, "comp=appendblock", 400, "InvalidHeaderValue"),
        (b"x", {"Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="}, "comp=appendblock", 400, "Md5Mismatch"),
        (b"x", {"Content-MD5": "AAAA"}, "comp=appendblock", 400, "InvalidMd5"),
        (b"x", {"x-ms-content-crc64": "AAAAAAAAAAA="}, "comp=appendblock", 400, "Crc64Mismatch"),
        (b"x", {"x-ms-content-crc64": "AA=="}, "comp=appendblock", 400, "InvalidHeaderValue"),
        (b"x", {"x-ms-content-crc64": "AAAAAAAAAAA=", "Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="},
         "comp=appendblock", 400, "BothCrc64AndMd5HeaderPresent"),
        (b"x", {"x-ms-blob-condition-appendpos": "-1"}, "comp=appendblock", 400, "InvalidHeaderValue"),
        (b"x", {"x-ms-blob-condition-maxsize": "many"}, "comp=appendblock", 400, "InvalidHeaderValue"),
        (b"x", {"x-ms-lease-id": "nonsense"}, "comp=appendblock", 400, "InvalidHeaderValue"),
        (b"x" * (4 * MIB + 1), {"x-ms-version": "2021-12-02"}, "comp=appendblock", 413, "RequestBodyTooLarge"),
        (b"x", {"x-ms-version": "2014-02-14"}, "comp=appendblock", 409, "FeatureVersionMismatch"),
        (b"", {"x-ms-blob-condition-appendpos": "7"}, "comp=seal", 412, "AppendPositionConditionNotMet"),
        (b"", {"x-ms-blob-condition-appendpos": "x"}, "comp=seal", 400, "InvalidHeaderValue"),
        (b"x", {"x-ms-blob-type": "BlockBlob"}, "", 409, "InvalidBlobType"),
        (b"x", {}, "comp=block&blockid=MDAwMQ==", 409, "InvalidBlobType"),
        (b"<BlockList/>", {}, "comp=blocklist", 409, "InvalidBlobType"),
        (b"x", {"x-ms-blob-type": "AppendBlob"}, "", 400, "InvalidHeaderValue"),
        (b"", {"x-ms-blob-type": "AppendBlob", "x-ms-blob-content-length": "512"}, "", 400, "InvalidHeaderValue"),
        (b"", {"x-ms-blob-type": "AppendBlob", "x-ms-access-tier": "Hot"}, "", 400, "AccessTierNotSupportedForBlobType"),
        (b"", {"x-ms-blob-type": "AppendBlob", "If-None-Match": "*"}, "", 409, "BlobAlreadyExists"),
    ],
)  # fmt: skip
def test_refusals_change_nothing(client, wire, body, headers, query, status, code):
    before = append(client, wire, b"kept").expect(201).etag
    append(client, wire, body, headers, query).expect(status, code)
    after = client.get(wire).expect(200)
    assert (after.etag, after.body) == (before, b"kept")


def test_more_refusals(client, container, wire):
    append(client, f"/{container}/none").expect(404, "BlobNotFound")
    append(client, "/no-such-container/a").expect(404, "ContainerNotFound")
    client.put(f"/{container}/block", b"x").expect(201)
    append(client, f"/{container}/block").expect(409, "InvalidBlobType")
    client.send("PUT", f"/{container}/block", "comp=seal", {}).expect(409, "InvalidBlobType")
    made = client.send("PUT", f"/{container}/block", "", {"x-ms-blob-type": "AppendBlob"})
    made.expect(409, "InvalidBlobType")
    client.get(wire, {}, "comp=blocklist").expect(409, "InvalidBlobType")
    client.send("GET", wire, "comp=appendblock", {}).expect(405, "UnsupportedHttpVerb")


def test_concurrent_appends_are_disjoint(client, wire):
    writers, each, done = 16, 25, []

    def work(writer: int) -> None:
        for n in range(each):
            data = bytes([writer]) * (100 + 37 * n)
            got = append(client, wire, data).expect(201)
            done.append((int(got.headers["x-ms-blob-append-offset"]), int(got.headers["x-ms-blob-committed-block-count"]), data))  # fmt: skip

    threads = [threading.Thread(target=work, args=(n,)) for n in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == writers * each
    whole, end = client.get(wire).expect(200).body, 0
    for count, (offset, blocks, data) in enumerate(sorted(done), start=1):
        assert (offset, blocks) == (end, count)
        assert whole[offset : offset + len(data)] == data
        end += len(data)
    assert end == len(whole)
