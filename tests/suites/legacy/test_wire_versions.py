"""Raw clients of older API versions: their signing rules and what they were promised.

One request set per version, signed by that version's own rules.
"""

from __future__ import annotations

import base64
import re

import pytest

from harness import Client, account_sas, service_sas

OLD = ["2014-02-14", "2015-04-05", "2016-05-31", "2018-03-28"]
ID = base64.b64encode(b"0001").decode()
A = "aaaaaaaa-1111-1111-1111-111111111111"


@pytest.fixture(params=["2011-08-18", "2012-02-12", "2013-08-15", *OLD, "2019-12-12"])
def old(request, server) -> Client:
    return Client(server.url, version=request.param)


@pytest.fixture
def box(old, name) -> str:
    old.create_container(name)
    return name


def test_round_trip_in_that_version(old, box):
    answer = old.put(f"/{box}/a%20b", b"data").expect(201)
    assert answer.headers["x-ms-version"] == old.version
    got = old.get(f"/{box}/a%20b").expect(200)
    assert got.body == b"data"
    assert re.match(r'^"0x[0-9A-F]{15}"$', got.etag), "quoted since 2011-08-18"
    old.send("PUT", f"/{box}/a%20b", "comp=metadata", {"x-ms-meta-k": "v"}).expect(200)
    assert old.head(f"/{box}/a%20b").headers["x-ms-meta-k"] == "v"
    old.put_block(f"/{box}/blocks", ID, b"12").expect(201)
    old.put_block_list(f"/{box}/blocks", [ID]).expect(201)
    assert old.get(f"/{box}/blocks").body == b"12"
    old.delete(f"/{box}/a%20b").expect(202)
    listed = old.get(f"/{box}", query="restype=container&comp=list").expect(200).xml()
    assert [b.findtext("Name") for b in listed.iter("Blob")] == ["blocks"]
    old.send("DELETE", f"/{box}", "restype=container").expect(202)


def test_zero_length_line_of_the_signature(server, name):
    """Up to 2014-02-14 an empty body signs `0`, afterwards nothing; the other form is refused."""
    for version in OLD:
        client = Client(server.url, version=version)
        client.send("PUT", f"/{name}-{version}", "restype=container").expect(201)
        wrong = Client(server.url, version=version)
        literal = version <= "2014-02-14"

        def crossed(method, path, query, headers, account, key, literal=literal):
            from harness.signing import STANDARD_LINES, canonical_headers, canonical_resource, mac

            lower = {n.lower(): v for n, v in headers.items()}
            lines = [method]
            for each in STANDARD_LINES:
                value = lower.get(each, "")
                if each == "content-length":
                    value = "" if literal else "0"
                lines.append(value)
            text = "\n".join(lines) + "\n" + canonical_headers(headers, lower["x-ms-version"])
            text += canonical_resource(account, path, query)
            return f"SharedKey {account}:{mac(key, text)}"

        query = "restype=container&comp=metadata"
        path = f"/{name}-{version}"
        headers = wrong.signed_headers("PUT", wrong.prefix + path, query, {}, length=0)
        del headers["Authorization"]
        headers["Authorization"] = crossed(
            "PUT", wrong.prefix + path, query, headers, wrong.account, wrong.key
        )
        wrong.send("PUT", path, query, headers, auth="none").expect(403, "AuthenticationFailed")


@pytest.mark.parametrize("version", OLD)
def test_shared_key_lite(server, name, version):
    client = Client(server.url, version=version)
    client.send("PUT", f"/{name}", "restype=container", auth="lite").expect(201)
    client.put(f"/{name}/b", b"x", auth="lite").expect(201)
    assert client.get(f"/{name}/b", auth="lite").expect(200).body == b"x"
    client.get(f"/{name}", query="restype=container&comp=list", auth="lite").expect(200)


@pytest.mark.parametrize("version", OLD)
def test_date_header_instead_of_x_ms_date(server, name, version):
    from harness.signing import http_date

    client = Client(server.url, version=version)
    given = {"Date": http_date(), "x-ms-date": None}
    client.send("PUT", f"/{name}", "restype=container", given).expect(201)
    client.send("PUT", f"/{name}", "restype=container&comp=metadata", given).expect(200)


@pytest.mark.parametrize("version", OLD)
def test_empty_header_in_the_signature(server, name, version):
    """An empty x-ms- header is signed from 2016-05-31 on and left out before."""
    client = Client(server.url, version=version)
    client.create_container(name)
    client.put(f"/{name}/b", b"x", {"x-ms-client-request-id": ""}).expect(201)


@pytest.mark.parametrize(
    ("version", "layout"),
    [(v, v) for v in ("2012-02-12", "2013-08-15", "2014-02-14", "2015-04-05", "2018-03-28",
                      "2018-11-09", "2020-02-10", "2020-12-06", "2025-05-05")],
)  # fmt: skip
def test_service_sas_layouts(client, container, version, layout):
    client.put(f"/{container}/b", b"x").expect(201)
    for token in (
        service_sas(container, "b", permissions="r", version=layout),
        service_sas(container, permissions="rl", version=layout),
    ):
        got = client.get(
            f"/{container}/b",
            query=token,
            auth="none",
            headers={"x-ms-version": None, "x-ms-date": None},
        )
        assert got.expect(200).body == b"x"
    denied = client.send(
        "DELETE", f"/{container}/b", service_sas(container, "b", permissions="r", version=layout),
        {"x-ms-version": None}, auth="none",
    )  # fmt: skip
    if layout < "2015-04-05":
        assert denied.status == 404, denied
    else:
        denied.expect(403, "AuthorizationPermissionMismatch")


def test_sas_before_2012(client, container):
    """The first layout has no sv parameter at all."""
    from urllib.parse import quote

    from harness.signing import DEV_ACCOUNT, DEV_KEY, iso_time, mac

    client.put(f"/{container}/b", b"x").expect(201)
    expiry = iso_time(600)
    text = "\n".join(["r", "", expiry, f"/{DEV_ACCOUNT}/{container}/b", ""])
    query = f"sr=b&sp=r&se={quote(expiry, safe='')}&sig={quote(mac(DEV_KEY, text), safe='')}"
    client.get(
        f"/{container}/b",
        query=query,
        auth="none",
        headers={"x-ms-version": None, "x-ms-date": None},
    ).expect(200)


@pytest.mark.parametrize("version", ["2015-04-05", "2018-03-28", "2020-08-04", "2020-12-06"])
def test_account_sas_layouts(client, container, version):
    client.put(f"/{container}/b", b"x").expect(201)
    token = account_sas("rl", version=version)
    bare = {"x-ms-version": None, "x-ms-date": None}
    client.get(f"/{container}/b", query=token, auth="none", headers=bare).expect(200)
    client.send("GET", "/", f"comp=list&{token}", bare, auth="none").expect(200)


def test_lease_life_in_2012(server, name):
    client = Client(server.url, version="2012-02-12")
    client.create_container(name)
    client.put(f"/{name}/b", b"x")
    got = client.lease(f"/{name}/b", "acquire", duration=15, proposed=A).expect(201)
    assert got.headers["x-ms-lease-id"] == A
    client.lease(f"/{name}/b", "renew", id=A).expect(200)
    client.lease(f"/{name}/b", "release", id=A).expect(200)


def test_list_shape_before_2013(server, name):
    """Before 2013-08-15 ContainerName is the full URL and each blob carries its Url."""
    client = Client(server.url, version="2012-02-12")
    client.create_container(name)
    client.put(f"/{name}/b", b"x")
    root = client.get(f"/{name}", query="restype=container&comp=list").expect(200).xml()
    assert root.get("ContainerName", "").endswith(f"/{name}")
    assert root.get("ContainerName", "").startswith("http")
    assert root.find("Blobs/Blob/Url").text.endswith(f"/{name}/b")
    newer = Client(server.url, version="2013-08-15")
    root = newer.get(f"/{name}", query="restype=container&comp=list").expect(200).xml()
    assert root.get("ContainerName") == name
    assert root.find("Blobs/Blob/Url") is None


def test_public_access_header_since_2016(server, name):
    client = Client(server.url, version="2018-03-28")
    client.send("PUT", f"/{name}", "restype=container", {"x-ms-blob-public-access": "blob"}).expect(
        201
    )
    for version, there in (("2015-04-05", False), ("2016-05-31", True)):
        got = Client(server.url, version=version).get(f"/{name}", query="restype=container")
        assert ("x-ms-blob-public-access" in got.expect(200).headers) == there, version


def test_block_size_limits_by_version(server, name):
    client = Client(server.url, version="2015-04-05")
    client.create_container(name)
    mib = 1024 * 1024
    client.put_block(f"/{name}/b", ID, b"x" * (4 * mib)).expect(201)
    client.put_block(f"/{name}/b", ID, b"x" * (4 * mib + 1)).expect(413, "RequestBodyTooLarge")
    client.put(f"/{name}/b", b"x" * (64 * mib + 1)).expect(413, "RequestBodyTooLarge")
    newer = Client(server.url, version="2016-05-31")
    newer.put_block(f"/{name}/b", ID, b"x" * (4 * mib + 1)).expect(201)


@pytest.mark.parametrize(("version", "status"), [("2018-03-28", 404), ("2019-12-12", 401)])
def test_no_credentials_by_version(server, container, version, status):
    client = Client(server.url, version=version)
    code = {404: "ResourceNotFound", 401: "NoAuthenticationInformation"}[status]
    client.get(f"/{container}/b", auth="none").expect(status, code)


@pytest.mark.parametrize("version", ["2012-02-12", "2013-08-15"])
def test_range_of_empty_blob_by_version(server, name, version):
    """From 2013-08-15 any range on an empty blob is unsatisfiable."""
    client = Client(server.url, version=version)
    client.create_container(name)
    client.put(f"/{name}/b", b"")
    got = client.get(f"/{name}/b", {"x-ms-range": "bytes=0-9"})
    if version >= "2013-08-15":
        got.expect(416, "InvalidRange")
    else:
        assert got.status in (200, 206, 416), "unspecified before"


def test_stored_md5_of_a_range_since_2016(server, name):
    """x-ms-blob-content-md5 accompanies a range from 2016-05-31 on."""
    for version, there in (("2015-04-05", False), ("2016-05-31", True)):
        client = Client(server.url, version=version)
        client.send("PUT", f"/{name}", "restype=container")
        client.put(f"/{name}/b", b"0123456789")
        got = client.get(f"/{name}/b", {"x-ms-range": "bytes=0-3"}).expect(206)
        assert got.body == b"0123"
        assert ("x-ms-blob-content-md5" in got.headers) == there, version
        assert "content-md5" not in got.headers


def test_write_conditions_before_2013_on_reads(server, name):
    """Before 2013-08-15 reads take one condition or a pair, as writes do."""
    client = Client(server.url, version="2012-02-12")
    client.create_container(name)
    etag = client.put(f"/{name}/b", b"x").etag
    both = {"If-Match": etag, "If-None-Match": '"0x8D0000000000001"'}
    client.get(f"/{name}/b", both).expect(400, "MultipleConditionHeadersNotSupported")
    newer = Client(server.url, version="2013-08-15")
    newer.get(f"/{name}/b", both).expect(200)
