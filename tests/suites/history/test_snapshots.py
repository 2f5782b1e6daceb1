"""Snapshots through the SDK: taking, reading, listing, deleting, and under concurrent writes."""

from __future__ import annotations

import threading

import pytest

from harness import Client


def content(client) -> bytes:
    return client.download_blob().readall()


def listed(box, *include: str) -> list[tuple[str, str | None, bool]]:
    """(name, snapshot, deleted) of every entry."""
    return [(b.name, b.snapshot, bool(b.deleted)) for b in box.list_blobs(include=list(include))]


def test_a_snapshot_keeps_content_properties_and_metadata(box, blob):
    made = blob.upload_blob(b"one", metadata={"a": "1"})
    taken = blob.create_snapshot()
    assert taken["etag"] == made["etag"]
    assert taken["last_modified"] == made["last_modified"]
    blob.upload_blob(b"two", overwrite=True, metadata={"a": "2"})
    old = box.get_blob_client("blob.txt", snapshot=taken["snapshot"])
    assert content(old) == b"one"
    p = old.get_blob_properties()
    assert (p.snapshot, p.metadata, p.etag) == (taken["snapshot"], {"a": "1"}, made["etag"])
    assert p.lease.state is None
    assert old.exists()
    assert content(blob) == b"two"


def test_metadata_of_its_own(box, blob):
    made = blob.upload_blob(b"one", metadata={"a": "1"})
    taken = blob.create_snapshot(metadata={"b": "2"})
    assert taken["etag"] != made["etag"]
    p = box.get_blob_client("blob.txt", snapshot=taken["snapshot"]).get_blob_properties()
    assert (p.metadata, p.etag) == ({"b": "2"}, taken["etag"])
    assert blob.get_blob_properties().metadata == {"a": "1"}


def test_ranges_and_block_list_of_a_snapshot(box, blob):
    blob.stage_block("one", b"x" * 100)
    blob.stage_block("two", b"y" * 50)
    blob.commit_block_list(["one", "two"])
    old = box.get_blob_client("blob.txt", snapshot=blob.create_snapshot()["snapshot"])
    blob.stage_block("six", b"z")
    blob.commit_block_list(["six"])
    blob.stage_block("new", b"staged")
    committed, uncommitted = old.get_block_list("all")
    assert ([b.id for b in committed], uncommitted) == (["one", "two"], [])
    assert old.download_blob(offset=98, length=4).readall() == b"xxyy"


def test_listing(box, blob):
    blob.upload_blob(b"1")
    first = blob.create_snapshot()["snapshot"]
    second = blob.create_snapshot()["snapshot"]
    box.upload_blob("a", b"")
    want = [("a", None, False), ("blob.txt", first, False), ("blob.txt", second, False)]
    assert listed(box, "snapshots") == [*want, ("blob.txt", None, False)]
    assert [b.name for b in box.list_blobs()] == ["a", "blob.txt"]
    pages = box.list_blobs(include=["snapshots"], results_per_page=1).by_page()
    paged = [b.snapshot for page in pages for b in page]
    assert paged == [None, first, second, None]


@pytest.mark.parametrize("mode", ["include", "only"])
def test_deleting_with_snapshots(box, blob, refused, mode):
    blob.upload_blob(b"1")
    blob.create_snapshot()
    with refused(409, "SnapshotsPresent"):
        blob.delete_blob()
    blob.delete_blob(delete_snapshots=mode)
    left = [] if mode == "include" else [("blob.txt", None, False)]
    assert listed(box, "snapshots") == left


def test_deleting_one_snapshot(box, blob, refused):
    blob.upload_blob(b"1")
    one, two = (blob.create_snapshot()["snapshot"] for _ in range(2))
    old = box.get_blob_client("blob.txt", snapshot=one)
    old.delete_blob()
    with refused(404, "BlobNotFound"):
        old.delete_blob()
    with refused(404, "BlobNotFound"):
        old.download_blob()
    assert listed(box, "snapshots") == [("blob.txt", two, False), ("blob.txt", None, False)]


def test_conditions_and_leases(box, blob, refused):
    with refused(404, "BlobNotFound"):
        blob.create_snapshot()
    made = blob.upload_blob(b"1")
    with refused(412, "ConditionNotMet"):
        blob.create_snapshot(etag='"0x8D0000000000000"', match_condition=_if_not_modified())
    blob.create_snapshot(etag=made["etag"], match_condition=_if_not_modified())
    with refused(412, "LeaseNotPresentWithBlobOperation"):
        blob.create_snapshot(lease="11111111-1111-1111-1111-111111111111")
    lease = blob.acquire_lease()
    blob.create_snapshot()
    blob.create_snapshot(lease=lease)
    with refused(412, "LeaseIdMismatchWithBlobOperation"):
        blob.create_snapshot(lease="11111111-1111-1111-1111-111111111111")
    with refused(412, "LeaseIdMissing"):
        blob.delete_blob(delete_snapshots="include")


def _if_not_modified():
    from azure.core import MatchConditions

    return MatchConditions.IfNotModified


def test_every_snapshot_taken_during_writes_is_one_whole_version(server, container):
    """Writers replace a blob with a letter repeated; a snapshot never holds two letters."""
    sizes = {letter: 1 + (ord(letter) - 97) * 9_000 for letter in "abcdefgh"}
    path = f"/{container}/torn"
    Client(server.url).put(path, b"a").expect(201)
    stop = threading.Event()
    errors: list[object] = []

    def write(letters: str) -> None:
        client = Client(server.url)
        while not stop.is_set():
            for letter in letters:
                body = letter.encode() * sizes[letter]
                if (status := client.put(path, body).status) != 201:
                    errors.append(status)

    writers = [threading.Thread(target=write, args=(half,)) for half in ("abcd", "efgh")]
    for writer in writers:
        writer.start()
    client = Client(server.url)
    taken = [
        client.send("PUT", path, "comp=snapshot").expect(201).headers["x-ms-snapshot"]
        for _ in range(150)
    ]
    stop.set()
    for writer in writers:
        writer.join()
    assert not errors
    seen = set()
    for snapshot in taken:
        body = client.get(path, query=f"snapshot={snapshot}").expect(200).body.decode()
        assert set(body) == {body[0]}, "two versions in one snapshot"
        assert len(body) == sizes[body[0]]
        seen.add(body[0])
    print(f"{len(taken)} snapshots of {len(seen)} different versions, none torn")
    assert len(set(taken)) == 150
    assert len(seen) >= 3, seen
