"""Staging and committing blocks through the Python SDK."""

from __future__ import annotations

import base64
import hashlib

import pytest
from azure.storage.blob import ContentSettings


def block(n: int) -> str:
    return f"block-{n:06d}"


def ids(blocks) -> list[str]:
    return [b.id for b in blocks]


def test_stage_answers_with_crc_or_md5(blob):
    answer = blob.stage_block(block(1), b"abc")
    assert answer["content_crc64"] and not answer.get("content_md5")
    answer = blob.stage_block(block(2), b"abc", validate_content=True)
    assert bytes(answer["content_md5"]) == hashlib.md5(b"abc").digest()
    assert not blob.exists(), "staged blocks alone make no blob"


def test_commit_order_and_lists(blob):
    for n in (2, 1, 3):
        blob.stage_block(block(n), str(n).encode() * 10)
    committed, uncommitted = blob.get_block_list("all")
    assert committed == []
    assert ids(uncommitted) == [block(1), block(2), block(3)], "uncommitted come ordered by id"
    assert [b.size for b in uncommitted] == [10, 10, 10]
    answer = blob.commit_block_list([block(3), block(1)], metadata={"m": "1"})
    assert blob.download_blob().readall() == b"3" * 10 + b"1" * 10
    committed, uncommitted = blob.get_block_list("all")
    assert ids(committed) == [block(3), block(1)]
    assert uncommitted == [], "blocks that were not listed are dropped"
    p = blob.get_blob_properties()
    assert (p.etag, p.metadata, p.size) == (answer["etag"], {"m": "1"}, 20)
    assert p.content_settings.content_type == "application/octet-stream"
    assert p.content_settings.content_md5 is None


def test_committed_uncommitted_latest(client, container):
    """On the wire, because this SDK sends every entry as Latest whatever its state says."""
    path, (one, two) = f"/{container}/b", ("MDAwMQ==", "MDAwMg==")
    client.put_block(path, one, b"old1").expect(201)
    client.put_block(path, two, b"old2").expect(201)
    client.put_block_list(path, [one, two]).expect(201)
    for kind, staged, wanted in (
        ("Committed", b"NEW1", b"old1"),
        ("Uncommitted", b"NEW1", b"NEW1"),
        ("Latest", b"3rd1", b"3rd1"),
        ("Latest", None, b"3rd1"),
        ("Committed", None, b"3rd1"),
    ):
        if staged is not None:
            client.put_block(path, one, staged).expect(201)
        client.put_block_list(path, [one], kind=kind).expect(201)
        assert client.get(path).body == wanted, (kind, staged)
    client.put_block_list(path, [one], kind="Uncommitted").expect(400, "InvalidBlockList")
    client.put_block(path, two, b"more").expect(201)
    client.put_block_list(path, [two], kind="Committed").expect(400, "InvalidBlockList")


def test_same_id_again_replaces(blob):
    blob.stage_block(block(1), b"first")
    blob.stage_block(block(1), b"second")
    blob.commit_block_list([block(1)])
    assert blob.download_blob().readall() == b"second"


def test_repeated_id(blob):
    blob.stage_block(block(1), b"ab")
    blob.commit_block_list([block(1), block(1), block(1)])
    assert blob.download_blob().readall() == b"ababab"
    committed, _ = blob.get_block_list("committed")
    assert ids(committed) == [block(1)] * 3


def test_missing_block_changes_nothing(blob, refused):
    blob.stage_block(block(1), b"kept")
    first = blob.commit_block_list([block(1)])
    blob.stage_block(block(2), b"more")
    with refused(400, "InvalidBlockList"):
        blob.commit_block_list([block(1), block(9)])
    assert blob.get_blob_properties().etag == first["etag"]
    _, uncommitted = blob.get_block_list("all")
    assert ids(uncommitted) == [block(2)]


def test_empty_list_makes_an_empty_blob(blob):
    blob.commit_block_list([])
    assert blob.get_blob_properties().size == 0


def test_put_blob_discards_staged_blocks(blob):
    blob.stage_block(block(1), b"staged")
    blob.upload_blob(b"whole")
    committed, uncommitted = blob.get_block_list("all")
    assert (committed, uncommitted) == ([], [])


def test_get_block_list_of_missing_blob(blob, refused):
    with refused(404, "BlobNotFound"):
        blob.get_block_list("all")


def test_commit_replaces_properties(blob):
    blob.upload_blob(
        b"x",
        content_settings=ContentSettings(content_type="text/x", cache_control="private"),
        metadata={"gone": "yes"},
    )
    blob.stage_block(block(1), b"y")
    md5 = bytearray(hashlib.md5(b"claimed").digest())
    blob.commit_block_list(
        [block(1)],
        content_settings=ContentSettings(content_language="en", content_md5=md5),
    )
    p = blob.get_blob_properties()
    assert p.content_settings.content_type == "application/octet-stream"
    assert p.content_settings.cache_control is None
    assert p.content_settings.content_language == "en"
    assert bytes(p.content_settings.content_md5) == bytes(md5), "stored unverified"
    assert p.metadata == {}


def test_delete_drops_staged_blocks(blob, refused):
    blob.upload_blob(b"x")
    blob.stage_block(block(1), b"y")
    blob.delete_blob()
    with refused(404, "BlobNotFound"):
        blob.get_block_list("all")
    with refused(400, "InvalidBlockList"):
        blob.commit_block_list([block(1)])


def test_mixed_id_lengths_are_refused(blob, refused):
    blob.stage_block("aaaa", b"1")
    with refused(400, "InvalidBlobOrBlock"):
        blob.stage_block("bb", b"2")


def test_block_id_rules(client, container):
    path = f"/{container}/b"
    ok = base64.b64encode(b"x" * 64).decode()
    client.put_block(path, ok, b"d").expect(201)
    client.put_block(path, base64.b64encode(b"x" * 65).decode(), b"d").expect(
        400, "OutOfRangeInput"
    )
    client.put_block(path, "!!!", b"d").expect(400, "InvalidQueryParameterValue")
    client.send("PUT", path, "comp=block", {}, b"d").expect(400, "MissingRequiredQueryParameter")
    client.put_block(path, ok, b"").expect(400, "InvalidHeaderValue")


def test_uncommitted_counts_as_missing(blob, refused):
    blob.stage_block(block(1), b"x")
    assert not blob.exists()
    with refused(404, "BlobNotFound"):
        blob.download_blob()
    with refused(404, "BlobNotFound"):
        blob.set_blob_metadata({"a": "b"})


def test_fifty_thousand_blocks_and_one_too_many(client, container):
    """The list's limit is on entries, so one staged block serves for all of them."""
    path = f"/{container}/long"
    one = base64.b64encode(b"0001").decode()
    client.put_block(path, one, b"z").expect(201)
    client.put_block_list(path, [one] * 50_001).expect(400, "BlockListTooLong")
    client.put_block_list(path, [one] * 50_000).expect(201)
    head = client.head(path).expect(200)
    assert head.headers["content-length"] == "50000"
    listed = client.get(path, query="comp=blocklist").expect(200)
    assert listed.body.count(b"<Block>") == 50_000
    assert client.get(path).body == b"z" * 50_000


@pytest.mark.parametrize("kind", ["committed", "uncommitted", "all"])
def test_block_list_headers(client, container, kind):
    path = f"/{container}/b"
    one = base64.b64encode(b"0001").decode()
    client.put_block(path, one, b"abc")
    answer = client.get(path, query=f"comp=blocklist&blocklisttype={kind}").expect(200)
    assert "etag" not in answer.headers, "nothing committed yet"
    etag = client.put_block_list(path, [one]).expect(201).etag
    answer = client.get(path, query=f"comp=blocklist&blocklisttype={kind}").expect(200)
    assert answer.etag == etag
    assert answer.headers["x-ms-blob-content-length"] == "3"
    sections = [child.tag for child in answer.xml()]
    expected = {
        "committed": ["CommittedBlocks"],
        "uncommitted": ["UncommittedBlocks"],
        "all": ["CommittedBlocks", "UncommittedBlocks"],
    }
    assert sections == expected[kind]
