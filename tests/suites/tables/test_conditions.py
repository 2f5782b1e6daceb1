"""Every cell of the condition tables over HTTP, once per operation it speaks of."""

from __future__ import annotations

import itertools
from datetime import timedelta
from email.utils import parsedate_to_datetime

import kinds
import pytest
from cells import A, label, rows

HEADERS = {
    "if_match": "If-Match",
    "if_none_match": "If-None-Match",
    "if_modified_since": "If-Modified-Since",
    "if_unmodified_since": "If-Unmodified-Since",
}
OTHER = '"0x8D0000000000001"'
OFFSETS = {
    "same": timedelta(0),
    "second_before": timedelta(seconds=-1),
    "second_after": timedelta(seconds=1),
    "before": timedelta(days=-1),
    "after": timedelta(days=1),
}
BLOCK = "MDAwMQ=="

READS = {
    "GetBlob": lambda c, p, h, **kw: c.get(p, h, **kw),
    "GetBlobProperties": lambda c, p, h, **kw: c.head(p, h, **kw),
    "GetBlobMetadata": lambda c, p, h, **kw: c.get(p, h, "comp=metadata", **kw),
}
CREATES = {
    "PutBlob": lambda c, p, h: c.put(p, b"new", h),
    "PutBlockList": lambda c, p, h: c.put_block_list(p, [], h),
}
MODIFIES = {
    "SetBlobMetadata": lambda c, p, h: c.send("PUT", p, "comp=metadata", h),
    "SetBlobProperties": lambda c, p, h: c.send("PUT", p, "comp=properties", h),
    "DeleteBlob": lambda c, p, h: c.delete(p, h),
    "LeaseBlob": lambda c, p, h: c.send(
        "PUT", p, "comp=lease", {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1", **h}
    ),
}
CONTAINER = {
    "DeleteContainer": lambda c, p, h: c.send("DELETE", p, "restype=container", h),
    "SetContainerAcl": lambda c, p, h: c.send("PUT", p, "restype=container&comp=acl", h),
    "LeaseContainer": lambda c, p, h: c.send(
        "PUT", p, "restype=container&comp=lease",
        {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1", **h},
    ),
}  # fmt: skip

serial = itertools.count(1)


def tag_value(text: str, etag: str) -> str:
    values = {"current": etag, "other": OTHER, "garbage": '"garbage"', "*": "*"}
    return ", ".join(values[part] for part in text.split("|"))


def date_value(text: str, modified: str) -> str:
    moment = parsedate_to_datetime(modified) + OFFSETS[text]
    return moment.strftime("%a, %d %b %Y %H:%M:%S GMT")


def given(row: dict[str, str], etag: str, modified: str) -> dict[str, str]:
    out = {}
    for column, header in HEADERS.items():
        text = row.get(column, "-")
        if text != "-":
            date = column.endswith("since")
            out[header] = date_value(text, modified) if date else tag_value(text, etag)
    return out


@pytest.fixture(scope="module")
def box(client) -> str:
    client.create_container("conditioncells")
    return "/conditioncells"


@pytest.fixture(scope="module")
def standing(client, box):
    """One blob that reads share."""
    answer = client.put(f"{box}/standing", b"x").expect(201)
    return f"{box}/standing", answer.etag, answer.headers["last-modified"]


@pytest.fixture(scope="module")
def standing_pages(client, box):
    """One page blob that reads share."""
    answer = kinds.create(client, f"{box}/standing-pages", "GetPageRanges")
    return f"{box}/standing-pages", answer.etag, answer.headers["last-modified"]


READS_ALL = {**READS, **kinds.PAGE_READS}
READ_ROWS = [(row, op) for row in rows("conditions_read") for op in READS_ALL]


@pytest.mark.parametrize(
    ("row", "operation"),
    READ_ROWS,
    ids=[f"{o}-{label(r, 'version', *HEADERS, 'blob')}" for r, o in READ_ROWS],
)
def test_read(client, box, standing, standing_pages, row, operation):
    path, etag, modified = standing_pages if operation in kinds.PAGE_READS else standing
    headers = given(row, etag, modified)
    if row["blob"] == "missing":
        path = f"{box}/nothing"
    version = None if row["version"] == "latest" else row["version"]
    answer = READS_ALL[operation](client, path, headers, version=version)
    status = int(row["status"])
    answer.expect(status, None if row["outcome"] == "ok" else row["outcome"])
    if status == 304:
        assert answer.body == b""


MODIFIES_ALL = {**MODIFIES, **kinds.APPEND, **kinds.PAGE}
WRITE_ROWS = [
    (row, op)
    for row in rows("conditions_write")
    for op in (CREATES if row["kind"] == "create" else MODIFIES_ALL)
]


@pytest.mark.parametrize(
    ("row", "operation"),
    WRITE_ROWS,
    ids=[f"{o}-{label(r, 'lease', *HEADERS, 'blob')}" for r, o in WRITE_ROWS],
)
def test_write(client, box, row, operation):
    path = f"{box}/w{next(serial):05d}"
    etag, modified = OTHER, "Sun, 01 Jan 2023 00:00:00 GMT"
    if row["blob"] == "exists":
        made = kinds.create(client, path, operation)
        etag, modified = made.etag, made.headers["last-modified"]
    elif next(serial) % 2:
        # A blob that only has staged blocks counts as missing.
        client.put_block(path, BLOCK, b"staged").expect(201)
    headers = given(row, etag, modified)
    if row["lease"] == "holder":
        client.lease(path, "acquire", duration=-1, proposed=A).expect(201)
        headers["x-ms-lease-id"] = A
    answer = (CREATES | MODIFIES_ALL)[operation](client, path, headers)
    if row["status"] == "ok":
        answer.expect((200, 201, 202))
        return
    answer.expect(int(row["status"]), row["outcome"])
    if row["blob"] == "exists":
        after = client.get(path).expect(200)
        assert (after.etag, set(after.body)) == (etag, kinds.filled_with(operation)), "a refused write changes nothing"
    else:
        client.head(path).expect(404)


CONTAINER_ROWS = [(row, op) for row in rows("conditions_container") for op in CONTAINER]


@pytest.mark.parametrize(
    ("row", "operation"),
    CONTAINER_ROWS,
    ids=[f"{o}-{label(r, 'if_modified_since', 'if_unmodified_since')}" for r, o in CONTAINER_ROWS],
)
def test_container(client, row, operation):
    path = f"/conditions{next(serial):05d}"
    made = client.create_container(path[1:])
    headers = given(row, made.etag, made.headers["last-modified"])
    answer = CONTAINER[operation](client, path, headers)
    if row["status"] == "ok":
        answer.expect((200, 201, 202))
    else:
        answer.expect(int(row["status"]), row["outcome"])
        assert client.head(path, query="restype=container").expect(200).etag == made.etag
