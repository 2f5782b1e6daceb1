"""Who may do what: SAS of every kind, stored policies, anonymous levels, wrong keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import requests
from azure.storage.blob import (
    AccessPolicy,
    AccountSasPermissions,
    BlobClient,
    BlobSasPermissions,
    BlobServiceClient,
    ContainerClient,
    ContainerSasPermissions,
    ResourceTypes,
    generate_account_sas,
    generate_blob_sas,
    generate_container_sas,
)

from harness import DEV_ACCOUNT, DEV_KEY


def soon(minutes: int = 60) -> datetime:
    return datetime.now(UTC) + timedelta(minutes=minutes)


def blob_with(server, container, blob, **kw) -> BlobClient:
    token = generate_blob_sas(
        DEV_ACCOUNT, container, blob, account_key=DEV_KEY, **{"expiry": soon(), **kw}
    )
    return blob_at(server, container, blob, token)


def blob_at(server, container, blob, token) -> BlobClient:
    url = f"{server.url}/{DEV_ACCOUNT}/{container}/{blob}"
    return BlobClient.from_blob_url(url, credential=token, retry_total=0)


def box_with(server, container, **kw) -> ContainerClient:
    token = generate_container_sas(
        DEV_ACCOUNT, container, account_key=DEV_KEY, **{"expiry": soon(), **kw}
    )
    url = f"{server.url}/{DEV_ACCOUNT}/{container}"
    return ContainerClient.from_container_url(url, credential=token, retry_total=0)


def account_with(server, permission, types="sco", **kw) -> BlobServiceClient:
    token = generate_account_sas(
        DEV_ACCOUNT,
        DEV_KEY,
        resource_types=ResourceTypes.from_string(types),
        permission=AccountSasPermissions.from_string(permission),
        **{"expiry": soon(), **kw},
    )
    return BlobServiceClient(f"{server.url}/{DEV_ACCOUNT}", credential=token, retry_total=0)


@pytest.fixture
def made(box):
    box.upload_blob("b", b"secret")
    return box


def test_blob_sas_read(server, made, name, refused):
    reader = blob_with(server, name, "b", permission=BlobSasPermissions(read=True))
    assert reader.download_blob().readall() == b"secret"
    with refused(403, "AuthorizationPermissionMismatch"):
        reader.delete_blob()
    with refused(403, "AuthorizationPermissionMismatch"):
        reader.upload_blob(b"x", overwrite=True)
    other = blob_at(server, name, "other", reader.credential or sas_of(reader))
    with refused(403, "AuthenticationFailed"):
        other.download_blob()


def sas_of(blob: BlobClient) -> str:
    return blob.url.partition("?")[2]


def test_create_but_not_overwrite(server, made, name, refused):
    creator = blob_with(server, name, "new", permission=BlobSasPermissions(create=True))
    creator.upload_blob(b"1")
    with refused(403, "UnauthorizedBlobOverwrite"):
        creator.upload_blob(b"2", overwrite=True)
    writer = blob_with(server, name, "new", permission=BlobSasPermissions(write=True))
    writer.upload_blob(b"3", overwrite=True)


def test_blob_sas_write_delete(server, made, name, refused):
    every = blob_with(
        server, name, "b", permission=BlobSasPermissions(write=True, delete=True, create=True)
    )
    every.upload_blob(b"new", overwrite=True)
    every.stage_block("a", b"x")
    every.commit_block_list(["a"])
    every.set_blob_metadata({"a": "b"})
    with refused(403, "AuthorizationPermissionMismatch"):
        every.download_blob()
    every.delete_blob()


def test_container_sas(server, made, name, refused):
    box = box_with(server, name, permission=ContainerSasPermissions(read=True, list=True))
    assert [b.name for b in box.list_blobs()] == ["b"]
    assert box.download_blob("b").readall() == b"secret"
    with refused(403, "AuthorizationPermissionMismatch"):
        box.upload_blob("c", b"x")
    with refused(403):
        box.get_container_properties()
    with refused(403):
        box.delete_container()
    with refused(403):
        box.get_container_access_policy()


def test_account_sas(server, made, name, refused):
    service = account_with(server, "rl")
    assert name in [c.name for c in service.list_containers(name_starts_with=name)]
    assert service.get_blob_client(name, "b").download_blob().readall() == b"secret"
    service.get_container_client(name).get_container_properties()
    with refused(403, "AuthorizationPermissionMismatch"):
        service.get_blob_client(name, "b").delete_blob()
    with refused(403, "AuthorizationPermissionMismatch"):
        service.create_container(f"{name}x")
    objects = account_with(server, "rwdlc", "o")
    with refused(403, "AuthorizationResourceTypeMismatch"):
        list(objects.list_containers())
    with refused(403, "AuthorizationResourceTypeMismatch"):
        objects.get_container_client(name).get_container_properties()
    everything = account_with(server, "rwdlac")
    everything.create_container(f"{name}y")
    everything.delete_container(f"{name}y")
    with refused(403):
        everything.get_container_client(name).get_container_access_policy()


def test_expired_and_not_yet(server, made, name, refused):
    read = BlobSasPermissions(read=True)
    with refused(403, "AuthenticationFailed"):
        blob_with(server, name, "b", permission=read, expiry=soon(-5)).download_blob()
    with refused(403, "AuthenticationFailed"):
        blob_with(server, name, "b", permission=read, start=soon(5)).download_blob()
    blob_with(server, name, "b", permission=read, start=soon(-5)).download_blob()
    with refused(403, "AuthenticationFailed"):
        list(account_with(server, "l", expiry=soon(-5)).list_containers())


def test_ip(server, made, name, refused):
    read = BlobSasPermissions(read=True)
    for ip in ("127.0.0.1", "127.0.0.0-127.0.0.255"):
        blob_with(server, name, "b", permission=read, ip=ip).download_blob()
    for ip in ("10.1.2.3", "10.0.0.0-10.255.255.255"):
        with refused(403, "AuthorizationSourceIPMismatch"):
            blob_with(server, name, "b", permission=read, ip=ip).download_blob()
    with refused(403, "AuthorizationSourceIPMismatch"):
        list(account_with(server, "l", ip="10.1.2.3").list_containers())


def test_protocol(server, made, name, refused):
    read = BlobSasPermissions(read=True)
    blob_with(server, name, "b", permission=read, protocol="https,http").download_blob()
    with refused(403, "AuthorizationProtocolMismatch"):
        blob_with(server, name, "b", permission=read, protocol="https").download_blob()


def test_response_overrides(server, made, name):
    given = {
        "cache_control": "no-store",
        "content_disposition": "inline; filename=o.txt",
        "content_encoding": "identity",
        "content_language": "it",
        "content_type": "text/x-override",
    }
    reader = blob_with(server, name, "b", permission=BlobSasPermissions(read=True), **given)
    answer = requests.get(reader.url, timeout=10)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Disposition"] == "inline; filename=o.txt"
    assert answer.headers["Content-Encoding"] == "identity"
    assert answer.headers["Content-Language"] == "it"
    assert answer.headers["Content-Type"] == "text/x-override"
    # Tampering with an override breaks the signature.
    tampered = requests.get(reader.url.replace("rscl=it", "rscl=fr"), timeout=10)
    assert tampered.status_code == 403


def test_stored_policy(server, made, name, refused):
    policy = AccessPolicy(
        permission=ContainerSasPermissions(read=True), expiry=soon(), start=soon(-5)
    )
    made.set_container_access_policy({"readers": policy})
    token = generate_blob_sas(DEV_ACCOUNT, name, "b", account_key=DEV_KEY, policy_id="readers")
    reader = blob_at(server, name, "b", token)
    assert reader.download_blob().readall() == b"secret"
    with refused(403, "AuthorizationPermissionMismatch"):
        reader.delete_blob()
    # Widening the policy widens every token; removing it revokes them.
    policy.permission = ContainerSasPermissions(read=True, delete=True)
    made.set_container_access_policy({"readers": policy})
    reader.delete_blob()
    made.upload_blob("b", b"again")
    made.set_container_access_policy({})
    with refused(403, "AuthenticationFailed"):
        reader.download_blob()


def test_stored_policy_expiry(server, made, name, refused):
    made.set_container_access_policy(
        {"old": AccessPolicy(ContainerSasPermissions(read=True), expiry=soon(-1))}
    )
    token = generate_blob_sas(DEV_ACCOUNT, name, "b", account_key=DEV_KEY, policy_id="old")
    with refused(403, "AuthenticationFailed"):
        blob_at(server, name, "b", token).download_blob()


def test_policy_gives_part_token_the_rest(server, made, name, refused):
    made.set_container_access_policy({"p": AccessPolicy(ContainerSasPermissions(read=True))})
    token = generate_blob_sas(
        DEV_ACCOUNT, name, "b", account_key=DEV_KEY, policy_id="p", expiry=soon()
    )
    assert blob_at(server, name, "b", token).download_blob().readall() == b"secret"
    without_expiry = generate_blob_sas(DEV_ACCOUNT, name, "b", account_key=DEV_KEY, policy_id="p")
    with refused(403, "AuthenticationFailed"):
        blob_at(server, name, "b", without_expiry).download_blob()


def test_wrong_key(server, made, name, refused):
    wrong = BlobServiceClient(
        f"{server.url}/{DEV_ACCOUNT}",
        credential={"account_name": DEV_ACCOUNT, "account_key": "d3Jvbmc="},
        retry_total=0,
    )
    with refused(403, "AuthenticationFailed"):
        wrong.get_blob_client(name, "b").download_blob()
    token = generate_blob_sas(
        DEV_ACCOUNT, name, "b", account_key="d3Jvbmc=", expiry=soon(), permission="r"
    )
    with refused(403, "AuthenticationFailed"):
        blob_at(server, name, "b", token).download_blob()


def test_anonymous_private(server, made, name, refused):
    anonymous = BlobServiceClient(f"{server.url}/{DEV_ACCOUNT}", retry_total=0)
    with refused(401, "NoAuthenticationInformation"):
        anonymous.get_blob_client(name, "b").download_blob()
    answer = requests.get(f"{server.url}/{DEV_ACCOUNT}/{name}/b", timeout=10)
    # Without a version the service behaves as it did before 2019-12-12.
    assert answer.status_code in (401, 404), answer.status_code


def test_anonymous_blob_level(server, made, name, refused):
    made.set_container_access_policy({}, public_access="blob")
    anonymous = BlobServiceClient(f"{server.url}/{DEV_ACCOUNT}", retry_total=0)
    blob = anonymous.get_blob_client(name, "b")
    assert blob.download_blob().readall() == b"secret"
    blob.get_blob_properties()
    assert requests.get(blob.url, timeout=10).content == b"secret"
    with refused(401, "NoAuthenticationInformation"):
        list(anonymous.get_container_client(name).list_blobs())
    with refused(401, "NoAuthenticationInformation"):
        blob.upload_blob(b"x", overwrite=True)


def test_anonymous_container_level(server, made, name, refused):
    made.set_container_access_policy({}, public_access="container")
    anonymous = BlobServiceClient(f"{server.url}/{DEV_ACCOUNT}", retry_total=0)
    box = anonymous.get_container_client(name)
    assert [b.name for b in box.list_blobs()] == ["b"]
    assert box.get_container_properties().public_access == "container"
    assert box.download_blob("b").readall() == b"secret"
    for forbidden in (
        lambda: box.upload_blob("x", b"x"),
        lambda: box.delete_blob("b"),
        box.get_container_access_policy,
        box.delete_container,
        lambda: list(anonymous.list_containers()),
    ):
        with refused(401, "NoAuthenticationInformation"):
            forbidden()


def test_secondary_reads_only(server, made, name, refused):
    # The account in a path-style URL carries the suffix; the key is the primary's.
    secondary = BlobServiceClient(
        f"{server.url}/{DEV_ACCOUNT}-secondary",
        credential={"account_name": DEV_ACCOUNT, "account_key": DEV_KEY},
        retry_total=0,
    )
    blob = secondary.get_blob_client(name, "b")
    assert blob.download_blob().readall() == b"secret"
    with refused(403):
        blob.upload_blob(b"x", overwrite=True)
    assert made.download_blob("b").readall() == b"secret"
