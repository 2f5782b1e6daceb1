"""Bearer tokens and user delegation SAS of files, over HTTPS, with the vendor's client."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import (
    FileSasPermissions,
    ShareClient,
    ShareDirectoryClient,
    ShareFileClient,
    ShareServiceClient,
    generate_file_sas,
)

from harness import DEV_ACCOUNT, DEV_KEY, Client, Server
from harness.certificate import certificate


ENVIRONMENT = Path(__file__).resolve().parents[3] / "target" / "test-env"


def token(**claims) -> str:
    def part(value) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    now = int(time.time())
    body = {
        "iss": "https://sts.windows.net/11111111-1111-1111-1111-111111111111/",
        "aud": "https://storage.azure.com", "nbf": now - 60, "exp": now + 3600,
        "oid": "22222222-2222-2222-2222-222222222222",
        "tid": "11111111-1111-1111-1111-111111111111", **claims,
    }  # fmt: skip
    return ".".join([part({"alg": "RS256", "typ": "JWT"}), part(body), "c2ln"])


class Bearer:
    """What the vendor's clients ask for tokens."""

    def get_token(self, *_scopes, **_options) -> AccessToken:
        return AccessToken(token(), int(time.time()) + 3600)


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    files = certificate(tmp_path_factory.mktemp("tls"))
    flags = ("--oauth", "basic", "--cert", str(files["cert.pem"]), "--key", str(files["key.pem"]))
    with Server(*flags) as server:
        yield server, str(files["cert.pem"])


def test_bearer_and_delegation(secure):
    server, ca = secure
    endpoint = f"{server.file_url}/{DEV_ACCOUNT}"
    options = {"connection_verify": ca, "retry_total": 0}
    service = ShareServiceClient(
        endpoint, credential=Bearer(), token_intent="backup", **options
    )
    share = service.create_share("tokens")
    file = share.get_file_client("f")
    file.upload_file(b"by token")
    assert [e.name for e in share.list_directories_and_files()] == ["f"]
    assert file.rename_file("g").download_file().readall() == b"by token"
    expiry = datetime.now(UTC) + timedelta(hours=1)
    key = service.get_user_delegation_key(expiry=expiry, start=datetime.now(UTC))
    sas = generate_file_sas(
        DEV_ACCOUNT, "tokens", ["g"], user_delegation_key=key,
        permission=FileSasPermissions(read=True), expiry=expiry,
    )  # fmt: skip
    reader = ShareFileClient(endpoint, "tokens", "g", credential=sas, **options)
    assert reader.download_file().readall() == b"by token"
    with pytest.raises(HttpResponseError) as caught:
        reader.delete_file()
    assert caught.value.status_code == 403


def test_a_directory_by_its_url(secure, monkeypatch):
    """The client keeps only the host of the URL: it must be HTTPS, and name the account."""
    server, _ = secure
    resolve = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda _, *rest, **more: resolve("127.0.0.1", *rest, **more))
    url = f"https://{DEV_ACCOUNT}.file.localhost:{server.ports['File']}/byurl/d"
    options = {
        "credential": {"account_name": DEV_ACCOUNT, "account_key": DEV_KEY},
        # The certificate is for other names.
        "connection_verify": False,
        "retry_total": 0,
    }
    ShareClient.from_share_url(url.removesuffix("/d"), **options).create_share()
    directory = ShareDirectoryClient.from_directory_url(url, **options)
    directory.create_directory()
    assert directory.exists() and directory.directory_path == "d"


def test_the_javascript_client_with_a_token(secure):
    server, ca = secure
    folder = ENVIRONMENT / "node"
    runtime = sorted((ENVIRONMENT / "node-runtime").glob("node_modules/node-linux-*/bin/node"))
    node = str(runtime[0]) if runtime else shutil.which("node")
    environment = {
        **os.environ,
        "NODE_EXTRA_CA_CERTS": ca,
        "ZAFFRE_FILE_URL": server.file_url,
        "ZAFFRE_ENDPOINT": f"{server.file_url}/{DEV_ACCOUNT}",
        "ZAFFRE_TOKEN": token(),
    }
    command = [node, "file-delegation.mjs"]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # The suite of the JavaScript client has no token, and leaves these to this test.
    assert sorted(done.stdout.split()) == [
        "ShareClient.generateUserDelegationSasUrl",
        "ShareClient.generateUserDelegationStringToSign",
        "ShareFileClient.generateUserDelegationSasUrl",
        "ShareFileClient.generateUserDelegationStringToSign",
        "ShareServiceClient.getUserDelegationKey",
    ]


def test_a_token_needs_its_intent(secure):
    server, ca = secure
    client = Client(server.file_url, ca_file=ca)
    bearer = {"Authorization": f"Bearer {token()}"}

    def ask(**headers):
        sent = {**bearer, **{k.replace("_", "-"): v for k, v in headers.items()}}
        return client.send("GET", "/", "comp=list", sent, auth="none")

    ask().expect(400, "MissingRequiredHeader")
    ask(x_ms_file_request_intent="other").expect(400, "InvalidHeaderValue")
    ask(x_ms_file_request_intent="backup").expect(200)
    ask(x_ms_file_request_intent="backup", x_ms_version="2021-12-02").expect(403)
    bad = {"Authorization": f"Bearer {token(exp=1)}", "x-ms-file-request-intent": "backup"}
    reply = client.send("GET", "/", "comp=list", bad, auth="none").expect(401)
    assert reply.headers["www-authenticate"].startswith("Bearer ")
