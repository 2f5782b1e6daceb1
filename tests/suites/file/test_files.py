"""Files through the vendor's client: every public method."""

from __future__ import annotations

import hashlib
import io
import os
from datetime import UTC, datetime, timedelta

import pytest
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import BlobServiceClient, ContainerSasPermissions, generate_container_sas
from azure.storage.fileshare import (
    ContentSettings,
    FileSasPermissions,
    NTFSAttributes,
    ShareFileClient,
    generate_file_sas,
)

from harness import DEV_ACCOUNT, DEV_KEY

MIB = 1024 * 1024


def code(caught) -> str:
    return caught.value.error_code


def soon() -> datetime:
    return datetime.now(UTC) + timedelta(hours=1)


def read_sas(file) -> str:
    token = generate_file_sas(
        DEV_ACCOUNT,
        file.share_name,
        file.file_path,
        DEV_KEY,
        permission=FileSasPermissions(read=True),
        expiry=soon(),
    )
    return f"{file.url}?{token}"


def test_life(share, connection):
    file = ShareFileClient.from_connection_string(connection, share.share_name, "F.txt")
    assert not file.exists()
    settings = ContentSettings(
        content_type="text/plain",
        content_encoding="identity",
        content_language="de",
        content_disposition="inline",
        cache_control="no-store",
        content_md5=bytearray(range(16)),
    )
    made = file.create_file(1024, content_settings=settings, metadata={"A": "1"})
    assert file.exists() and made["file_id"]
    found = file.get_file_properties()
    assert found.size == 1024 and found.metadata == {"A": "1"}
    shown = found.content_settings
    assert (shown.content_type, shown.content_encoding, shown.content_language) == (
        "text/plain", "identity", "de",
    )  # fmt: skip
    assert (shown.cache_control, shown.content_disposition) == ("no-store", "inline")
    assert bytes(shown.content_md5) == bytes(range(16))
    assert found.file_attributes == "Archive" and found.server_encrypted
    assert file.download_file().readall() == bytes(1024), "holes are zeros"
    file.set_file_metadata({"b": "2"})
    assert file.get_file_properties().metadata == {"b": "2"}
    credential = {"account_name": DEV_ACCOUNT, "account_key": DEV_KEY}
    assert ShareFileClient.from_file_url(file.url, credential=credential).file_name == "F.txt"
    file.delete_file()
    with pytest.raises(ResourceNotFoundError) as caught:
        file.get_file_properties()
    with pytest.raises(ResourceNotFoundError) as caught:
        file.delete_file()
    assert code(caught) == "ResourceNotFound"


def test_upload_and_download(share):
    data = os.urandom(9 * MIB + 77)
    file = share.get_file_client("big")
    file.upload_file(data, max_concurrency=2, validate_content=True)
    assert file.get_file_properties().size == len(data)
    assert file.download_file(max_concurrency=2).readall() == data
    assert file.download_file(offset=5, length=10).readall() == data[5:15]
    into = io.BytesIO()
    file.download_file(offset=len(data) - 3, validate_content=True).readinto(into)
    assert into.getvalue() == data[-3:]
    assert b"".join(file.download_file().chunks()) == data
    file.upload_file(io.BytesIO(b"shorter"), content_settings=ContentSettings("text/x"))
    assert file.download_file().readall() == b"shorter"
    assert file.get_file_properties().content_settings.content_type == "text/x"
    empty = share.get_file_client("empty")
    empty.upload_file(b"")
    assert empty.download_file().readall() == b""


def test_ranges(share):
    file = share.get_file_client("f")
    file.create_file(64 * 1024)
    assert file.get_ranges() == []
    data = os.urandom(4096)
    file.upload_range(data, 1024, 4096)
    assert file.download_file(offset=1000, length=5000).readall() == bytes(24) + data + bytes(880)
    assert file.get_ranges() == [{"start": 1024, "end": 5119}]
    file.upload_range(b"xyz", 777, 3)
    assert file.download_file(offset=776, length=5).readall() == b"\0xyz\0"
    assert file.get_ranges() == [{"start": 512, "end": 5119}]
    file.clear_range(1024, 1024)
    assert file.get_ranges() == [{"start": 512, "end": 1023}, {"start": 2048, "end": 5119}]
    assert file.get_ranges(offset=600, length=100) == [{"start": 600, "end": 699}]
    assert [(r.start, r.end) for r in file.list_ranges(results_per_page=1)] == [
        (512, 1023), (2048, 5119),
    ]  # fmt: skip
    with pytest.raises(HttpResponseError) as caught:
        file.upload_range(b"x", 64 * 1024, 1)
    assert (caught.value.status_code, code(caught)) == (416, "InvalidRange")


def test_differences(share):
    file = share.get_file_client("f")
    file.create_file(8192)
    file.upload_range(b"a" * 4096, 0, 4096)
    before = share.create_snapshot()["snapshot"]
    file.upload_range(b"b" * 512, 0, 512)
    file.clear_range(1024, 512)
    written, cleared = file.get_ranges_diff(before)
    assert (written, cleared) == ([{"start": 0, "end": 511}], [{"start": 1024, "end": 1535}])
    found = [(r.start, r.end, r.cleared) for r in file.list_ranges_diff(before)]
    assert found == [(0, 511, False), (1024, 1535, True)]
    file.delete_file()
    file.create_file(8192)
    with pytest.raises(HttpResponseError) as caught:
        file.get_ranges_diff(before)
    assert (caught.value.status_code, code(caught)) == (409, "FileGenerationMismatch")


def test_resize_and_headers(share):
    file = share.get_file_client("f")
    file.upload_file(b"0123456789", content_settings=ContentSettings("text/a", cache_control="c"))
    file.resize_file(4)
    assert file.download_file().readall() == b"0123"
    assert file.get_file_properties().content_settings.content_type == "text/a"
    file.resize_file(6)
    assert file.download_file().readall() == b"0123\0\0"
    file.set_http_headers(ContentSettings(content_type="text/b"))
    shown = file.get_file_properties().content_settings
    assert (shown.content_type, shown.cache_control) == ("text/b", None)


def test_smb_properties(share):
    file = share.get_file_client("f")
    made = datetime(2001, 2, 3, 4, 5, 6, 700000, tzinfo=UTC)
    file.create_file(
        10,
        file_attributes=NTFSAttributes(read_only=True, hidden=True),
        file_creation_time=made,
        file_last_write_time=made,
        file_change_time=made,
        permission_key=share.create_permission_for_share("O:BAG:SYD:(A;;FA;;;SY)"),
    )
    found = file.get_file_properties()
    names = set(found.file_attributes.replace(" ", "").split("|"))
    assert {"ReadOnly", "Hidden"} <= names
    assert (found.creation_time, found.last_write_time, found.change_time) == (made, made, made)
    for blocked in (
        lambda: file.upload_range(b"x", 0, 1),
        lambda: file.delete_file(),
        lambda: file.set_file_metadata({"a": "b"}),
        lambda: file.create_file(10),
    ):
        with pytest.raises(HttpResponseError) as caught:
            blocked()
        assert (caught.value.status_code, code(caught)) == (409, "ReadOnlyAttribute")
    file.set_http_headers(ContentSettings(), file_attributes="None")
    file.upload_range(b"x", 0, 1, file_last_write_mode="preserve")
    assert file.get_file_properties().last_write_time == made
    file.upload_range(b"x", 0, 1)
    assert file.get_file_properties().last_write_time != made
    file.delete_file()


def test_rename(share):
    file = share.get_file_client("a")
    file.upload_file(b"one", metadata={"m": "1"})
    id_before = file.get_file_properties().file_id
    share.create_directory("d")
    moved = file.rename_file("d/b")
    assert moved.download_file().readall() == b"one" and not file.exists()
    assert moved.get_file_properties().file_id == id_before
    share.get_file_client("c").upload_file(b"two")
    with pytest.raises(ResourceExistsError):
        moved.rename_file("c")
    over = moved.rename_file("c", overwrite=True, metadata={"n": "2"}, content_type="text/z")
    found = over.get_file_properties()
    assert found.metadata == {"n": "2"} and found.content_settings.content_type == "text/z"
    assert over.download_file().readall() == b"one"
    with pytest.raises(ResourceNotFoundError):
        share.get_file_client("none").rename_file("x")
    with pytest.raises(ResourceNotFoundError) as caught:
        over.rename_file("none/x")
    assert code(caught) == "ParentNotFound"


def test_leases(share):
    file = share.get_file_client("f")
    file.upload_file(b"1")
    lease = file.acquire_lease()
    assert file.get_file_properties().lease.state == "leased"
    for refused in (
        lambda: file.upload_range(b"x", 0, 1),
        lambda: file.delete_file(),
        lambda: file.create_file(3),
        lambda: file.set_http_headers(ContentSettings("a/b")),
        lambda: file.rename_file("g"),
    ):
        with pytest.raises(HttpResponseError) as caught:
            refused()
        assert (caught.value.status_code, code(caught)) == (412, "LeaseIdMissing")
    file.upload_range(b"x", 0, 1, lease=lease)
    with pytest.raises(HttpResponseError) as caught:
        file.upload_range(b"x", 0, 1, lease="11111111-2222-3333-4444-555555555555")
    assert code(caught) == "LeaseIdMismatchWithFileOperation"
    with pytest.raises(HttpResponseError) as caught:
        file.acquire_lease()
    assert code(caught) == "LeaseAlreadyPresent"
    lease.change("11111111-2222-3333-4444-555555555555")
    with pytest.raises((HttpResponseError, TypeError)):
        lease.renew()
    lease.release()
    again = file.acquire_lease()
    assert again.break_lease() in (0, None)
    file.upload_range(b"y", 0, 1)
    assert file.get_file_properties().lease.state == "available"
    with pytest.raises(HttpResponseError) as caught:
        file.upload_range(b"x", 0, 1, lease=again)
    assert code(caught) == "LeaseNotPresentWithFileOperation"


def test_copy_of_a_file(service, share, name):
    source = share.get_file_client("source")
    source.upload_file(
        b"copied" * 1000, metadata={"m": "1"}, content_settings=ContentSettings("text/s")
    )
    target = share.get_file_client("target")
    done = target.start_copy_from_url(source.url)
    assert done["copy_status"] == "success"
    found = target.get_file_properties()
    assert found.metadata == {"m": "1"} and found.content_settings.content_type == "text/s"
    assert found.copy.status == "success" and found.copy.source == source.url
    assert found.copy.progress == "6000/6000" and found.copy.id == done["copy_id"]
    assert target.download_file().readall() == b"copied" * 1000
    with pytest.raises(HttpResponseError) as caught:
        target.abort_copy(done["copy_id"])
    assert (caught.value.status_code, code(caught)) == (409, "NoPendingCopyOperation")
    other = service.create_share(f"{name}-other").get_file_client("t")
    other.start_copy_from_url(
        source.url,
        metadata={"own": "1"},
        file_attributes="source",
        file_creation_time="source",
        file_last_write_time="source",
        file_permission="source",
    )
    found, was = other.get_file_properties(), source.get_file_properties()
    assert found.metadata == {"own": "1"} and found.file_attributes == was.file_attributes
    assert found.creation_time == was.creation_time
    snapshot = share.create_snapshot()["snapshot"]
    source.upload_file(b"newer")
    target.start_copy_from_url(f"{source.url}?sharesnapshot={snapshot}")
    assert target.download_file().readall() == b"copied" * 1000
    with pytest.raises(ResourceNotFoundError):
        target.start_copy_from_url(f"{source.url}-not-there")
    assert target.download_file().readall() == b"copied" * 1000


def test_copy_of_a_blob(connection, share, name):
    blobs = BlobServiceClient.from_connection_string(connection)
    container = blobs.create_container(f"{name}-blobs")
    data = os.urandom(300_000)
    blob = container.upload_blob("b", data, metadata={"From": "Blob"})
    target = share.get_file_client("t")
    with pytest.raises(HttpResponseError) as caught:
        target.start_copy_from_url(blob.url)
    assert code(caught) == "CannotVerifyCopySource"
    token = generate_container_sas(
        DEV_ACCOUNT,
        container.container_name,
        account_key=DEV_KEY,
        permission=ContainerSasPermissions(read=True),
        expiry=soon(),
    )
    target.start_copy_from_url(f"{blob.url}?{token}")
    assert target.download_file().readall() == data
    assert target.get_file_properties().metadata == {"From": "Blob"}
    assert "sig" not in target.get_file_properties().copy.source
    target.upload_range_from_url(f"{blob.url}?{token}", offset=10, length=50, source_offset=100)
    assert target.download_file(offset=10, length=50).readall() == data[100:150]


def test_ranges_from_urls(share):
    source = share.get_file_client("s")
    data = os.urandom(5000)
    source.upload_file(data)
    target = share.get_file_client("t")
    target.create_file(5000)
    url = read_sas(source)
    target.upload_range_from_url(url, offset=0, length=1000, source_offset=2000)
    assert target.download_file(offset=0, length=1000).readall() == data[2000:3000]
    with pytest.raises(HttpResponseError):
        target.upload_range_from_url(source.url, offset=0, length=10, source_offset=0)
    with pytest.raises(HttpResponseError):
        target.upload_range_from_url(url, offset=4999, length=10, source_offset=0)


def test_handles_and_links(share):
    file = share.get_file_client("f")
    file.create_file(1)
    assert list(file.list_handles()) == []
    assert file.close_all_handles() == {"closed_handles_count": 0, "failed_handles_count": 0}
    assert file.close_handle("7") == {"closed_handles_count": 0, "failed_handles_count": 0}
    # Links are for shares over NFS.
    for refused in (
        lambda: share.get_file_client("l").create_hardlink("f"),
        lambda: share.get_file_client("l").create_symlink("f"),
        lambda: file.get_symlink(),
    ):
        with pytest.raises(HttpResponseError) as caught:
            refused()
        assert caught.value.status_code == 400


def test_checksums(share):
    file = share.get_file_client("f")
    file.create_file(100)
    data = os.urandom(100)
    done = file.upload_range(data, 0, 100)
    assert bytes(done["content_md5"]) == hashlib.md5(data).digest()
    assert file.download_file(validate_content=True, offset=0, length=100).readall() == data
