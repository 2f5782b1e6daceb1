"""Blob tags through the SDK: set, get, list, conditions, searches, permissions, limits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from azure.core import MatchConditions
from azure.storage.blob import (
    BlobClient,
    BlobSasPermissions,
    BlobServiceClient,
    ContainerClient,
    ContainerSasPermissions,
    ResourceTypes,
    AccountSasPermissions,
    generate_account_sas,
    generate_blob_sas,
    generate_container_sas,
)

from harness import DEV_ACCOUNT, DEV_KEY


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def test_tags_are_replaced_and_leave_the_etag_alone(blob):
    first = blob.upload_blob(b"hello", tags={"kind": "photo", "year": "2026"})
    assert blob.get_blob_tags() == {"kind": "photo", "year": "2026"}
    blob.set_blob_tags({"a b": "c/d=e:f+g-h.i_j"})
    assert blob.get_blob_tags() == {"a b": "c/d=e:f+g-h.i_j"}
    properties = blob.get_blob_properties()
    assert properties.etag == first["etag"] and properties.tag_count == 1
    assert blob.download_blob().properties.tag_count == 1
    blob.set_blob_tags()
    assert blob.get_blob_tags() == {}
    assert blob.get_blob_properties().tag_count is None


def test_blocks_bring_tags_and_writes_replace_them(blob):
    blob.stage_block("1", b"abc")
    blob.commit_block_list(["1"], tags={"a": "1"})
    assert blob.get_blob_tags() == {"a": "1"}
    blob.set_blob_metadata({"m": "1"})
    assert blob.get_blob_tags() == {"a": "1"}
    blob.upload_blob(b"x", overwrite=True)
    assert blob.get_blob_tags() == {}


def test_listings_show_tags_when_asked(box):
    box.upload_blob("a", b"", tags={"k": "v"})
    box.upload_blob("b", b"")
    shown = {b.name: (b.tag_count, b.tags) for b in box.list_blobs(include=["tags"])}
    assert shown == {"a": (1, {"k": "v"}), "b": (None, None)}
    shown = {b.name: (b.tag_count, b.tags) for b in box.list_blobs()}
    assert shown == {"a": (1, None), "b": (None, None)}


@pytest.mark.parametrize(
    ("predicate", "holds"),
    [
        ("\"state\"='ready'", True),
        ("state = 'ready' AND \"n\" >= '5'", True),
        ("state <> 'ready' OR n < '7'", True),
        ("(state = 'x' OR n = '5') AND state > 'a'", True),
        ("state = 'other'", False),
        ("missing <> 'x'", False),
        ("State = 'ready'", False),
    ],
)
def test_conditions(blob, refused, predicate, holds):
    blob.upload_blob(b"x", tags={"state": "ready", "n": "5"})
    calls = [
        lambda: blob.get_blob_properties(if_tags_match_condition=predicate),
        lambda: blob.download_blob(if_tags_match_condition=predicate),
        lambda: blob.get_blob_tags(if_tags_match_condition=predicate),
        lambda: blob.set_blob_metadata({"m": "1"}, if_tags_match_condition=predicate),
        lambda: blob.set_blob_tags(
            {"state": "ready", "n": "5"}, if_tags_match_condition=predicate
        ),
        lambda: blob.get_block_list(if_tags_match_condition=predicate),
        lambda: blob.acquire_lease(if_tags_match_condition=predicate).release(),
        lambda: blob.upload_blob(
            b"y",
            overwrite=True,
            tags={"state": "ready", "n": "5"},
            if_tags_match_condition=predicate,
        ),
        lambda: blob.delete_blob(if_tags_match_condition=predicate),
    ]
    for call in calls:
        if holds:
            call()
        else:
            with refused(412, "ConditionNotMet"):
                call()


def test_a_condition_that_cannot_be_read(blob, refused):
    blob.upload_blob(b"x")
    with refused(400, "InvalidHeaderValue"):
        blob.get_blob_properties(if_tags_match_condition="nonsense")


def test_conditions_may_stand_beside_others(blob, refused):
    etag = blob.upload_blob(b"x", tags={"a": "1"})["etag"]
    matches = {"etag": etag, "match_condition": MatchConditions.IfNotModified}
    blob.set_blob_metadata({}, if_tags_match_condition="a = '1'", **matches)
    with refused(412, "ConditionNotMet"):
        blob.set_blob_metadata({}, if_tags_match_condition="a = '1'", **matches)


def test_searches(service, box, name):
    other = service.create_container(f"{name}-2")
    for container in (box, other):
        for n in range(6):
            container.upload_blob(f"b{n}", b"", tags={"run": name, "n": str(n)})
    def found(where, **kw):
        return [
            (b.container_name, b.name, b.tags) for b in service.find_blobs_by_tags(where, **kw)
        ]
    everything = [(c, f"b{n}") for c in (name, f"{name}-2") for n in range(6)]
    for size in (1, 4, 5000):
        got = found(f"\"run\"='{name}'", results_per_page=size)
        assert [(c, b) for c, b, _ in got] == everything
    got = found(f"run = '{name}' AND n > '3' AND @container = '{name}-2'")
    assert got == [
        (f"{name}-2", "b4", {"run": name, "n": "4"}),
        (f"{name}-2", "b5", {"run": name, "n": "5"}),
    ]
    here = [b.name for b in box.find_blobs_by_tags(f"run = '{name}' AND n <= '1'")]
    assert here == ["b0", "b1"]
    # What is overwritten, retagged or deleted is found no more, at once.
    box.upload_blob("b0", b"", overwrite=True)
    box.get_blob_client("b1").set_blob_tags({"run": "other"})
    box.delete_blob("b2")
    here = [b.name for b in box.find_blobs_by_tags(f"run = '{name}'")]
    assert here == ["b3", "b4", "b5"]


@pytest.mark.parametrize(
    "where", ["garbage", "a = '1' OR b = '2'", "a <> '1'", "a > '1' AND a > '2'", "@container='c'"]
)
def test_searches_that_cannot_be_read(service, refused, where):
    with refused(400, "InvalidQueryParameterValue"):
        list(service.find_blobs_by_tags(where))


def test_a_search_names_no_container_inside_one(box, refused):
    with refused(400, "InvalidQueryParameterValue"):
        list(box.find_blobs_by_tags(f"@container = '{box.container_name}' AND a = '1'"))


@pytest.mark.parametrize(
    ("tags", "code"),
    [
        ({f"t{n}": "" for n in range(11)}, "TagsTooLarge"),
        ({"n" * 129: ""}, "TagsTooLarge"),
        ({"n": "v" * 257}, "TagsTooLarge"),
        ({"": "v"}, "EmptyTagName"),
        ({"a": "{}"}, "InvalidTag"),
        ({"ä": "1"}, "InvalidTag"),
    ],
)
def test_limits(blob, refused, tags, code):
    blob.upload_blob(b"x", tags={"old": "1"})
    with refused(400, code):
        blob.set_blob_tags(tags)
    with refused(400, code):
        blob.upload_blob(b"y", overwrite=True, tags=tags)
    assert blob.get_blob_tags() == {"old": "1"} and blob.download_blob().readall() == b"x"


def test_the_largest_tags(blob):
    tags = {f"{n}{'n' * 127}": "v" * 256 for n in range(10)}
    blob.upload_blob(b"x")
    blob.set_blob_tags(tags)
    assert blob.get_blob_tags() == tags


def test_leases(blob, refused):
    blob.upload_blob(b"x")
    lease = blob.acquire_lease()
    with refused(412, "LeaseIdMissing"):
        blob.set_blob_tags({"a": "1"})
    blob.set_blob_tags({"a": "1"}, lease=lease)
    assert blob.get_blob_tags() == {"a": "1"}
    with refused(412, "LeaseIdMismatchWithBlobOperation"):
        blob.get_blob_tags(lease="00000000-0000-0000-0000-000000000001")


def test_what_is_not_there(box, service, refused, name):
    missing = box.get_blob_client("none")
    with refused(404, "BlobNotFound"):
        missing.get_blob_tags()
    with refused(404, "BlobNotFound"):
        missing.set_blob_tags({"a": "1"})
    with refused(404, "ContainerNotFound"):
        list(service.get_container_client(f"{name}-none").find_blobs_by_tags("a = '1'"))


def test_a_sas_needs_t_to_touch_tags(server, box, refused):
    box.upload_blob("x", b"x", tags={"a": "1"})

    def with_permission(letters: str) -> BlobClient:
        token = generate_blob_sas(
            DEV_ACCOUNT, box.container_name, "x", account_key=DEV_KEY, expiry=soon(),
            permission=BlobSasPermissions.from_string(letters),
        )  # fmt: skip
        url = f"{server.url}/{DEV_ACCOUNT}/{box.container_name}/x"
        return BlobClient.from_blob_url(url, credential=token, retry_total=0)

    assert with_permission("t").get_blob_tags() == {"a": "1"}
    with_permission("rt").get_blob_properties(if_tags_match_condition="a = '1'")
    with_permission("wt").upload_blob(b"y", overwrite=True, tags={"a": "1"})
    with refused(403, "AuthorizationPermissionMismatch"):
        with_permission("rwd").get_blob_tags()
    with refused(403, "AuthorizationPermissionMismatch"):
        with_permission("rwd").set_blob_tags({})
    with refused(403, "AuthorizationPermissionMismatch"):
        with_permission("r").get_blob_properties(if_tags_match_condition="a = '1'")
    with refused(403, "AuthorizationPermissionMismatch"):
        with_permission("w").upload_blob(b"y", overwrite=True, tags={"a": "1"})


def test_a_sas_needs_f_to_search(server, box, refused):
    box.upload_blob("x", b"x", tags={"a": "1"})

    def with_permission(letters: str) -> ContainerClient:
        token = generate_container_sas(
            DEV_ACCOUNT, box.container_name, account_key=DEV_KEY, expiry=soon(),
            permission=ContainerSasPermissions.from_string(letters),
        )  # fmt: skip
        url = f"{server.url}/{DEV_ACCOUNT}/{box.container_name}"
        return ContainerClient.from_container_url(url, credential=token, retry_total=0)

    assert [b.name for b in with_permission("f").find_blobs_by_tags("a = '1'")] == ["x"]
    with refused(403, "AuthorizationPermissionMismatch"):
        list(with_permission("rlt").find_blobs_by_tags("a = '1'"))
    with refused(403, "AuthorizationPermissionMismatch"):
        list(with_permission("l").list_blobs(include=["tags"]))
    token = generate_account_sas(
        DEV_ACCOUNT, DEV_KEY, ResourceTypes(object=True), soon_permission("f"), soon()
    )
    account = BlobServiceClient(f"{server.url}/{DEV_ACCOUNT}", credential=token, retry_total=0)
    where = f"a = '1' AND @container = '{box.container_name}'"
    assert [b.name for b in account.find_blobs_by_tags(where)] == ["x"]


def soon_permission(letters: str) -> AccountSasPermissions:
    return AccountSasPermissions.from_string(letters)
