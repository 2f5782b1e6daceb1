"""User delegation keys and the SAS tokens that real SDKs sign with them."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobClient, generate_blob_sas, generate_container_sas
from issuer import OBJECT, OTHER, TENANT

from harness import DEV_ACCOUNT, Client

ENVIRONMENT = Path(__file__).resolve().parents[3] / "target" / "test-env"
SCRIPT = Path(__file__).with_name("delegation.mjs")


def soon(minutes: int = 30) -> datetime:
    return datetime.now(UTC) + timedelta(minutes=minutes)


@pytest.fixture
def service(verifying, connect, issuer):
    return connect(verifying, issuer.token())


@pytest.fixture
def key(service):
    return service.get_user_delegation_key(soon(-5), soon(60))


@pytest.fixture
def box(service, name):
    made = service.create_container(name)
    made.upload_blob("dir/b", b"secret")
    return made


def blob_with(box, token: str, files) -> BlobClient:
    url = f"{box.url}/dir/b?{token}"
    return BlobClient.from_blob_url(url, connection_verify=str(files["cert.pem"]), retry_total=0)


def code(error) -> tuple[int, str]:
    return error.value.status_code, error.value.error_code


def sas(box, key, **more) -> str:
    more = {"permission": "r", "expiry": soon(), **more}
    return generate_blob_sas(
        DEV_ACCOUNT, box.container_name, "dir/b", user_delegation_key=key, **more
    )


def test_the_key_says_whose_it_is(key, service):
    assert (key.signed_oid, key.signed_tid) == (OBJECT, TENANT)
    assert (key.signed_service, len(key.value)) == ("b", 44)
    start, expiry = map(datetime.fromisoformat, (key.signed_start, key.signed_expiry))
    assert service.get_user_delegation_key(start, expiry).value == key.value
    other = service.get_user_delegation_key(start, soon(90))
    assert other.value != key.value


def test_a_blob_sas(box, key, files):
    blob = blob_with(box, sas(box, key, content_type="text/odd"), files)
    stream = blob.download_blob()
    assert stream.readall() == b"secret"
    assert stream.properties.content_settings.content_type == "text/odd"
    with pytest.raises(HttpResponseError) as refused:
        blob.delete_blob()
    assert code(refused) == (403, "AuthorizationPermissionMismatch")


def test_a_container_sas(box, key, verifying, files):
    token = generate_container_sas(
        DEV_ACCOUNT, box.container_name, user_delegation_key=key, permission="rl", expiry=soon()
    )
    client = Client(verifying.url, ca_file=str(files["cert.pem"]))
    listing = f"restype=container&comp=list&{token}"
    client.send("GET", f"/{box.container_name}", listing, auth="none").expect(200)
    assert client.get(f"/{box.container_name}/dir/b", query=token, auth="none").body == b"secret"
    client.send("DELETE", f"/{box.container_name}/dir/b", token, auth="none").expect(403)


def test_every_field_counts(box, key, verifying, files):
    client = Client(verifying.url, ca_file=str(files["cert.pem"]))
    path = f"/{box.container_name}/dir/b"
    token = sas(box, key, start=soon(-5), ip="127.0.0.1", protocol="https", correlation_id=OTHER,
                preauthorized_agent_object_id=OTHER, cache_control="no-cache")  # fmt: skip
    pairs = dict(parse_qsl(token))
    assert {"skoid", "sktid", "skt", "ske", "sks", "skv", "saoid", "scid"} <= set(pairs)
    client.get(path, query=token, auth="none").expect(200)
    tampered = {**pairs, "sp": "rw", "se": "2031-01-01T00:00:00Z", "skoid": OTHER, "sktid": OTHER}
    tampered |= {"skt": "2020-01-01T00:00:00Z", "ske": "2031-01-01T00:00:00Z", "sks": "q"}
    tampered |= {"skv": "2020-02-10", "saoid": OBJECT, "scid": OBJECT, "sv": "2025-07-05"}
    tampered |= {"sip": "127.0.0.0-127.0.0.9", "spr": "https,http", "rscc": "private", "sr": "c"}
    tampered |= {"st": "2020-01-01T00:00:00Z", "sig": "A" * 43 + "="}
    assert set(tampered) == set(pairs)
    for field, value in tampered.items():
        changed = urlencode({**pairs, field: value})
        client.get(path, query=changed, auth="none").expect(403, "AuthenticationFailed")
        missing = urlencode({name: v for name, v in pairs.items() if name != field})
        client.get(path, query=missing, auth="none").expect(403, "AuthenticationFailed")


def test_a_sas_for_one_user(box, service, verifying, files, issuer):
    key = service.get_user_delegation_key(soon(-5), soon(60))
    token = sas(box, key, user_delegation_oid=OTHER)
    client = Client(verifying.url, ca_file=str(files["cert.pem"]))
    path = f"/{box.container_name}/dir/b"

    def ask(bearer: str | None):
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        return client.send("GET", path, token, headers, auth="none")

    ask(issuer.token(oid=OTHER)).expect(200)
    ask(issuer.token()).expect(403, "AuthenticationFailed")
    ask(issuer.token(oid=OTHER, tid=OTHER)).expect(403, "AuthenticationFailed")
    ask(None).expect(403, "AuthenticationFailed")
    theirs = service.get_user_delegation_key(soon(-5), soon(60), delegated_user_tid=OTHER)
    token = sas(box, theirs, user_delegation_oid=OTHER)
    ask(issuer.token(oid=OTHER, tid=OTHER)).expect(200)
    ask(issuer.token(oid=OTHER)).expect(403, "AuthenticationFailed")


def test_demanded_headers_and_parameters(box, key, verifying, files):
    token = sas(box, key, request_headers={"x-ms-mine": "1"}, request_query_params={"mine": "2"})
    client = Client(verifying.url, ca_file=str(files["cert.pem"]))
    path = f"/{box.container_name}/dir/b"
    for header, parameter, status in [("1", "2", 200), ("2", "2", 403), ("1", "1", 403)]:
        headers = {"x-ms-mine": header}
        client.send("GET", path, f"mine={parameter}&{token}", headers, auth="none").expect(status)
    client.send("GET", path, token, {"x-ms-mine": "1"}, auth="none").expect(403)
    client.send("GET", path, f"mine=2&{token}", auth="none").expect(403)


def test_keys_of_impossible_times(service):
    for start, expiry in [(soon(), soon(-5)), (soon(), soon(60 * 24 * 8)), (soon(-60), soon(-5))]:
        with pytest.raises(HttpResponseError) as refused:
            service.get_user_delegation_key(start, expiry)
        assert code(refused) == (400, "InvalidXmlNodeValue")


def test_keys_are_for_bearers(verifying, files):
    client = Client(verifying.url, ca_file=str(files["cert.pem"]))
    query = "restype=service&comp=userdelegationkey"
    body = "<KeyInfo><Expiry>2030-01-01T00:00:00Z</Expiry></KeyInfo>"
    client.send("POST", "/", query, {}, body).expect(403, "AuthenticationFailed")
    client.send("POST", "/", query, {}, body, auth="none").expect(401)


def test_the_javascript_sdk(verifying, files, issuer):
    runtime = ENVIRONMENT / "node-runtime" / "node_modules"
    own = sorted(runtime.glob("node-linux-*/bin/node")) if runtime.exists() else []
    node = str(own[0]) if own else shutil.which("node")
    folder = ENVIRONMENT / "node"
    shutil.copy(SCRIPT, folder / SCRIPT.name)
    environment = {
        **os.environ,
        "NODE_EXTRA_CA_CERTS": str(files["cert.pem"]),
        "ZAFFRE_URL": f"{verifying.url}/{DEV_ACCOUNT}",
        "ZAFFRE_TOKEN": issuer.token("ES256"),
    }
    done = subprocess.run(
        [node, SCRIPT.name], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == ["2018-11-09", "2020-02-10", "2020-12-06", "2025-07-05",
                                   "2026-04-06"]  # fmt: skip
