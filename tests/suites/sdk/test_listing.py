"""Listing blobs: order, prefixes, delimiters, paging, includes."""

from __future__ import annotations

import pytest
from azure.storage.blob import BlobPrefix, ContentSettings

NAMES = [
    "A.txt",
    "Z.txt",
    "a.txt",
    "dir/1.txt",
    "dir/2.txt",
    "dir/sub/3.txt",
    "dir/sub/4.txt",
    "dir2/5.txt",
    "z.txt",
    "é.txt",
    "日.txt",
]


@pytest.fixture
def filled(box):
    # Uploaded out of order, so that the order of the answer is the server's.
    for each in reversed(NAMES):
        box.upload_blob(each, each.encode(), metadata={"len": str(len(each))})
    return box


def test_order_is_ordinal(filled):
    assert [b.name for b in filled.list_blobs()] == NAMES
    assert list(filled.list_blob_names()) == NAMES


def test_properties_in_list(box):
    data = b"hello"
    settings = ContentSettings(content_type="text/plain", content_language="en")
    box.upload_blob("b", data, content_settings=settings, metadata={"k": "v"})
    head = box.get_blob_client("b").get_blob_properties()
    (item,) = box.list_blobs()
    assert item.name == "b"
    assert f'"{item.etag}"' == head.etag, "quoted in headers, bare in blob lists"
    assert item.last_modified == head.last_modified
    assert item.creation_time == head.creation_time
    assert item.size == 5
    assert item.blob_type == "BlockBlob"
    assert item.blob_tier == "Hot"
    assert item.content_settings.content_type == "text/plain"
    assert item.content_settings.content_language == "en"
    assert bytes(item.content_settings.content_md5) == bytes(head.content_settings.content_md5)
    assert (item.lease.status, item.lease.state) == ("unlocked", "available")
    assert item.server_encrypted is True
    assert not item.metadata, "metadata only when asked for"
    (item,) = box.list_blobs(include=["metadata"])
    assert item.metadata == {"k": "v"}


def test_lease_in_list(box):
    blob = box.upload_blob("b", b"x")
    blob.acquire_lease(-1)
    (item,) = box.list_blobs()
    assert (item.lease.status, item.lease.state, item.lease.duration) == (
        "locked",
        "leased",
        "infinite",
    )


@pytest.mark.parametrize("prefix", ["dir", "dir/", "dir/sub/", "é", "none", "dir/1.txt", "A"])
def test_prefix(filled, prefix):
    want = [n for n in NAMES if n.startswith(prefix)]
    assert [b.name for b in filled.list_blobs(name_starts_with=prefix)] == want


def walk(pages):
    return [("prefix" if isinstance(i, BlobPrefix) else "blob", i.name) for i in pages]


def test_hierarchy(filled):
    # Sorted here because the SDK groups prefixes and blobs of a page; the wire order is below.
    assert sorted(walk(filled.walk_blobs(delimiter="/"))) == [
        ("blob", "A.txt"),
        ("blob", "Z.txt"),
        ("blob", "a.txt"),
        ("blob", "z.txt"),
        ("blob", "é.txt"),
        ("blob", "日.txt"),
        ("prefix", "dir/"),
        ("prefix", "dir2/"),
    ]
    got = walk(filled.walk_blobs(name_starts_with="dir/", delimiter="/"))
    assert sorted(got) == [
        ("blob", "dir/1.txt"),
        ("blob", "dir/2.txt"),
        ("prefix", "dir/sub/"),
    ]


def test_other_delimiter(filled):
    got = walk(filled.walk_blobs(name_starts_with="dir", delimiter=".txt"))
    assert all(kind == "prefix" for kind, _ in got)
    assert sorted(n for _, n in got) == [n for n in NAMES if n.startswith("dir")]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 10, 11, 12, 5000])
def test_paging_is_complete(filled, size):
    pages = [[b.name for b in page] for page in filled.list_blobs(results_per_page=size).by_page()]
    assert [n for page in pages for n in page] == NAMES
    assert all(len(page) <= size for page in pages)
    assert len(pages) == -(-len(NAMES) // size)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_hierarchical_paging_counts_prefixes(filled, size, client, name):
    seen, marker, rounds = [], "", 0
    while True:
        query = {"restype": "container", "comp": "list", "delimiter": "/", "maxresults": str(size)}
        if marker:
            query["marker"] = marker
        root = client.get(f"/{name}", query=query).expect(200).xml()
        page = [(e.tag, e.findtext("Name")) for e in root.find("Blobs")]
        assert len(page) <= size
        seen += page
        marker = root.findtext("NextMarker") or ""
        rounds += 1
        if not marker:
            break
    assert [n for _, n in seen] == [
        "A.txt", "Z.txt", "a.txt", "dir/", "dir2/", "z.txt", "é.txt", "日.txt",
    ]  # fmt: skip
    assert rounds == -(-8 // size)


def test_echoed_parameters(client, filled, name):
    query = {
        "restype": "container", "comp": "list", "prefix": "dir/", "delimiter": "/",
        "maxresults": "2",
    }  # fmt: skip
    root = client.get(f"/{name}", query=query).expect(200).xml()
    assert root.get("ContainerName") == name
    assert root.get("ServiceEndpoint").endswith("/")
    assert root.findtext("Prefix") == "dir/"
    assert root.findtext("MaxResults") == "2"
    assert root.findtext("Delimiter") == "/"
    assert root.find("Marker") is None
    root = client.get(f"/{name}", query="restype=container&comp=list").expect(200).xml()
    assert [e.tag for e in root] == ["Blobs", "NextMarker"]


def test_uncommitted_only_when_asked(box):
    box.upload_blob("whole", b"x")
    box.get_blob_client("staged").stage_block("a", b"x")
    assert [b.name for b in box.list_blobs()] == ["whole"]
    items = list(box.list_blobs(include=["uncommittedblobs"]))
    assert [(b.name, b.size) for b in items] == [("staged", 0), ("whole", 1)]


def test_include_all_that_make_sense(filled):
    items = list(filled.list_blobs(include=["metadata", "copy", "uncommittedblobs", "tags"]))
    assert [b.name for b in items] == NAMES
    assert [b.metadata["len"] for b in items] == [str(len(n)) for n in NAMES]


def test_start_in_the_middle_of_changes(box):
    for i in range(20):
        box.upload_blob(f"b{i:02d}", b"x")
    pages = box.list_blobs(results_per_page=5).by_page()
    got = [b.name for b in next(pages)]
    for i in range(5, 10):
        box.delete_blob(f"b{i:02d}")
    box.upload_blob("b00a", b"late")
    for page in pages:
        got += [b.name for b in page]
    assert got == [f"b{i:02d}" for i in [*range(5), *range(10, 20)]]


def test_list_of_missing_container(service, name, refused):
    with refused(404, "ContainerNotFound"):
        list(service.get_container_client(name).list_blobs())


def test_default_page_is_5000(client, container):
    """5,001 blobs need a second page; staged with empty bodies to keep it quick."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: client.put(f"/{container}/n{i:05d}", b"").expect(201), range(5001)))
    root = client.get(f"/{container}", query="restype=container&comp=list").expect(200).xml()
    assert len(root.find("Blobs")) == 5000
    marker = root.findtext("NextMarker")
    assert marker
    rest = client.get(
        f"/{container}", query={"restype": "container", "comp": "list", "marker": marker}
    ).expect(200)
    assert [b.findtext("Name") for b in rest.xml().find("Blobs")] == ["n05000"]
    big = client.get(f"/{container}", query="restype=container&comp=list&maxresults=9999")
    assert len(big.expect(200).xml().find("Blobs")) == 5000, "larger values clamp"
