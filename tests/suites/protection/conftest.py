"""Servers with what this folder is about turned on, and the Python SDK pointed at them."""

from __future__ import annotations

import pytest

from harness import Client, Server
from suites.sdk.conftest import blob, box, refused, service  # noqa: F401

# Long enough that a test sees the state in between, short enough to wait for its end.
REHYDRATION = 2
SCOPES = ("red", "blue")


@pytest.fixture(scope="session")
def server():
    """The server that `client` and the SDK talk to here."""
    settings = (f"rehydration-seconds={REHYDRATION}", f"encryption-scopes={','.join(SCOPES)}")
    with Server(*(word for line in settings for word in ("--setting", line))) as own:
        yield own


@pytest.fixture(scope="session")
def immutable():
    """A client of an account whose blobs can be made immutable."""
    with Server("--setting", "version-immutability=true") as own:
        yield Client(own.url)
