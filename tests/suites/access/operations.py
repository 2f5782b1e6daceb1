"""Every operation that can be attempted, and which permissions let it pass.

The letters are those of the service's permission tables; an empty set means that no SAS of that
kind ever suffices.
"""

from __future__ import annotations

from dataclasses import dataclass

CONTAINER = "restype=container"
BLOCK = "MDAwMQ=="
LEASE = "aaaaaaaa-1111-1111-1111-111111111111"
PUT_BLOB = {"x-ms-blob-type": "BlockBlob"}
PUT_APPEND = (("x-ms-blob-type", "AppendBlob"),)
TAGS = "<Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>"
WHERE = "comp=blobs&where=k%3D%27v%27"
PROPERTIES = "restype=service&comp=properties"
# Blobs that are made for the operations on them, and how.
KINDS = {
    "append": {"x-ms-blob-type": "AppendBlob"},
    "page": {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "1024"},
}
PAGE = (("x-ms-range", "bytes=0-511"),)


@dataclass(frozen=True)
class Operation:
    """`level` is the resource type of an account SAS: s, c or o, or each of several."""

    name: str
    method: str
    where: str
    query: str
    level: str
    account: str
    service: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""

    def path(self, box: str) -> str:
        places = {"root": "/", "box": f"/{box}", "box-new": f"/{box}-new"}
        places |= {kind: f"/{box}/{kind}" for kind in KINDS}
        return places.get(self.where) or f"/{box}/{'b' if self.where == 'blob' else 'new'}"

    @property
    def writes(self) -> bool:
        return self.method not in ("GET", "HEAD")


def lease(action: str, **fields: str) -> tuple[tuple[str, str], ...]:
    given = {"x-ms-lease-action": action}
    given.update({f"x-ms-{name.replace('_', '-')}": value for name, value in fields.items()})
    return tuple(given.items())


ACQUIRE = lease("acquire", lease_duration="15")
OPERATIONS = [
    Operation("ListContainers", "GET", "root", "comp=list", "s", "l", ""),
    Operation("CreateContainer", "PUT", "box-new", CONTAINER, "c", "cw", ""),
    Operation("GetContainerProperties", "GET", "box", CONTAINER, "c", "r", ""),
    Operation("HeadContainerProperties", "HEAD", "box", CONTAINER, "c", "r", ""),
    Operation("GetContainerMetadata", "GET", "box", f"{CONTAINER}&comp=metadata", "c", "r", ""),
    Operation("SetContainerMetadata", "PUT", "box", f"{CONTAINER}&comp=metadata", "c", "w", ""),
    Operation("GetContainerAcl", "GET", "box", f"{CONTAINER}&comp=acl", "c", "", ""),
    Operation("SetContainerAcl", "PUT", "box", f"{CONTAINER}&comp=acl", "c", "", ""),
    Operation("LeaseContainer", "PUT", "box", f"{CONTAINER}&comp=lease", "c", "w", "", ACQUIRE),
    Operation("DeleteContainer", "DELETE", "box", CONTAINER, "c", "d", ""),
    Operation("ListBlobs", "GET", "box", f"{CONTAINER}&comp=list", "c", "l", "l"),
    Operation("GetBlob", "GET", "blob", "", "o", "r", "r"),
    Operation("GetBlobProperties", "HEAD", "blob", "", "o", "r", "r"),
    Operation("GetBlobMetadata", "GET", "blob", "comp=metadata", "o", "r", "r"),
    Operation("GetBlockList", "GET", "blob", "comp=blocklist", "o", "r", "r"),
    Operation("PutBlobNew", "PUT", "new", "", "o", "cw", "cw", tuple(PUT_BLOB.items()), "x"),
    Operation("PutBlobOver", "PUT", "blob", "", "o", "w", "w", tuple(PUT_BLOB.items()), "x"),
    Operation("PutBlock", "PUT", "blob", f"comp=block&blockid={BLOCK}", "o", "w", "w", (), "x"),
    Operation("PutBlockList", "PUT", "blob", "comp=blocklist", "o", "w", "w", (), "<BlockList/>"),
    Operation("SetBlobMetadata", "PUT", "blob", "comp=metadata", "o", "w", "w"),
    Operation("SetBlobProperties", "PUT", "blob", "comp=properties", "o", "w", "w"),
    Operation("LeaseBlob", "PUT", "blob", "comp=lease", "o", "w", "w", ACQUIRE),
    Operation("BreakLease", "PUT", "blob", "comp=lease", "o", "wd", "wd", lease("break")),
    Operation("DeleteBlob", "DELETE", "blob", "", "o", "d", "d"),
    Operation("SnapshotBlob", "PUT", "blob", "comp=snapshot", "o", "cw", "cw"),
    Operation("UndeleteBlob", "PUT", "blob", "comp=undelete", "o", "w", "w"),
    Operation("PutAppendBlobNew", "PUT", "new", "", "o", "cw", "cw", PUT_APPEND),
    Operation("AppendBlock", "PUT", "append", "comp=appendblock", "o", "aw", "aw", (), "x"),
    Operation("SealBlob", "PUT", "append", "comp=seal", "o", "w", "w"),
    Operation("PutPageBlobNew", "PUT", "new", "", "o", "cw", "cw", tuple(KINDS["page"].items())),
    Operation("PutPage", "PUT", "page", "comp=page", "o", "w", "w",
              (("x-ms-page-write", "update"), *PAGE), "x" * 512),
    Operation("ClearPages", "PUT", "page", "comp=page", "o", "w", "w",
              (("x-ms-page-write", "clear"), *PAGE)),
    Operation("GetPageRanges", "GET", "page", "comp=pagelist", "o", "r", "r"),
    Operation("SetBlobTier", "PUT", "blob", "comp=tier", "o", "w", "w",
              (("x-ms-access-tier", "Cool"),)),
    Operation("GetBlobTags", "GET", "blob", "comp=tags", "o", "t", "t"),
    Operation("SetBlobTags", "PUT", "blob", "comp=tags", "o", "t", "t", (), TAGS),
    Operation("FindBlobsByTags", "GET", "root", WHERE, "os", "f", ""),
    Operation("FindInContainer", "GET", "box", f"{CONTAINER}&{WHERE}", "oc", "f", "f"),
    Operation("GetServiceProperties", "GET", "root", PROPERTIES, "s", "r", ""),
    Operation("SetServiceProperties", "PUT", "root", PROPERTIES, "s", "w", "", (),
              "<StorageServiceProperties/>"),
]  # fmt: skip
LETTERS = "racwdxyltfmeopi"
