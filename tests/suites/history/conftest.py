"""The current Python SDK on a server of its own, whose account keeps what is deleted."""

from __future__ import annotations

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobServiceClient, RetentionPolicy

from harness import DEV_ACCOUNT, DEV_KEY


@pytest.fixture(scope="session")
def service(server) -> BlobServiceClient:
    text = (
        f"DefaultEndpointsProtocol=http;AccountName={DEV_ACCOUNT};AccountKey={DEV_KEY};"
        f"BlobEndpoint={server.url}/{DEV_ACCOUNT};"
    )
    return BlobServiceClient.from_connection_string(text, retry_total=0)


@pytest.fixture
def box(service, name):
    """A fresh container client."""
    return service.create_container(name)


@pytest.fixture
def blob(box):
    """A blob client without a blob."""
    return box.get_blob_client("blob.txt")


@pytest.fixture
def keeping(service):
    """Soft delete for seven days while the test runs."""
    service.set_service_properties(delete_retention_policy=RetentionPolicy(enabled=True, days=7))
    yield
    service.set_service_properties(delete_retention_policy=RetentionPolicy(enabled=False))


@pytest.fixture
def refused():
    """`with refused(409, "Code")`: the SDK raises with exactly this status and error code."""

    class Refused:
        def __init__(self, status: int, code: str) -> None:
            self.status, self.code = status, code

        def __enter__(self) -> Refused:
            return self

        def __exit__(self, kind, error, _trace) -> bool:
            assert isinstance(error, HttpResponseError), f"expected {self.status}, got {error!r}"
            code = error.response.headers.get("x-ms-error-code")
            assert (error.status_code, code) == (self.status, self.code), error.message
            return True

    return Refused
