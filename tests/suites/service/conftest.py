"""The current Python SDK pointed at a server of its own: the properties of a service are shared by all."""

from __future__ import annotations

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobServiceClient

from harness import DEV_ACCOUNT, DEV_KEY, Client


def connection_string(url: str) -> str:
    return (
        f"DefaultEndpointsProtocol=http;AccountName={DEV_ACCOUNT};AccountKey={DEV_KEY};"
        f"BlobEndpoint={url}/{DEV_ACCOUNT};"
    )


@pytest.fixture(scope="session")
def service(server) -> BlobServiceClient:
    return BlobServiceClient.from_connection_string(connection_string(server.url), retry_total=0)


@pytest.fixture
def box(service, name):
    """A fresh container client."""
    return service.create_container(name)


@pytest.fixture
def blob(box):
    """A blob client without a blob."""
    return box.get_blob_client("blob.txt")


@pytest.fixture
def refused():
    """`with refused(409, "Code")`: the SDK raises with exactly this status and error code."""

    class Refused:
        def __init__(self, status: int, code: str | None = None) -> None:
            self.status, self.code = status, code

        def __enter__(self) -> Refused:
            return self

        def __exit__(self, kind, error, _trace) -> bool:
            assert isinstance(error, HttpResponseError), f"expected {self.status}, got {error!r}"
            code = getattr(error, "error_code", None)
            code = getattr(code, "value", code)
            if error.response is not None:
                code = error.response.headers.get("x-ms-error-code", code)
            assert error.status_code == self.status, (error.status_code, code, error.message)
            assert self.code is None or code == self.code, (error.status_code, code)
            return True

    return Refused


EMPTY = (
    "<StorageServiceProperties><Cors/><Logging><Version>1.0</Version><Read>false</Read>"
    "<Write>false</Write><Delete>false</Delete><RetentionPolicy><Enabled>false</Enabled>"
    "</RetentionPolicy></Logging><StaticWebsite><Enabled>false</Enabled></StaticWebsite>"
    "</StorageServiceProperties>"
)


@pytest.fixture(autouse=True)
def plain(client: Client):
    """Every test starts with no rules, no logs and no website."""
    client.send("PUT", "/", "restype=service&comp=properties", body=EMPTY.encode()).expect(202)


@pytest.fixture
def set_properties(client):
    """Sets the elements given as text and answers with the reply."""

    def put(inside: str, **kw):
        document = f"<StorageServiceProperties>{inside}</StorageServiceProperties>"
        return client.send("PUT", "/", "restype=service&comp=properties", body=document.encode(), **kw
        )

    return put
