"""Optimistic concurrency through the Python SDK: ETags, dates, and who wins."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceModifiedError

PAST = datetime.now(UTC) - timedelta(minutes=10)
FUTURE = datetime.now(UTC) + timedelta(minutes=10)
OTHER = '"0x8D0000000000001"'


@pytest.fixture
def made(blob):
    blob.upload_blob(b"first", metadata={"v": "1"})
    return blob


WRITES = {
    "upload": lambda b, **kw: b.upload_blob(b"second", overwrite=True, **kw),
    "metadata": lambda b, **kw: b.set_blob_metadata({"v": "2"}, **kw),
    "headers": lambda b, **kw: b.set_http_headers(None, **kw),
    "delete": lambda b, **kw: b.delete_blob(**kw),
    "commit": lambda b, **kw: b.commit_block_list([], **kw),
    "lease": lambda b, **kw: b.acquire_lease(15, **kw),
}


@pytest.mark.parametrize("operation", WRITES)
@pytest.mark.parametrize("holds", [True, False], ids=["holds", "fails"])
@pytest.mark.parametrize("condition", ["match", "none_match", "modified", "unmodified"])
def test_write_condition(made, operation, condition, holds):
    etag = made.get_blob_properties().etag
    if condition == "match":
        given = {
            "etag": etag if holds else OTHER,
            "match_condition": MatchConditions.IfNotModified,
        }
    elif condition == "none_match":
        given = {"etag": OTHER if holds else etag, "match_condition": MatchConditions.IfModified}
    elif condition == "modified":
        given = {"if_modified_since": PAST if holds else FUTURE}
    else:
        given = {"if_unmodified_since": FUTURE if holds else PAST}
    if holds:
        WRITES[operation](made, **given)
        return
    with pytest.raises(HttpResponseError) as error:
        WRITES[operation](made, **given)
    assert (error.value.status_code, str(error.value.error_code)) in (
        (412, "ConditionNotMet"),
        (412, "StorageErrorCode.CONDITION_NOT_MET"),
        (412, "StorageErrorCode.condition_not_met"),
    )
    assert made.get_blob_properties().etag == etag, "a failed condition changes nothing"


READS = {
    "download": lambda b, **kw: b.download_blob(**kw).readall(),
    "properties": lambda b, **kw: b.get_blob_properties(**kw),
}


@pytest.mark.parametrize("operation", READS)
@pytest.mark.parametrize(
    ("condition", "status"),
    [("match", 412), ("none_match", 304), ("modified", 304), ("unmodified", 412)],
)
def test_read_condition(made, operation, condition, status, refused):
    etag = made.get_blob_properties().etag
    good = {
        "match": {"etag": etag, "match_condition": MatchConditions.IfNotModified},
        "none_match": {"etag": OTHER, "match_condition": MatchConditions.IfModified},
        "modified": {"if_modified_since": PAST},
        "unmodified": {"if_unmodified_since": FUTURE},
    }[condition]
    bad = {
        "match": {"etag": OTHER, "match_condition": MatchConditions.IfNotModified},
        "none_match": {"etag": etag, "match_condition": MatchConditions.IfModified},
        "modified": {"if_modified_since": FUTURE},
        "unmodified": {"if_unmodified_since": PAST},
    }[condition]
    READS[operation](made, **good)
    with refused(status, "ConditionNotMet"):
        READS[operation](made, **bad)


def test_create_only_once(blob, refused):
    blob.upload_blob(b"first")
    with refused(409, "BlobAlreadyExists"):
        blob.upload_blob(b"second", overwrite=False)
    with refused(409, "BlobAlreadyExists"):
        blob.commit_block_list([], match_condition=MatchConditions.IfMissing)


def test_if_match_on_missing_blob(blob, refused):
    with refused(412, "ConditionNotMet"):
        blob.upload_blob(
            b"x", overwrite=True, etag=OTHER, match_condition=MatchConditions.IfNotModified
        )
    with refused(412, "ConditionNotMet"):
        blob.upload_blob(b"x", overwrite=True, match_condition=MatchConditions.IfPresent)


def test_the_wiki_page_scenario(blob):
    """Two users read one version; the first to write wins, the second is told."""
    blob.upload_blob(b"Hello World!")
    mine = blob.get_blob_properties().etag
    blob.upload_blob(b"Blob updated by a third party.", overwrite=True)
    with pytest.raises(ResourceModifiedError) as error:
        blob.upload_blob(
            b"mine", overwrite=True, etag=mine, match_condition=MatchConditions.IfNotModified
        )
    assert error.value.status_code == 412
    assert blob.download_blob().readall() == b"Blob updated by a third party."


def test_chunked_download_notices_an_overwrite(box, refused):
    """The SDK pins the ETag of the first chunk; a later overwrite must not mix versions."""
    data = b"1" * (40 * 1024 * 1024)
    blob = box.get_blob_client("big")
    blob.upload_blob(data)
    stream = blob.download_blob(max_concurrency=1)
    chunks = stream.chunks()
    first = next(chunks)
    blob.upload_blob(b"2" * len(data), overwrite=True)
    with refused(412, "ConditionNotMet"):
        for chunk in chunks:
            assert set(chunk) == {ord("1")}
    assert set(first) == {ord("1")}
