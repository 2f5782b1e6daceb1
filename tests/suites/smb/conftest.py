"""A share on the server of the suite, and how the clients reach it."""

from __future__ import annotations

import itertools

import pytest
from harness import Client
from harness.signing import DEV_ACCOUNT, DEV_KEY

_serial = itertools.count(1)

# What a Windows file server does and Azure Files does not.
BEYOND_AZURE = ("--smbStreams", "--smbSparse", "--smbDescriptors", "enforce")


class Share:
    """A share of the development account, made over REST."""

    account, key, host = DEV_ACCOUNT, DEV_KEY, "127.0.0.1"

    def __init__(self, server, name: str) -> None:
        self.server, self.name = server, name
        self.port = server.ports["SMB"]
        self.rest = Client(server.file_url)
        self.rest.send("PUT", f"/{name}", query={"restype": "share"}).expect(201)

    @property
    def unc(self) -> str:
        return f"//{self.host}/{self.name}"


@pytest.fixture
def share(server) -> Share:
    return Share(server, f"share{next(_serial)}")
