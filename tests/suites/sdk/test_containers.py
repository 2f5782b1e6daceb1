"""Container operations through the Python SDK, results checked field by field."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import AccessPolicy, ContainerSasPermissions

ETAG = re.compile(r'^"0x[0-9A-F]{15}"$')


def test_create_returns_etag_and_time(service, name):
    box = service.get_container_client(name)
    made = box.create_container(metadata={"Team": "blue", "empty1": "x"})
    assert ETAG.match(made["etag"]), made["etag"]
    assert abs((datetime.now(UTC) - made["last_modified"]).total_seconds()) < 60
    properties = box.get_container_properties()
    assert properties.etag == made["etag"]
    assert properties.metadata == {"Team": "blue", "empty1": "x"}
    assert properties.public_access is None
    assert properties.has_immutability_policy is False
    assert properties.has_legal_hold is False
    assert properties.encryption_scope.default_encryption_scope == "$account-encryption-key"
    assert (properties.lease.status, properties.lease.state) == ("unlocked", "available")


def test_create_twice_is_refused(box):
    with pytest.raises(ResourceExistsError) as error:
        box.create_container()
    assert error.value.error_code == "ContainerAlreadyExists"


@pytest.mark.parametrize("level", ["container", "blob"])
def test_create_with_public_access(service, name, level):
    box = service.create_container(name, public_access=level)
    assert box.get_container_properties().public_access == level
    assert box.get_container_access_policy()["public_access"] == level


def test_exists(service, name):
    box = service.get_container_client(name)
    assert not box.exists()
    box.create_container()
    assert box.exists()


def test_delete_then_gone_then_free_again(box, service, name):
    box.upload_blob("b", b"x")
    box.delete_container()
    with pytest.raises(ResourceNotFoundError) as error:
        box.get_container_properties()
    assert error.value.error_code == "ContainerNotFound"
    with pytest.raises(ResourceNotFoundError) as error:
        box.get_blob_client("b").download_blob()
    assert error.value.error_code == "ContainerNotFound"
    # By default a deleted name is free at once, and nothing of the old container shows.
    again = service.create_container(name)
    assert list(again.list_blobs()) == []


def test_delete_missing(service, name, refused):
    with refused(404, "ContainerNotFound"):
        service.get_container_client(name).delete_container()


def test_metadata_replaces_all_and_moves_etag(box):
    before = box.get_container_properties()
    set_one = box.set_container_metadata({"a": "1", "B": "two words"})
    assert set_one["etag"] != before.etag
    assert box.get_container_properties().metadata == {"a": "1", "B": "two words"}
    box.set_container_metadata({"c": "3"})
    assert box.get_container_properties().metadata == {"c": "3"}
    box.set_container_metadata({})
    assert not box.get_container_properties().metadata


def test_metadata_if_modified_since(box, refused):
    future = datetime.now(UTC) + timedelta(minutes=5)
    with refused(412, "ConditionNotMet"):
        box.set_container_metadata({"a": "1"}, if_modified_since=future)
    past = datetime.now(UTC) - timedelta(minutes=5)
    box.set_container_metadata({"a": "1"}, if_modified_since=past)


def test_blob_operations_leave_container_etag(box):
    before = box.get_container_properties().etag
    box.upload_blob("b", b"x")
    box.delete_blob("b")
    assert box.get_container_properties().etag == before


def test_acl_round_trip(box):
    start = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    end = datetime(2034, 1, 2, 3, 4, 5, tzinfo=UTC)
    policies = {
        "first": AccessPolicy(ContainerSasPermissions(read=True, list=True), end, start),
        "no-times": AccessPolicy(permission=ContainerSasPermissions(write=True)),
    }
    before = box.get_container_properties().etag
    answer = box.set_container_access_policy(policies, public_access="blob")
    assert answer["etag"] != before
    got = box.get_container_access_policy()
    assert got["public_access"] == "blob"
    found = {p.id: p.access_policy for p in got["signed_identifiers"]}
    assert set(found) == {"first", "no-times"}
    assert found["first"].permission == "rl"
    assert str(found["first"].start).startswith("2024-01-02T03:04:05")
    assert str(found["first"].expiry).startswith("2034-01-02T03:04:05")
    assert found["no-times"].permission == "w"
    box.set_container_access_policy({})
    got = box.get_container_access_policy()
    assert got["public_access"] is None
    assert got["signed_identifiers"] == []


def test_acl_conditions(box, refused):
    past = datetime.now(UTC) - timedelta(minutes=5)
    future = datetime.now(UTC) + timedelta(minutes=5)
    with refused(412, "ConditionNotMet"):
        box.set_container_access_policy({}, if_unmodified_since=past)
    with refused(412, "ConditionNotMet"):
        box.set_container_access_policy({}, if_modified_since=future)
    box.set_container_access_policy({}, if_unmodified_since=future)


def test_delete_conditions(box, refused):
    past = datetime.now(UTC) - timedelta(minutes=5)
    with refused(412, "ConditionNotMet"):
        box.delete_container(if_unmodified_since=past)
    box.delete_container(if_modified_since=past)


def test_list_containers_prefix_paging_metadata(service, name):
    names = [f"{name}-list-{i:02d}" for i in range(7)]
    for each in names:
        service.create_container(each, metadata={"who": each.replace("-", "")})
    got = list(service.list_containers(name_starts_with=f"{name}-list-", include_metadata=True))
    assert [c.name for c in got] == names
    assert [c.metadata["who"] for c in got] == [n.replace("-", "") for n in names]
    for c in got:
        assert ETAG.match(c.etag), c.etag
        assert c.lease.state == "available"
    plain = list(service.list_containers(name_starts_with=f"{name}-list-"))
    assert all(not c.metadata for c in plain)
    pages = service.list_containers(name_starts_with=f"{name}-list-", results_per_page=3).by_page()
    assert [[c.name for c in page] for page in pages] == [names[:3], names[3:6], names[6:]]
    pages = service.list_containers(name_starts_with=f"{name}-list-", results_per_page=3).by_page()
    next(pages)
    resumed = service.list_containers(name_starts_with=f"{name}-list-").by_page(
        continuation_token=pages.continuation_token
    )
    assert [c.name for c in next(resumed)] == names[3:]


def test_container_lease_life(box, refused):
    lease = box.acquire_lease(lease_duration=15)
    properties = box.get_container_properties()
    assert (properties.lease.status, properties.lease.state, properties.lease.duration) == (
        "locked",
        "leased",
        "fixed",
    )
    with refused(409, "LeaseAlreadyPresent"):
        box.acquire_lease(lease_duration=-1)
    lease.renew()
    lease.change("11111111-2222-3333-4444-555555555555")
    assert lease.id == "11111111-2222-3333-4444-555555555555"
    with refused(412, "LeaseIdMissing"):
        box.delete_container()
    with refused(412, "LeaseIdMismatchWithContainerOperation"):
        box.get_container_properties(lease="99999999-2222-3333-4444-555555555555")
    box.get_container_properties(lease=lease)
    box.set_container_metadata({"a": "b"}, lease=lease)
    assert lease.break_lease(lease_break_period=0) == 0
    assert box.get_container_properties().lease.state == "broken"
    lease.release()
    assert box.get_container_properties().lease.state == "available"
    with refused(412, "LeaseNotPresentWithContainerOperation"):
        box.delete_container(lease="11111111-2222-3333-4444-555555555555")
    infinite = box.acquire_lease(-1)
    assert box.get_container_properties().lease.duration == "infinite"
    box.delete_container(lease=infinite)
    assert not box.exists()


def test_lease_leaves_container_etag(box):
    before = box.get_container_properties()
    time.sleep(0.01)
    lease = box.acquire_lease(15)
    assert lease.etag == before.etag
    assert lease.last_modified == before.last_modified
    lease.release()
    assert box.get_container_properties().etag == before.etag


def test_account_information(service):
    info = service.get_account_information()
    assert info["sku_name"]
    assert info["account_kind"] in (
        "Storage",
        "BlobStorage",
        "StorageV2",
        "FileStorage",
        "BlockBlobStorage",
    )


def test_unmatched_condition_class_is_exported():
    # Guards against an SDK major version that renames what users' code imports.
    assert MatchConditions.IfNotModified
