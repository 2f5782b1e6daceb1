"""Directories through the vendor's client: every public method."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.fileshare import NTFSAttributes, ShareDirectoryClient


def code(caught) -> str:
    return caught.value.error_code


def test_life(share, connection):
    top = share.get_directory_client("Top")
    assert not top.exists()
    made = top.create_directory(metadata={"A": "1"})
    assert top.exists() and made["file_id"]
    with pytest.raises(ResourceExistsError) as caught:
        share.get_directory_client("tOP").create_directory()
    assert code(caught) == "ResourceAlreadyExists"
    found = top.get_directory_properties()
    assert found.metadata == {"A": "1"} and found.file_attributes == "Directory"
    assert found.file_id == made["file_id"] and found.server_encrypted
    top.set_directory_metadata({"b": "2"})
    assert top.get_directory_properties().metadata == {"b": "2"}
    below = top.create_subdirectory("below")
    assert below.get_directory_properties().parent_id == found.file_id
    with pytest.raises(HttpResponseError) as caught:
        top.delete_directory()
    assert (caught.value.status_code, code(caught)) == (409, "DirectoryNotEmpty")
    top.delete_subdirectory("below")
    file = top.upload_file("f.txt", b"hello")
    assert file.file_name == "f.txt" and file.download_file().readall() == b"hello"
    top.delete_file("f.txt")
    again = ShareDirectoryClient.from_connection_string(connection, share.share_name, "top")
    again.delete_directory()
    with pytest.raises(ResourceNotFoundError) as caught:
        top.get_directory_properties()
    assert code(caught) == "ResourceNotFound"


def test_parents_and_kinds(share):
    with pytest.raises(ResourceNotFoundError) as caught:
        share.get_directory_client("a/b/c").create_directory()
    assert code(caught) == "ParentNotFound"
    share.get_file_client("f").create_file(1)
    with pytest.raises(HttpResponseError) as caught:
        share.get_directory_client("f").create_directory()
    assert caught.value.status_code == 409
    # Tools ask so whether a name is a directory.
    assert not share.get_directory_client("f").exists()
    share.create_directory("d")
    assert not share.get_file_client("d").exists()
    for refused in (
        lambda: share.get_file_client("d").delete_file(),
        lambda: share.get_directory_client("f").delete_directory(),
        lambda: share.get_file_client("d").create_file(1),
    ):
        with pytest.raises(HttpResponseError) as caught:
            refused()
        assert (caught.value.status_code, code(caught)) == (409, "ResourceTypeMismatch")


def test_properties(share):
    top = share.get_directory_client("d")
    made = datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC)
    top.create_directory(
        file_attributes=NTFSAttributes(hidden=True, directory=True),
        file_creation_time=made,
        file_last_write_time=made + timedelta(days=1),
        file_change_time=made + timedelta(days=2),
    )
    found = top.get_directory_properties()
    assert sorted(found.file_attributes.replace(" ", "").split("|")) == ["Directory", "Hidden"]
    assert found.creation_time == made and found.last_write_time == made + timedelta(days=1)
    assert found.change_time == made + timedelta(days=2)
    key = share.create_permission_for_share("O:BAG:SYD:(A;;FA;;;SY)(A;;FA;;;BA)")
    top.set_http_headers(permission_key=key, file_attributes="None")
    found = top.get_directory_properties()
    assert found.permission_key == key and found.file_attributes == "Directory"
    assert found.creation_time == made, "what is not said stays"


def test_listing(share):
    top = share.get_directory_client("d")
    top.create_directory()
    for each in ("b", "B2", "a", "C"):
        top.create_subdirectory(each)
    for each in ("bfile", "afile", "Zfile"):
        top.upload_file(each, b"x" * 7)
    shown = list(top.list_directories_and_files())
    # The client gives the directories of a page first.
    assert [e.name for e in shown] == ["a", "b", "B2", "C", "afile", "bfile", "Zfile"]
    assert [e.size for e in shown if not e.is_directory] == [7, 7, 7]
    assert [e.name for e in top.list_directories_and_files("B")] == ["b", "B2", "bfile"]
    for size in (1, 2, 3, 6):
        pages = [list(p) for p in top.list_directories_and_files(results_per_page=size).by_page()]
        names = [e.name for page in pages for e in page]
        assert sorted(names) == sorted(e.name for e in shown)
        if size == 1:
            assert names == ["a", "afile", "b", "B2", "bfile", "C", "Zfile"]
        assert all(len(page) <= size for page in pages)
    full = list(
        top.list_directories_and_files(
            include=["timestamps", "Etag", "Attributes", "PermissionKey"],
            include_extended_info=True,
        )
    )
    for entry in full:
        assert entry.etag and entry.file_attributes and entry.permission_key and entry.file_id
        assert entry.creation_time and entry.last_write_time and entry.change_time
    assert list(top.get_subdirectory_client("a").list_directories_and_files()) == []
    with pytest.raises(ResourceNotFoundError):
        list(share.get_directory_client("none").list_directories_and_files())


def test_rename(share):
    old = share.get_directory_client("old")
    old.create_directory(metadata={"m": "1"})
    old.create_subdirectory("in").upload_file("f", b"deep")
    before = old.get_directory_properties()
    new = old.rename_directory("new")
    assert new.get_directory_properties().file_id == before.file_id
    assert new.get_directory_properties().metadata == {"m": "1"}
    assert share.get_file_client("new/in/f").download_file().readall() == b"deep"
    assert not old.exists()
    share.create_directory("taken")
    with pytest.raises(ResourceExistsError):
        new.rename_directory("taken")
    with pytest.raises(HttpResponseError):
        new.rename_directory("new/in/below")


def test_handles(share):
    top = share.get_directory_client("d")
    top.create_directory()
    assert list(top.list_handles(recursive=True)) == []
    closed = top.close_all_handles(recursive=True)
    assert closed == {"closed_handles_count": 0, "failed_handles_count": 0}
    assert top.close_handle("123") == {"closed_handles_count": 0, "failed_handles_count": 0}


def test_trailing_dots(connection, service, name):
    service.create_share(name)
    keeping = type(service).from_connection_string(connection, allow_trailing_dot=True)
    kept = keeping.get_share_client(name)
    trimmed = service.get_share_client(name)
    kept.get_directory_client("d..").create_directory()
    assert [e.name for e in kept.list_directories_and_files()] == ["d.."]
    assert not trimmed.get_directory_client("d..").exists()
    trimmed.get_directory_client("e..").create_directory()
    assert sorted(e.name for e in kept.list_directories_and_files()) == ["d..", "e"]


def test_names(share):
    for good in ("ünï çødé", "100%", "a+b", "x" * 255, "日本語", "!#$&'()-@^_`{}~"):
        client = share.get_directory_client(good)
        client.create_directory()
        assert client.exists(), good
    listed = {e.name for e in share.list_directories_and_files()}
    assert {"ünï çødé", "100%", "a+b"} <= listed
    for bad, want in (
        ("a*b", "InvalidResourceName"),
        ("CON", "InvalidResourceName"),
        ("x" * 256, "InvalidFileOrDirectoryPathName"),
    ):
        with pytest.raises(HttpResponseError) as caught:
            share.get_directory_client(bad).create_directory()
        assert (caught.value.status_code, code(caught)) == (400, want), bad
