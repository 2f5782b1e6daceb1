"""The last access to blobs: shown where the account remembers it, written down behind the reads."""

from __future__ import annotations

import time

from harness import Client, Server

HEADER = "x-ms-last-access-time"
LIST = "restype=container&comp=list"


def test_writes_and_reads_are_remembered():
    with Server() as own:
        client = Client(own.url)
        client.create_container("con1")
        etag = client.put("/con1/old", b"x").expect(201).etag
        client.get("/con1/old").expect(200)
        assert HEADER not in client.head("/con1/old").headers
        own.stop()
        own.args = ["--setting", "last-access=true"]
        own.start()
        client = Client(own.url)
        client.put("/con1/new", b"x").expect(201)
        assert HEADER in client.head("/con1/new").headers
        assert HEADER not in client.head("/con1/old").headers, "properties are no access"
        client.get("/con1/old").expect(200)
        deadline = time.monotonic() + 20
        while HEADER not in client.head("/con1/old").headers:
            assert time.monotonic() < deadline, "the read was never written down"
            time.sleep(0.1)
        shown = client.get("/con1/old").expect(200).headers
        assert shown["etag"] == etag, "an access changes nothing else"
        listing = client.get("/con1", query=LIST).body.decode()
        assert listing.count("<LastAccessTime>") == 2
        own.kill()
        own.start()
        assert Client(own.url).head("/con1/old").headers[HEADER] == shown[HEADER]
