"""Everything that can be seen of a box: to show that nothing changed, or only what should have.

`seen` has ETags, times and ids in it; `scrubbed` takes them out, so that two runs can be compared.
"""

from __future__ import annotations

import re

from .operations import CONTAINER, FOLDER, PROPERTIES, SHARE, Box
from .wire import Reply

HEADERS = (
    "etag", "content-length", "content-type", "x-ms-lease-state", "x-ms-lease-status", "x-ms-blob-type",
    "x-ms-blob-sealed", "x-ms-access-tier", "x-ms-legal-hold", "x-ms-immutability-policy-mode",
    "x-ms-share-quota", "x-ms-file-attributes", "x-ms-approximate-messages-count", "x-ms-meta-a",
    "x-ms-blob-public-access", "x-ms-tag-count",
)  # fmt: skip
ALL = "snapshots,metadata,uncommittedblobs,copy,deleted,tags,versions,immutabilitypolicy,legalhold"
VOLATILE = (
    r"W/\"datetime'[^']*'\"|W/&quot;[^&]*&quot;|\"?0x[0-9A-Fa-f]{8,}\"?",
    r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT",
    r"\d{4}-\d\d-\d\dT\d\d(?::|%3A)\d\d(?::|%3A)\d\d(?:\.\d+)?Z",
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    r"<(Version|PopReceipt|FileId|ParentId|DirectoryId|PermissionKey|CopyId|RemainingRetentionDays)>[^<]*",
    # Times end at their last digit that is no zero.
    r"content-length=\d+ (?=content-type=application/(?:xml|json))",
    r" (DirectoryId|ParentId)=\"[^\"]*\"",
)


def scrubbed(seen: list[str], box: str) -> list[str]:
    """Without what differs from one run to the next."""
    out = []
    for text in seen:
        for pattern in VOLATILE:
            text = re.sub(pattern, "~", text)
        out.append(text.replace(box, "{box}"))
    return out


def line(reply: Reply, *, with_body: bool = True) -> str:
    headers = [f"{name}={reply.headers[name]}" for name in HEADERS if name in reply.headers]
    body = reply.body.decode("utf-8", "replace") if with_body and reply.status < 300 else ""
    # Addresses in listings have the port of the server in them.
    body = re.sub(r"http://127\.0\.0\.1:\d+", "http://host", body)
    return f"{reply.status} {' '.join(headers)} {body}"


def seen(box: Box) -> list[str]:
    """One line for each thing that can be asked of the box."""
    return {"blob": blob, "queue": queue, "table": table, "file": file}[box.service](box)


def asked(box: Box, path: str, query: str = "", **kw) -> str:
    if "{" in box.fill(path):
        return ""
    return line(box.client.send("GET", box.fill(path), box.fill(query), kw.pop("headers", {})), **kw)


def blob(box: Box) -> list[str]:
    lines = [
        asked(box, "/", "comp=list&prefix={box}&include=metadata,deleted"),
        asked(box, "/", PROPERTIES),
        asked(box, "/{box}", CONTAINER),
        asked(box, "/{box}", f"{CONTAINER}&comp=acl"),
        asked(box, "/{box}", f"{CONTAINER}&comp=list&include={ALL}"),
        asked(box, "/{box}/b", "comp=blocklist&blocklisttype=all"),
    ]
    return lines + [asked(box, f"/{{box}}/{name}") for name in ("b", "new", "append", "page")]


def queue(box: Box) -> list[str]:
    return [
        asked(box, "/", "comp=list&prefix={box}&include=metadata"),
        asked(box, "/", PROPERTIES),
        asked(box, "/{box}", "comp=metadata"),
        asked(box, "/{box}", "comp=acl"),
        asked(box, "/{box}/messages", "peekonly=true&numofmessages=32"),
    ]


def table(box: Box) -> list[str]:
    full = {"Accept": "application/json;odata=fullmetadata"}
    return [
        asked(box, "/", PROPERTIES),
        asked(box, "/Tables('{box}')"),
        asked(box, "/Tables('{box}new')"),
        asked(box, "/{box}", "comp=acl"),
        asked(box, "/{box}()", headers=full),
    ]


def file(box: Box) -> list[str]:
    lines = [
        asked(box, "/", "comp=list&prefix={box}&include=metadata,snapshots,deleted"),
        asked(box, "/", PROPERTIES),
        asked(box, "/{box}", SHARE),
        asked(box, "/{box}", f"{SHARE}&comp=acl"),
        asked(box, "/{box}", f"{FOLDER}&comp=list"),
        asked(box, "/{box}/f", "comp=rangelist"),
    ]
    lines += [asked(box, f"/{{box}}/{name}", FOLDER) for name in ("d", "d2")]
    return lines + [asked(box, f"/{{box}}/{name}") for name in ("f", "new")]
