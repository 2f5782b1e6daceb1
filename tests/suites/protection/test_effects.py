"""What changes the ETag and Last-Modified of a blob, and what leaves both alone."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

TAGS = "<Tags><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tags>"
QUERY = (
    "<QueryRequest><QueryType>SQL</QueryType><Expression>SELECT * FROM BlobStorage"
    "</Expression></QueryRequest>"
)
UNTIL = {"x-ms-immutability-policy-until-date": formatdate(time.time() + 3600, usegmt=True)}
PAGE = {"x-ms-page-write": "update", "x-ms-range": "bytes=0-511"}
KINDS = {
    "block": {"x-ms-blob-type": "BlockBlob"},
    "append": {"x-ms-blob-type": "AppendBlob"},
    "page": {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "512"},
}
EFFECTS = [
    ("PutBlob", "block", True, lambda c, p: c.put(p, b"y")),
    ("PutBlockList", "block", True, lambda c, p: c.send("PUT", p, "comp=blocklist", {}, "<BlockList/>")),
    ("SetBlobProperties", "block", True, lambda c, p: c.send("PUT", p, "comp=properties")),
    ("SetBlobMetadata", "block", True, lambda c, p: c.send("PUT", p, "comp=metadata")),
    ("AppendBlock", "append", True, lambda c, p: c.send("PUT", p, "comp=appendblock", {}, b"x")),
    ("SealBlob", "append", True, lambda c, p: c.send("PUT", p, "comp=seal")),
    ("PutPage", "page", True, lambda c, p: c.send("PUT", p, "comp=page", PAGE, b"x" * 512)),
    ("ClearPages", "page", True,
     lambda c, p: c.send("PUT", p, "comp=page", {**PAGE, "x-ms-page-write": "clear"})),
    ("Resize", "page", True,
     lambda c, p: c.send("PUT", p, "comp=properties", {"x-ms-blob-content-length": "1024"})),
    ("PutBlock", "block", False, lambda c, p: c.put_block(p, "MQ==", b"y")),
    ("SnapshotBlob", "block", False, lambda c, p: c.send("PUT", p, "comp=snapshot")),
    ("SetBlobTier", "block", False,
     lambda c, p: c.send("PUT", p, "comp=tier", {"x-ms-access-tier": "Cool"})),
    ("SetBlobTags", "block", False, lambda c, p: c.send("PUT", p, "comp=tags", {}, TAGS)),
    ("LeaseBlob", "block", False, lambda c, p: c.lease(p, "acquire", duration=15)),
    ("SetBlobImmutabilityPolicy", "block", False,
     lambda c, p: c.send("PUT", p, "comp=immutabilityPolicies", UNTIL)),
    ("DeleteBlobImmutabilityPolicy", "block", False,
     lambda c, p: c.send("DELETE", p, "comp=immutabilityPolicies")),
    ("SetBlobLegalHold", "block", False,
     lambda c, p: c.send("PUT", p, "comp=legalhold", {"x-ms-legal-hold": "false"})),
    ("QueryBlobContents", "block", False, lambda c, p: c.send("POST", p, "comp=query", {}, QUERY)),
    ("GetBlob", "block", False, lambda c, p: c.get(p)),
    ("GetBlockList", "block", False, lambda c, p: c.get(p, query="comp=blocklist")),
    ("GetPageRanges", "page", False, lambda c, p: c.get(p, query="comp=pagelist")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("_name", "kind", "changes", "send"), EFFECTS, ids=[row[0] for row in EFFECTS]
)
def test_effect(immutable, name, _name, kind, changes, send):
    immutable.create_container(name)
    path = f"/{name}/b"
    immutable.send("PUT", path, "", KINDS[kind]).expect(201)
    before = immutable.head(path).headers
    answer = send(immutable, path)
    assert answer.status in (200, 201, 204), answer
    after = immutable.head(path).headers
    assert (after["etag"] != before["etag"]) == changes
    if not changes:
        assert after["last-modified"] == before["last-modified"]
    if changes:
        assert answer.etag == after["etag"]
