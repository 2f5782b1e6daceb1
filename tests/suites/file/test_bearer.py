"""Bearer tokens and user delegation SAS of files, over HTTPS, with the vendor's client."""

from __future__ import annotations

import base64
import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError
from azure.storage.fileshare import (
    FileSasPermissions,
    ShareFileClient,
    ShareServiceClient,
    generate_file_sas,
)

from harness import DEV_ACCOUNT, Client, Server
from harness.certificate import certificate


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
