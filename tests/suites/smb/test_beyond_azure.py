"""What a Windows file server does and Azure Files does not: refused by default, there when asked for."""

from __future__ import annotations

import contextlib
import subprocess

import pytest
import smbclient
from smbclient._io import SMBFileTransaction, SMBRawIO, ioctl_request
from harness import Server
from harness.server import server_command
from smbprotocol.exceptions import SMBOSError

from .conftest import BEYOND_AZURE, Share

# Everybody may read it and change its attributes, and nothing else.
READ_ONLY_FOR_ALL = "O:SYG:SYD:(A;;0x120189;;;WD)"
STREAMS = 64
SET_SPARSE, SPARSE = 0x000900C4, 0x200


@contextlib.contextmanager
def connected(share):
    """A function from paths to what smbclient calls them, for as long as there is a session."""
    smbclient.reset_connection_cache()
    smbclient.register_session(
        share.host, port=share.port, username=share.account, password=share.key, auth_protocol="ntlm"
    )
    yield lambda path: f"\\\\{share.host}\\{share.name}\\{path}"
    smbclient.reset_connection_cache()


def opened(share, path, mode):
    return smbclient.open_file(path, mode=mode, share_access="rwd", port=share.port)


def write(share, path, body) -> None:
    with opened(share, path, "wb") as file:
        file.write(body)


def read(share, path) -> bytes:
    with opened(share, path, "rb") as file:
        return file.read()


def refused(share, path, mode, status) -> None:
    with pytest.raises(SMBOSError, match=status):
        opened(share, path, mode).close()


def by_rest(share, name, permission=None):
    headers = {"x-ms-type": "file", "x-ms-content-length": "0"}
    if permission:
        headers["x-ms-file-permission"] = permission
    share.rest.send("PUT", f"/{share.name}/{name}", headers=headers).expect(201)


@pytest.fixture(scope="module")
def beyond():
    with Server(*BEYOND_AZURE, "--smbHideUnreadable", "hiding,unused") as running:
        yield running
        assert running.alive()


def test_by_default_no_name_has_a_stream(share):
    with connected(share) as at:
        write(share, at("f"), b"body")
        for name in ("f:s", "f:s:$DATA", "f::$DATA", ":s"):
            refused(share, at(name), "wb", "0xc0000033")


def test_by_default_descriptors_are_kept_and_restrict_nobody(share):
    by_rest(share, "f", READ_ONLY_FOR_ALL)
    with connected(share) as at:
        write(share, at("f"), b"body")
    shown = share.rest.send("HEAD", f"/{share.name}/f").expect(200)
    key = {"x-ms-file-permission-key": shown.headers["x-ms-file-permission-key"]}
    query = {"restype": "share", "comp": "filepermission"}
    kept = share.rest.send("GET", f"/{share.name}", query=query, headers=key).expect(200)
    assert READ_ONLY_FOR_ALL in kept.body.decode()


def mark_sparse(share, path, sparse) -> None:
    with SMBRawIO(path, mode="r+b", share_access="rwd", port=share.port) as raw:
        with SMBFileTransaction(raw) as transaction:
            ioctl_request(transaction, SET_SPARSE, flags=1, input_buffer=bytes([sparse]))


def is_sparse(share, path) -> bool:
    return bool(smbclient.stat(path, port=share.port).st_file_attributes & SPARSE)


def test_by_default_no_file_is_marked_as_sparse(share):
    with connected(share) as at:
        write(share, at("f"), b"body")
        mark_sparse(share, at("f"), True)
        assert not is_sparse(share, at("f"))
        with pytest.raises(SMBOSError, match="0xc0000010"):
            mark_sparse(share, at("f"), False)


def test_a_file_stays_sparse_until_it_is_told_otherwise(beyond):
    share = Share(beyond, "sparse")
    with connected(share) as at:
        write(share, at("f"), b"body")
        assert not is_sparse(share, at("f"))
        mark_sparse(share, at("f"), True)
        smbclient.rename(at("f"), at("g"), port=share.port)
        assert is_sparse(share, at("g"))
        shown = share.rest.send("HEAD", f"/{share.name}/g").expect(200)
        assert shown.headers["x-ms-file-attributes"] == "Archive"
        mark_sparse(share, at("g"), False)
        assert not is_sparse(share, at("g"))
        mark_sparse(share, at("g"), True)
        write(share, at("g"), b"anew")
        assert not is_sparse(share, at("g"))


def test_streams_go_the_way_of_their_file(beyond):
    share = Share(beyond, "streams")
    with connected(share) as at:
        write(share, at("f"), b"body")
        write(share, at("f:One"), b"one")
        write(share, at("new:only"), b"stream")
        smbclient.mkdir(at("d"), port=share.port)
        write(share, at("d:of a directory"), b"two")
        assert read(share, at("F:oNE:$data")) == b"one"
        assert read(share, at("f::$DATA")) == b"body"
        smbclient.rename(at("f"), at("d\\g"), port=share.port)
        assert read(share, at("d\\g:one")) == b"one"
        refused(share, at("f:one"), "rb", "0xc0000034")
    beyond.stop()
    beyond.start()
    share.port, share.rest = beyond.ports["SMB"], type(share.rest)(beyond.file_url)
    with connected(share) as at:
        assert (read(share, at("d\\g:one")), read(share, at("new:only"))) == (b"one", b"stream")
        assert read(share, at("d:of a directory")) == b"two"
        # REST sees the file and nothing else, and who reads a stream keeps it from being deleted.
        listing = {"restype": "directory", "comp": "list"}
        listed = share.rest.send("GET", f"/{share.name}/d", query=listing).expect(200)
        assert b"<Name>g</Name>" in listed.body and b"one" not in listed.body.lower()
        with opened(share, at("d\\g:one"), "rb"):
            share.rest.send("DELETE", f"/{share.name}/d/g").expect(409, "SharingViolation")
        share.rest.send("DELETE", f"/{share.name}/d/g").expect(202)
        by_rest(share, "d/g")
        refused(share, at("d\\g:one"), "rb", "0xc0000034")


def test_there_are_only_so_many_streams(beyond):
    share = Share(beyond, "many")
    usage = {"restype": "share", "comp": "stats"}
    with connected(share) as at:
        for number in range(STREAMS):
            write(share, at(f"f:{number}"), b"12345678")
        refused(share, at("f:more"), "wb", "0xc000007f")
        shown = share.rest.send("GET", f"/{share.name}", query=usage).expect(200).body
        assert str(STREAMS * 8).encode() in shown
        # Emptied, a file has none; deleted, it takes them along.
        write(share, at("f"), b"")
        write(share, at("f:more"), b"12345678")
        smbclient.remove(at("f"), port=share.port)
        shown = share.rest.send("GET", f"/{share.name}", query=usage).expect(200).body
        assert b"<ShareUsageBytes>0<" in shown


def test_descriptors_decide_when_they_are_enforced(beyond):
    share = Share(beyond, "enforced")
    by_rest(share, "f", READ_ONLY_FOR_ALL)
    with connected(share) as at:
        assert read(share, at("f")) == b""
        refused(share, at("f"), "r+b", "0xc0000022")
        refused(share, at("f"), "wb", "0xc0000022")
        refused(share, at("f:s"), "wb", "0xc0000022")
        # The directory permits it: whoever may delete its entries may delete this one.
        smbclient.remove(at("f"), port=share.port)
    closed = {"x-ms-file-permission": READ_ONLY_FOR_ALL}
    share.rest.send("PUT", f"/{share.name}/d", query={"restype": "directory"}, headers=closed).expect(201)
    with connected(share) as at:
        refused(share, at("d\\f"), "wb", "0xc0000022")
        write(share, at("g"), b"")
        with pytest.raises(SMBOSError, match="0xc0000022"):
            smbclient.rename(at("g"), at("d\\g"), port=share.port)
    by_rest(share, "d/f")


def test_listings_leave_out_what_may_not_be_read_where_that_is_asked_for(beyond):
    for name, seen in (("hiding", ["seen"]), ("showing", ["closed", "seen"])):
        share = Share(beyond, name)
        by_rest(share, "seen")
        by_rest(share, "closed", "O:SYG:SYD:(A;;FR;;;SY)")
        with connected(share) as at:
            assert sorted(smbclient.listdir(at(""), port=share.port)) == seen
            names = [entry.name for entry in smbclient.scandir(at(""), "closed", port=share.port)]
            assert names == [name for name in seen if name == "closed"]


def test_the_data_of_such_a_server_is_sound():
    with Server(*BEYOND_AZURE) as running:
        share = Share(running, "sound")
        with connected(share) as at:
            write(share, at("f:s"), b"x" * 100_000)
            share.rest.send("PUT", f"/{share.name}", query={"restype": "share", "comp": "snapshot"})
            write(share, at("f:s"), b"y")
            write(share, at("g:s"), b"z")
            smbclient.remove(at("g"), port=share.port)
        running.stop()
        check = subprocess.run([*server_command(), "check", running.location], capture_output=True)
        assert check.returncode == 0, check.stdout + check.stderr
