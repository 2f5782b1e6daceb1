"""Copy Blob and its relatives on the wire: what they make, show, refuse, and how they end."""

from __future__ import annotations

import base64
import hashlib
import time
import uuid

import pytest

from harness import DEV_ACCOUNT, Client, Server, service_sas

DATA = bytes(range(256)) * 300
#: Larger than what is copied before the answer.
LARGE = 9 * 1024 * 1024
OLD = "Sun, 01 Jan 2017 00:00:00 GMT"
NEW = "Fri, 01 Jan 2100 00:00:00 GMT"
OTHER = '"0x8D4BCC2E4835CD0"'
GUID = "00000000-0000-0000-0000-000000000001"


def url(client: Client, container: str, blob: str, query: str = "") -> str:
    base = f"{client.scheme}://{client.host}:{client.port}/{DEV_ACCOUNT}/{container}/{blob}"
    return f"{base}?{query}" if query else base


def signed(client: Client, container: str, blob: str, permissions: str = "r") -> str:
    return url(client, container, blob, service_sas(container, blob, permissions=permissions))


def copy(client: Client, container: str, blob: str, source: str, query: str = "", **headers: str):
    headers = {"x-ms-copy-source": source, **headers}
    return client.send("PUT", f"/{container}/{blob}", headers=headers, query=query)


def sync(client: Client, container: str, blob: str, source: str, **headers: str):
    return copy(client, container, blob, source, **{"x-ms-requires-sync": "true", **headers})


def ended(client: Client, container: str, blob: str):
    """Waits for a copy to end."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        seen = client.head(f"/{container}/{blob}").expect(200)
        if seen.headers.get("x-ms-copy-status") != "pending":
            return seen
        time.sleep(0.02)
    raise AssertionError("the copy does not end")


@pytest.fixture
def source(client, container):
    headers = {"x-ms-meta-color": "blue", "x-ms-blob-content-type": "text/plain"}
    client.put(f"/{container}/source", DATA, headers=headers).expect(201)
    return url(client, container, "source")


@pytest.fixture(scope="module")
def slow():
    """A server whose copies take their time."""
    with Server("--copy-bytes-per-second", "1048576") as running:
        yield running
        assert running.alive(), running.output()[-4000:]


@pytest.fixture(scope="module")
def patient(slow) -> Client:
    client = Client(slow.url)
    client.create_container("slow")
    client.put("/slow/large", b"0123456789abcdef" * (LARGE // 16)).expect(201)
    return client


def test_a_copy(client, container, source):
    made = copy(client, container, "made", source).expect(202)
    assert made.headers["x-ms-copy-status"] == "success"
    copy_id = str(uuid.UUID(made.headers["x-ms-copy-id"]))
    client.delete(f"/{container}/source").expect(202)
    read = client.get(f"/{container}/made").expect(200)
    assert read.body == DATA and read.headers["content-type"] == "text/plain"
    assert read.headers["x-ms-meta-color"] == "blue" and read.etag == made.etag
    for seen in (read, client.head(f"/{container}/made")):
        assert seen.headers["x-ms-copy-id"] == copy_id
        assert seen.headers["x-ms-copy-status"] == "success"
        assert seen.headers["x-ms-copy-source"] == source
        assert seen.headers["x-ms-copy-progress"] == f"{len(DATA)}/{len(DATA)}"
        assert "x-ms-copy-completion-time" in seen.headers
        assert "x-ms-copy-status-description" not in seen.headers


def test_listings_show_copies_when_asked(client, container, source):
    copy_id = copy(client, container, "made", source).expect(202).headers["x-ms-copy-id"]
    for include, shown in (("", None), ("copy", copy_id)):
        query = {"restype": "container", "comp": "list", "prefix": "made", "include": include}
        entry = client.get(f"/{container}", query=query).expect(200).xml().find("Blobs/Blob")
        assert entry.findtext("Properties/CopyId") == shown
        if shown:
            assert entry.findtext("Properties/CopyStatus") == "success"
            assert entry.findtext("Properties/CopySource") == source
            assert entry.findtext("Properties/CopyProgress") == f"{len(DATA)}/{len(DATA)}"
            assert entry.findtext("Properties/CopyCompletionTime")


def test_what_is_given_replaces_metadata(client, container, source):
    headers = {"x-ms-meta-size": "big", "x-ms-tags": "a=1&b=2", "x-ms-access-tier": "Cool"}
    copy(client, container, "made", source, **headers).expect(202)
    seen = client.head(f"/{container}/made").expect(200)
    assert "x-ms-meta-color" not in seen.headers and seen.headers["x-ms-meta-size"] == "big"
    assert seen.headers["x-ms-tag-count"] == "2" and seen.headers["x-ms-access-tier"] == "Cool"


def test_later_writes_forget_the_copy(client, container, source):
    def made() -> str:
        copy(client, container, "made", source).expect(202)
        return f"/{container}/made"

    for forgets, change in (
        (True, lambda at: client.put(at, b"x")),
        (True, lambda at: client.send("PUT", at, query="comp=metadata")),
        (True, lambda at: client.send("PUT", at, query="comp=properties")),
        (False, lambda at: client.put_block(at, "AAAA", b"x")),
        (False, lambda at: client.send("PUT", at, query="comp=tier", headers={"x-ms-access-tier": "Cool"})),
    ):  # fmt: skip
        at = made()
        change(at).expect((200, 201))
        assert ("x-ms-copy-id" not in client.head(at).headers) == forgets


@pytest.mark.parametrize(
    ("header", "value", "want"),
    [
        ("If-Match", OTHER, "TargetConditionNotMet"),
        ("If-None-Match", "own", "TargetConditionNotMet"),
        ("If-Modified-Since", NEW, "TargetConditionNotMet"),
        ("If-Unmodified-Since", OLD, "TargetConditionNotMet"),
        ("x-ms-if-tags", "a = '1'", "ConditionNotMet"),
        ("x-ms-source-if-match", OTHER, "SourceConditionNotMet"),
        ("x-ms-source-if-none-match", "own", "SourceConditionNotMet"),
        ("x-ms-source-if-modified-since", NEW, "SourceConditionNotMet"),
        ("x-ms-source-if-unmodified-since", OLD, "SourceConditionNotMet"),
        ("x-ms-source-if-tags", "a = '1'", "ConditionNotMet"),
    ],
)
def test_conditions_of_copy_blob(client, container, source, header, value, want):
    client.put(f"/{container}/made", b"old").expect(201)
    if value == "own":
        of = "source" if "source" in header else "made"
        value = client.head(f"/{container}/{of}").etag
    copy(client, container, "made", source, **{header: value}).expect(412, want)
    assert client.get(f"/{container}/made").body == b"old"


@pytest.mark.parametrize(
    ("header", "value", "want"),
    [
        ("If-Match", OTHER, (412, "TargetConditionNotMet")),
        ("If-None-Match", "own", (412, "ConditionNotMet")),
        ("If-Modified-Since", NEW, (412, "ConditionNotMet")),
        ("If-Unmodified-Since", OLD, (412, "ConditionNotMet")),
        ("x-ms-if-tags", "a = '1'", (412, "ConditionNotMet")),
        ("If-None-Match", "*", (409, "BlobAlreadyExists")),
        ("x-ms-source-if-match", OTHER, (412, "SourceConditionNotMet")),
        ("x-ms-source-if-none-match", "own", (304, None)),
        ("x-ms-source-if-modified-since", NEW, (304, None)),
        ("x-ms-source-if-unmodified-since", OLD, (412, "CannotVerifyCopySource")),
    ],
)
def test_conditions_of_copy_from_url(client, container, source, header, value, want):
    client.put(f"/{container}/made", b"old").expect(201)
    if value == "own":
        of = "source" if "source" in header else "made"
        value = client.head(f"/{container}/{of}").etag
    from_url = signed(client, container, "source")
    sync(client, container, "made", from_url, **{header: value}).expect(*want)
    assert client.get(f"/{container}/made").body == b"old"


def test_if_none_match_any(client, container, source):
    copy(client, container, "made", source, **{"If-None-Match": "*"}).expect(202)
    copy(client, container, "made", source, **{"If-None-Match": "*"}).expect(409, "BlobAlreadyExists")


def test_sources_that_cannot_be_read(client, container, source, name):
    missing = url(client, container, "nobody")
    copy(client, container, "made", missing).expect(404, "BlobNotFound")
    copy(client, container, "made", url(client, f"{name}none", "b")).expect(404, "BlobNotFound")
    sync(client, container, "made", source).expect(401, "CannotVerifyCopySource")
    gone = signed(client, container, "nobody")
    sync(client, container, "made", gone).expect(404, "CannotVerifyCopySource")
    only_write = signed(client, container, "source", "w")
    for ask in (copy, sync):
        ask(client, container, "made", only_write).expect(403, "CannotVerifyCopySource")
        ask(client, container, "made", "http://[::1]:1/a/b/c").expect(403, "CannotVerifyCopySource")
        ask(client, container, "made", "nonsense").expect(400, "InvalidHeaderValue")
    client.head(f"/{container}/made").expect(404)
    other = f"{source}?snapshot=2020-01-01T00:00:00.0000000Z"
    copy(client, container, "made", other).expect(404, "BlobNotFound")


def test_a_signature_is_not_shown_to_readers(client, container, source):
    copy(client, container, "made", signed(client, container, "source")).expect(202)
    shown = client.head(f"/{container}/made").headers["x-ms-copy-source"]
    assert shown.startswith(source) and "sig=" not in shown and "sp=r" in shown


def test_kinds_must_agree(client, container, source):
    client.put(f"/{container}/log", b"", headers={"x-ms-blob-type": "AppendBlob"}).expect(201)
    copy(client, container, "log", source).expect(409, "InvalidBlobType")
    log = signed(client, container, "log")
    sync(client, container, "made", log).expect(409, "InvalidSourceBlobType")
    copy(client, container, "made", source, **{"x-ms-access-tier": "P10"}).expect(
        400, "AccessTierNotSupportedForBlobType"
    )


def test_archived_blobs(client, container, source):
    at = f"/{container}/source"
    client.send("PUT", at, query="comp=tier", headers={"x-ms-access-tier": "Archive"}).expect(200)
    copy(client, container, "made", source).expect(409, "BlobArchived")
    copy(client, container, "made", source, **{"x-ms-access-tier": "Hot"}).expect(202)
    seen = client.head(f"/{container}/made").expect(200)
    assert seen.headers["x-ms-archive-status"] == "rehydrate-pending-to-hot"
    client.put(f"/{container}/plain", b"x").expect(201)
    copy(client, container, "source", url(client, container, "plain")).expect(409, "BlobArchived")


def test_copy_from_url(client, container, source):
    md5 = base64.b64encode(hashlib.md5(DATA).digest()).decode()
    from_url = signed(client, container, "source")
    made = sync(client, container, "made", from_url, **{"x-ms-source-content-md5": md5}).expect(202)
    assert made.headers["x-ms-copy-status"] == "success"
    assert made.headers["content-md5"] == md5
    assert made.headers["x-ms-request-server-encrypted"] == "true"
    plain = sync(client, container, "made", from_url).expect(202)
    assert "x-ms-content-crc64" in plain.headers
    bad = base64.b64encode(hashlib.md5(b"other").digest()).decode()
    wrong = {"x-ms-source-content-md5": bad}
    sync(client, container, "made", from_url, **wrong).expect(400, "Md5Mismatch")
    assert client.get(f"/{container}/made").body == DATA


def test_tags_of_the_source(client, container):
    client.put(f"/{container}/source", DATA, headers={"x-ms-tags": "a=1&b=2"}).expect(201)
    option = {"x-ms-copy-source-tag-option": "COPY"}
    with_tags = signed(client, container, "source", "rt")
    whole = {"x-ms-blob-type": "BlockBlob", **option}
    for number, headers in enumerate(({"x-ms-requires-sync": "true", **option}, whole)):
        copy(client, container, f"made{number}", with_tags, **headers).expect((201, 202))
        assert client.head(f"/{container}/made{number}").headers["x-ms-tag-count"] == "2"
        without = signed(client, container, "source", "r")
        copy(client, container, "no", without, **headers).expect(403, "CannotVerifyCopySource")
        both = {**headers, "x-ms-tags": "c=3"}
        copy(client, container, "no", with_tags, **both).expect(
            400, "BothUserTagsAndSourceTagsCopyPresentException"
        )
    copy(client, container, "no", with_tags, **option).expect(400, "InvalidHeaderValue")
    wrong = {"x-ms-requires-sync": "true", "x-ms-copy-source-tag-option": "MOVE"}
    copy(client, container, "no", with_tags, **wrong).expect(400, "InvalidHeaderValue")


def test_snapshots_are_sources_and_can_be_promoted(client, container, source):
    at = f"/{container}/source"
    taken = client.send("PUT", at, query="comp=snapshot").expect(201).headers["x-ms-snapshot"]
    client.put(at, b"changed").expect(201)
    old = f"{source}?snapshot={taken}"
    copy(client, container, "made", old).expect(202)
    copy(client, container, "source", old).expect(202)
    for blob in ("made", "source"):
        assert client.get(f"/{container}/{blob}").body == DATA


def test_a_copy_onto_itself(client, container, source):
    client.put_block(f"/{container}/source", "AAAA", b"x").expect(201)
    before = client.head(f"/{container}/source").etag
    made = copy(client, container, "source", source, **{"x-ms-meta-new": "1"}).expect(202)
    assert made.headers["x-ms-copy-status"] == "success" and made.etag != before
    read = client.get(f"/{container}/source").expect(200)
    assert read.body == DATA and read.headers["x-ms-meta-new"] == "1"
    listed = client.get(f"/{container}/source", query="comp=blocklist&blocklisttype=all").xml()
    assert not listed.findall(".//UncommittedBlocks/Block")


def test_a_pending_copy(patient):
    client = patient
    source = url(client, "slow", "large")
    made = copy(client, "slow", "made", source, **{"x-ms-meta-kept": "yes"}).expect(202)
    assert made.headers["x-ms-copy-status"] == "pending"
    copy_id = made.headers["x-ms-copy-id"]
    seen = client.head("/slow/made").expect(200)
    assert seen.headers["x-ms-copy-status"] == "pending" and seen.headers["content-length"] == "0"
    done, total = map(int, seen.headers["x-ms-copy-progress"].split("/"))
    assert 0 <= done < total == LARGE and "x-ms-copy-completion-time" not in seen.headers
    headers = {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1"}
    append = {"x-ms-blob-type": "BlockBlob"}
    for ask in (
        client.put("/slow/made", b"x"),
        client.put_block("/slow/made", "AAAA", b"x"),
        client.put_block_list("/slow/made", []),
        client.send("PUT", "/slow/made", query="comp=metadata"),
        client.send("PUT", "/slow/made", query="comp=properties"),
        client.send("PUT", "/slow/made", query="comp=snapshot"),
        client.send("PUT", "/slow/made", query="comp=lease", headers=headers),
        client.send("PUT", "/slow/made", query="comp=tier", headers={"x-ms-access-tier": "Cool"}),
        client.send("PUT", "/slow/made", query="comp=tags", body=b"<Tags><TagSet/></Tags>"),
        client.delete("/slow/made"),
        copy(client, "slow", "made", source),
        copy(client, "slow", "made", signed(client, "slow", "large"), **append),
    ):
        ask.expect(409, "PendingCopyOperation")
    abort = {"x-ms-copy-action": "abort"}

    def stop(copyid: str, headers=abort, at="/slow/made"):
        query = f"comp=copy&copyid={copyid}"
        return client.send("PUT", at, query=query, headers=headers)

    stop("nonsense").expect(400, "InvalidQueryParameterValue")
    stop(copy_id, {"x-ms-copy-action": "stop"}).expect(400, "InvalidHeaderValue")
    stop(copy_id, {}).expect(400, "MissingRequiredHeader")
    stop(GUID).expect(409, "CopyIdMismatch")
    stop(copy_id, {**abort, "x-ms-lease-id": GUID}).expect(412, "LeaseNotPresentWithBlobOperation")
    before = client.head("/slow/made").etag
    stop(copy_id).expect(204)
    stop(copy_id).expect(409, "NoPendingCopyOperation")
    stop(copy_id, at="/slow/large").expect(409, "NoPendingCopyOperation")
    stop(copy_id, at="/slow/nobody").expect(404, "BlobNotFound")
    seen = client.head("/slow/made").expect(200)
    assert seen.headers["x-ms-copy-status"] == "aborted" and seen.headers["content-length"] == "0"
    assert seen.headers["x-ms-meta-kept"] == "yes" and seen.etag != before
    assert "x-ms-copy-completion-time" in seen.headers
    client.put("/slow/made", b"x").expect(201)


def test_a_changed_source_fails_the_copy(patient):
    client = patient
    client.put("/slow/changing", bytes(LARGE)).expect(201)
    copy(client, "slow", "failed", url(client, "slow", "changing")).expect(202)
    client.put("/slow/changing", b"changed").expect(201)
    seen = ended(client, "slow", "failed")
    assert seen.headers["x-ms-copy-status"] == "failed"
    assert seen.headers["x-ms-copy-status-description"].startswith("412 ConditionNotMet")
    assert seen.headers["content-length"] == "0"


def test_leases_of_the_destination(patient):
    client = patient
    source = url(client, "slow", "large")
    client.put("/slow/leased", b"x").expect(201)
    finite = client.lease("/slow/leased", "acquire", duration=60).expect(201)
    lease = finite.headers["x-ms-lease-id"]
    copy(client, "slow", "leased", source).expect(412, "LeaseIdMissing")
    with_lease = {"x-ms-lease-id": lease}
    copy(client, "slow", "leased", source, **with_lease).expect(412, "InfiniteLeaseDurationRequired")
    client.lease("/slow/leased", "release", id=lease).expect(200)
    lease = client.lease("/slow/leased", "acquire", duration=-1).headers["x-ms-lease-id"]
    with_lease = {"x-ms-lease-id": lease}
    started = copy(client, "slow", "leased", source, **with_lease).expect(202)
    query = f"comp=copy&copyid={started.headers['x-ms-copy-id']}"
    for headers, want in (
        ({}, (412, "LeaseIdMissing")),
        ({"x-ms-lease-id": GUID}, (412, "LeaseIdMismatchWithBlobOperation")),
        (with_lease, (204, None)),
    ):
        headers = {"x-ms-copy-action": "abort", **headers}
        client.send("PUT", "/slow/leased", query=query, headers=headers).expect(*want)
    assert client.head("/slow/leased").headers["x-ms-lease-state"] == "leased"
    missing = copy(client, "slow", "nothing", source, **with_lease)
    missing.expect(412, "LeaseNotPresentWithBlobOperation")


def test_older_versions(client, container, source):
    headers = {"x-ms-version": "2011-08-18"}
    path = f"/{DEV_ACCOUNT}/{container}/source"
    made = copy(client, container, "made", path, **headers).expect(201)
    assert "x-ms-copy-id" not in made.headers
    assert client.get(f"/{container}/made").body == DATA


def test_a_service_sas_for_the_destination(client, container, source):
    """Who may create may not overwrite, and a key's owner is who may read a private source."""

    def ask(blob: str, source: str, query: str):
        headers = {"x-ms-copy-source": source}
        return client.send("PUT", f"/{container}/{blob}", query, headers, auth="none")

    from_url = signed(client, container, "source")
    for permissions, blob, want in (
        ("c", "made", (202, None)),
        ("c", "made", (403, "UnauthorizedBlobOverwrite")),
        ("w", "made", (202, None)),
        ("r", "made", (403, "AuthorizationPermissionMismatch")),
    ):
        query = service_sas(container, blob, permissions=permissions)
        ask(blob, from_url, query).expect(*want)
    query = service_sas(container, "made", permissions="w")
    ask("made", source, query).expect(401, "CannotVerifyCopySource")


# Pages


def page_blob(client: Client, container: str, blob: str, size: int, **headers: str):
    headers = {
        "x-ms-blob-type": "PageBlob",
        "x-ms-blob-content-length": str(size),
        **headers,
    }
    return client.put(f"/{container}/{blob}", b"", headers=headers).expect(201)


def put_page(client: Client, container: str, blob: str, offset: int, body: bytes):
    headers = {"x-ms-page-write": "update", "x-ms-range": f"bytes={offset}-{offset + len(body) - 1}"}
    return client.send("PUT", f"/{container}/{blob}", "comp=page", headers, body).expect(201)


def ranges(client: Client, container: str, blob: str, query: str = ""):
    query = f"comp=pagelist{query}"
    found = client.get(f"/{container}/{blob}", query=query).expect(200).xml()
    return [(int(r.findtext("Start")), int(r.findtext("End"))) for r in found.findall("PageRange")]


def test_put_page_from_url(client, container, source):
    page_blob(client, container, "disk", 4096)
    from_url = signed(client, container, "source")

    def put(source_range="bytes=512-1535", range_="bytes=1024-2047", **headers: str):
        headers = {"x-ms-page-write": "update", "x-ms-range": range_, **headers}
        if source_range:
            headers["x-ms-source-range"] = source_range
        return copy(client, container, "disk", from_url, "comp=page", **headers)

    made = put().expect(201)
    assert made.headers["x-ms-blob-sequence-number"] == "0" and "x-ms-content-crc64" in made.headers
    assert client.get(f"/{container}/disk").body[1024:2048] == DATA[512:1536]
    assert ranges(client, container, "disk") == [(1024, 2047)]
    put(source_range="bytes=0-511").expect(400, "InvalidHeaderValue")
    put(source_range="").expect(400, "MissingRequiredHeader")
    put(range_="bytes=0-99").expect(400, "InvalidHeaderValue")
    put(range_="bytes=4096-5119").expect(416, "InvalidPageRange")
    put(**{"x-ms-page-write": "clear"}).expect(400, "InvalidHeaderValue")
    end = len(DATA)
    put(source_range=f"bytes={end - 512}-{end + 511}").expect(416, "InvalidRange")
    large = {"source_range": f"bytes=0-{5 << 20}", "range_": f"bytes=0-{(5 << 20) - 1}"}
    put(**large).expect(413, "RequestBodyTooLarge")
    put(**{"x-ms-if-sequence-number-lt": "-1"}).expect(400, "InvalidHeaderValue")
    put(**{"x-ms-if-sequence-number-eq": "7"}).expect(412, "SequenceNumberConditionNotMet")
    put(**{"If-Match": OTHER}).expect(412, "TargetConditionNotMet")
    put(**{"If-Unmodified-Since": OLD}).expect(412, "ConditionNotMet")
    put(**{"x-ms-source-if-match": OTHER}).expect(412, "CannotVerifyCopySource")
    put(**{"x-ms-source-if-modified-since": NEW}).expect(304)
    wrong = base64.b64encode(hashlib.md5(b"other").digest()).decode()
    put(**{"x-ms-source-content-md5": wrong}).expect(400, "Md5Mismatch")
    assert client.get(f"/{container}/disk").body[1024:2048] == DATA[512:1536]


def test_page_and_append_blobs_are_copied_as_such(client, container):
    page_blob(client, container, "disk", 1 << 20, **{"x-ms-blob-sequence-number": "7"})
    put_page(client, container, "disk", 512, DATA[:1024])
    put_page(client, container, "disk", 65536, DATA[:512])
    copy(client, container, "copied", url(client, container, "disk")).expect(202)
    seen = client.head(f"/{container}/copied")
    assert seen.headers["x-ms-blob-type"] == "PageBlob"
    assert seen.headers["x-ms-blob-sequence-number"] == "7"
    assert ranges(client, container, "copied") == [(512, 1535), (65536, 66047)]
    client.put(f"/{container}/log", b"", headers={"x-ms-blob-type": "AppendBlob"}).expect(201)
    for _ in range(3):
        client.send("PUT", f"/{container}/log", "comp=appendblock", body=b"line\n").expect(201)
    client.send("PUT", f"/{container}/log", query="comp=seal").expect(200)
    copy(client, container, "sealed", url(client, container, "log")).expect(202)
    seen = client.get(f"/{container}/sealed")
    assert seen.body == b"line\n" * 3 and seen.headers["x-ms-blob-sealed"] == "true"
    assert seen.headers["x-ms-blob-committed-block-count"] == "3"
    open_ = {"x-ms-seal-blob": "false"}
    copy(client, container, "open", url(client, container, "log"), **open_).expect(202)
    assert "x-ms-blob-sealed" not in client.head(f"/{container}/open").headers


def test_incremental_copies(client, container):
    page_blob(client, container, "disk", 4 << 20)
    put_page(client, container, "disk", 0, DATA[:512])

    def snapshot() -> str:
        taken = client.send("PUT", f"/{container}/disk", query="comp=snapshot").expect(201)
        return taken.headers["x-ms-snapshot"]

    def follow(at: str, blob: str = "follower", **headers: str):
        source = url(client, container, "disk", f"snapshot={at}" if at else "")
        return copy(client, container, blob, source, "comp=incrementalcopy", **headers)

    first = snapshot()
    follow("").expect(409, "IncrementalCopySourceMustBeSnapshot")
    follow(first, **{"If-Match": OTHER}).expect(412, "TargetConditionNotMet")
    made = follow(first).expect(202)
    assert made.headers["x-ms-copy-status"] == "pending"
    seen = ended(client, container, "follower")
    assert seen.headers["x-ms-copy-status"] == "success"
    assert seen.headers["x-ms-incremental-copy"] == "true"
    one = seen.headers["x-ms-copy-destination-snapshot"]
    put_page(client, container, "disk", 1 << 20, DATA[:1024])
    second = snapshot()
    follow(second).expect(202)
    two = ended(client, container, "follower").headers["x-ms-copy-destination-snapshot"]
    at = f"/{container}/follower"
    assert client.get(at, query=f"snapshot={one}").body[: 1 << 20] == DATA[:512] + bytes((1 << 20) - 512)
    assert ranges(client, container, "follower", f"&snapshot={one}") == [(0, 511)]
    assert ranges(client, container, "follower", f"&snapshot={two}") == [
        (0, 511),
        (1 << 20, (1 << 20) + 1023),
    ]
    follow(first).expect(409, "IncrementalCopyOfEarlierSnapshotNotAllowed")
    page_blob(client, container, "other", 512)
    follow(second, "other").expect(409, "IncrementalCopyBlobMismatch")
    never = "OperationNotAllowedOnIncrementalCopyBlob"
    client.get(at).expect(409, never)
    client.send("PUT", at, query="comp=snapshot").expect(409, never)
    client.send("PUT", at, query="comp=metadata").expect(409, never)
    bad = {"x-ms-copy-source": "http://example.com/a/b?snapshot=x"}
    client.send("PUT", at, query="comp=incrementalcopy", headers=bad).expect(
        409, "InvalidSourceBlobUrl"
    )
    client.put(f"/{container}/block", b"x").expect(201)
    taken = client.send("PUT", f"/{container}/block", query="comp=snapshot").headers["x-ms-snapshot"]
    source = url(client, container, "block", f"snapshot={taken}")
    copy(client, container, "new", source, "comp=incrementalcopy").expect(409, "InvalidSourceBlobType")
    client.delete(at, headers={"x-ms-delete-snapshots": "include"}).expect(202)
