"""One server with test controls, and clients that keep to its ports."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables import TableServiceClient
from azure.storage.blob import BlobServiceClient
from azure.storage.queue import QueueServiceClient

from harness import DEV_ACCOUNT, DEV_KEY, Server

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "samples" / "test-controls"))
sys.path.insert(0, str(ROOT / "samples" / "concurrency"))

from controls import Controls  # noqa: E402


@pytest.fixture(scope="session")
def server():
    with Server("--test-controls") as running:
        yield running
        assert running.alive(), f"the server died during the suite\n{running.output()[-4000:]}"


@pytest.fixture
def controls(server):
    """The controls, left as they were found."""
    turned = Controls(server.console_url)
    yield turned
    turned.resume()
    turned.clear_faults()


@pytest.fixture(scope="session")
def blobs(server):
    # One quick retry policy for all: three tries, no waiting to speak of.
    return BlobServiceClient(
        f"{server.url}/{DEV_ACCOUNT}", credential=DEV_KEY, **QUICK
    )


@pytest.fixture(scope="session")
def queues(server):
    return QueueServiceClient(f"{server.queue_url}/{DEV_ACCOUNT}", credential=DEV_KEY, **QUICK)


@pytest.fixture(scope="session")
def tables(server):
    key = AzureNamedKeyCredential(DEV_ACCOUNT, DEV_KEY)
    return TableServiceClient(f"{server.table_url}/{DEV_ACCOUNT}", credential=key, retry_total=0)


QUICK = {"initial_backoff": 0, "increment_base": 0, "retry_total": 3, "random_jitter_range": 0}
