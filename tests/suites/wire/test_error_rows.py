"""Rows of the error table that no other suite causes: each by the request that earns it."""

from __future__ import annotations

import pytest

from harness import DEV_ACCOUNT, account_sas, raw_exchange

TAGS = "<Tags><TagSet>{}</TagSet></Tags>"


@pytest.fixture
def at(client, container) -> str:
    client.put(f"/{container}/b", b"x" * 1000).expect(201)
    return f"/{container}/b"


def test_both_checksums_of_a_range(client, at):
    headers = {
        "x-ms-range": "bytes=0-9",
        "x-ms-range-get-content-md5": "true",
        "x-ms-range-get-content-crc64": "true",
    }
    client.get(at, headers=headers).expect(400, "BothCrc64AndMd5RangeHeaderPresent")


def test_page_blobs_before_there_were_any(client, container):
    headers = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512"}
    reply = client.send("PUT", f"/{container}/p", "", headers, auth="lite", version="2009-07-17")
    reply.expect(400, "InvalidVersionForPageBlobOperation")


def test_leases_that_are_not_there(client, at):
    client.lease(at, "break").expect(409, "LeaseNotPresentWithLeaseOperation")
    container = at.rsplit("/", 1)[0]
    client.lease(container, "break", container=True).expect(409, "LeaseNotPresentWithLeaseOperation")


def test_a_lease_broken_twice_in_2011(client, at):
    client.lease(at, "acquire", duration=-1).expect(201)
    headers = {"x-ms-lease-action": "break"}
    client.send("PUT", at, "comp=lease", headers).expect(202)
    again = client.send("PUT", at, "comp=lease", headers, version="2011-08-18")
    again.expect(409, "LeaseAlreadyBroken")


def test_a_condition_that_cannot_hold(client, at):
    client.get(at, headers={"If-None-Match": "*"}).expect(400, "UnsatisfiableCondition")


def test_metadata_without_a_name(client, at):
    client.send("PUT", at, "comp=metadata", {"x-ms-meta-": "1"}).expect(400, "EmptyMetadataKey")


def test_an_upload_without_a_length(client, container):
    target = f"/{DEV_ACCOUNT}/{container}/b"
    headers = client.signed_headers("PUT", target, "", {"x-ms-blob-type": "BlockBlob"}, length=None)
    lines = [f"PUT {target} HTTP/1.1", f"Host: {client.host}:{client.port}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    request = ("\r\n".join(lines) + "\r\n\r\n").encode()
    (reply,), _ = raw_exchange(client.host, client.port, request)
    reply.expect(411, "MissingContentLengthHeader")


def test_a_url_that_cannot_be_read(client, container):
    target = f"/{DEV_ACCOUNT}/{container}/%zz"
    request = f"GET {target} HTTP/1.1\r\nHost: {client.host}:{client.port}\r\nConnection: close\r\n\r\n"
    (reply,), _ = raw_exchange(client.host, client.port, request.encode())
    reply.expect(400, "RequestUrlFailedToParse")


def test_tags_named_twice(client, at):
    tag = "<Tag><Key>a</Key><Value>1</Value></Tag>"
    reply = client.send("PUT", at, "comp=tags", body=TAGS.format(tag * 2))
    reply.expect(400, "DuplicateTagNames")


@pytest.mark.parametrize(
    ("sas", "want"),
    [
        ({"protocol": "https"}, "AuthorizationProtocolMismatch"),
        ({"services": "q"}, "AuthorizationServiceMismatch"),
        ({"resource_types": "s"}, "AuthorizationResourceTypeMismatch"),
        ({"permissions": "w"}, "AuthorizationPermissionMismatch"),
        ({"ip": "10.1.2.3"}, "AuthorizationSourceIPMismatch"),
    ],
)
def test_tokens_for_something_else(client, at, sas, want):
    token = account_sas(**{"permissions": "r", **sas})
    client.send("GET", at, token, auth="none").expect(403, want)
