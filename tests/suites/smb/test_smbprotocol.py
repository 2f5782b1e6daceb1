"""smbprotocol: another independent client, signed and encrypted; and both protocols on one file."""

from __future__ import annotations

import os

import pytest
import smbclient
from smbprotocol.exceptions import SMBException, SMBOSError


@pytest.fixture(params=[False, True], ids=["signed", "encrypted"])
def at(share, request):
    smbclient.reset_connection_cache()
    options = {"port": share.port, "username": share.account, "password": share.key,
               "encrypt": request.param, "auth_protocol": "ntlm"}  # fmt: skip
    smbclient.register_session(share.host, **options)
    yield lambda path: f"\\\\{share.host}\\{share.name}\\{path}"
    smbclient.reset_connection_cache()


def test_files(share, at):
    port = {"port": share.port}
    smbclient.makedirs(at("a\\b"), **port)
    body = os.urandom(2_500_000)
    with smbclient.open_file(at("a\\b\\f"), mode="wb", **port) as file:
        file.write(body)
    with smbclient.open_file(at("a\\b\\f"), mode="rb", **port) as file:
        assert file.read() == body
    assert smbclient.stat(at("a\\b\\f"), **port).st_size == len(body)
    assert smbclient.listdir(at("a\\b"), **port) == ["f"]
    smbclient.rename(at("a\\b\\f"), at("g"), **port)
    smbclient.remove(at("g"), **port)
    smbclient.removedirs(at("a\\b"), **port)


def test_rest_and_smb_see_one_file(share, at):
    port = {"port": share.port}
    rest, path = share.rest, f"/{share.name}/f"
    rest.send("PUT", path, headers={"x-ms-type": "file", "x-ms-content-length": "4"}).expect(201)
    headers = {"x-ms-write": "update", "x-ms-range": "bytes=0-3"}
    rest.send("PUT", path, body=b"rest", headers=headers, query={"comp": "range"}).expect(201)
    with smbclient.open_file(at("f"), mode="rb", share_access="r", **port) as file:
        assert file.read() == b"rest"
        refused = rest.send("PUT", path, body=b"more", headers=headers, query={"comp": "range"})
        refused.expect(409, "SharingViolation")
        rest.send("DELETE", path).expect(409, "SharingViolation")
    rest.send("PUT", path, body=b"more", headers=headers, query={"comp": "range"}).expect(201)
    with smbclient.open_file(at("f"), mode="rb", **port) as file:
        assert file.read() == b"more"


def test_sharing(share, at):
    port = {"port": share.port}
    with smbclient.open_file(at("f"), mode="wb", **port):
        with pytest.raises(SMBOSError, match="0xc0000043"):
            smbclient.open_file(at("f"), mode="rb", **port)


def test_no_such_file(share, at):
    with pytest.raises(SMBException):
        smbclient.open_file(at("missing\\f"), mode="rb", port=share.port)
