"""Access tiers: set and shown, the archive that refuses, and the way back from it."""

from __future__ import annotations

import time

import pytest
from azure.storage.blob import BlobBlock, StandardBlobTier

from harness import Client, Server

ARCHIVED = (409, "BlobArchived")


def until(condition, seconds: float = 20.0):
    """Asks again and again; the server's clock decides when it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def set_tier(client, path: str, tier: str, query: str = "comp=tier", **headers):
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.send("PUT", path, query, {"x-ms-access-tier": tier, **more})


def test_the_sdk_sets_and_shows_tiers(blob):
    blob.upload_blob(b"x", standard_blob_tier=StandardBlobTier.COOL)
    first = blob.get_blob_properties()
    assert (first.blob_tier, first.blob_tier_inferred) == ("Cool", None)
    for tier in ("Hot", "Cold", "Cool"):
        blob.set_standard_blob_tier(tier)
        shown = blob.get_blob_properties()
        assert shown.blob_tier == tier and shown.blob_tier_change_time is not None
        assert (shown.etag, shown.last_modified) == (first.etag, first.last_modified)


def test_a_tier_that_nobody_set_is_inferred(box):
    box.upload_blob("b", b"x")
    [listed] = list(box.list_blobs())
    assert (listed.blob_tier, listed.blob_tier_inferred) == ("Hot", True)
    assert listed.blob_tier_change_time is None


def test_overwriting_keeps_the_tier(blob):
    blob.upload_blob(b"x", standard_blob_tier=StandardBlobTier.COOL)
    blob.upload_blob(b"y", overwrite=True)
    assert blob.get_blob_properties().blob_tier == "Cool"
    blob.stage_block("1", b"z")
    blob.commit_block_list([BlobBlock("1")])
    assert blob.get_blob_properties().blob_tier == "Cool"
    blob.stage_block("1", b"z")
    blob.commit_block_list([BlobBlock("1")], standard_blob_tier=StandardBlobTier.COLD)
    assert blob.get_blob_properties().blob_tier == "Cold"


def test_the_way_back_from_the_archive(box, blob, refused):
    blob.upload_blob(b"kept", standard_blob_tier=StandardBlobTier.ARCHIVE)
    with refused(*ARCHIVED):
        blob.download_blob()
    blob.set_standard_blob_tier("Cool", rehydrate_priority="High")
    shown = blob.get_blob_properties()
    if shown.blob_tier == "Archive":
        assert shown.archive_status == "rehydrate-pending-to-cool"
        assert shown.rehydrate_priority == "High"
    until(lambda: blob.get_blob_properties().blob_tier == "Cool")
    shown = blob.get_blob_properties()
    assert shown.archive_status is None and shown.rehydrate_priority is None
    assert blob.download_blob().readall() == b"kept"
    [listed] = list(box.list_blobs())
    assert (listed.blob_tier, listed.archive_status) == ("Cool", None)


def test_a_restart_does_not_lose_the_way():
    with Server("--setting", "rehydration-seconds=1000") as own:
        client = Client(own.url)
        client.create_container("con1")
        client.put("/con1/b", b"kept", {"x-ms-access-tier": "Archive"}).expect(201)
        set_tier(client, "/con1/b", "Hot").expect(202)
        own.kill()
        own.start()
        client = Client(own.url)
        shown = client.head("/con1/b").expect(200).headers
        assert shown["x-ms-access-tier"] == "Archive"
        assert shown["x-ms-archive-status"] == "rehydrate-pending-to-hot"
        assert shown["x-ms-rehydrate-priority"] == "Standard"
        listing = client.get("/con1", query="restype=container&comp=list").body.decode()
        assert (
            "<ArchiveStatus>rehydrate-pending-to-hot</ArchiveStatus>"
            "<RehydratePriority>Standard</RehydratePriority>" in listing
        )
        for tier, headers, answer in (
            ("Hot", {}, (202,)),
            ("Cool", {}, (409, "BlobBeingRehydrated")),
            ("Archive", {}, (409, "BlobBeingRehydrated")),
            ("Hot", {"x_ms_rehydrate_priority": "High"}, (202,)),
            ("Hot", {"x_ms_rehydrate_priority": "Standard"}, (409, "BlobBeingRehydrated")),
        ):
            set_tier(client, "/con1/b", tier, **headers).expect(*answer)
        assert client.head("/con1/b").headers["x-ms-rehydrate-priority"] == "High"
        client.get("/con1/b").expect(*ARCHIVED)
        client.delete("/con1/b").expect(202)


TAGS = "<Tags><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tags>"
QUERY = (
    "<QueryRequest><QueryType>SQL</QueryType><Expression>SELECT * FROM BlobStorage"
    "</Expression></QueryRequest>"
)
BLOCK = "<BlockList><Latest>MQ==</Latest></BlockList>"
ON_ARCHIVED = [
    ("GetBlob", lambda c, p: c.get(p), ARCHIVED),
    ("QueryBlobContents", lambda c, p: c.send("POST", p, "comp=query", {}, QUERY), ARCHIVED),
    ("GetBlockList", lambda c, p: c.get(p, query="comp=blocklist"), ARCHIVED),
    ("PutBlob", lambda c, p: c.put(p, b"y"), ARCHIVED),
    ("PutBlock", lambda c, p: c.put_block(p, "MQ==", b"y"), ARCHIVED),
    ("PutBlockList", lambda c, p: c.send("PUT", p, "comp=blocklist", {}, BLOCK), ARCHIVED),
    ("SnapshotBlob", lambda c, p: c.send("PUT", p, "comp=snapshot"), ARCHIVED),
    ("SetBlobMetadata", lambda c, p: c.send("PUT", p, "comp=metadata"), ARCHIVED),
    ("SetBlobProperties", lambda c, p: c.send("PUT", p, "comp=properties"), ARCHIVED),
    ("GetBlobProperties", lambda c, p: c.head(p), (200,)),
    ("GetBlobMetadata", lambda c, p: c.get(p, query="comp=metadata"), (200,)),
    ("SetBlobTags", lambda c, p: c.send("PUT", p, "comp=tags", {}, TAGS), (204,)),
    ("GetBlobTags", lambda c, p: c.get(p, query="comp=tags"), (200,)),
    ("SetBlobTier", lambda c, p: set_tier(c, p, "Archive"), (200,)),
    ("LeaseBlob", lambda c, p: c.lease(p, "acquire", duration=15), (201,)),
    ("DeleteBlob", lambda c, p: c.delete(p), (202,)),
]


@pytest.mark.parametrize(("_name", "send", "want"), ON_ARCHIVED, ids=[r[0] for r in ON_ARCHIVED])
def test_what_an_archived_blob_allows(client, container, _name, send, want):
    path = f"/{container}/b"
    client.put(path, b"x", {"x-ms-access-tier": "Archive"}).expect(201)
    send(client, path).expect(*want)


REFUSED = [
    ("Warm", {}, 400, "InvalidHeaderValue"),
    ("P10", {}, 400, "AccessTierNotSupportedForBlobType"),
    (None, {}, 400, "MissingRequiredHeader"),
    ("Hot", {"x-ms-rehydrate-priority": "Soon"}, 400, "InvalidHeaderValue"),
    ("Hot", {"x-ms-if-tags": "\"a\" = 'b'"}, 412, "ConditionNotMet"),
]


@pytest.mark.parametrize(("tier", "headers", "status", "code"), REFUSED)
def test_refused_tiers(client, container, tier, headers, status, code):
    path = f"/{container}/b"
    before = client.put(path, b"x").expect(201).etag
    sent = {"x-ms-access-tier": tier, **headers} if tier else headers
    client.send("PUT", path, "comp=tier", sent).expect(status, code)
    shown = client.head(path).headers
    assert (shown["etag"], shown["x-ms-access-tier-inferred"]) == (before, "true")


@pytest.mark.parametrize("kind", ["AppendBlob", "PageBlob"])
@pytest.mark.parametrize("tier", ["Hot", "P10"])
def test_kinds_without_tiers(client, container, kind, tier):
    length = {"x-ms-blob-content-length": "512"} if kind == "PageBlob" else {}
    client.send("PUT", f"/{container}/b", "", {"x-ms-blob-type": kind, **length}).expect(201)
    refusal = (400, "AccessTierNotSupportedForBlobType")
    set_tier(client, f"/{container}/b", tier).expect(*refusal)
    headers = {"x-ms-blob-type": kind, "x-ms-access-tier": tier, **length}
    client.send("PUT", f"/{container}/c", "", headers).expect(*refusal)


def test_missing_blobs(client, container):
    set_tier(client, f"/{container}/none", "Hot").expect(404, "BlobNotFound")
    set_tier(client, "/nowhere/none", "Hot").expect(404, "ContainerNotFound")


def test_snapshots_have_tiers_of_their_own(client, container):
    path = f"/{container}/b"
    client.put(path, b"x").expect(201)
    snapshot = client.send("PUT", path, "comp=snapshot").expect(201).headers["x-ms-snapshot"]
    query = {"comp": "tier", "snapshot": snapshot}
    set_tier(client, path, "Cool", query).expect(200)
    assert client.head(path, query={"snapshot": snapshot}).headers["x-ms-access-tier"] == "Cool"
    assert client.head(path).headers["x-ms-access-tier"] == "Hot"
    set_tier(client, path, "Archive", query).expect(200)
    client.get(path, query={"snapshot": snapshot}).expect(*ARCHIVED)
    set_tier(client, path, "Hot", query).expect(409, "BlobOperationNotSupported")
    client.get(path).expect(200)
    missing = {"comp": "tier", "snapshot": "2020-01-01T00:00:00.0000000Z"}
    set_tier(client, path, "Hot", missing).expect(404, "BlobNotFound")


def test_versions_have_tiers_of_their_own(immutable):
    immutable.create_container("tiers")
    old = immutable.put("/tiers/b", b"1").expect(201).headers["x-ms-version-id"]
    new = immutable.put("/tiers/b", b"2").expect(201).headers["x-ms-version-id"]
    set_tier(immutable, "/tiers/b", "Cool", {"comp": "tier", "versionid": old}).expect(200)
    set_tier(immutable, "/tiers/b", "Cold", {"comp": "tier", "versionid": new}).expect(200)
    shown = {v: immutable.head("/tiers/b", query={"versionid": v}).headers for v in (old, new)}
    assert [shown[v]["x-ms-access-tier"] for v in (old, new)] == ["Cool", "Cold"]
    assert shown[new]["x-ms-is-current-version"] == "true"


def test_a_lease_matters_only_when_named(client, container):
    path = f"/{container}/b"
    client.put(path, b"x").expect(201)
    lease = client.lease(path, "acquire", duration=-1).expect(201).headers["x-ms-lease-id"]
    set_tier(client, path, "Cool").expect(200)
    set_tier(client, path, "Hot", x_ms_lease_id=lease).expect(200)
    other = "00000000-0000-0000-0000-000000000001"
    refusal = (412, "LeaseIdMismatchWithBlobOperation")
    set_tier(client, path, "Cool", x_ms_lease_id=other).expect(*refusal)


def test_batches(box, client):
    for name in "abc":
        box.upload_blob(name, b"x")
    answers = list(box.set_standard_blob_tier_blobs("Cool", "a", "b", "c"))
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert {blob.blob_tier for blob in box.list_blobs()} == {"Cool"}
    box.set_standard_blob_tier_blobs("Archive", "a")
    mixed = box.set_standard_blob_tier_blobs("Hot", "a", "b", "none", raise_on_any_failure=False)
    assert [answer.status_code for answer in mixed] == [202, 200, 404]


def test_premium_page_blobs():
    with Server("--setting", "sku=Premium_LRS") as own:
        client = Client(own.url)
        client.create_container("con1")
        headers = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512"}
        client.send("PUT", "/con1/p", "", {**headers, "x-ms-access-tier": "P10"}).expect(201)
        assert client.head("/con1/p").headers["x-ms-access-tier"] == "P10"
        set_tier(client, "/con1/p", "P4").expect(409, "CannotChangeToLowerTier")
        set_tier(client, "/con1/p", "P20").expect(200)
        set_tier(client, "/con1/p", "Hot").expect(400, "AccessTierNotSupportedForBlobType")
        headers["x-ms-blob-content-length"] = str(1 << 40)
        refusal = (409, "BlobTierInadequateForContentLength")
        client.send("PUT", "/con1/q", "", {**headers, "x-ms-access-tier": "P4"}).expect(*refusal)


def test_deleting_on_condition_of_when_the_tier_changed(client, container):
    path = f"/{container}/b"
    made = {"x-ms-blob-type": "BlockBlob", "x-ms-access-tier": "Cool"}
    client.send("PUT", path, "", made, b"x").expect(201)
    past, future = "Sat, 01 Jan 2000 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"
    since, until_then = "x-ms-access-tier-if-modified-since", "x-ms-access-tier-if-unmodified-since"
    for headers in ({since: future}, {until_then: past}, {since: past, until_then: past}):
        client.send("DELETE", path, "", headers).expect(412, "ConditionNotMet")
    client.send("DELETE", path, "", {since: past, until_then: future}).expect(202)
