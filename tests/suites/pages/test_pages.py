"""Page blobs through the current SDK and on the wire."""

from __future__ import annotations

import base64
import hashlib
import threading

import pytest
from azure.core import MatchConditions
from azure.storage.blob import BlobType, ContentSettings, SequenceNumberAction

KIB, MIB = 1024, 1024 * 1024


@pytest.fixture
def disk(box):
    blob = box.get_blob_client("disk.vhd")
    blob.create_page_blob(4 * MIB)
    return blob


@pytest.fixture
def wire(client, container):
    """The path of a fresh page blob of 8 KiB with its first page written."""
    path = f"/{container}/p"
    headers = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "8192"}
    client.send("PUT", path, "", headers).expect(201)
    update(client, path, 0, b"k" * 512).expect(201)
    return path


def update(client, path, offset, body, headers=None):
    given = {"x-ms-page-write": "update", "Range": f"bytes={offset}-{offset + len(body) - 1}"}
    return client.send("PUT", path, "comp=page", {**given, **(headers or {})}, body)


def clear(client, path, first, last, headers=None):
    given = {"x-ms-page-write": "clear", "Range": f"bytes={first}-{last}"}
    return client.send("PUT", path, "comp=page", {**given, **(headers or {})})


def ranges(blob, **kw):
    """(written, cleared), as [(first, last)]."""
    pages, cleared = blob.get_page_ranges(**kw)
    pick = lambda found: [(r["start"], r["end"]) for r in found]  # noqa: E731
    return pick(pages), pick(cleared)


def test_create_and_properties(box):
    blob = box.get_blob_client("p")
    answer = blob.create_page_blob(
        1 * MIB, content_settings=ContentSettings(content_type="disk/raw"),
        metadata={"Mixed": "Case"}, sequence_number=7,
    )  # fmt: skip
    got = blob.get_blob_properties()
    assert got.blob_type == BlobType.PAGEBLOB
    assert (got.size, got.page_blob_sequence_number) == (MIB, 7)
    assert got.metadata == {"Mixed": "Case"}
    assert got.content_settings.content_type == "disk/raw"
    assert got.content_settings.content_md5 is None
    assert got.etag == answer["etag"]
    assert got.blob_tier is None
    assert blob.download_blob().readall() == bytes(MIB)
    [listed] = list(box.list_blobs())
    assert (listed.blob_type, listed.size) == (BlobType.PAGEBLOB, MIB)
    assert listed.page_blob_sequence_number == 7


def test_upload_pages(disk):
    image = bytearray(4 * MIB)
    for offset, size in [(0, 512), (MIB - 512, KIB), (2 * MIB, 4 * KIB), (3 * MIB, 512 * KIB)]:
        data = bytes((offset // 512 + i) % 251 for i in range(size))
        image[offset : offset + size] = data
        answer = disk.upload_page(data, offset, size)
        assert answer["blob_sequence_number"] == 0
        assert disk.get_blob_properties().etag == answer["etag"]
    assert disk.download_blob().readall() == bytes(image)
    assert disk.download_blob(offset=MIB - 600, length=2000).readall() == bytes(
        image[MIB - 600 : MIB + 1400]
    )
    assert ranges(disk)[0] == [
        (0, 511), (MIB - 512, MIB + 511), (2 * MIB, 2 * MIB + 4095),
        (3 * MIB, 3 * MIB + 512 * KIB - 1),
    ]  # fmt: skip
    assert ranges(disk, offset=512, length=MIB - 512)[0] == [(MIB - 512, MIB - 1)]
    disk.clear_page(MIB - 512, 1024)
    image[MIB - 512 : MIB + 512] = bytes(1024)
    assert disk.download_blob().readall() == bytes(image)
    assert len(ranges(disk)[0]) == 3


def test_upload_blob_as_pages(box):
    blob = box.get_blob_client("stream")
    data = bytes(range(256)) * 20_000
    data += bytes(-len(data) % 512)
    blob.upload_blob(data, blob_type=BlobType.PAGEBLOB, max_concurrency=3)
    assert blob.download_blob(max_concurrency=3).readall() == data
    blob.upload_blob(bytes(512), blob_type=BlobType.PAGEBLOB, overwrite=True)
    assert blob.download_blob().readall() == bytes(512)


def test_validate_content(disk):
    disk.upload_page(b"c" * 512, 0, 512, validate_content=True)
    assert disk.download_blob(validate_content=True).readall()[:512] == b"c" * 512


def test_resize(disk, refused):
    disk.upload_page(b"r" * 1024, 0, 1024)
    answer = disk.resize_blob(512)
    assert answer["blob_sequence_number"] == 0
    assert disk.get_blob_properties().size == 512
    disk.resize_blob(2048)
    assert disk.download_blob().readall() == b"r" * 512 + bytes(1536)
    assert ranges(disk)[0] == [(0, 511)]
    with refused(400, "InvalidHeaderValue"):
        disk.resize_blob(700)


def test_sequence_numbers(disk, refused):
    disk.set_sequence_number(SequenceNumberAction.Update, 7)
    disk.set_sequence_number(SequenceNumberAction.Increment)
    disk.set_sequence_number(SequenceNumberAction.Max, 5)
    assert disk.get_blob_properties().page_blob_sequence_number == 8
    disk.set_sequence_number(SequenceNumberAction.Max, 11)
    page = b"s" * 512
    for kw, fits in [
        ({"if_sequence_number_lte": 11}, True), ({"if_sequence_number_lte": 10}, False),
        ({"if_sequence_number_lt": 12}, True), ({"if_sequence_number_lt": 11}, False),
        ({"if_sequence_number_eq": 11}, True), ({"if_sequence_number_eq": 10}, False),
    ]:  # fmt: skip
        if fits:
            disk.upload_page(page, 0, 512, **kw)
            disk.clear_page(0, 512, **kw)
        else:
            with refused(412, "SequenceNumberConditionNotMet"):
                disk.upload_page(page, 0, 512, **kw)
            with refused(412, "SequenceNumberConditionNotMet"):
                disk.clear_page(0, 512, **kw)
    disk.set_sequence_number(SequenceNumberAction.Update, 2**63 - 1)
    with refused(409, "SequenceNumberIncrementTooLarge"):
        disk.set_sequence_number(SequenceNumberAction.Increment)


def test_conditions_and_lease(disk, refused):
    before = disk.get_blob_properties()
    page = b"1" * 512
    disk.upload_page(page, 0, 512, etag=before.etag, match_condition=MatchConditions.IfNotModified)
    with refused(412, "ConditionNotMet"):
        disk.upload_page(
            page, 0, 512, etag=before.etag, match_condition=MatchConditions.IfNotModified
        )
    lease = disk.acquire_lease()
    with refused(412, "LeaseIdMissing"):
        disk.upload_page(page, 0, 512)
    with refused(412, "LeaseIdMissing"):
        disk.clear_page(0, 512)
    with refused(412, "LeaseIdMissing"):
        disk.resize_blob(512)
    disk.upload_page(page, 0, 512, lease=lease)
    disk.set_sequence_number(SequenceNumberAction.Increment, lease=lease)


def test_properties_and_metadata(disk):
    disk.set_http_headers(ContentSettings(content_type="a/b", cache_control="no-cache"))
    disk.set_sequence_number(SequenceNumberAction.Update, 3)
    disk.resize_blob(1024)
    got = disk.get_blob_properties()
    assert got.content_settings.content_type == "a/b", "a resize leaves the content headers"
    assert got.content_settings.cache_control == "no-cache"
    disk.set_blob_metadata({"k": "v"})
    got = disk.get_blob_properties()
    assert (got.metadata, got.size, got.page_blob_sequence_number) == ({"k": "v"}, 1024, 3)


def test_ranges_in_pages(disk):
    for page in range(0, 40, 2):
        disk.upload_page(b"x" * 512, page * 512, 512)
    found = list(disk.list_page_ranges(results_per_page=7))
    assert [(r.start, r.end) for r in found] == [(n * 512, n * 512 + 511) for n in range(0, 40, 2)]
    assert not any(r.cleared for r in found)
    pages = list(disk.list_page_ranges(results_per_page=7).by_page())
    assert [len(list(p)) for p in pages] == [7, 7, 6]


def test_snapshots_and_differences(disk, box, refused):
    disk.upload_page(b"a" * 4096, 0, 4096)
    disk.upload_page(b"a" * (64 * KIB), MIB, 64 * KIB)
    first = disk.create_snapshot()
    then = disk.download_blob().readall()
    disk.upload_page(b"b" * 512, 512, 512)
    disk.clear_page(1024, 512)
    disk.upload_page(b"a" * 512, 2048, 512)
    second = disk.create_snapshot()
    disk.upload_page(b"c" * 512, 2 * MIB, 512)
    disk.clear_page(0, 4 * MIB)
    disk.upload_page(b"d" * 512, 0, 512)
    old = box.get_blob_client("disk.vhd", snapshot=first["snapshot"])
    mid = box.get_blob_client("disk.vhd", snapshot=second["snapshot"])
    assert old.download_blob().readall() == then
    assert ranges(old)[0] == [(0, 4095), (MIB, MIB + 64 * KIB - 1)]
    written, cleared = ranges(mid, previous_snapshot_diff=first["snapshot"])
    assert written == [(512, 1023), (2048, 2559)], "written again counts, whatever the bytes"
    assert cleared == [(1024, 1535)]
    written, cleared = ranges(disk, previous_snapshot_diff=first["snapshot"])
    assert written == [(0, 511)]
    assert cleared == [(512, 4095), (MIB, MIB + 64 * KIB - 1)]
    found = list(disk.list_page_ranges(previous_snapshot=second["snapshot"], results_per_page=1))
    assert [(r.start, r.end, r.cleared) for r in found] == [
        (0, 511, False), (512, 1023, True), (1536, 4095, True), (MIB, MIB + 64 * KIB - 1, True),
    ]  # fmt: skip
    assert ranges(mid, previous_snapshot_diff=second["snapshot"]) == ([], [])
    with refused(400, "PreviousSnapshotCannotBeNewer"):
        old.get_page_ranges(previous_snapshot_diff=second["snapshot"])
    with refused(409, "PreviousSnapshotNotFound"):
        disk.get_page_ranges(previous_snapshot_diff="2020-01-01T00:00:00.0000000Z")
    with refused(400, "InvalidQueryParameterValue"):
        disk.get_page_ranges(previous_snapshot_diff="yesterday")
    disk.create_page_blob(MIB)
    with refused(409, "BlobOverwritten"):
        disk.get_page_ranges(previous_snapshot_diff=first["snapshot"])
    assert old.download_blob().readall() == then
    disk.delete_blob(delete_snapshots="include")


def test_previous_snapshot_url(client, wire):
    moment = client.send("PUT", wire, "comp=snapshot").expect(201).headers["x-ms-snapshot"]
    update(client, wire, 1024, b"n" * 512).expect(201)
    url = f"http://127.0.0.1{wire}?snapshot={moment}"
    got = client.get(wire, {"x-ms-previous-snapshot-url": url}, "comp=pagelist").expect(200)
    assert [r.findtext("Start") for r in got.xml().findall("PageRange")] == ["1024"]
    for bad in ("nonsense", "http://127.0.0.1/a/b?snapshot=x"):
        got = client.get(wire, {"x-ms-previous-snapshot-url": bad}, "comp=pagelist")
        got.expect(400, "InvalidHeaderValue")


def test_success_headers(client, wire):
    got = update(client, wire, 0, b"z" * 512).expect(201)
    assert got.headers["x-ms-blob-sequence-number"] == "0"
    assert got.headers["x-ms-request-server-encrypted"] == "true"
    assert "x-ms-content-crc64" in got.headers
    assert "content-md5" not in got.headers
    md5 = base64.b64encode(hashlib.md5(b"y" * 512).digest()).decode()
    got = update(client, wire, 0, b"y" * 512, {"Content-MD5": md5}).expect(201)
    assert got.headers["content-md5"] == md5
    got = clear(client, wire, 0, 511).expect(201)
    assert got.headers["x-ms-blob-sequence-number"] == "0"
    assert "x-ms-content-crc64" not in got.headers
    assert "x-ms-request-server-encrypted" not in got.headers
    got = client.get(wire, {}, "comp=pagelist").expect(200)
    assert got.headers["x-ms-blob-content-length"] == "8192"
    assert got.body.decode("utf-8-sig").endswith("<PageList />") or b"<PageList></PageList>" in got.body


UPDATE = {"x-ms-page-write": "update"}
PAGE = {"x-ms-blob-type": "PageBlob"}


@pytest.mark.parametrize(
    ("query", "headers", "body", "status", "code"),
    [
        ("comp=page", {**UPDATE, "Range": "bytes=0-510"}, b"x" * 511, 400, "InvalidHeaderValue"),
        ("comp=page", {**UPDATE, "Range": "bytes=1-512"}, b"x" * 512, 400, "InvalidHeaderValue"),
        ("comp=page", {**UPDATE, "Range": "bytes=0-511"}, b"x" * 511, 400, "InvalidHeaderValue"),
        ("comp=page", {**UPDATE, "Range": "bytes=0-511"}, b"", 400, "InvalidHeaderValue"),
        ("comp=page", {**UPDATE}, b"x" * 512, 400, "MissingRequiredHeader"),
        ("comp=page", {"Range": "bytes=0-511"}, b"x" * 512, 400, "MissingRequiredHeader"),
        ("comp=page", {"x-ms-page-write": "x", "Range": "bytes=0-511"}, b"x" * 512, 400, "InvalidHeaderValue"),
        ("comp=page", {**UPDATE, "Range": "bytes=8192-8703"}, b"x" * 512, 416, "InvalidPageRange"),
        ("comp=page", {"x-ms-page-write": "clear", "Range": "bytes=0-8703"}, b"", 416, "InvalidPageRange"),
        ("comp=page", {"x-ms-page-write": "clear", "Range": "bytes=0-511"}, b"x" * 512, 400, "InvalidHeaderValue"),
        ("comp=page", {**UPDATE, "Range": "bytes=0-4194815"}, b"x" * (4 * MIB + 512), 413, "RequestBodyTooLarge"),
        ("comp=page", {**UPDATE, "Range": "bytes=0-511", "Content-MD5": "AAAAAAAAAAAAAAAAAAAAAA=="}, b"x" * 512, 400, "Md5Mismatch"),
        ("comp=page", {**UPDATE, "Range": "bytes=0-511", "x-ms-content-crc64": "AAAAAAAAAAA="}, b"x" * 512, 400, "Crc64Mismatch"),
        ("comp=page", {**UPDATE, "Range": "bytes=0-511", "x-ms-if-sequence-number-le": "-1"}, b"x" * 512, 400, "InvalidInput"),
        ("comp=page", {**UPDATE, "Range": "bytes=0-511", "x-ms-if-sequence-number-eq": "1"}, b"x" * 512, 412, "SequenceNumberConditionNotMet"),
        ("comp=page&snapshot=2020-01-01T00:00:00.0000000Z", {**UPDATE, "Range": "bytes=0-511"}, b"x" * 512, 400, "InvalidQueryParameterValue"),
        ("comp=properties", {"x-ms-blob-content-length": "100"}, b"", 400, "InvalidHeaderValue"),
        ("comp=properties", {"x-ms-blob-content-length": "8796093022720"}, b"", 400, "InvalidHeaderValue"),
        ("comp=properties", {"x-ms-sequence-number-action": "max"}, b"", 400, "MissingRequiredHeader"),
        ("comp=properties", {"x-ms-sequence-number-action": "double", "x-ms-blob-sequence-number": "1"}, b"", 400, "InvalidHeaderValue"),
        ("comp=properties", {"x-ms-sequence-number-action": "increment", "x-ms-blob-sequence-number": "1"}, b"", 400, "InvalidHeaderValue"),
        ("comp=appendblock", {}, b"x", 409, "InvalidBlobType"),
        ("comp=seal", {}, b"", 409, "InvalidBlobType"),
        ("comp=block&blockid=MDAwMQ==", {}, b"x", 409, "InvalidBlobType"),
        ("comp=blocklist", {}, b"<BlockList/>", 409, "InvalidBlobType"),
        ("", {"x-ms-blob-type": "BlockBlob"}, b"x", 409, "InvalidBlobType"),
        ("", {"x-ms-blob-type": "AppendBlob"}, b"", 409, "InvalidBlobType"),
        ("", {**PAGE}, b"", 400, "MissingRequiredHeader"),
        ("", {**PAGE, "x-ms-blob-content-length": "513"}, b"", 400, "InvalidHeaderValue"),
        ("", {**PAGE, "x-ms-blob-content-length": "8796093022720"}, b"", 400, "InvalidHeaderValue"),
        ("", {**PAGE, "x-ms-blob-content-length": "512", "x-ms-blob-sequence-number": "-1"}, b"", 400, "InvalidHeaderValue"),
        ("", {**PAGE, "x-ms-blob-content-length": "512", "x-ms-access-tier": "Hot"}, b"", 400, "AccessTierNotSupportedForBlobType"),
        ("", {**PAGE, "x-ms-blob-content-length": "512"}, b"x" * 512, 400, "InvalidHeaderValue"),
        ("", {**PAGE, "x-ms-blob-content-length": "512", "If-None-Match": "*"}, b"", 409, "BlobAlreadyExists"),
        ("", {**PAGE, "x-ms-blob-content-length": "512", "x-ms-lease-id": "aaaaaaaa-1111-1111-1111-111111111111"}, b"", 412, "LeaseNotPresentWithBlobOperation"),
    ],
)  # fmt: skip
def test_refusals_change_nothing(client, wire, query, headers, body, status, code):
    before = client.get(wire).expect(200)
    client.send("PUT", wire, query, headers, body).expect(status, code)
    after = client.get(wire).expect(200)
    assert (after.etag, after.body) == (before.etag, before.body)


@pytest.mark.parametrize(
    ("query", "headers", "status", "code"),
    [
        ("", {"Range": "bytes=8192-"}, 416, "InvalidRange"),
        ("&maxresults=0", {}, 400, "OutOfRangeQueryParameterValue"),
        ("&maxresults=x", {}, 400, "InvalidQueryParameterValue"),
        ("&marker=x", {}, 400, "OutOfRangeInput"),
        ("&snapshot=2020-01-01T00:00:00.0000000Z", {}, 404, "BlobNotFound"),
        ("&prevsnapshot=x", {}, 400, "InvalidQueryParameterValue"),
        ("&prevsnapshot=2020-01-01T00:00:00.0000000Z", {}, 409, "PreviousSnapshotNotFound"),
        ("&prevsnapshot=2020-01-01T00:00:00.0000000Z", {"x-ms-version": "2014-02-14"}, 409, "FeatureVersionMismatch"),
    ],
)  # fmt: skip
def test_refused_listings(client, wire, query, headers, status, code):
    client.get(wire, headers, f"comp=pagelist{query}").expect(status, code)


def test_more_refusals(client, container, wire):
    update(client, f"/{container}/none", 0, b"x" * 512).expect(404, "BlobNotFound")
    update(client, "/no-such-container/p", 0, b"x" * 512).expect(404, "ContainerNotFound")
    client.put(f"/{container}/block", b"x").expect(201)
    update(client, f"/{container}/block", 0, b"x" * 512).expect(409, "InvalidBlobType")
    client.get(f"/{container}/block", {}, "comp=pagelist").expect(409, "InvalidBlobType")
    got = client.send("PUT", f"/{container}/block", "comp=properties", {"x-ms-blob-content-length": "512"})  # fmt: skip
    got.expect(409, "InvalidBlobType")


def test_an_8_tib_blob_is_cheap(client, container):
    path = f"/{container}/huge"
    size = 8 * 1024**4
    client.send("PUT", path, "", {**PAGE, "x-ms-blob-content-length": str(size)}).expect(201)
    update(client, path, size - 512, b"e" * 512).expect(201)
    update(client, path, 5 * 1024**4, b"m" * 512).expect(201)
    got = client.get(path, {"Range": f"bytes={size - 1024}-{size - 1}"}).expect(206)
    assert got.body == bytes(512) + b"e" * 512
    listed = client.get(path, {}, "comp=pagelist").expect(200).xml().findall("PageRange")
    assert [r.findtext("Start") for r in listed] == [str(5 * 1024**4), str(size - 512)]
    clear(client, path, 0, size - 1).expect(201)
    assert not client.get(path, {}, "comp=pagelist").expect(200).xml().findall("PageRange")


def test_writers_under_sequence_numbers(client, wire):
    """Of all who hold an old number none gets in once it has moved on."""
    refused, done = [], []

    def work(writer: int) -> None:
        for n in range(20):
            number = int(client.head(wire).headers["x-ms-blob-sequence-number"])
            moved = client.send("PUT", wire, "comp=properties", {"x-ms-sequence-number-action": "increment"})  # fmt: skip
            moved.expect(200)
            mine = int(moved.headers["x-ms-blob-sequence-number"])
            assert mine > number
            page = bytes([writer]) * 512
            got = update(client, wire, 512, page, {"x-ms-if-sequence-number-eq": str(mine)})
            (done if got.status == 201 else refused).append(got.code)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) + len(refused) == 160
    assert set(refused) <= {"SequenceNumberConditionNotMet"}
    assert done
    assert client.head(wire).headers["x-ms-blob-sequence-number"] == "160"


def test_snapshots_during_writes_are_never_torn(client, container):
    """Each write fills all pages with one byte; every snapshot shows one byte alone."""
    path = f"/{container}/torn"
    client.send("PUT", path, "", {**PAGE, "x-ms-blob-content-length": "65536"}).expect(201)
    update(client, path, 0, b"\0" * 65536).expect(201)
    stop = threading.Event()

    def write(writer: int) -> None:
        size = 65536 if writer % 2 else 8192 - 512
        while not stop.is_set():
            update(client, path, 0, bytes([writer]) * size).expect(201)

    threads = [threading.Thread(target=write, args=(n,)) for n in (1, 2, 3)]
    for thread in threads:
        thread.start()
    looked = 0
    try:
        for _ in range(40):
            moment = client.send("PUT", path, "comp=snapshot").expect(201).headers["x-ms-snapshot"]
            first = client.get(path, {}, f"snapshot={moment}").expect(200).body
            assert len(set(first[: 8192 - 512])) == 1
            assert len(set(first[8192:])) == 1
            assert client.get(path, {}, f"snapshot={moment}").body == first
            looked += 1
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert looked == 40
