"""kill -9 while copies are under way: they go on where they were, and end."""

from __future__ import annotations

import hashlib
import time

from harness import DEV_ACCOUNT, Client, Server

MIB = 1024 * 1024
SIZE = 24 * MIB


def progress(client: Client, blob: str) -> tuple[str, int]:
    seen = client.head(f"/box/{blob}").expect(200)
    return seen.headers["x-ms-copy-status"], int(seen.headers["x-ms-copy-progress"].split("/")[0])


def wait(condition, seconds: float = 60):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("waited in vain")


def test_copies_go_on_after_a_kill(tmp_path):
    body = b"".join(hashlib.sha256(b"%d" % n).digest() * 32 for n in range(SIZE // 1024))
    location = str(tmp_path)
    copies = ("blocks", "whole", "disk")
    with Server("--copy-bytes-per-second", str(8 * MIB), location=location) as server:
        client = Client(server.url)
        client.create_container("box")
        ids = []
        for number in range(6):
            part = body[number * 4 * MIB : (number + 1) * 4 * MIB]
            client.put_block("/box/blocks", f"AAA{number}", part).expect(201)
            ids.append(f"AAA{number}")
        client.put_block_list("/box/blocks", ids).expect(201)
        client.put("/box/whole", body).expect(201)
        size = {"x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": str(2 * SIZE)}
        client.put("/box/disk", b"", headers=size).expect(201)
        for number in range(6):
            offset = number * 8 * MIB
            headers = {
                "x-ms-page-write": "update",
                "x-ms-range": f"bytes={offset}-{offset + 4 * MIB - 1}",
            }
            part = body[number * 4 * MIB : (number + 1) * 4 * MIB]
            client.send("PUT", "/box/disk", "comp=page", headers, part).expect(201)
        base = f"{server.url}/{DEV_ACCOUNT}/box"
        for blob in copies:
            headers = {"x-ms-copy-source": f"{base}/{blob}"}
            started = client.send("PUT", f"/box/{blob}-copy", headers=headers).expect(202)
            assert started.headers["x-ms-copy-status"] == "pending"
        wait(lambda: all(progress(client, f"{blob}-copy")[1] > 0 for blob in copies))
        before = {blob: progress(client, f"{blob}-copy") for blob in copies}
        server.kill()
    assert all(status == "pending" for status, _ in before.values()), before
    with Server("--copy-bytes-per-second", str(64 * MIB), location=location) as server:
        client = Client(server.url)
        for blob in copies:
            assert progress(client, f"{blob}-copy")[1] >= before[blob][1], "it starts anew"
        wait(lambda: all(progress(client, f"{blob}-copy")[0] == "success" for blob in copies))
        for blob in copies:
            client.delete(f"/box/{blob}").expect(202)
        assert client.get("/box/whole-copy").body == body
        assert client.get("/box/blocks-copy").body == body
        listed = client.get("/box/blocks-copy", query="comp=blocklist").xml()
        assert [b.findtext("Size") for b in listed.iter("Block")] == [str(4 * MIB)] * 6
        disk = client.get("/box/disk-copy").body
        for number in range(6):
            at = number * 8 * MIB
            assert disk[at : at + 4 * MIB] == body[number * 4 * MIB : (number + 1) * 4 * MIB]
            assert not any(disk[at + 4 * MIB : at + 8 * MIB : 4096])
        ranges = client.get("/box/disk-copy", query="comp=pagelist").xml()
        assert len(ranges.findall("PageRange")) == 6
