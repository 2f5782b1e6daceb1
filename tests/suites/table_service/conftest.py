"""Fixtures of the Table suites: vendor clients, fresh tables, and raw requests signed for tables."""

from __future__ import annotations

import http.client
import itertools
import json
from urllib.parse import urlsplit

import pytest
from azure.core.credentials import AzureNamedKeyCredential
from azure.data.tables import TableServiceClient

from harness import DEV_ACCOUNT, DEV_KEY
from harness.signing import http_date, mac

_serial = itertools.count(1)
VERSION = "2019-02-02"


class Answer:
    """One response, headers by lower-case name."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def code(self) -> str:
        if self.headers.get("content-type", "").startswith("application/json") and self.body:
            return self.json().get("odata.error", {}).get("code", "")
        return self.headers.get("x-ms-error-code", "")

    def json(self) -> dict:
        return json.loads(self.body)

    def expect(self, status: int, code: str | None = None) -> Answer:
        assert self.status == status, (self.status, self.headers, self.body)
        if code is not None:
            assert self.code == code, (self.code, self.body)
        return self


class Wire:
    """Requests exactly as a test says, with a signature for the Table service."""

    def __init__(self, url: str) -> None:
        self.parts = urlsplit(url)
        self.prefix = f"/{DEV_ACCOUNT}"

    def send(self, method, path, body=b"", headers=None, query="", lite=False, sign=True) -> Answer:
        if isinstance(body, dict):
            body = json.dumps(body)
        body = body.encode() if isinstance(body, str) else body
        sent = {"x-ms-date": http_date(), "x-ms-version": VERSION, **(headers or {})}
        if body and "Content-Type" not in sent:
            sent["Content-Type"] = "application/json"
        target = self.prefix + path
        if sign:
            comp = next((p for p in query.split("&") if p.startswith("comp=")), "")
            resource = f"/{DEV_ACCOUNT}{target}" + (f"?{comp}" if comp else "")
            text = f"{sent['x-ms-date']}\n{resource}"
            scheme = "SharedKeyLite"
            if not lite:
                scheme = "SharedKey"
                text = f"{method}\n\n{sent.get('Content-Type', '')}\n{text}"
            sent["Authorization"] = f"{scheme} {DEV_ACCOUNT}:{mac(DEV_KEY, text)}"
        connection = http.client.HTTPConnection(self.parts.hostname, self.parts.port, timeout=60)
        try:
            connection.request(method, target + (f"?{query}" if query else ""), body or None, sent)
            return Answer(connection.getresponse())
        finally:
            connection.close()


@pytest.fixture(scope="session")
def wire(server) -> Wire:
    return Wire(server.table_url)


@pytest.fixture(scope="session")
def endpoint(server) -> str:
    return f"{server.table_url}/{DEV_ACCOUNT}"


@pytest.fixture(scope="session")
def credential() -> AzureNamedKeyCredential:
    return AzureNamedKeyCredential(DEV_ACCOUNT, DEV_KEY)


@pytest.fixture(scope="session")
def service(endpoint, credential) -> TableServiceClient:
    return TableServiceClient(endpoint, credential=credential, retry_total=0)


@pytest.fixture
def name() -> str:
    """A table name that no other test uses."""
    return f"Table{next(_serial):05d}"


@pytest.fixture
def table(service, name):
    """A fresh table through the vendor's client."""
    return service.create_table(name)


@pytest.fixture
def path(wire, name) -> str:
    """The path of a fresh table."""
    wire.send("POST", "/Tables", {"TableName": name}).expect(201)
    return f"/{name}"
