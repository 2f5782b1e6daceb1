"""Blob Batch: through the SDK, and part by part on the wire."""

from __future__ import annotations

import re

import pytest
from azure.storage.blob import (
    BlobServiceClient,
    ContainerSasPermissions,
    PartialBatchErrorException,
    generate_container_sas,
)

from harness import DEV_ACCOUNT, DEV_KEY


def fill(box, count: int) -> list[str]:
    names = [f"b {i}/ü" if i == 0 else f"b{i}" for i in range(count)]
    for name in names:
        box.upload_blob(name, b"x")
    return names


def test_delete_many(box):
    names = fill(box, 5)
    parts = list(box.delete_blobs(*names))
    assert [part.status_code for part in parts] == [202] * 5
    assert list(box.list_blob_names()) == []


def test_one_failure_leaves_the_others(box):
    names = fill(box, 2)
    with pytest.raises(PartialBatchErrorException) as error:
        box.delete_blobs(names[0], "none", names[1])
    assert [part.status_code for part in error.value.parts] == [202, 404, 202]
    assert error.value.parts[1].headers["x-ms-error-code"] == "BlobNotFound"
    assert "<Code>BlobNotFound</Code>" in error.value.parts[1].text()
    assert list(box.list_blob_names()) == []


def test_failures_need_not_raise(box):
    parts = list(box.delete_blobs("a", "b", raise_on_any_failure=False))
    assert [part.status_code for part in parts] == [404, 404]


def test_conditions_and_leases_count_for_each_part(box):
    fill(box, 2)
    box.get_blob_client("b1").acquire_lease()
    parts = list(box.delete_blobs("b 0/ü", "b1", raise_on_any_failure=False))
    assert [part.status_code for part in parts] == [202, 412]
    assert parts[1].headers["x-ms-error-code"] == "LeaseIdMissing"


def test_by_sas(server, box):
    names = fill(box, 2)
    for permission, status in (("r", 403), ("d", 202)):
        token = generate_container_sas(
            DEV_ACCOUNT,
            box.container_name,
            account_key=DEV_KEY,
            permission=ContainerSasPermissions.from_string(permission),
            expiry="2099-01-01",
        )
        url = f"{server.url}/{DEV_ACCOUNT}"
        other = BlobServiceClient(url, credential=token).get_container_client(box.container_name)
        parts = list(other.delete_blobs(*names, raise_on_any_failure=False))
        assert [part.status_code for part in parts] == [status] * 2


def test_256_parts_and_not_one_more(box):
    names = [f"n{i}" for i in range(256)]
    parts = list(box.delete_blobs(*names, raise_on_any_failure=False))
    assert len(parts) == 256
    assert {part.status_code for part in parts} == {404}


# -- on the wire ------------------------------------------------------------------------------


def part(line: str, headers: dict[str, str] | None = None, content_id: int = 0) -> str:
    lines = [f"{name}: {value}" for name, value in (headers or {}).items()]
    return (
        "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
        f"Content-ID: {content_id}\r\n\r\n" + "\r\n".join([line, *lines]) + "\r\n\r\n"
    )


def signed(client, method: str, path: str, query: str = "", **kw) -> str:
    """A part as a request of its own, signed; the version is that of the batch."""
    target = client.prefix + path
    headers = client.signed_headers(method, target, query, {"x-ms-version": None}, **kw)
    mark = "?" if query else ""
    return part(f"{method} {target}{mark}{query} HTTP/1.1", headers)


def send(client, body: str, path: str = "/", query: str = "comp=batch", **kw):
    headers = {"Content-Type": "multipart/mixed; boundary=b"}
    return client.send("POST", path, query, headers, body.encode(), **kw)


def statuses(reply) -> list[tuple[int, str]]:
    text = reply.body.decode("utf-8")
    found = re.findall(r"\r\n\r\nHTTP/1\.1 (\d+) [^\r]*\r\n((?:[^\r]+\r\n)*)", text)
    codes = [re.search(r"x-ms-error-code: (\w+)", head) for _, head in found]
    return [(int(s), code[1] if code else "") for (s, _), code in zip(found, codes, strict=True)]


def test_shape_of_the_answer(client, container):
    client.send("PUT", f"/{container}/a", "", {"x-ms-blob-type": "BlockBlob"}, b"x").expect(201)
    body = signed(client, "DELETE", f"/{container}/a") + signed(client, "DELETE", f"/{container}/b")
    reply = send(client, body + "--b--").expect(202)
    kind, boundary = reply.headers["content-type"].split("; boundary=")
    assert kind == "multipart/mixed"
    assert boundary.startswith("batchresponse_")
    text = reply.body.decode()
    assert text.startswith(f"--{boundary}\r\nContent-Type: application/http\r\nContent-ID: 0\r\n\r\n")
    assert text.endswith(f"\r\n--{boundary}--")
    assert "HTTP/1.1 202 Accepted\r\nx-ms-delete-type-permanent: true\r\n" in text
    assert "HTTP/1.1 404 The specified blob does not exist.\r\nx-ms-error-code: BlobNotFound" in text
    assert len(set(re.findall("x-ms-request-id: (.*)\r", text))) == 2


def test_each_part_is_authorised_on_its_own(client, container):
    for name in ("a", "b", "c"):
        client.send("PUT", f"/{container}/{name}", "", {"x-ms-blob-type": "BlockBlob"}, b"x")
    good = signed(client, "DELETE", f"/{container}/a")
    # Signed for another blob, and not signed at all.
    stolen = good.replace(f"/{container}/a ", f"/{container}/b ")
    bare = part(f"DELETE {client.prefix}/{container}/c HTTP/1.1")
    reply = send(client, good + stolen + bare + "--b--").expect(202)
    assert statuses(reply) == [
        (202, ""),
        (403, "AuthenticationFailed"),
        (401, "NoAuthenticationInformation"),
    ]
    for name, status in (("a", 404), ("b", 200), ("c", 200)):
        client.get(f"/{container}/{name}").expect(status)


def test_the_outer_request_needs_a_credential(client, container):
    body = signed(client, "DELETE", f"/{container}/a") + "--b--"
    send(client, body, auth="none").expect((401, 403))


REFUSED = [
    ("nothing", "", "InvalidInput"),
    ("no parts", "--b--", "InvalidInput"),
    ("text", "hello", "InvalidInput"),
    ("cut off", "PART", "InvalidInput"),
    ("no request line", "--b\r\nContent-Type: application/http\r\n\r\n\r\n--b--", "InvalidInput"),
    ("no content type", "--b\r\n\r\nDELETE /x HTTP/1.1\r\n\r\n--b--", "InvalidInput"),
    ("a body inside", "PARThello\r\n--b--", "InvalidInput"),
    ("another operation", "GET--b--", "InvalidInput"),
    ("a batch inside", "NESTED--b--", "InvalidInput"),
    ("two kinds", "PARTTIER--b--", "InvalidInput"),
    ("another account", "FOREIGN--b--", "InvalidInput"),
    ("257 parts", "MANY--b--", "InvalidInput"),
]


@pytest.mark.parametrize(("what", "body", "code"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused_whole(client, container, what, body, code):
    path = f"/{container}/a"
    client.send("PUT", path, "", {"x-ms-blob-type": "BlockBlob"}, b"x").expect(201)
    words = {
        "MANY": signed(client, "DELETE", path) * 257,
        "PART": signed(client, "DELETE", path),
        "GET": signed(client, "GET", path),
        "NESTED": signed(client, "POST", "/", "comp=batch"),
        "TIER": signed(client, "PUT", path, "comp=tier"),
        "FOREIGN": part(f"DELETE /otheraccount{path} HTTP/1.1"),
    }
    for word, text in words.items():
        body = body.replace(word, text)
    send(client, body).expect(400, code)
    client.get(path).expect(200)


def test_container_scope_stays_inside(client, container, name):
    other = f"{name}x"
    client.create_container(other)
    query = "restype=container&comp=batch"
    inside = signed(client, "DELETE", f"/{container}/a")
    outside = signed(client, "DELETE", f"/{other}/a")
    assert statuses(send(client, inside + "--b--", f"/{container}", query).expect(202)) == [
        (404, "BlobNotFound")
    ]
    send(client, inside + outside + "--b--", f"/{container}", query).expect(400, "InvalidInput")


def test_too_large(client):
    send(client, "x" * (4 * 1024 * 1024 + 1)).expect(413, "RequestBodyTooLarge")


@pytest.mark.parametrize(
    ("content_type", "code"),
    [(None, "MissingRequiredHeader"), ("text/plain", "InvalidHeaderValue"),
     ("multipart/mixed", "InvalidHeaderValue"), ("multipart/mixed; boundary=", "InvalidHeaderValue")],
)  # fmt: skip
def test_content_types(client, content_type, code):
    headers = {"Content-Type": content_type} if content_type else {}
    client.send("POST", "/", "comp=batch", headers, b"--b--").expect(400, code)
