"""Who may do what: SAS for shares and files, for the account, policies, and bearers of nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceNotFoundError,
)
from azure.storage.fileshare import (
    AccessPolicy,
    AccountSasPermissions,
    FileSasPermissions,
    ResourceTypes,
    ShareClient,
    ShareFileClient,
    ShareSasPermissions,
    ShareServiceClient,
    generate_account_sas,
    generate_file_sas,
    generate_share_sas,
)

from harness import DEV_ACCOUNT, DEV_KEY


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def code(caught) -> str:
    return caught.value.error_code


def share_with(endpoint, share, **permissions) -> ShareClient:
    token = generate_share_sas(
        DEV_ACCOUNT,
        share.share_name,
        DEV_KEY,
        permission=ShareSasPermissions(**permissions),
        expiry=soon(),
    )
    return ShareClient(endpoint, share.share_name, credential=token, retry_total=0)


def test_a_share_sas_does_what_its_letters_say(endpoint, share):
    share.create_directory("d")
    share.get_file_client("d/f").upload_file(b"12345")
    read = share_with(endpoint, share, read=True)
    assert read.get_file_client("d/f").download_file().readall() == b"12345"
    assert read.get_directory_client("d").exists()
    for refused in (
        lambda: list(read.list_directories_and_files()),
        lambda: read.get_file_client("d/f").delete_file(),
        lambda: read.get_file_client("d/f").upload_range(b"x", 0, 1),
        lambda: read.get_file_client("d/g").create_file(1),
    ):
        with pytest.raises(HttpResponseError) as caught:
            refused()
        assert (caught.value.status_code, code(caught)) == (403, "AuthorizationPermissionMismatch")
    listing = share_with(endpoint, share, list=True)
    assert [e.name for e in listing.list_directories_and_files()] == ["d"]
    # Nothing of the share itself is reached by a SAS for it.
    for refused in (read.get_share_properties, read.get_share_stats, read.create_snapshot):
        with pytest.raises(HttpResponseError) as caught:
            refused()
        assert (caught.value.status_code, code(caught)) == (403, "AuthorizationFailure")
    create = share_with(endpoint, share, create=True)
    create.get_file_client("d/new").create_file(1)
    with pytest.raises(HttpResponseError) as caught:
        create.get_file_client("d/f").create_file(1)
    assert code(caught) == "AuthorizationPermissionMismatch"
    write = share_with(endpoint, share, write=True)
    write.get_file_client("d/f").create_file(2)
    write.get_file_client("d/f").rename_file("d/g")
    delete = share_with(endpoint, share, delete=True)
    delete.get_file_client("d/g").delete_file()


def test_a_file_sas_reaches_one_file(endpoint, share):
    share.create_directory("d")
    for each in ("d/f", "d/other"):
        share.get_file_client(each).upload_file(b"1")
    token = generate_file_sas(
        DEV_ACCOUNT,
        share.share_name,
        ["d", "f"],
        DEV_KEY,
        permission=FileSasPermissions(read=True, write=True, delete=True),
        expiry=soon(),
        content_type="text/signed",
    )

    def client(path):
        return ShareFileClient(endpoint, share.share_name, path, credential=token, retry_total=0)

    assert client("d/f").download_file().readall() == b"1"
    assert client("d/f").get_file_properties().content_settings.content_type == "text/signed"
    with pytest.raises(ClientAuthenticationError) as caught:
        client("d/other").download_file()
    assert code(caught) == "AuthenticationFailed"
    with pytest.raises(HttpResponseError):
        ShareClient(endpoint, share.share_name, credential=token, retry_total=0).delete_directory("d")
    with pytest.raises(HttpResponseError):
        client("d/f").rename_file("d/g")
    client("d/f").delete_file()


def test_account_sas(endpoint, share):
    def service(types: ResourceTypes, **permissions) -> ShareServiceClient:
        token = generate_account_sas(
            DEV_ACCOUNT, DEV_KEY, types, AccountSasPermissions(**permissions), soon()
        )
        return ShareServiceClient(endpoint, credential=token, retry_total=0)

    listed = service(ResourceTypes(service=True), list=True).list_shares(
        name_starts_with=share.share_name
    )
    assert [s.name for s in listed] == [share.share_name]
    container = service(ResourceTypes(container=True), read=True, write=True)
    inside = container.get_share_client(share.share_name)
    inside.get_share_properties()
    inside.set_share_metadata({"a": "b"})
    with pytest.raises(HttpResponseError) as caught:
        inside.get_file_client("f").create_file(1)
    assert code(caught) == "AuthorizationResourceTypeMismatch"
    with pytest.raises(HttpResponseError) as caught:
        inside.get_share_access_policy()
    assert code(caught) == "AuthorizationFailure"
    with pytest.raises(HttpResponseError) as caught:
        container.get_share_client(f"{share.share_name}-none").delete_share()
    assert code(caught) == "AuthorizationPermissionMismatch"


def test_stored_policies(endpoint, share):
    share.get_file_client("f").upload_file(b"1")
    policy = AccessPolicy(permission=ShareSasPermissions(read=True), expiry=soon())
    share.set_share_access_policy({"p": policy})
    token = generate_share_sas(DEV_ACCOUNT, share.share_name, DEV_KEY, policy_id="p")
    client = ShareFileClient(endpoint, share.share_name, "f", credential=token, retry_total=0)
    assert client.download_file().readall() == b"1"
    share.set_share_access_policy({})
    with pytest.raises(ClientAuthenticationError):
        client.download_file()


def test_nobody_in_particular(wire, box, endpoint):
    wire.send("GET", box, "restype=share", auth="none").expect(401, "NoAuthenticationInformation")
    wire.send("GET", f"{box}/f", auth="none").expect(401, "NoAuthenticationInformation")
    wire.send("GET", box, "restype=share", auth="lite").expect(200)
    wire.send("GET", box, "restype=share", headers={"Authorization": "Bearer a.b.c"},
              auth="none").expect(400, "InvalidAuthenticationInfo")  # fmt: skip


def test_copies_by_a_sas_need_a_readable_source(endpoint, service, share, name):
    share.get_file_client("s").upload_file(b"source")
    other = service.create_share(f"{name}-other")
    target = share_with(endpoint, other, create=True, write=True).get_file_client("t")
    with pytest.raises(HttpResponseError) as caught:
        target.start_copy_from_url(share.get_file_client("s").url)
    assert code(caught) == "CannotVerifyCopySource"
    readable = share_with(endpoint, share, read=True).get_file_client("s")
    target.start_copy_from_url(readable.url)
    assert other.get_file_client("t").download_file().readall() == b"source"
    with pytest.raises(ResourceNotFoundError):
        other.get_file_client("none").get_file_properties()
