"""Operations that need an append blob or a page blob, and how to make one."""

from __future__ import annotations

APPEND = {
    "AppendBlock": lambda c, p, h: c.send("PUT", p, "comp=appendblock", h, b"x"),
    "SealBlob": lambda c, p, h: c.send("PUT", p, "comp=seal", h),
}
PAGE: dict = {}
PAGE_READS: dict = {}
OPERATIONS = {**APPEND, **PAGE, **PAGE_READS}


def create(client, path: str, operation: str):
    """A blob of the kind that the operation is for; a block blob where any will do."""
    if operation in APPEND:
        return client.send("PUT", path, "", {"x-ms-blob-type": "AppendBlob"}).expect(201)
    if operation in PAGE or operation in PAGE_READS:
        headers = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "1024"}
        return client.send("PUT", path, "", headers).expect(201)
    return client.put(path, b"x").expect(201)
