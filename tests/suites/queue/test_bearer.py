"""Bearer tokens and user delegation SAS of queues, over HTTPS, with the vendor's client."""

from __future__ import annotations

import base64
import json
import time
from datetime import UTC, datetime, timedelta

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from azure.storage.queue import (
    QueueClient,
    QueueSasPermissions,
    QueueServiceClient,
    generate_queue_sas,
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

    def __init__(self, **claims) -> None:
        self.text = token(**claims)

    def get_token(self, *_scopes, **_options) -> AccessToken:
        return AccessToken(self.text, int(time.time()) + 3600)


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    files = certificate(tmp_path_factory.mktemp("tls"))
    flags = ("--oauth", "basic", "--cert", str(files["cert.pem"]), "--key", str(files["key.pem"]))
    with Server(*flags) as server:
        yield server, str(files["cert.pem"])


def test_bearer_and_delegation(secure):
    server, ca = secure
    endpoint = f"{server.queue_url}/{DEV_ACCOUNT}"
    options = {"connection_verify": ca, "retry_total": 0}
    service = QueueServiceClient(endpoint, credential=Bearer(), **options)
    queue = service.create_queue("tokens")
    queue.send_message("by token")
    assert [q.name for q in service.list_queues()] == ["tokens"]
    got = queue.receive_message(visibility_timeout=60)
    got = queue.update_message(got, visibility_timeout=0, content="updated")
    expiry = datetime.now(UTC) + timedelta(hours=1)
    key = service.get_user_delegation_key(expiry=expiry, start=datetime.now(UTC))
    sas = generate_queue_sas(
        DEV_ACCOUNT, "tokens", user_delegation_key=key,
        permission=QueueSasPermissions(read=True), expiry=expiry,
    )  # fmt: skip
    reader = QueueClient.from_queue_url(f"{endpoint}/tokens?{sas}", **options)
    assert reader.peek_messages()[0].content == "updated"
    with pytest.raises(HttpResponseError) as caught:
        reader.send_message("no")
    assert caught.value.status_code == 403


def test_tokens_that_are_no_good(secure):
    server, ca = secure
    client = Client(server.queue_url, ca_file=ca)
    for claims in ({"aud": "https://other"}, {"exp": 1}, {"iss": "https://nobody/"}):
        headers = {"Authorization": f"Bearer {token(**claims)}"}
        reply = client.send("GET", "/", "comp=list", headers, auth="none").expect(401)
        assert reply.headers["www-authenticate"].startswith("Bearer ")
    service = QueueServiceClient(
        f"{server.queue_url}/{DEV_ACCOUNT}", credential=Bearer(exp=1),
        connection_verify=ca, retry_total=0,
    )  # fmt: skip
    with pytest.raises(ClientAuthenticationError):
        list(service.list_queues())
