"""HTTP as the service speaks it: ids, versions, errors, framing, addressing, streaming."""

from __future__ import annotations

import re
import socket
import time

import pytest

from harness import DEV_ACCOUNT, Client, raw_exchange
from harness.wire import parse_responses

GUID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
STALL_SECONDS = 45.0
RFC1123 = re.compile(r"^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$")
TIME = re.compile(r"Time:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z")


def request(
    client: Client, method: str, path: str, headers=None, *, length=None, query=""
) -> bytes:
    """A signed request's head as bytes."""
    target = client.prefix + path
    sent = client.signed_headers(method, target, query, headers or {}, length=length)
    url = target + (f"?{query}" if query else "")
    lines = [f"{method} {url} HTTP/1.1", f"Host: {client.host}:{client.port}"]
    lines += [f"{n}: {v}" for n, v in sent.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_headers_of_every_answer(client, container):
    for answer in (
        client.put(f"/{container}/b", b"x"),
        client.get(f"/{container}/b"),
        client.head(f"/{container}/b"),
        client.get(f"/{container}", query="restype=container&comp=list"),
        client.get(f"/{container}/nothere"),
        client.head(f"/{container}/nothere"),
        client.delete(f"/{container}/b"),
    ):
        assert GUID.match(answer.headers["x-ms-request-id"]), answer.headers
        assert RFC1123.match(answer.headers["date"])
        assert answer.headers["x-ms-version"] == client.version
        assert answer.headers["server"]


def test_request_ids_differ(client):
    ids = {client.get("/", query="comp=list").headers["x-ms-request-id"] for _ in range(50)}
    assert len(ids) == 50


@pytest.mark.parametrize("text", ["abc", "a-b/c:d~!{}", "x" * 1024])
def test_client_request_id_comes_back(client, container, text):
    given = {"x-ms-client-request-id": text}
    assert client.get(f"/{container}/none", given).headers["x-ms-client-request-id"] == text
    assert client.put(f"/{container}/b", b"", given).headers["x-ms-client-request-id"] == text
    assert "x-ms-client-request-id" not in client.get(f"/{container}/b").headers


@pytest.mark.parametrize("version", ["2025-05-05", "2026-10-06", "2031-12-31", "2099-01-01"])
def test_newer_versions_are_accepted(server, container, version):
    newer = Client(server.url, version=version)
    newer.put(f"/{container}/b", b"x").expect(201)
    newer.get(f"/{container}/b").expect(200)


def test_error_document(client, container):
    answer = client.get(f"/{container}/none").expect(404, "BlobNotFound")
    assert answer.headers["content-type"] == "application/xml"
    text = answer.body.decode("utf-8-sig")
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?><Error><Code>BlobNotFound</Code>')
    message = answer.xml().findtext("Message")
    assert message.startswith("The specified blob does not exist.\n")
    assert f"RequestId:{answer.headers['x-ms-request-id']}" in message
    assert TIME.search(message)
    assert answer.reason == "The specified blob does not exist."
    head = client.head(f"/{container}/none").expect(404, "BlobNotFound")
    assert head.body == b""


def test_extra_elements_of_errors(client, container):
    path = f"/{container}/b"
    client.put(path, b"x")
    bad = client.send("PUT", path, "comp=lease",
                      {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "5"})  # fmt: skip
    root = bad.expect(400, "InvalidHeaderValue").xml()
    assert root.findtext("HeaderName") == "x-ms-lease-duration"
    assert root.findtext("HeaderValue") == "5"
    bad = client.send("PUT", path, "", {}, b"x").expect(400, "MissingRequiredHeader")
    assert bad.xml().findtext("HeaderName") == "x-ms-blob-type"
    bad = client.get(path, query="comp=nonsense").expect(400, "InvalidQueryParameterValue")
    assert bad.xml().findtext("QueryParameterName") == "comp"
    assert bad.xml().findtext("QueryParameterValue") == "nonsense"
    assert bad.xml().find("Reason") is not None
    bad = client.put(path, b"x", {"Content-MD5": "1B2M2Y8AsgTpgAmY7PhCfg=="})
    root = bad.expect(400, "Md5Mismatch").xml()
    assert root.findtext("UserSpecifiedMd5") == "1B2M2Y8AsgTpgAmY7PhCfg=="
    assert root.findtext("ServerCalculatedMd5") == "nd1G6j+j7ygnGYnP/Pt3RQ==" or root.findtext(
        "ServerCalculatedMd5"
    )
    bad = client.put(path, b"x", {"x-ms-content-crc64": "vo7q9sPVKY0="})
    root = bad.expect(400, "Crc64Mismatch").xml()
    assert root.findtext("UserSpecifiedCrc") == "vo7q9sPVKY0="
    assert root.findtext("ServerCalculatedCrc")
    wrong = Client(f"http://{client.host}:{client.port}", key="d3Jvbmc=")
    bad = wrong.get(path).expect(403, "AuthenticationFailed")
    assert bad.xml().findtext("AuthenticationErrorDetail")


def test_not_modified_has_no_body(client, container):
    etag = client.put(f"/{container}/b", b"x").etag
    answer = client.get(f"/{container}/b", {"If-None-Match": etag}).expect(304, "ConditionNotMet")
    assert answer.body == b""


def test_unauthenticated_challenge(client, container):
    answer = client.get(f"/{container}/b", auth="none").expect(401, "NoAuthenticationInformation")
    assert answer.headers["www-authenticate"].startswith("Bearer ")


def test_success_headers_of_put_blob_and_get(client, container):
    path = f"/{container}/b"
    put = client.put(path, b"hello world").expect(201)
    assert put.headers["content-md5"] == "XrY7u+Ae7tCTyyK7j1rNww=="
    assert put.headers["x-ms-content-crc64"] == "vo7q9sPVKY0="
    assert put.headers["x-ms-request-server-encrypted"] == "true"
    assert put.headers["content-length"] == "0"
    got = client.get(path).expect(200)
    assert got.headers["accept-ranges"] == "bytes"
    assert got.headers["content-length"] == "11"
    assert got.headers["content-md5"] == "XrY7u+Ae7tCTyyK7j1rNww=="
    assert got.headers["x-ms-blob-type"] == "BlockBlob"
    assert got.headers["x-ms-lease-status"] == "unlocked"
    assert got.headers["x-ms-lease-state"] == "available"
    assert got.headers["x-ms-server-encrypted"] == "true"
    assert RFC1123.match(got.headers["x-ms-creation-time"])
    assert RFC1123.match(got.headers["last-modified"])
    assert "x-ms-access-tier" not in got.headers, "tiers are on HEAD only"
    head = client.head(path).expect(200)
    assert head.headers["x-ms-access-tier"] == "Hot"
    assert head.headers["x-ms-access-tier-inferred"] == "true"
    assert head.headers["content-length"] == "11"
    part = client.get(path, {"x-ms-range": "bytes=0-4"}).expect(206)
    assert part.headers["x-ms-blob-content-md5"] == "XrY7u+Ae7tCTyyK7j1rNww=="
    assert "content-md5" not in part.headers
    part = client.get(path, {"x-ms-range": "bytes=0-4", "x-ms-range-get-content-md5": "true"})
    assert part.headers["content-md5"] == "XUFAKrxLKna5cZ2REBfFkg=="
    deleted = client.delete(path).expect(202)
    assert deleted.headers["x-ms-delete-type-permanent"] == "true"


def test_x_ms_range_beats_range(client, container):
    client.put(f"/{container}/b", b"0123456789")
    got = client.get(f"/{container}/b", {"Range": "bytes=0-1", "x-ms-range": "bytes=5-6"})
    assert got.expect(206).body == b"56"


def test_put_block_answers_one_checksum(client, container):
    path = f"/{container}/b"
    plain = client.put_block(path, "MDAwMQ==", b"hello world").expect(201)
    assert plain.headers["x-ms-content-crc64"] == "vo7q9sPVKY0="
    assert "content-md5" not in plain.headers
    md5 = "XrY7u+Ae7tCTyyK7j1rNww=="
    checked = client.put_block(path, "MDAwMQ==", b"hello world", {"Content-MD5": md5}).expect(201)
    assert checked.headers["content-md5"] == md5
    assert "x-ms-content-crc64" not in checked.headers
    assert plain.headers["x-ms-request-server-encrypted"] == "true"


def test_plain_headers_become_properties(client, container):
    given = {
        "Content-Type": "text/a", "Content-Encoding": "identity", "Content-Language": "fr",
        "Cache-Control": "no-cache", "x-ms-blob-content-disposition": "inline",
    }  # fmt: skip
    client.put(f"/{container}/b", b"x", given).expect(201)
    head = client.head(f"/{container}/b").headers
    assert head["content-type"] == "text/a"
    assert head["content-encoding"] == "identity"
    assert head["content-language"] == "fr"
    assert head["cache-control"] == "no-cache"
    assert head["content-disposition"] == "inline"
    both = {"Content-Type": "text/a", "x-ms-blob-content-type": "text/b"}
    client.put(f"/{container}/b", b"x", both).expect(201)
    assert client.head(f"/{container}/b").headers["content-type"] == "text/b"
    client.put(f"/{container}/b", b"x").expect(201)
    assert client.head(f"/{container}/b").headers["content-type"] == "application/octet-stream"


def test_metadata_keeps_its_case(server, client, container):
    """Clients that do not fold header names see metadata as it was written."""
    client.put(f"/{container}/b", b"x", {"x-ms-meta-CamelCase": "V"}).expect(201)
    listed = client.get(f"/{container}", query="restype=container&comp=list&include=metadata")
    assert b"<CamelCase>V</CamelCase>" in listed.body
    with socket.create_connection((server.host, server.port), timeout=10) as sock:
        sock.sendall(request(client, "GET", f"/{container}/b"))
        assert b"x-ms-meta-CamelCase: V" in sock.recv(8192)


def test_expect_continue(server, client, container):
    """The body is asked for when the head is good, and not when it is refused."""
    head = request(client, "PUT", f"/{container}/b",
                   {"x-ms-blob-type": "BlockBlob", "Expect": "100-continue"}, length=5)  # fmt: skip
    with socket.create_connection((server.host, server.port), timeout=10) as sock:
        sock.sendall(head)
        assert sock.recv(4096).startswith(b"HTTP/1.1 100")
        sock.sendall(b"12345")
        assert b" 201 " in sock.recv(4096).split(b"\r\n")[0]
    wrong = Client(f"http://{client.host}:{client.port}", key="d3Jvbmc=")
    head = request(wrong, "PUT", f"/{container}/b",
                   {"x-ms-blob-type": "BlockBlob", "Expect": "100-continue"}, length=5)  # fmt: skip
    with socket.create_connection((server.host, server.port), timeout=10) as sock:
        sock.sendall(head)
        assert b" 403 " in sock.recv(4096).split(b"\r\n")[0]


def test_chunked_upload(server, client, container):
    """A body without a length arrives whole."""
    head = request(client, "PUT", f"/{container}/b",
                   {"x-ms-blob-type": "BlockBlob", "Transfer-Encoding": "chunked"})  # fmt: skip
    body = b"5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\n\r\n"
    replies, _ = raw_exchange(server.host, server.port, head + body)
    assert replies[0].status == 201, replies
    assert client.get(f"/{container}/b").body == b"hello world"


def test_body_in_tiny_pieces(server, client, container):
    head = request(client, "PUT", f"/{container}/b", {"x-ms-blob-type": "BlockBlob"}, length=50)
    with socket.create_connection((server.host, server.port), timeout=10) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in head + b"y" * 50:
            sock.sendall(bytes([byte]))
        assert b" 201 " in sock.recv(4096).split(b"\r\n")[0]
    assert client.get(f"/{container}/b").body == b"y" * 50


def test_keep_alive_and_pipelining(server, client, container):
    client.put(f"/{container}/b", b"x")
    one = request(client, "GET", f"/{container}/b")
    replies, closed = raw_exchange(server.host, server.port, one * 20, linger=0.5)
    assert [r.status for r in replies] == [200] * 20
    assert not closed


def test_connection_close_is_honoured(server, client, container):
    client.put(f"/{container}/b", b"x")
    one = request(client, "GET", f"/{container}/b", {"Connection": "close"})
    replies, closed = raw_exchange(server.host, server.port, one, linger=2)
    assert [r.status for r in replies] == [200]
    assert closed


def test_http_1_0(server, client, container):
    client.put(f"/{container}/b", b"x")
    one = request(client, "GET", f"/{container}/b").replace(b"HTTP/1.1", b"HTTP/1.0", 1)
    replies, closed = raw_exchange(server.host, server.port, one, linger=2)
    assert [r.status for r in replies] == [200]
    assert closed


def test_unread_error_body_does_not_stick(server, client, container):
    """A refused upload leaves a connection that works or is closed, never one in between."""
    head = request(client, "PUT", "/nothere/b", {"x-ms-blob-type": "BlockBlob"}, length=1_000_000)
    good = request(client, "GET", f"/{container}", query="restype=container")
    replies, closed = raw_exchange(server.host, server.port, head + b"z" * 1_000_000 + good)
    assert replies[0].status == 404
    assert closed or [r.status for r in replies] == [404, 200]


@pytest.mark.parametrize("label", [DEV_ACCOUNT])
def test_host_style(server, client, container, label):
    host = Client(server.url, host_header=f"{label}.blob.localhost:{server.port}")
    host.put(f"/{container}/hosted", b"x").expect(201)
    assert host.get(f"/{container}/hosted").expect(200).body == b"x"
    assert client.get(f"/{container}/hosted").expect(200).body == b"x"
    host.get("/", query="comp=list").expect(200)


def test_secondary_is_read_only(server, client, container):
    client.put(f"/{container}/b", b"x")
    second = Client(server.url)
    second.prefix = f"/{DEV_ACCOUNT}-secondary"
    assert second.get(f"/{container}/b").expect(200).body == b"x"
    second.get(f"/{container}", query="restype=container&comp=list").expect(200)
    second.put(f"/{container}/b", b"y").expect(403)
    second.delete(f"/{container}/b").expect(403)
    second.send("PUT", f"/{container}x", "restype=container").expect(403)
    assert client.get(f"/{container}/b").body == b"x"


def test_root_container(client):
    client.send("PUT", "/$root", "restype=container").expect((201, 409))
    client.put("/in-root.txt", b"x").expect(201)
    assert client.get("/$root/in-root.txt").expect(200).body == b"x"
    assert client.get("/in-root.txt").expect(200).body == b"x"
    client.delete("/in-root.txt").expect(202)


def test_plus_and_percent_in_paths(client, container):
    client.put(f"/{container}/a+b%20c%2Fd", b"x").expect(201)
    root = client.get(f"/{container}", query="restype=container&comp=list").xml()
    assert [b.findtext("Name") for b in root.iter("Blob")] == ["a+b c/d"]


def test_shared_key_sorts_headers_either_way(client, container):
    """The service ignores hyphens when it sorts names; clients that sort bytes are good too."""
    from harness.signing import canonical_resource, http_date, mac

    path = f"{client.prefix}/{container}/b"
    values = {"x-ms-blob-type": "BlockBlob", "x-ms-date": http_date(), "x-ms-meta-Z": "1",
              "x-ms-foo-b": "2", "x-ms-fooa": "3", "x-ms-version": client.version}  # fmt: skip
    byte_order = sorted(values, key=str.lower)
    service_order = sorted(values, key=lambda n: (n.lower().replace("-", ""), n))
    assert byte_order != service_order
    for order in (byte_order, service_order):
        text = "PUT\n" + "\n" * 11 + "".join(f"{n.lower()}:{values[n]}\n" for n in order)
        text += canonical_resource(client.account, path, "")
        signed = {**values, "Authorization": f"SharedKey {client.account}:{mac(client.key, text)}"}
        client.send("PUT", f"/{container}/b", "", signed, auth="none").expect(201)


def test_account_information_anywhere(client, container):
    for path in ("/", f"/{container}", f"/{container}/nothere"):
        answer = client.get(path, query="restype=account&comp=properties").expect(200)
        assert answer.headers["x-ms-sku-name"]
        assert answer.headers["x-ms-account-kind"]


def test_timeout_parameter_is_clamped(client, container):
    """rclone asks for a year."""
    client.get(f"/{container}", query="restype=container&timeout=31536001").expect(200)


def test_slow_upload_that_makes_progress_is_not_cut(server, client, container):
    head = request(client, "PUT", f"/{container}/b", {"x-ms-blob-type": "BlockBlob"}, length=30)
    with socket.create_connection((server.host, server.port), timeout=20) as sock:
        sock.sendall(head)
        for _ in range(3):
            time.sleep(1)
            sock.sendall(b"s" * 10)
        data = sock.recv(4096)
    assert parse_responses(data)[0][0].status == 201


@pytest.mark.parametrize(
    "text",
    [
        "AAAAAAAA-BBBB-1111-2222-CCCCCCCCCCCC",
        "aaaaaaaabbbb11112222cccccccccccc",
        "{aaaaaaaa-bbbb-1111-2222-cccccccccccc}",
        "(aaaaaaaa-bbbb-1111-2222-cccccccccccc)",
        "{0xaaaaaaaa,0xbbbb,0x1111,{0x22,0x22,0xcc,0xcc,0xcc,0xcc,0xcc,0xcc}}",
    ],
    ids=["D", "N", "B", "P", "X"],
)
def test_lease_ids_in_every_form_of_a_guid(client, container, text):
    path, plain = f"/{container}/b", "aaaaaaaa-bbbb-1111-2222-cccccccccccc"
    client.put(path, b"x")
    answer = client.lease(path, "acquire", duration=15, proposed=text).expect(201)
    assert answer.headers["x-ms-lease-id"] == plain
    client.put(path, b"y", {"x-ms-lease-id": text}).expect(201)
    client.put(path, b"z", {"x-ms-lease-id": plain}).expect(201)


def test_etags_with_and_without_quotes(client, container):
    path = f"/{container}/b"
    etag = client.put(path, b"x").etag
    bare = etag.strip('"')
    client.get(path, {"If-Match": bare}).expect(200)
    client.get(path, {"If-None-Match": bare}).expect(304)
    client.put(path, b"y", {"If-Match": bare}).expect(201)
    client.put(path, b"y", {"If-Match": bare}).expect(412, "ConditionNotMet")


def test_delete_of_a_blob_that_is_only_staged(client, container):
    path = f"/{container}/b"
    client.put_block(path, "MDAwMQ==", b"x").expect(201)
    client.delete(path).expect(202)
    client.get(path, query="comp=blocklist&blocklisttype=all").expect(404, "BlobNotFound")


def test_include_as_list_and_repeated(client, container):
    client.put(f"/{container}/b", b"x", {"x-ms-meta-k": "v"})
    client.put_block(f"/{container}/staged", "MDAwMQ==", b"x")
    base = "restype=container&comp=list"
    for query in (f"{base}&include=metadata,uncommittedblobs",
                  f"{base}&include=metadata&include=uncommittedblobs"):  # fmt: skip
        root = client.get(f"/{container}", query=query).expect(200).xml()
        assert [b.findtext("Name") for b in root.iter("Blob")] == ["b", "staged"]
        assert root.findtext("Blobs/Blob/Metadata/k") == "v"


def test_set_properties_alone_clears_them(client, container):
    path = f"/{container}/b"
    client.put(path, b"x", {"x-ms-blob-cache-control": "no-cache"}).expect(201)
    client.send("PUT", path, "comp=properties").expect(200)
    head = client.head(path).headers
    assert "cache-control" not in head
    assert "content-md5" not in head


def test_body_checksum_is_judged_before_existence(client, container):
    """A wrong MD5 is reported even when If-None-Match: * would fail too."""
    path = f"/{container}/b"
    wrong = {"Content-MD5": "1B2M2Y8AsgTpgAmY7PhCfg==", "If-None-Match": "*"}
    client.put(path, b"x", wrong).expect(400, "Md5Mismatch")
    client.put(path, b"x").expect(201)
    client.put(path, b"x", wrong).expect(400, "Md5Mismatch")


def test_clients_that_stall_are_let_go(server, client, container):
    """Half a head, half a body, and nothing more: closed in good time, unlike a working one."""
    body = request(client, "PUT", f"/{container}/b", {"x-ms-blob-type": "BlockBlob"}, length=99)
    stalled = {"head": body[:60], "body": body + b"x" * 9, "first byte": b""}
    held = {name: socket.create_connection((server.host, server.port)) for name in stalled}
    began = time.monotonic()
    for name, data in stalled.items():
        held[name].sendall(data)
    for name, sock in held.items():
        sock.settimeout(max(1.0, STALL_SECONDS - (time.monotonic() - began)))
        try:
            while sock.recv(4096):
                pass
        except ConnectionResetError:
            pass
        except TimeoutError:
            raise AssertionError(f"the stalled {name} is still held") from None
        sock.close()
    client.head(f"/{container}/b").expect(404)


def test_idle_connection_outlives_a_pause_between_requests(server, client, container):
    one = request(client, "GET", f"/{container}", query="restype=container")
    with socket.create_connection((server.host, server.port), timeout=10) as sock:
        for _ in range(2):
            sock.sendall(one)
            assert sock.recv(65536).startswith(b"HTTP/1.1 200")
            time.sleep(2)


def test_list_containers_document(client, container):
    root = client.get("/", query={"comp": "list", "prefix": container, "maxresults": "3"}).xml()
    assert root.tag == "EnumerationResults"
    assert root.get("ServiceEndpoint").endswith("/")
    assert [e.tag for e in root] == ["Prefix", "MaxResults", "Containers", "NextMarker"]
    (entry,) = root.find("Containers")
    tags = [e.tag for e in entry.find("Properties")]
    wanted = [
        "Last-Modified", "Etag", "LeaseStatus", "LeaseState", "DefaultEncryptionScope",
        "DenyEncryptionScopeOverride", "HasImmutabilityPolicy", "HasLegalHold",
        "ImmutableStorageWithVersioningEnabled",
    ]  # fmt: skip
    assert tags == wanted
    assert re.match(r'^"0x[0-9A-F]{15}"$', entry.findtext("Properties/Etag"))


def test_list_blobs_document(client, container):
    client.put(f"/{container}/b", b"hello world", {"x-ms-meta-k": "v"})
    query = "restype=container&comp=list&include=metadata"
    root = client.get(f"/{container}", query=query).xml()
    (entry,) = root.find("Blobs")
    assert [e.tag for e in entry] == ["Name", "Properties", "Metadata", "OrMetadata"]
    wanted = [
        "Creation-Time", "Last-Modified", "Etag", "Content-Length", "Content-Type",
        "Content-Encoding", "Content-Language", "Content-CRC64", "Content-MD5", "Cache-Control",
        "Content-Disposition", "BlobType", "AccessTier", "AccessTierInferred", "LeaseStatus",
        "LeaseState", "ServerEncrypted",
    ]  # fmt: skip
    assert [e.tag for e in entry.find("Properties")] == wanted
    assert re.match(r"^0x[0-9A-F]{15}$", entry.findtext("Properties/Etag"))


def test_names_that_need_escaping_in_xml(client, container):
    client.put(f"/{container}/%3Ca%26%22b%27%3E", b"x").expect(201)
    root = client.get(f"/{container}", query="restype=container&comp=list").xml()
    assert [b.findtext("Name") for b in root.iter("Blob")] == ["<a&\"b'>"]
