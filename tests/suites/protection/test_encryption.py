"""Customer-provided keys and encryption scopes: what is stored, what is shown, who may read."""

from __future__ import annotations

import base64
import hashlib
import random
from pathlib import Path

import pytest
from azure.storage.blob import (
    BlobServiceClient,
    ContainerEncryptionScope,
    CustomerProvidedEncryptionKey,
)

from harness import DEV_ACCOUNT, DEV_KEY, Client, Server, temp_dir
from harness.certificate import certificate

USES = (409, "BlobUsesCustomerSpecifiedEncryption")
PLAIN = (409, "BlobDoesNotUseCustomerSpecifiedEncryption")
MISMATCH = (409, "BlobCustomerSpecifiedEncryptionMismatch")
DIGEST = "x-ms-encryption-key-sha256"
SCOPE = "x-ms-encryption-scope"


def key(word: str, prefix: str = "x-ms-") -> dict[str, str]:
    """The three headers of a key."""
    raw = hashlib.sha256(word.encode()).digest()
    text = lambda data: base64.b64encode(data).decode()  # noqa: E731
    return {
        f"{prefix}encryption-key": text(raw),
        f"{prefix}encryption-key-sha256": text(hashlib.sha256(raw).digest()),
        f"{prefix}encryption-algorithm": "AES256",
    }


ONE, TWO = key("one"), key("two")
PAGES = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "4096"}


def page(client, path, offset, data, headers):
    where = {"x-ms-page-write": "update", "x-ms-range": f"bytes={offset}-{offset + len(data) - 1}"}
    return client.send("PUT", path, "comp=page", {**where, **headers}, data)


SIZES = [0, 1, 15, 16, 17, 8 * 1024, 8 * 1024 + 1, 1024 * 1024 - 1, 2 * 1024 * 1024 + 5]


@pytest.mark.parametrize("size", SIZES)
def test_any_size_comes_back(client, container, size):
    seeded = random.Random(size)
    data = seeded.randbytes(size)
    path = f"/{container}/b"
    made = client.put(path, data, ONE).expect(201)
    assert made.headers[DIGEST] == ONE[DIGEST]
    answer = client.get(path, ONE).expect(200)
    assert answer.body == data and answer.headers[DIGEST] == ONE[DIGEST]
    assert answer.headers["content-md5"] == base64.b64encode(hashlib.md5(data).digest()).decode()
    for _ in range(8 if size else 0):
        first = seeded.randrange(size)
        last = min(size - 1, first + seeded.randrange(1, 700_000))
        part = client.get(path, {**ONE, "x-ms-range": f"bytes={first}-{last}"}).expect(206)
        assert part.body == data[first : last + 1], (first, last)


def test_blocks_and_appends_and_pages(client, container):
    block, append, pages = (f"/{container}/{kind}" for kind in ("block", "append", "page"))
    parts = [random.Random(n).randbytes(n) for n in (5, 100_000, 33)]
    ids = ["MQ==", "Mg==", "Mw=="]
    for block_id, part in zip(ids, parts, strict=True):
        assert client.put_block(block, block_id, part, ONE).expect(201).headers[DIGEST] == ONE[DIGEST]
    names = "".join(f"<Latest>{block_id}</Latest>" for block_id in ids)
    client.send("PUT", block, "comp=blocklist", ONE, f"<BlockList>{names}</BlockList>").expect(201)
    client.send("PUT", append, "", {"x-ms-blob-type": "AppendBlob", **ONE}).expect(201)
    for part in parts:
        client.send("PUT", append, "comp=appendblock", ONE, part).expect(201)
    for path in (block, append):
        assert client.get(path, ONE).expect(200).body == b"".join(parts)
        tail = client.get(path, {**ONE, "x-ms-range": "bytes=3-100020"}).expect(206)
        assert tail.body == b"".join(parts)[3:100021]
    client.send("PUT", pages, "", {**PAGES, **ONE}).expect(201)
    image = bytearray(4096)
    for offset, length in ((512, 1024), (1024, 512), (3584, 512)):
        data = random.Random(offset).randbytes(length)
        image[offset : offset + length] = data
        page(client, pages, offset, data, ONE).expect(201)
    page(client, pages, 1024, b"x" * 512, {}).expect(*USES)
    page(client, pages, 1024, b"x" * 512, TWO).expect(*MISMATCH)
    assert client.get(pages, ONE).expect(200).body == bytes(image)
    part = client.get(pages, {**ONE, "x-ms-range": "bytes=700-1501"}).expect(206)
    assert part.body == bytes(image)[700:1502]
    clear = {"x-ms-page-write": "clear", "x-ms-range": "bytes=512-1023", **ONE}
    client.send("PUT", pages, "comp=page", clear).expect(201)
    image[512:1024] = bytes(512)
    assert client.get(pages, ONE).expect(200).body == bytes(image)


TOUCHES = [
    ("GetBlob", lambda c, p, h: c.get(p, h)),
    ("GetBlobProperties", lambda c, p, h: c.head(p, h)),
    ("GetBlobMetadata", lambda c, p, h: c.get(p, h, "comp=metadata")),
    ("SetBlobMetadata", lambda c, p, h: c.send("PUT", p, "comp=metadata", h)),
    ("SnapshotBlob", lambda c, p, h: c.send("PUT", p, "comp=snapshot", h)),
]


@pytest.mark.parametrize(("_name", "send"), TOUCHES, ids=[row[0] for row in TOUCHES])
def test_who_may_touch_it(client, container, _name, send):
    path = f"/{container}/b"
    client.put(path, b"secret", ONE).expect(201)
    send(client, path, {}).expect(*USES)
    send(client, path, TWO).expect(*MISMATCH)
    assert send(client, path, ONE).status in (200, 201)
    client.put(path, b"open").expect(201)
    send(client, path, ONE).expect(*PLAIN)
    assert send(client, path, {}).status in (200, 201)


def test_what_needs_no_key(client, container):
    path = f"/{container}/b"
    client.put(path, b"secret", ONE).expect(201)
    client.send("PUT", path, "comp=properties").expect(200)
    client.send("PUT", path, "comp=tier", {"x-ms-access-tier": "Cool"}).expect(200)
    client.get(path, query="comp=blocklist").expect(200)
    lease = client.lease(path, "acquire", duration=15).expect(201).headers["x-ms-lease-id"]
    client.lease(path, "release", id=lease).expect(200)
    client.put(path, b"another", TWO).expect(201)
    client.delete(path).expect(202)


def test_append_and_blocks_must_agree(client, container):
    path = f"/{container}/a"
    client.send("PUT", path, "", {"x-ms-blob-type": "AppendBlob", **ONE}).expect(201)
    client.send("PUT", path, "comp=appendblock", {}, b"x").expect(*USES)
    client.send("PUT", path, "comp=appendblock", TWO, b"x").expect(*MISMATCH)
    path = f"/{container}/b"
    client.put_block(path, "MQ==", b"x", ONE).expect(201)
    list_one = "<BlockList><Latest>MQ==</Latest></BlockList>"
    client.send("PUT", path, "comp=blocklist", {}, list_one).expect(*USES)
    client.send("PUT", path, "comp=blocklist", TWO, list_one).expect(*MISMATCH)
    client.send("PUT", path, "comp=blocklist", ONE, list_one).expect(201)
    client.send("PUT", path, "comp=blocklist", TWO, list_one).expect(*MISMATCH)
    client.put_block(path, "Mg==", b"y").expect(201)
    both = "<BlockList><Latest>MQ==</Latest><Latest>Mg==</Latest></BlockList>"
    client.send("PUT", path, "comp=blocklist", ONE, both).expect(*PLAIN)
    assert client.get(path, ONE).expect(200).body == b"x"


BAD = [
    ({k: v for k, v in ONE.items() if k != "x-ms-encryption-algorithm"}, "MissingRequiredHeader"),
    ({k: v for k, v in ONE.items() if k != DIGEST}, "MissingRequiredHeader"),
    ({**ONE, "x-ms-encryption-algorithm": "DES"}, "InvalidHeaderValue"),
    ({**ONE, "x-ms-encryption-key": "c2hvcnQ="}, "InvalidHeaderValue"),
    ({**ONE, "x-ms-encryption-key": "!"}, "InvalidHeaderValue"),
    ({**ONE, DIGEST: TWO[DIGEST]}, "InvalidHeaderValue"),
    ({**ONE, SCOPE: "red"}, "InvalidHeaderValue"),
    ({SCOPE: "r!"}, "InvalidHeaderValue"),
]


@pytest.mark.parametrize(("headers", "code"), BAD)
def test_malformed_headers(client, container, headers, code):
    answer = client.put(f"/{container}/b", b"x", headers).expect(400, code)
    assert ONE["x-ms-encryption-key"].encode() not in answer.body
    client.get(f"/{container}/b").expect(404, "BlobNotFound")


def test_from_a_url(client, container, server):
    client.send("PUT", f"/{container}", "restype=container&comp=acl",
                {"x-ms-blob-public-access": "blob"}).expect(200)  # fmt: skip
    client.put(f"/{container}/source", b"secret", ONE).expect(201)
    source = {"x-ms-copy-source": f"{server.url}/{DEV_ACCOUNT}/{container}/source"}
    target = {"x-ms-blob-type": "BlockBlob", **source}
    client.send("PUT", f"/{container}/none", "", target).expect(409)
    sent = {**target, **key("one", "x-ms-source-"), **TWO}
    client.send("PUT", f"/{container}/copy", "", sent).expect(201)
    assert client.get(f"/{container}/copy", TWO).expect(200).body == b"secret"
    block = {**source, **key("one", "x-ms-source-")}
    client.send("PUT", f"/{container}/block", "comp=block&blockid=MQ==", block).expect(201)


def test_listings_show_the_digest_and_hide_metadata(client, container):
    client.put(f"/{container}/b", b"x", {**ONE, "x-ms-meta-a": "hidden"}).expect(201)
    listing = client.get(
        f"/{container}", query="restype=container&comp=list&include=metadata"
    ).body.decode()
    shown = f"<ServerEncrypted>true</ServerEncrypted><CustomerProvidedKeySha256>{ONE[DIGEST]}</"
    assert shown in listing and 'Metadata Encrypted="true"' in listing
    assert "hidden" not in listing
    assert client.head(f"/{container}/b", ONE).headers["x-ms-meta-a"] == "hidden"


def raw_files(location: str) -> bytes:
    return b"".join(p.read_bytes() for p in sorted(Path(location).rglob("*")) if p.is_file())


def test_no_plaintext_in_the_files():
    with temp_dir() as folder:
        with Server(location=folder) as own:
            client = Client(own.url)
            client.create_container("con1")
            words = {n: f"find-me-{n}-".encode() * 64 for n in ("small", "large", "block", "page", "tail")}
            client.put("/con1/control", b"find-me-control-" * 64).expect(201)
            client.put("/con1/small", words["small"], ONE).expect(201)
            client.put("/con1/large", words["large"] * 2000, ONE).expect(201)
            client.put("/con1/tail", words["tail"][:13], ONE).expect(201)
            client.put_block("/con1/block", "MQ==", words["block"] * 20, ONE).expect(201)
            client.send("PUT", "/con1/page", "", {**PAGES, **ONE}).expect(201)
            page(client, "/con1/page", 0, (words["page"] * 8)[:4096], ONE).expect(201)
            own.stop()
        raw = raw_files(folder)
        assert b"find-me-control-" in raw, "the search finds what is not encrypted"
        for name, word in words.items():
            assert word[:13] not in raw, name
        assert base64.b64decode(ONE["x-ms-encryption-key"]) not in raw
        with Server(location=folder) as own:
            client = Client(own.url)
            assert client.get("/con1/small", ONE).expect(200).body == words["small"]
            assert client.get("/con1/tail", ONE).expect(200).body == words["tail"][:13]
            client.get("/con1/small").expect(*USES)


def test_the_sdk_brings_keys():
    with temp_dir() as folder:
        files = certificate(Path(folder))
        cert, private = str(files["cert.pem"]), str(files["key.pem"])
        with Server("--cert", cert, "--key", private) as own:
            url = f"https://localhost:{own.port}/{DEV_ACCOUNT}"
            service = BlobServiceClient(url, DEV_KEY, retry_total=0, connection_verify=cert,
                                        max_single_put_size=1, max_block_size=250_000)  # fmt: skip
            box = service.create_container("con1")
            blob = box.get_blob_client("b")
            cpk = CustomerProvidedEncryptionKey(ONE["x-ms-encryption-key"], ONE[DIGEST])
            made = blob.upload_blob(b"secret" * 100_000, cpk=cpk)
            assert made["encryption_key_sha256"] == ONE[DIGEST]
            assert blob.download_blob(cpk=cpk).readall() == b"secret" * 100_000
            assert blob.get_blob_properties(cpk=cpk).encryption_key_sha256 == ONE[DIGEST]
            blob.set_blob_metadata({"a": "b"}, cpk=cpk)
            snapshot = blob.create_snapshot(cpk=cpk)
            old = box.get_blob_client("b", snapshot=snapshot["snapshot"])
            assert old.download_blob(cpk=cpk).readall() == b"secret" * 100_000


def test_scopes(box, refused):
    blob = box.get_blob_client("b")
    made = blob.upload_blob(b"x", encryption_scope="red")
    assert made["encryption_scope"] == "red"
    assert blob.get_blob_properties().encryption_scope == "red"
    [listed] = box.list_blobs()
    assert listed.encryption_scope == "red"
    assert blob.download_blob().readall() == b"x"
    with refused(409, "EncryptionScopeNotAvailable"):
        box.get_blob_client("c").upload_blob(b"x", encryption_scope="green")
    blob.set_blob_metadata({"a": "b"}, encryption_scope="red")
    with refused(*MISMATCH):
        blob.set_blob_metadata({"a": "b"}, encryption_scope="blue")
    assert blob.get_blob_properties().encryption_scope == "red"


@pytest.mark.parametrize("deny", [False, True])
def test_scopes_of_containers(service, name, refused, deny):
    scope = ContainerEncryptionScope("red", prevent_encryption_scope_override=deny)
    box = service.create_container(name, container_encryption_scope=scope)
    shown = box.get_container_properties().encryption_scope
    assert shown.default_encryption_scope == "red"
    assert shown.prevent_encryption_scope_override is deny
    [listed] = service.list_containers(name_starts_with=name)
    assert listed.encryption_scope.default_encryption_scope == "red"
    blob = box.get_blob_client("b")
    blob.upload_blob(b"x")
    assert blob.get_blob_properties().encryption_scope == "red"
    blob.upload_blob(b"x", encryption_scope="red", overwrite=True)
    if deny:
        with refused(403, "RequestForbiddenByContainerEncryptionPolicy"):
            blob.upload_blob(b"x", encryption_scope="blue", overwrite=True)
    else:
        blob.upload_blob(b"x", encryption_scope="blue", overwrite=True)
        assert blob.get_blob_properties().encryption_scope == "blue"


def test_refused_containers(client, name):
    headers = {"x-ms-default-encryption-scope": "green"}
    answer = client.send("PUT", f"/{name}", "restype=container", headers)
    answer.expect(409, "EncryptionScopeNotAvailable")
    headers = {"x-ms-deny-encryption-scope-override": "true"}
    answer = client.send("PUT", f"/{name}", "restype=container", headers)
    answer.expect(400, "MissingRequiredHeader")
