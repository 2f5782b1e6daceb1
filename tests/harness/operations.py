"""Every operation of every service as one request, and what a box must hold for it.

The lists are compared with the closed enums in the code (`kinds_in_code`), so that an operation
without a row here is a failure. Never says what an answer is worth: tests do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .server import Server
from .signing import DEV_ACCOUNT, service_sas
from .wire import Client, Reply
from .writers import TableClient

ROOT = Path(__file__).resolve().parents[2]
SERVICES = ("blob", "queue", "table", "file")
CONTAINER, SHARE, FOLDER = "restype=container", "restype=share", "restype=directory"
PROPERTIES = "restype=service&comp=properties"
STATS = "restype=service&comp=stats"
KEY = "restype=service&comp=userdelegationkey"
BLOCK = "MDAwMQ=="
ACL = ("<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy><Permission>r</Permission>"
       "</AccessPolicy></SignedIdentifier></SignedIdentifiers>")  # fmt: skip
MESSAGE = "<QueueMessage><MessageText>new</MessageText></QueueMessage>"
TAGS = "<Tags><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tags>"
JSON = {"Content-Type": "application/json"}
META = {"x-ms-meta-a": "1"}
ACQUIRE = {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1"}
BREAK = {"x-ms-lease-action": "break"}
LATER = "Fri, 01 Jan 2100 00:00:00 GMT"
SETTINGS = ("container-retention-days=7", "blob-retention-days=7", "version-immutability=true")
KEEP_SHARES = ("<StorageServiceProperties><ShareDeleteRetentionPolicy><Enabled>true</Enabled><Days>7</Days>"
               "</ShareDeleteRetentionPolicy></StorageServiceProperties>")  # fmt: skip
FILE = {"x-ms-type": "file", "x-ms-content-length": "1024"}
QUERY = ("<QueryRequest><QueryType>SQL</QueryType><Expression>SELECT * from BlobStorage"
         "</Expression></QueryRequest>")  # fmt: skip
DELEGATION = "<KeyInfo><Start>2026-01-01T00:00:00Z</Start><Expiry>2099-01-01T00:00:00Z</Expiry></KeyInfo>"


@dataclass(frozen=True)
class Call:
    """One request; `{box}` and what `prepare` returns are filled in.

    `good`: what the account's key gets. `writes`: something to see is different afterwards.
    """

    service: str
    kind: str
    method: str
    path: str
    query: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    good: tuple[int, ...] = (200, 201, 202, 204, 206)
    writes: bool | None = None
    prepare: Callable[[Box], dict[str, str]] | None = None

    @property
    def changes(self) -> bool:
        return self.writes if self.writes is not None else self.method not in ("GET", "HEAD")

    def __str__(self) -> str:
        return f"{self.service}-{self.kind}"


class Box:
    """A container, queue, table or share of its own, with something in it."""

    def __init__(self, server: Server, service: str, name: str, client: Client | None = None) -> None:
        self.server, self.service, self.name = server, service, name
        self.client = client or client_of(server, service)
        self.values = {"box": name, "account": DEV_ACCOUNT}

    def key(self, method: str, path: str, query: str = "", headers: dict | None = None, body="") -> Reply:
        return self.client.send(method, self.fill(path), self.fill(query), headers or {}, self.fill(body))

    def fill(self, text: str) -> str:
        for name, value in self.values.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def url(self, path: str) -> str:
        base = {"blob": self.server.url, "file": self.server.file_url}[self.service]
        return f"{base}/{DEV_ACCOUNT}{self.fill(path)}"

    def prepare(self, call: Call) -> None:
        {"blob": self._blob, "queue": self._queue, "table": self._table, "file": self._file}[self.service]()
        if call.prepare:
            self.values |= call.prepare(self)

    def _blob(self) -> None:
        self.key("PUT", "/{box}", CONTAINER).expect(201)
        self.key("PUT", "/{box}/b", "comp=block&blockid=MDAwMg==", {}, "secret").expect(201)
        rows = "<BlockList><Latest>MDAwMg==</Latest></BlockList>"
        self.key("PUT", "/{box}/b", "comp=blocklist", {}, rows).expect(201)
        self.values["source"] = self.url("/{box}/b?") + service_sas(self.name, "b", permissions="r")

    def _queue(self) -> None:
        self.key("PUT", "/{box}").expect(201)
        (message,) = self.key("POST", "/{box}/messages", "", {}, MESSAGE.replace("new", "secret")).expect(201).xml()
        self.values["id"] = message.findtext("MessageId")
        self.values["receipt"] = message.findtext("PopReceipt").replace("+", "%2B").replace("/", "%2F")

    def _table(self) -> None:
        self.key("POST", "/Tables", "", JSON, json.dumps({"TableName": self.name})).expect(201)
        entity = json.dumps({"PartitionKey": "p", "RowKey": "r", "V": "secret"})
        self.key("POST", "/{box}", "", JSON, entity).expect(201)

    def _file(self) -> None:
        self.key("PUT", "/{box}", SHARE).expect(201)
        self.key("PUT", "/{box}/d", FOLDER).expect(201)
        self.key("PUT", "/{box}/f", "", FILE).expect(201)
        headers = {"x-ms-write": "update", "x-ms-range": "bytes=0-5"}
        self.key("PUT", "/{box}/f", "comp=range", headers, "secret").expect(201)


def client_of(server: Server, service: str, **kw) -> Client:
    if service == "table":
        return TableClient(server.table_url, version="2019-02-02", **kw)
    urls = {"blob": server.url, "queue": server.queue_url, "file": server.file_url}
    return Client(urls[service], **kw)


# -- what some operations need first -----------------------------------------------------------


def doing(*requests: tuple) -> Callable[[Box], dict[str, str]]:
    def run(box: Box) -> dict[str, str]:
        for request in requests:
            box.key(*request).expect((200, 201, 202, 204))
        return {}

    return run


APPEND = doing(("PUT", "/{box}/append", "", {"x-ms-blob-type": "AppendBlob"}))
PAGE = doing(("PUT", "/{box}/page", "", {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "1024"}))
LEASED = doing(("PUT", "/{box}/b", "comp=lease", ACQUIRE))


def deleted_container(box: Box) -> dict[str, str]:
    doing(("PUT", "/{box}-old", CONTAINER), ("DELETE", "/{box}-old", CONTAINER))(box)
    listed = box.key("GET", "/", f"comp=list&include=deleted&prefix={box.name}-old").expect(200).xml()
    return {"version": listed.find(".//Version").text}


def deleted_share(box: Box) -> dict[str, str]:
    doing(("PUT", "/", PROPERTIES, {}, KEEP_SHARES), ("PUT", "/{box}-old", SHARE), ("DELETE", "/{box}-old", SHARE))(box)
    listed = box.key("GET", "/", f"comp=list&include=deleted&prefix={box.name}-old").expect(200).xml()
    return {"version": listed.find(".//Version").text}


def page_snapshot(box: Box) -> dict[str, str]:
    PAGE(box)
    taken = box.key("PUT", "/{box}/page", "comp=snapshot").expect(201).headers["x-ms-snapshot"]
    return {"moment": box.url("/{box}/page") + f"?snapshot={taken}"}


def permission(box: Box) -> dict[str, str]:
    body = json.dumps({"permission": "O:SYG:SYD:(A;;FA;;;SY)"})
    reply = box.key("PUT", "/{box}", f"{SHARE}&comp=filepermission", JSON, body).expect(201)
    return {"permission": reply.headers["x-ms-file-permission-key"]}


def blob(kind: str, method: str, path: str, query: str = "", headers=None, body: str = "", **kw) -> Call:
    return Call("blob", kind, method, path, query, headers or {}, body, **kw)


def file(kind: str, method: str, path: str, query: str = "", headers=None, body: str = "", **kw) -> Call:
    return Call("file", kind, method, path, query, headers or {}, body, **kw)


def queue(kind: str, method: str, path: str, query: str = "", headers=None, body: str = "", **kw) -> Call:
    return Call("queue", kind, method, path, query, headers or {}, body, **kw)


def table(kind: str, method: str, path: str, query: str = "", headers=None, body: str = "", **kw) -> Call:
    return Call("table", kind, method, path, query, headers or {}, body, **kw)


B, BOX, NEW = "/{box}/b", "/{box}", "/{box}/new"
BLOCK_BLOB, APPEND_BLOB = {"x-ms-blob-type": "BlockBlob"}, {"x-ms-blob-type": "AppendBlob"}
PAGE_BLOB = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "1024"}
FROM = {"x-ms-copy-source": "{source}"}
BATCH = ("--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 0\r\n\r\n"
         "DELETE /{account}/{box}/b HTTP/1.1\r\nContent-Length: 0\r\n\r\n\r\n--b--\r\n")  # fmt: skip
CHANGESET = ("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\nContent-Type: application/http\r\n"
             "Content-Transfer-Encoding: binary\r\n\r\nPOST http://127.0.0.1/{account}/{box} HTTP/1.1\r\n"
             "Content-Type: application/json\r\n\r\n"
             '{"PartitionKey":"p","RowKey":"new","V":"x"}\r\n--c--\r\n--b--\r\n')  # fmt: skip
MIXED = {"Content-Type": "multipart/mixed; boundary=b"}

BLOB_CALLS = (
    blob("ListContainers", "GET", "/", "comp=list&prefix={box}"),
    blob("GetAccountInfo", "GET", "/", "restype=account&comp=properties"),
    blob("GetServiceProperties", "GET", "/", PROPERTIES),
    blob("SetServiceProperties", "PUT", "/", PROPERTIES, {}, "<StorageServiceProperties/>"),
    blob("GetServiceStats", "GET", "/", STATS, good=(200, 400)),
    blob("Batch", "POST", "/", "comp=batch", MIXED, BATCH, writes=False),
    blob("GetUserDelegationKey", "POST", "/", KEY, {}, DELEGATION, good=(403,), writes=False),
    blob("CreateContainer", "PUT", "/{box}-new", CONTAINER),
    blob("GetContainerProperties", "GET", BOX, CONTAINER),
    blob("GetContainerMetadata", "GET", BOX, f"{CONTAINER}&comp=metadata"),
    blob("SetContainerMetadata", "PUT", BOX, f"{CONTAINER}&comp=metadata", META),
    blob("GetContainerAcl", "GET", BOX, f"{CONTAINER}&comp=acl"),
    blob("SetContainerAcl", "PUT", BOX, f"{CONTAINER}&comp=acl", {}, ACL),
    # An empty one: where blobs can be made immutable, a container with blobs stays.
    blob("DeleteContainer", "DELETE", "/{box}-old", CONTAINER, prepare=doing(("PUT", "/{box}-old", CONTAINER))),
    blob("RestoreContainer", "PUT", "/{box}-old", f"{CONTAINER}&comp=undelete",
         {"x-ms-deleted-container-name": "{box}-old", "x-ms-deleted-container-version": "{version}"},
         prepare=deleted_container),
    blob("LeaseContainer", "PUT", BOX, f"{CONTAINER}&comp=lease", ACQUIRE),
    blob("ListBlobs", "GET", BOX, f"{CONTAINER}&comp=list"),
    blob("GetBlob", "GET", B),
    blob("GetBlobProperties", "HEAD", B),
    blob("GetBlobMetadata", "GET", B, "comp=metadata"),
    blob("SetBlobMetadata", "PUT", B, "comp=metadata", META),
    blob("SetBlobProperties", "PUT", B, "comp=properties", {"x-ms-blob-content-type": "a/b"}),
    blob("DeleteBlob", "DELETE", B),
    blob("SnapshotBlob", "PUT", B, "comp=snapshot"),
    blob("UndeleteBlob", "PUT", B, "comp=undelete", writes=False),
    blob("LeaseBlob", "PUT", B, "comp=lease", ACQUIRE),
    blob("LeaseBlob", "PUT", B, "comp=lease", BREAK, prepare=LEASED),
    blob("PutBlob", "PUT", NEW, "", BLOCK_BLOB, "new"),
    blob("PutBlob", "PUT", B, "", BLOCK_BLOB, "over"),
    blob("PutAppendBlob", "PUT", NEW, "", APPEND_BLOB),
    blob("PutPageBlob", "PUT", NEW, "", PAGE_BLOB),
    blob("PutPage", "PUT", "/{box}/page", "comp=page",
         {"x-ms-page-write": "update", "x-ms-range": "bytes=0-511"}, "x" * 512, prepare=PAGE),
    blob("GetPageRanges", "GET", "/{box}/page", "comp=pagelist", prepare=PAGE),
    blob("AppendBlock", "PUT", "/{box}/append", "comp=appendblock", {}, "more", prepare=APPEND),
    blob("SealBlob", "PUT", "/{box}/append", "comp=seal", prepare=APPEND),
    blob("PutBlock", "PUT", B, f"comp=block&blockid={BLOCK}", {}, "staged"),
    blob("PutBlockList", "PUT", B, "comp=blocklist", {}, "<BlockList/>"),
    blob("GetBlockList", "GET", B, "comp=blocklist"),
    blob("PutBlobFromUrl", "PUT", NEW, "", {**BLOCK_BLOB, **FROM}),
    blob("PutBlockFromUrl", "PUT", B, f"comp=block&blockid={BLOCK}", FROM),
    blob("AppendBlockFromUrl", "PUT", "/{box}/append", "comp=appendblock", FROM, prepare=APPEND),
    blob("PutPageFromUrl", "PUT", "/{box}/page", "comp=page",
         {"x-ms-copy-source": "{moment}", "x-ms-page-write": "update", "x-ms-range": "bytes=0-511",
          "x-ms-source-range": "bytes=512-1023"},
         prepare=lambda box: {"moment": (page_snapshot(box), box.url("/{box}/page?") + service_sas(box.name, "page", permissions="r"))[1]}),
    blob("CopyBlob", "PUT", NEW, "", FROM),
    blob("CopyBlobFromUrl", "PUT", NEW, "", {**FROM, "x-ms-requires-sync": "true"}),
    blob("AbortCopyBlob", "PUT", B, "comp=copy&copyid=00000000-0000-0000-0000-000000000001",
         {"x-ms-copy-action": "abort"}, good=(409,), writes=False),
    blob("IncrementalCopyBlob", "PUT", NEW, "comp=incrementalcopy", {"x-ms-copy-source": "{moment}"}, prepare=page_snapshot),
    blob("SetBlobExpiry", "PUT", B, "comp=expiry", {"x-ms-expiry-option": "NeverExpire"}, good=(400, 409), writes=False),
    blob("QueryBlobContents", "POST", B, "comp=query", {}, QUERY, writes=False),
    blob("GetBlobTags", "GET", B, "comp=tags"),
    blob("SetBlobTags", "PUT", B, "comp=tags", {}, TAGS),
    blob("SetBlobTier", "PUT", B, "comp=tier", {"x-ms-access-tier": "Cool"}),
    blob("SetBlobImmutabilityPolicy", "PUT", B, "comp=immutabilityPolicies",
         {"x-ms-immutability-policy-until-date": LATER, "x-ms-immutability-policy-mode": "unlocked"}),
    blob("DeleteBlobImmutabilityPolicy", "DELETE", B, "comp=immutabilityPolicies",
         prepare=doing(("PUT", B, "comp=immutabilityPolicies",
                        {"x-ms-immutability-policy-until-date": LATER, "x-ms-immutability-policy-mode": "unlocked"}))),
    blob("SetBlobLegalHold", "PUT", B, "comp=legalhold", {"x-ms-legal-hold": "true"}),
    blob("FindBlobsByTags", "GET", "/", "comp=blobs&where=k%3D%27v%27"),
    blob("FindBlobsByTagsInContainer", "GET", BOX, f"{CONTAINER}&comp=blobs&where=k%3D%27v%27"),
)  # fmt: skip

QUEUE_CALLS = (
    queue("GetServiceProperties", "GET", "/", PROPERTIES),
    queue("SetServiceProperties", "PUT", "/", PROPERTIES, {}, "<StorageServiceProperties/>"),
    queue("GetServiceStats", "GET", "/", STATS, good=(200, 400)),
    queue("GetUserDelegationKey", "POST", "/", KEY, {}, DELEGATION, good=(403,), writes=False),
    queue("ListQueues", "GET", "/", "comp=list&prefix={box}"),
    queue("CreateQueue", "PUT", "/{box}-new"),
    queue("DeleteQueue", "DELETE", BOX),
    queue("GetQueueMetadata", "GET", BOX, "comp=metadata"),
    queue("SetQueueMetadata", "PUT", BOX, "comp=metadata", META),
    queue("GetQueueAcl", "GET", BOX, "comp=acl"),
    queue("SetQueueAcl", "PUT", BOX, "comp=acl", {}, ACL),
    queue("PutMessage", "POST", "/{box}/messages", "", {}, MESSAGE),
    queue("GetMessages", "GET", "/{box}/messages", "visibilitytimeout=3600", writes=True),
    queue("PeekMessages", "GET", "/{box}/messages", "peekonly=true"),
    queue("UpdateMessage", "PUT", "/{box}/messages/{id}", "popreceipt={receipt}&visibilitytimeout=0", {}, MESSAGE),
    queue("DeleteMessage", "DELETE", "/{box}/messages/{id}", "popreceipt={receipt}"),
    queue("ClearMessages", "DELETE", "/{box}/messages"),
)
ENTITY, OTHER = "/{box}(PartitionKey='p',RowKey='r')", "/{box}(PartitionKey='p',RowKey='new')"
CHANGED, MATCH = '{"V":"changed"}', {**JSON, "If-Match": "*"}
TABLE_CALLS = (
    table("GetServiceProperties", "GET", "/", PROPERTIES),
    table("SetServiceProperties", "PUT", "/", PROPERTIES, {}, "<StorageServiceProperties/>"),
    table("GetServiceStats", "GET", "/", STATS, good=(200, 400)),
    table("QueryTables", "GET", "/Tables"),
    table("CreateTable", "POST", "/Tables", "", JSON, '{"TableName":"{box}new"}'),
    table("DeleteTable", "DELETE", "/Tables('{box}')"),
    table("GetTableAcl", "GET", BOX, "comp=acl"),
    table("SetTableAcl", "PUT", BOX, "comp=acl", {}, ACL),
    table("QueryEntities", "GET", "/{box}()"),
    table("GetEntity", "GET", ENTITY),
    table("InsertEntity", "POST", BOX, "", JSON, '{"PartitionKey":"p","RowKey":"new","V":"x"}'),
    table("UpdateEntity", "PUT", ENTITY, "", MATCH, CHANGED),
    table("MergeEntity", "MERGE", ENTITY, "", MATCH, CHANGED),
    table("InsertOrReplaceEntity", "PUT", OTHER, "", JSON, CHANGED),
    table("InsertOrMergeEntity", "MERGE", OTHER, "", JSON, CHANGED),
    table("DeleteEntity", "DELETE", ENTITY, "", {"If-Match": "*"}),
    table("Batch", "POST", "/$batch", "", MIXED, CHANGESET),
)
F, D = "/{box}/f", "/{box}/d"
RANGE = {"x-ms-write": "update", "x-ms-range": "bytes=0-3"}
FILE_CALLS = (
    file("GetServiceProperties", "GET", "/", PROPERTIES),
    file("SetServiceProperties", "PUT", "/", PROPERTIES, {}, "<StorageServiceProperties/>"),
    file("GetUserDelegationKey", "POST", "/", KEY, {}, DELEGATION, good=(403,), writes=False),
    file("ListShares", "GET", "/", "comp=list&prefix={box}"),
    file("CreateShare", "PUT", "/{box}-new", SHARE),
    file("GetShareProperties", "GET", BOX, SHARE),
    file("GetShareMetadata", "GET", BOX, f"{SHARE}&comp=metadata"),
    file("SetShareProperties", "PUT", BOX, f"{SHARE}&comp=properties", {"x-ms-share-quota": "7"}),
    file("SetShareMetadata", "PUT", BOX, f"{SHARE}&comp=metadata", META),
    file("GetShareAcl", "GET", BOX, f"{SHARE}&comp=acl"),
    file("SetShareAcl", "PUT", BOX, f"{SHARE}&comp=acl", {}, ACL),
    file("GetShareStats", "GET", BOX, f"{SHARE}&comp=stats"),
    file("SnapshotShare", "PUT", BOX, f"{SHARE}&comp=snapshot"),
    file("DeleteShare", "DELETE", BOX, SHARE),
    file("RestoreShare", "PUT", "/{box}-old", f"{SHARE}&comp=undelete",
         {"x-ms-deleted-share-name": "{box}-old", "x-ms-deleted-share-version": "{version}"},
         prepare=deleted_share),
    file("LeaseShare", "PUT", BOX, f"{SHARE}&comp=lease", ACQUIRE),
    file("BreakShareLease", "PUT", BOX, f"{SHARE}&comp=lease", BREAK,
         prepare=doing(("PUT", BOX, f"{SHARE}&comp=lease", ACQUIRE))),
    file("CreatePermission", "PUT", BOX, f"{SHARE}&comp=filepermission", JSON,
         '{"permission":"O:SYG:SYD:(A;;FA;;;SY)"}', writes=False),
    file("GetPermission", "GET", BOX, f"{SHARE}&comp=filepermission",
         {"x-ms-file-permission-key": "{permission}"}, prepare=permission),
    file("CreateDirectory", "PUT", "/{box}/d2", FOLDER),
    file("GetDirectoryProperties", "GET", D, FOLDER),
    file("GetDirectoryMetadata", "GET", D, f"{FOLDER}&comp=metadata"),
    file("SetDirectoryProperties", "PUT", D, f"{FOLDER}&comp=properties",
         {"x-ms-file-attributes": "Hidden", "x-ms-file-permission": "preserve",
          "x-ms-file-creation-time": "preserve", "x-ms-file-last-write-time": "preserve"}),
    file("SetDirectoryMetadata", "PUT", D, f"{FOLDER}&comp=metadata", META),
    file("DeleteDirectory", "DELETE", D, FOLDER),
    file("ListDirectory", "GET", BOX, f"{FOLDER}&comp=list"),
    file("RenameDirectory", "PUT", "/{box}/d2", f"{FOLDER}&comp=rename", {"x-ms-file-rename-source": "{folder}"},
         prepare=lambda box: {"folder": box.url(D)}),
    file("ListHandles", "GET", F, "comp=listhandles"),
    file("ForceCloseHandles", "PUT", F, "comp=forceclosehandles", {"x-ms-handle-id": "*"}, writes=False),
    file("CreateFile", "PUT", NEW, "", FILE),
    file("CreateFile", "PUT", F, "", FILE),
    file("GetFile", "GET", F),
    file("GetFileProperties", "HEAD", F),
    file("GetFileMetadata", "GET", F, "comp=metadata"),
    file("SetFileProperties", "PUT", F, "comp=properties", {"x-ms-content-length": "2048"}),
    file("SetFileMetadata", "PUT", F, "comp=metadata", META),
    file("DeleteFile", "DELETE", F),
    file("PutRange", "PUT", F, "comp=range", RANGE, "edit"),
    file("PutRangeFromUrl", "PUT", F, "comp=range",
         {"x-ms-write": "update", "x-ms-range": "bytes=10-15", "x-ms-source-range": "bytes=0-5",
          "x-ms-copy-source": "{from}"},
         prepare=lambda box: {"from": box.url("/{box}/f?") + file_sas(box.name, "f", "r")}),
    file("ListRanges", "GET", F, "comp=rangelist"),
    file("CopyFile", "PUT", NEW, "", {"x-ms-copy-source": "{from}"}, prepare=lambda box: {"from": box.url(F)}),
    file("AbortCopyFile", "PUT", F, "comp=copy&copyid=00000000-0000-0000-0000-000000000001",
         {"x-ms-copy-action": "abort"}, good=(409,), writes=False),
    file("RenameFile", "PUT", NEW, "comp=rename", {"x-ms-file-rename-source": "{from}"},
         prepare=lambda box: {"from": box.url(F)}),
    file("LeaseFile", "PUT", F, "comp=lease", ACQUIRE),
    file("BreakFileLease", "PUT", F, "comp=lease", BREAK, prepare=doing(("PUT", F, "comp=lease", ACQUIRE))),
)  # fmt: skip
CALLS: tuple[Call, ...] = (*BLOB_CALLS, *QUEUE_CALLS, *TABLE_CALLS, *FILE_CALLS)
# Needs no credential: a browser asks it before it may send one.
PUBLIC = {("blob", "Preflight")}


def kinds_in_code() -> set[tuple[str, str]]:
    """Every operation of the closed enums, as the code has them."""
    found = set()
    for service in SERVICES:
        text = (ROOT / "crates" / service / "src" / "operation.rs").read_text()
        if listed := re.search(r"^pub enum Kind \{\n(.*?)^\}", text, re.S | re.M):
            names = re.findall(r"^    (\w+),$", listed[1], re.M)
        else:
            listed = re.search(r"^operations! \{\n(.*?)^\}", text, re.S | re.M)
            names = re.findall(r"^    (\w+)\(", listed[1], re.M)
        assert len(names) > 10, f"{service}: cannot read the list of operations"
        found |= {(service, name) for name in names}
    return found


def file_sas(share: str, path: str | None, permissions: str, **kw) -> str:
    from .tokens import service_token

    return service_token("file", share, path, permissions, **kw)
