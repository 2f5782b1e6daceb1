"""Copies between accounts of one server: the source's own signature decides."""

from __future__ import annotations

import base64

import pytest

from harness import Client, Server, service_sas

KEYS = {name: base64.b64encode(name.encode() * 8).decode() for name in ("first", "second")}
DATA = b"some bytes of another account"


@pytest.fixture(scope="module")
def pair():
    accounts = ";".join(f"{name}:{key}" for name, key in KEYS.items())
    with Server(env={"AZURITE_ACCOUNTS": accounts}) as running:
        clients = {name: Client(running.url, account=name, key=key) for name, key in KEYS.items()}
        for client in clients.values():
            client.create_container("box")
        clients["second"].put("/box/source", DATA, headers={"x-ms-tags": "a=1"}).expect(201)
        yield running, clients["first"]
        assert running.alive(), running.output()[-4000:]


def source(server: Server, query: str = "") -> str:
    url = f"{server.url}/second/box/source"
    return f"{url}?{query}" if query else url


def test_a_signature_of_the_other_account(pair):
    server, client = pair
    token = service_sas("box", "source", permissions="rt", account="second", key=KEYS["second"])
    sync = {"x-ms-requires-sync": "true"}
    for number, headers in enumerate(({}, sync, {"x-ms-blob-type": "BlockBlob"})):
        headers = {"x-ms-copy-source": source(server, token), **headers}
        client.send("PUT", f"/box/made{number}", headers=headers).expect((201, 202))
        assert client.get(f"/box/made{number}").body == DATA
    headers = {"x-ms-copy-source": source(server, token), "x-ms-source-if-tags": "a = '2'"}
    client.send("PUT", "/box/none", headers=headers).expect(412, "ConditionNotMet")


def test_the_own_key_is_not_enough(pair):
    server, client = pair
    wrong = service_sas("box", "source", permissions="r", account="second", key=KEYS["first"])
    for query, status in (("", 401), (wrong, 403)):
        for headers in ({}, {"x-ms-requires-sync": "true"}, {"x-ms-blob-type": "BlockBlob"}):
            headers = {"x-ms-copy-source": source(server, query), **headers}
            reply = client.send("PUT", "/box/none", headers=headers)
            reply.expect(status, "CannotVerifyCopySource")
    client.head("/box/none").expect(404)
