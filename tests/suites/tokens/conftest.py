"""Servers that take bearer tokens, each in its own way, and the SDK with a token."""

from __future__ import annotations

import json

import pytest
from azure.storage.blob import BlobServiceClient
from issuer import Credential, Discovery, Issuer

from harness import DEV_ACCOUNT, Server
from harness.certificate import certificate


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def secure(files):
    return ("--cert", str(files["cert.pem"]), "--key", str(files["key.pem"]))


@pytest.fixture(scope="session")
def issuer() -> Issuer:
    return Issuer("https://issuer.example/tenant")


@pytest.fixture(scope="session")
def verifying(secure, issuer, tmp_path_factory):
    """Takes what the issuer signed; the keys come from a file."""
    keys = tmp_path_factory.mktemp("keys") / "jwks.json"
    keys.write_text(json.dumps(issuer.keys()))
    flags = ("--oauth", "verify", "--oauth-issuer", issuer.name, "--oauth-keys", str(keys))
    with Server(*secure, *flags) as running:
        yield running
        assert running.alive(), running.output()[-4000:]


@pytest.fixture(scope="session")
def believing(secure):
    """Takes what claims to come from a known issuer, as Azurite does."""
    with Server(*secure, "--oauth", "basic") as running:
        yield running
        assert running.alive(), running.output()[-4000:]


@pytest.fixture(scope="session")
def connect(files):
    """The SDK with a token, over TLS."""

    def connect(server, token: str) -> BlobServiceClient:
        return BlobServiceClient(
            f"{server.url}/{DEV_ACCOUNT}",
            credential=Credential(token),
            connection_verify=str(files["cert.pem"]),
            retry_total=0,
        )

    return connect


@pytest.fixture
def discovery():
    serving = Discovery()
    yield serving
    serving.close()
