"""Which conditional headers and lease ids each operation takes, over HTTP.

A header that is taken refuses with a value that fails; one that is not taken changes nothing.
"""

from __future__ import annotations

import itertools

import kinds
import pytest
from cells import A, rows
from test_conditions import CONTAINER, CREATES, MODIFIES, OTHER, READS

serial = itertools.count(1)
LATER = "Fri, 01 Jan 2100 00:00:00 GMT"
EARLIER = "Sat, 01 Jan 2000 00:00:00 GMT"

QUERY = "<QueryRequest><QueryType>SQL</QueryType><Expression>SELECT * FROM BlobStorage</Expression></QueryRequest>"
TAGS = "<Tags><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tags>"

OPERATIONS = {
    **READS,
    **CREATES,
    **MODIFIES,
    **CONTAINER,
    **kinds.OPERATIONS,
    "GetBlockList": lambda c, p, h: c.get(p, h, "comp=blocklist"),
    "SnapshotBlob": lambda c, p, h: c.send("PUT", p, "comp=snapshot", h),
    "QueryBlobContents": lambda c, p, h: c.send("POST", p, "comp=query", h, QUERY),
    "GetBlobTags": lambda c, p, h: c.get(p, h, "comp=tags"),
    "SetBlobTags": lambda c, p, h: c.send("PUT", p, "comp=tags", h, TAGS),
    "SetBlobTier": lambda c, p, h: c.send("PUT", p, "comp=tier", {"x-ms-access-tier": "Cool", **h}),
    "PutBlock": lambda c, p, h: c.put_block(p, "MDAwMQ==", b"x", h),
    "SetContainerMetadata": lambda c, p, h: c.send("PUT", p, "restype=container&comp=metadata", h),
    "GetContainerProperties": lambda c, p, h: c.get(p, h, "restype=container"),
    "GetContainerMetadata": lambda c, p, h: c.get(p, h, "restype=container&comp=metadata"),
    "GetContainerAcl": lambda c, p, h: c.get(p, h, "restype=container&comp=acl"),
    "CreateContainer": lambda c, p, h: c.send("PUT", p + "-new", "restype=container", h),
    "ListBlobs": lambda c, p, h: c.get(p, h, "restype=container&comp=list"),
    "ListContainers": lambda c, p, h: c.get("/", {**h}, "comp=list&maxresults=1"),
}
# The first needs an account that offers it (`protection/test_immutability.py`); copies have answers
# and preparations of their own (`copy/test_copy.py`).
ELSEWHERE = ("SetBlobImmutabilityPolicy", "CopyBlob", "IncrementalCopyBlob", "AbortCopyBlob")
ROWS = [row for row in rows("operation_headers") if row["operation"] not in ELSEWHERE]
CELLS = [
    (row["operation"], header, row[header])
    for row in ROWS
    for header in ("if_match", "if_none_match", "if_modified_since", "if_unmodified_since")
]


@pytest.fixture
def target(client):
    """(path for the operation, ETag) of a fresh container with one blob."""

    def make(operation: str) -> tuple[str, str]:
        name = f"headers{next(serial):05d}"
        made = client.create_container(name)
        blob = kinds.create(client, f"/{name}/b", operation)
        if "Container" in operation or operation == "ListBlobs":
            return f"/{name}", made.etag
        return f"/{name}/b", blob.etag

    return make


@pytest.mark.parametrize(
    ("operation", "header", "taken"), CELLS, ids=[f"{o}-{h}-{t}" for o, h, t in CELLS]
)
def test_condition(client, target, operation, header, taken):
    path, etag = target(operation)
    failing = {
        "if_match": ("If-Match", OTHER),
        "if_none_match": ("If-None-Match", etag),
        "if_modified_since": ("If-Modified-Since", LATER),
        "if_unmodified_since": ("If-Unmodified-Since", EARLIER),
    }[header]
    answer = OPERATIONS[operation](client, path, dict([failing]))
    if taken == "no":
        answer.expect((200, 201, 202, 204))
        return
    read_304 = operation in (*READS, *kinds.PAGE_READS, "QueryBlobContents") and header in ("if_none_match", "if_modified_since")
    answer.expect(304 if read_304 else 412, "ConditionNotMet")


@pytest.mark.parametrize(
    ("operation", "kind"),
    [(r["operation"], r["lease"]) for r in ROWS if r["lease"] != "subject"],
)
def test_lease_id(client, target, operation, kind):
    """An id on something without a lease is refused wherever ids are looked at."""
    path, _ = target(operation)
    answer = OPERATIONS[operation](client, path, {"x-ms-lease-id": A})
    if kind == "ignored":
        answer.expect((200, 201))
    else:
        what = "Container" if "Container" in operation else "Blob"
        answer.expect(412, f"LeaseNotPresentWith{what}Operation")


@pytest.mark.parametrize(
    ("operation", "kind"),
    [(r["operation"], r["lease"]) for r in ROWS if r["lease"] in ("required", "optional")],
)
def test_without_id_under_lease(client, target, operation, kind):
    path, _ = target(operation)
    container = "Container" in operation
    client.lease(path, "acquire", container=container, duration=-1, proposed=A).expect(201)
    answer = OPERATIONS[operation](client, path, {})
    if kind == "required":
        answer.expect(412, "LeaseIdMissing")
    else:
        answer.expect((200, 201))
