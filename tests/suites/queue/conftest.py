"""Fixtures of the Queue suites: wire clients, vendor clients, fresh queues."""

from __future__ import annotations

import itertools

import pytest
from azure.storage.queue import QueueServiceClient

from harness import DEV_ACCOUNT, DEV_KEY, Client

_serial = itertools.count(1)


@pytest.fixture(scope="session")
def wire(server) -> Client:
    """Signed requests to the Queue service."""
    return Client(server.queue_url)


@pytest.fixture(scope="session")
def endpoint(server) -> str:
    return f"{server.queue_url}/{DEV_ACCOUNT}"


@pytest.fixture(scope="session")
def connection(endpoint) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={DEV_ACCOUNT};AccountKey={DEV_KEY};"
        # The client puts the scheme before the secondary endpoint itself.
        f"QueueEndpoint={endpoint};"
        f"QueueSecondaryEndpoint={endpoint.removeprefix('http://')}-secondary;"
    )


@pytest.fixture(scope="session")
def service(connection) -> QueueServiceClient:
    return QueueServiceClient.from_connection_string(connection, retry_total=0)


@pytest.fixture
def name() -> str:
    """A queue name that no other test uses."""
    return f"q{next(_serial):05d}"


@pytest.fixture
def queue(service, name):
    """A fresh queue through the vendor's client."""
    return service.create_queue(name)


@pytest.fixture
def box(wire, name) -> str:
    """The path of a fresh queue."""
    wire.send("PUT", f"/{name}").expect(201)
    return f"/{name}"
