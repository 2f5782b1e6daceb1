"""Operations that need an append blob or a page blob, and how to make one."""

from __future__ import annotations

APPEND = {
    "AppendBlock": lambda c, p, h: c.send("PUT", p, "comp=appendblock", h, b"x"),
    "SealBlob": lambda c, p, h: c.send("PUT", p, "comp=seal", h),
}
PAGE = {
    "PutPage": lambda c, p, h: c.send(
        "PUT", p, "comp=page",
        {"x-ms-page-write": "update", "x-ms-range": "bytes=0-511", **h}, b"x" * 512,
    ),
}  # fmt: skip
PAGE_READS = {"GetPageRanges": lambda c, p, h, **kw: c.get(p, h, "comp=pagelist", **kw)}
OPERATIONS = {**APPEND, **PAGE, **PAGE_READS}


def create(client, path: str, operation: str):
    """A blob of the kind that the operation is for; a block blob where any will do."""
    if operation in APPEND:
        return client.send("PUT", path, "", {"x-ms-blob-type": "AppendBlob"}).expect(201)
    if operation in PAGE or operation in PAGE_READS:
        headers = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "1024"}
        return client.send("PUT", path, "", headers).expect(201)
    return client.put(path, b"x").expect(201)


def filled_with(operation: str) -> set[int]:
    """The bytes that occur in a blob fresh from `create`."""
    if operation in APPEND:
        return set()
    return {0} if operation in PAGE or operation in PAGE_READS else {ord("x")}
