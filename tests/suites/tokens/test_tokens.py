"""Bearer tokens through the SDK and on the wire: whose are taken, and who is turned away."""

from __future__ import annotations

import time

import pytest
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError
from issuer import Issuer

from harness import Client, Server, account_sas, service_sas

NOW = int(time.time())


def wire(server, files) -> Client:
    return Client(server.url, ca_file=str(files["cert.pem"]))


def ask(client: Client, token: str, path: str = "/", query: str = "comp=list", method="GET", **kw):
    headers = {"Authorization": f"Bearer {token}", **kw.pop("headers", {})}
    return client.send(method, path, query, headers, kw.pop("body", ""), auth="none")


@pytest.mark.parametrize("alg", ["RS256", "ES256"])
def test_the_sdk_with_a_token(verifying, connect, issuer, name, alg):
    service = connect(verifying, issuer.token(alg))
    box = service.create_container(name)
    box.upload_blob("b", b"by token")
    assert box.download_blob("b").readall() == b"by token"
    assert [blob.name for blob in box.list_blobs()] == ["b"]
    box.delete_blob("b")
    assert name in [found.name for found in service.list_containers()]
    box.set_container_access_policy({}, public_access="blob")
    assert box.get_container_access_policy()["public_access"] == "blob"
    box.delete_container()


def test_the_sdk_with_a_token_that_is_believed(believing, connect, issuer, name):
    token = issuer.token(iss="https://sts.windows.net/tenant/")
    box = connect(believing, token).create_container(name)
    box.upload_blob("b", b"by token")
    assert box.download_blob("b").readall() == b"by token"
    with pytest.raises(ClientAuthenticationError):
        connect(believing, issuer.token()).create_container(f"{name}-2")


BAD = {
    "expired": {"exp": NOW - 400},
    "not yet valid": {"nbf": NOW + 7200},
    "no expiry": {"exp": None},
    "another issuer": {"iss": "https://sts.windows.net/tenant/"},
    "no issuer": {"iss": None},
    "another audience": {"aud": "https://graph.microsoft.com"},
    "another account": {"aud": "https://other.blob.core.windows.net"},
    "no audience": {"aud": None},
    "nobody": {"oid": None},
    "alg none": {"alg": "none"},
    "unknown kid": {"kid": "other"},
    "the other key": {"kid": "ec"},
    "RS512": {"alg": "RS512"},
    "unsigned": {"sign": lambda _: b""},
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_bad_tokens(verifying, files, issuer, change):
    client = wire(verifying, files)
    ask(client, issuer.token()).expect(200)
    answer = ask(client, issuer.token(**change)).expect(401, "InvalidAuthenticationInfo")
    challenge = answer.headers["www-authenticate"]
    assert challenge.startswith("Bearer authorization_uri=https://")
    assert challenge.endswith("resource_id=https://storage.azure.com")


def test_forged_tokens(verifying, files, issuer):
    client = wire(verifying, files)
    stranger = Issuer(issuer.name)
    forged = [
        stranger.token(),
        stranger.token("ES256"),
        issuer.token("HS256", sign=issuer.as_shared_secret),
        issuer.token("RS256", sign=issuer.as_shared_secret),
        issuer.token("ES256", kid="rsa"),
        issuer.token().rsplit(".", 1)[0] + ".",
        "x.y.z",
        "..",
    ]
    for token in forged:
        ask(client, token).expect(401, "InvalidAuthenticationInfo")
    head, claims, signature = issuer.token().split(".")
    more = issuer.token(oid="somebody").split(".")[1]
    ask(client, f"{head}.{more}.{signature}").expect(401, "InvalidAuthenticationInfo")
    ask(client, f"{head}.{claims}.{signature}").expect(200)


def test_what_tokens_do_not_reach(verifying, files, issuer):
    client = wire(verifying, files)
    token = issuer.token()
    ask(client, token, query="restype=account&comp=properties").expect(403, "AuthorizationFailure")
    client.create_container("aclbytoken")
    old = {"x-ms-version": "2024-08-04"}
    acl = "restype=container&comp=acl"
    refused = ask(client, token, "/aclbytoken", acl, headers=old)
    refused.expect(403, "AuthorizationFailure")
    ask(client, token, "/aclbytoken", acl, headers={"x-ms-version": "2025-07-05"}).expect(200)


def test_tokens_need_the_flag_and_tls(server, client, secure, files, issuer, tmp_path):
    ask(client, issuer.token()).expect(400, "InvalidAuthenticationInfo")
    with Server(*secure) as plain:
        ask(wire(plain, files), issuer.token()).expect(401, "InvalidAuthenticationInfo")


def test_keys_of_the_account_count_as_before(verifying, files):
    client = wire(verifying, files)
    client.create_container("bykey")
    client.put("/bykey/b", b"x").expect(201)
    assert client.get("/bykey/b", query=service_sas("bykey", "b"), auth="none").body == b"x"
    client.get("/bykey/b", query=account_sas("r", resource_types="o"), auth="none").expect(200)


def test_keys_fetched_from_the_issuer(secure, files, discovery):
    issuer = Issuer(f"{discovery.url}/tenant")
    keys = f"{discovery.url}/tenant/keys"
    discovery.documents["/tenant/.well-known/openid-configuration"] = {"jwks_uri": keys}
    discovery.documents["/tenant/keys"] = issuer.keys()
    flags = (*secure, "--oauth", "verify", "--oauth-issuer", issuer.name)
    with Server(*flags, "--oauth-audience", "my-server") as running:
        client = wire(running, files)
        ask(client, issuer.token()).expect(200)
        ask(client, issuer.token("ES256", aud="my-server")).expect(200)
        ask(client, Issuer(issuer.name).token()).expect(401, "InvalidAuthenticationInfo")
    elsewhere = {"jwks_uri": "http://127.0.0.1:1/keys"}
    discovery.documents["/tenant/.well-known/openid-configuration"] = elsewhere
    with Server(*flags) as running:
        ask(wire(running, files), issuer.token()).expect(401, "InvalidAuthenticationInfo")
        assert "another server" in running.output()


@pytest.mark.parametrize(
    "flags",
    [
        ("--oauth", "basic"),
        ("{tls}", "--oauth", "verify"),
        ("{tls}", "--oauth", "verify", "--oauth-issuer", "http://issuer.example"),
        ("{tls}", "--oauth", "verify", "--oauth-issuer", "https://i", "--oauth-keys", "missing"),
        ("{tls}", "--oauth", "basic", "--blobHost", "0.0.0.0"),
    ],
    ids=["no TLS", "no issuer", "plain issuer", "no keys", "open to everybody"],
)
def test_flags_that_cannot_be(secure, flags):
    env = {"AZURITE_ACCOUNTS": "acc1:a2V5"}
    given = [part for flag in flags for part in (secure if flag == "{tls}" else (flag,))]
    server = Server(*given, env=env)
    with pytest.raises(RuntimeError, match="exit"):
        server.start()
    assert "panicked" not in server.output()
    server.close()


def test_the_sdk_says_what_is_wrong(verifying, connect, issuer):
    with pytest.raises(HttpResponseError) as refused:
        list(connect(verifying, issuer.token(exp=NOW - 900)).list_containers())
    assert refused.value.status_code == 401


def test_a_token_for_the_source_of_a_copy(verifying, files, issuer, name):
    """Given beside the URL; without it, or with somebody else's, the source stays closed."""
    client = wire(verifying, files)
    client.create_container(name)
    client.put(f"/{name}/source", b"by token").expect(201)
    source = f"{verifying.url}/devstoreaccount1/{name}/source"
    good = {"x-ms-copy-source-authorization": f"Bearer {issuer.token()}"}
    bad = {"x-ms-copy-source-authorization": f"Bearer {issuer.token(aud='https://other.example')}"}
    for how in ({"x-ms-requires-sync": "true"}, {"x-ms-blob-type": "BlockBlob"}):
        for headers, want in ((good, (201, 202)), (bad, (401, 403)), ({}, (401, 403))):
            headers = {"x-ms-copy-source": source, **how, **headers}
            reply = client.send("PUT", f"/{name}/made", headers=headers)
            assert reply.status in want, reply
    assert client.get(f"/{name}/made").body == b"by token"
    # Who asks with a token may copy what is in the account.
    headers = {"x-ms-copy-source": source}
    ask(client, issuer.token(), f"/{name}/other", "", "PUT", headers=headers).expect(202)
    assert client.get(f"/{name}/other").body == b"by token"
