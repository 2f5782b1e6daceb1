"""Shares through the vendor's client: every public method of the service and of a share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from azure.core.exceptions import (
    HttpResponseError,
    ResourceExistsError,
    ResourceNotFoundError,
)
from azure.storage.fileshare import (
    AccessPolicy,
    CorsRule,
    Metrics,
    RetentionPolicy,
    ShareClient,
    ShareLeaseClient,
    ShareProtocolSettings,
    ShareServiceClient,
    ShareSasPermissions,
    SmbMultichannel,
    ShareSmbSettings,
)

from harness import DEV_ACCOUNT, DEV_KEY, Client

PROPERTIES_QUERY = "restype=service&comp=properties"
SDDL = (
    "O:S-1-5-21-2127521184-1604012920-1887927527-21560751G:S-1-5-21-2127521184-1604012920-"
    "1887927527-513D:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-21-397955417-626881126-"
    "188441444-3053964)"
)


def code(caught) -> str:
    return caught.value.error_code


def test_create_get_delete(service, name):
    client = service.create_share(name, metadata={"Kept": "As Sent"}, quota=7)
    found = client.get_share_properties()
    assert found.quota == 7 and found.metadata == {"Kept": "As Sent"}
    assert found.access_tier == "TransactionOptimized" and found.protocols == ["SMB"]
    assert (found.lease.status, found.lease.state) == ("unlocked", "available")
    with pytest.raises(ResourceExistsError) as caught:
        client.create_share()
    assert code(caught) == "ShareAlreadyExists"
    service.delete_share(name)
    with pytest.raises(ResourceNotFoundError) as caught:
        client.get_share_properties()
    assert code(caught) == "ShareNotFound"
    credential = {"account_name": DEV_ACCOUNT, "account_key": DEV_KEY}
    assert ShareClient.from_share_url(client.url, credential=credential).share_name == name


def test_listing(service, name):
    names = [f"{name}-{i}" for i in range(5)]
    for each in names:
        service.create_share(each, metadata={"n": each})
    snapshot = service.get_share_client(names[2]).create_snapshot(metadata={"own": "yes"})
    plain = list(service.list_shares(name_starts_with=f"{name}-"))
    assert [s.name for s in plain] == names and plain[0].metadata in (None, {})
    full = list(
        service.list_shares(
            name_starts_with=f"{name}-", include_metadata=True, include_snapshots=True
        )
    )
    shown = [(s.name, s.snapshot) for s in full]
    want = [(each, None) for each in names]
    want.insert(2, (names[2], snapshot["snapshot"]))
    assert shown == want
    assert full[2].metadata == {"own": "yes"} and full[3].metadata == {"n": names[2]}
    for size in (1, 2, 4):
        pages = service.list_shares(
            name_starts_with=f"{name}-", include_snapshots=True, results_per_page=size
        ).by_page()
        paged = [[(s.name, s.snapshot) for s in page] for page in pages]
        assert [row for page in paged for row in page] == want
        assert all(len(page) <= size for page in paged)


def test_properties_quota_and_tier(share):
    before = share.get_share_properties()
    share.set_share_quota(3)
    share.set_share_properties(access_tier="Hot", quota=5)
    found = share.get_share_properties()
    assert (found.quota, found.access_tier) == (5, "Hot") and found.etag != before.etag
    for bad in ({"quota": 0}, {"quota": 102401}, {"access_tier": "Premium"}):
        with pytest.raises(HttpResponseError) as caught:
            share.set_share_properties(**bad)
        assert code(caught) == "InvalidHeaderValue", bad
    share.set_share_metadata({"a": "1"})
    assert share.get_share_properties().metadata == {"a": "1"}
    share.set_share_metadata({})
    assert share.get_share_properties().metadata == {}


def test_access_policies(share):
    soon = datetime.now(UTC) + timedelta(hours=1)
    policy = AccessPolicy(permission=ShareSasPermissions(read=True), expiry=soon)
    share.set_share_access_policy({"one": policy, "two": AccessPolicy()})
    found = share.get_share_access_policy()["signed_identifiers"]
    assert [p.id for p in found] == ["one", "two"]
    assert found[0].access_policy.permission == "r"
    with pytest.raises(ValueError):
        share.set_share_access_policy({str(i): AccessPolicy() for i in range(6)})


def test_stats_count_sizes(share):
    assert share.get_share_stats() == 0
    share.get_file_client("a").upload_file(b"x" * 1000)
    assert share.get_share_stats() >= 1000


def test_snapshots(service, share):
    share.get_file_client("f").upload_file(b"before")
    taken = share.create_snapshot()["snapshot"]
    share.get_file_client("f").upload_file(b"after, longer")
    old = service.get_share_client(share.share_name, snapshot=taken)
    assert old.get_share_properties().snapshot == taken
    assert old.get_file_client("f").download_file().readall() == b"before"
    assert share.get_file_client("f").download_file().readall() == b"after, longer"
    assert [f.name for f in old.list_directories_and_files()] == ["f"]
    with pytest.raises(HttpResponseError) as caught:
        old.get_file_client("f").delete_file()
    assert caught.value.status_code == 400
    with pytest.raises(ResourceExistsError) as caught:
        share.delete_share()
    assert code(caught) == "ShareHasSnapshots"
    old.delete_share()
    with pytest.raises(ResourceNotFoundError):
        old.get_share_properties()
    share.create_snapshot()
    share.delete_share(delete_snapshots=True)


def test_share_leases(service, share):
    lease = share.acquire_lease(lease_duration=15)
    assert share.get_share_properties().lease.state == "leased"
    with pytest.raises(HttpResponseError) as caught:
        share.set_share_metadata({"a": "b"})
    assert (caught.value.status_code, code(caught)) == (412, "LeaseIdMissing")
    share.set_share_metadata({"a": "b"}, lease=lease)
    lease.renew()
    other = "11111111-2222-3333-4444-555555555555"
    lease.change(other)
    assert lease.id == other
    with pytest.raises(HttpResponseError) as caught:
        share.delete_share()
    assert code(caught) == "LeaseIdMissing"
    assert lease.break_lease(lease_break_period=0) == 0
    again = share.acquire_lease()
    again.release()
    taken = share.create_snapshot()["snapshot"]
    old = service.get_share_client(share.share_name, snapshot=taken)
    on_snapshot = old.acquire_lease(lease_duration=15)
    with pytest.raises(ResourceExistsError) as caught:
        share.delete_share(delete_snapshots=True)
    assert code(caught) == "DeleteShareWhenSnapshotLeased"
    on_snapshot.release()
    share.delete_share(delete_snapshots=True)


def test_permissions(share):
    key = share.create_permission_for_share(SDDL)
    assert share.get_permission_for_share(key).startswith("O:S-1-5-21-2127521184")
    assert share.create_permission_for_share(SDDL) == key
    with pytest.raises(HttpResponseError) as caught:
        share.create_permission_for_share("nonsense")
    assert code(caught) == "FileInvalidPermission"
    with pytest.raises(HttpResponseError) as caught:
        share.get_permission_for_share("1*1")
    assert code(caught) == "FileInvalidPermissionKey"


def test_service_properties(service):
    before = service.get_service_properties()
    hour = Metrics(enabled=True, include_apis=True, retention_policy=RetentionPolicy(True, days=5))
    rule = CorsRule(["www.xyz.com"], ["GET"])
    service.set_service_properties(hour_metrics=hour, cors=[rule])
    found = service.get_service_properties()
    assert found["hour_metrics"].retention_policy.days == 5
    assert found["cors"][0].allowed_origins == "www.xyz.com"
    assert found["protocol"].smb.multichannel.enabled is False
    with pytest.raises(HttpResponseError):
        smb = ShareSmbSettings(multichannel=SmbMultichannel(enabled=True))
        service.set_service_properties(protocol=ShareProtocolSettings(smb=smb))
    service.set_service_properties(hour_metrics=before["hour_metrics"], cors=[])


def test_soft_delete_and_undelete(service, wire: Client, name):
    def keep(days: int | None) -> None:
        enabled = f"<Enabled>true</Enabled><Days>{days}</Days>" if days else "<Enabled>false</Enabled>"
        body = (
            "<StorageServiceProperties><ShareDeleteRetentionPolicy>"
            f"{enabled}</ShareDeleteRetentionPolicy></StorageServiceProperties>"
        )
        wire.send("PUT", "/", PROPERTIES_QUERY, body=body).expect(202)

    client = service.create_share(name, metadata={"m": "1"})
    client.get_file_client("f").upload_file(b"kept")
    snapshot = client.create_snapshot()["snapshot"]
    keep(3)
    try:
        client.delete_share(delete_snapshots=True)
        with pytest.raises(ResourceNotFoundError):
            client.get_share_properties()
        listed = list(service.list_shares(name_starts_with=name, include_deleted=True))
        assert [(s.deleted, s.remaining_retention_days) for s in listed] in ([(True, 2)], [(True, 3)])
        back = service.undelete_share(name, listed[0].version)
        assert back.get_share_properties().metadata == {"m": "1"}
        assert back.get_file_client("f").download_file().readall() == b"kept"
        old = service.get_share_client(name, snapshot=snapshot)
        assert old.get_file_client("f").download_file().readall() == b"kept"
        with pytest.raises(ResourceNotFoundError):
            service.undelete_share(name, listed[0].version)
    finally:
        keep(None)
        client.delete_share(delete_snapshots=True)


def test_clients_by_other_ways(connection, service, share):
    again = ShareClient.from_connection_string(connection, share.share_name)
    directory = again.get_directory_client("d")
    directory.create_directory()
    lease = ShareLeaseClient(again)
    lease.acquire(lease_duration=15)
    assert share.get_share_properties().lease.state == "leased"
    lease.release()
    file = again.get_file_client("f")
    own = ShareServiceClient.from_connection_string(connection)
    for client in (own, again, directory, file):
        client.close()


def test_files_through_the_share(share):
    share.create_directory("d")
    share.get_directory_client("d").get_file_client("f").upload_file(b"1")
    shown = list(share.list_directories_and_files())
    assert [(e.name, e.is_directory) for e in shown] == [("d", True)]
    share.get_directory_client("d").delete_file("f")
    share.delete_directory("d")
    assert list(share.list_directories_and_files()) == []
