"""Fixtures shared by all suites: one server per suite, and fresh container names."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harness import Client, Server

_serial = itertools.count(1)


@pytest.fixture(scope="session")
def server():
    """The server of this pytest run; it must still be alive when the suite ends."""
    with Server() as running:
        yield running
        assert running.alive(), f"the server died during the suite\n{running.output()[-4000:]}"


@pytest.fixture(scope="session")
def client(server) -> Client:
    return Client(server.url)


@pytest.fixture
def name() -> str:
    """A container name that no other test uses."""
    return f"c{next(_serial):05d}"


@pytest.fixture
def container(client, name) -> str:
    client.create_container(name)
    return name
