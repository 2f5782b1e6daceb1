"""No space, no descriptors, a clock that went back: refused as Azure would, and over when it is."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import time
from email.utils import parsedate_to_datetime

import pytest
from controls import Controls

from harness import Client, Server, server_command
from harness.power import PowerDisk
from harness.writers import Crew

SEED = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))
MIB = 1024 * 1024
LEASE = "aaaaaaaa-1111-1111-1111-111111111111"


def wait_until(done) -> None:
    deadline = time.monotonic() + 20
    while not done():
        assert time.monotonic() < deadline, "it does not come to that"
        time.sleep(0.01)


def test_a_full_disk_refuses_writes_and_serves_reads_until_there_is_space_again():
    with PowerDisk() as disk, Server(location=f"{disk.path}/data") as server:
        client = Client(server.url)
        client.create_container("full")
        client.put("/full/kept", b"k" * 100_000).expect(201)
        crew = Crew(server, SEED, threads=4, each=1)
        crew.start()
        time.sleep(0.5)
        crew.end()
        disk.space(disk.used())
        refusals, number = set(), 0
        deadline = time.monotonic() + 60
        # What was reserved before is used up first.
        while len(refusals) == 0 or number < 20:
            assert time.monotonic() < deadline, "the disk never was full"
            number += 1
            got = client.put(f"/full/{number}", os.urandom(4 * MIB))
            if got.status != 201:
                refusals.add((got.status, got.code))
        assert all(status in (409, 500, 503) for status, _ in refusals), refusals
        assert crew.verify() == 0, "acknowledged before, and still there"
        assert client.get("/full/kept").expect(200).body == b"k" * 100_000
        assert client.get("/full", query="restype=container&comp=list").status == 200
        disk.space(None)
        deadline = time.monotonic() + 10
        while client.put("/full/after", b"again").status != 201:
            assert time.monotonic() < deadline, "space is back, writes are not"
        crew.start()
        time.sleep(0.5)
        crew.end()
        assert crew.verify() == 0
        print(f"-- figure full-disk: {number} writes, seed {SEED}, refused with "
              f"{sorted(refusals)}, {crew.acknowledged} acknowledged ones there")  # fmt: skip
        server.kill()
        server.start()
        assert crew.verify() == 0


def test_no_descriptors_left_and_then_some(monkeypatch):
    """A quarter is for files: whoever is connected is served though nobody else gets in."""
    command = " ".join(["prlimit", "--nofile=160:160", *server_command()])
    monkeypatch.setenv("ZAFFRE_BINARY", command)
    with Server() as server:
        client = Client(server.url)
        client.create_container("few")
        client.put("/few/b", b"x").expect(201)
        with contextlib.ExitStack() as stack:
            for _ in range(400):
                crowd = stack.enter_context(socket.socket())
                crowd.setblocking(False)  # most of them wait outside
                crowd.connect_ex((server.host, server.port))
            wait_until(lambda: len(os.listdir(f"/proc/{server.pid}/fd")) >= 120)
            for number in range(200):
                client.put(f"/few/{number}", b"y" * 70_000, retry=False).expect(201)
                assert client.get("/few/b", retry=False).expect(200).body == b"x"
        wait_until(lambda: Client(server.url).get("/few/b").status == 200)
        print("-- figure descriptors: 400 connections, seed none, with room for 120; 400 requests served")


def test_files_that_cannot_be_opened_are_refused_and_opened_later():
    with Server() as server:
        client = Client(server.url)
        client.create_container("few")
        client.put("/few/kept", b"x").expect(201)
        before = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (8, before[1]))
        for number in range(50):
            assert client.get("/few/kept").expect((200, 500, 503)).status
            client.put(f"/few/{number}", os.urandom(3 * MIB)).expect((201, 409, 500, 503))
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, before)
        for number in range(50):
            client.put(f"/few/{number}", b"after").expect(201)
            assert client.get(f"/few/{number}").expect(200).body == b"after"
        assert client.get("/few/kept").expect(200).body == b"x"


@pytest.mark.parametrize("killed", [False, True], ids=["stopped", "killed"])
def test_the_clock_goes_back_an_hour(tmp_path, killed):
    """What was written is an hour ahead of the machine's clock when the server starts again."""
    with Server("--test-controls", location=str(tmp_path)) as server:
        client = Client(server.url)
        client.create_container("clock")
        Controls(server.console_url).advance("1h")
        for name in ("held", "expired", "b"):
            client.put(f"/clock/{name}", b"x").expect(201)
        client.lease("/clock/expired", "acquire", duration=15, proposed=LEASE).expect(201)
        Controls(server.console_url).advance("16s")
        client.lease("/clock/held", "acquire", duration=60, proposed=LEASE).expect(201)
        last = client.put("/clock/b", b"y").expect(201)
        assert client.head("/clock/expired").headers["x-ms-lease-state"] == "expired"
        server.kill() if killed else server.stop()
        server.start()
        client = Client(server.url)
        assert client.head("/clock/expired").headers["x-ms-lease-state"] == "expired", "revived"
        assert client.head("/clock/held").headers["x-ms-lease-state"] == "leased"
        before = parsedate_to_datetime(last.headers["last-modified"])
        seen = {last.etag}
        for _ in range(20):
            new = client.put("/clock/b", b"z").expect(201)
            now = parsedate_to_datetime(new.headers["last-modified"])
            assert now >= before and new.etag not in seen, "time went back"
            before, _ = now, seen.add(new.etag)
        # The lease has its minute left, not an hour more.
        Controls(server.console_url).advance("61s")
        assert client.head("/clock/held").headers["x-ms-lease-state"] == "expired"
        print(f"-- figure clock-back: 20 writes rising, seed none, {'killed' if killed else 'stopped'}")
