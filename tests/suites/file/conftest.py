"""Fixtures of the File suites: wire clients, vendor clients, fresh shares."""

from __future__ import annotations

import itertools

import called
import pytest
from azure.storage.fileshare import (
    ShareClient,
    ShareDirectoryClient,
    ShareFileClient,
    ShareLeaseClient,
    ShareServiceClient,
)

from harness import DEV_ACCOUNT, DEV_KEY, Client

KINDS = (
    ShareServiceClient,
    ShareClient,
    ShareDirectoryClient,
    ShareFileClient,
    ShareLeaseClient,
)
for kind in KINDS:
    called.watch(kind)

_serial = itertools.count(1)


@pytest.fixture(scope="session")
def wire(server) -> Client:
    """Signed requests to the File service."""
    return Client(server.file_url)


@pytest.fixture(scope="session")
def endpoint(server) -> str:
    return f"{server.file_url}/{DEV_ACCOUNT}"


@pytest.fixture(scope="session")
def connection(endpoint, server) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={DEV_ACCOUNT};AccountKey={DEV_KEY};"
        f"FileEndpoint={endpoint};BlobEndpoint={server.url}/{DEV_ACCOUNT};"
    )


@pytest.fixture(scope="session")
def service(connection) -> ShareServiceClient:
    return ShareServiceClient.from_connection_string(connection, retry_total=0)


@pytest.fixture
def name() -> str:
    """A share name that no other test uses."""
    return f"s{next(_serial):05d}"


@pytest.fixture
def share(service, name) -> ShareClient:
    """A fresh share through the vendor's client."""
    client = service.get_share_client(name)
    client.create_share()
    return client


@pytest.fixture
def box(wire, name) -> str:
    """The path of a fresh share."""
    wire.send("PUT", f"/{name}", "restype=share").expect(201)
    return f"/{name}"
