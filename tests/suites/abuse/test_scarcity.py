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
from harness.clock import MachineClock
from harness.power import PowerDisk
from harness.signing import http_date
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


class Late(Client):
    """Signs at the time that the server's machine shows."""

    clock: MachineClock

    def signed_headers(self, method, path, query, headers, **kw):
        return super().signed_headers(method, path, query, {"x-ms-date": http_date(self.clock.offset), **headers}, **kw)


def states(client: Client) -> list[str]:
    return [client.head(f"/clock/{name}").headers["x-ms-lease-state"] for name in ("expired", "held", "broken")]


def test_the_clock_steps_back_an_hour_while_the_server_runs(tmp_path):
    """Nothing that was over comes back, nothing that is held comes free, and stamps go on rising."""
    clock = MachineClock(tmp_path)
    with Server("--test-controls", location=str(tmp_path / "data"), env=clock.env) as server:
        client, queue = Late(server.url), Late(server.queue_url)
        client.clock = queue.clock = clock
        controls = Controls(server.console_url)
        client.create_container("clock")
        for name in ("expired", "held", "broken", "b"):
            client.put(f"/clock/{name}", b"x").expect(201)
        queue.send("PUT", "/clock").expect(201)
        message = "<QueueMessage><MessageText>m</MessageText></QueueMessage>"
        for _ in range(2):
            queue.send("POST", "/clock/messages", "", {}, message).expect(201)
        hidden = "visibilitytimeout=60"
        first = queue.send("GET", "/clock/messages", hidden).expect(200).xml()[0].findtext("MessageId")
        client.lease("/clock/expired", "acquire", duration=15, proposed=LEASE).expect(201)
        client.lease("/clock/broken", "acquire", duration=60, proposed=LEASE).expect(201)
        client.send("PUT", "/clock/broken", "comp=lease", {"x-ms-lease-action": "break", "x-ms-lease-break-period": "10"})
        controls.advance("16s")
        client.lease("/clock/held", "acquire", duration=60, proposed=LEASE).expect(201)
        last = client.put("/clock/b", b"y").expect(201)
        assert states(client) == ["expired", "leased", "broken"]

        clock.set(-3600)
        assert Client(server.url).head("/clock/b").status == 403, "the machine's clock did not step"
        assert states(client) == ["expired", "leased", "broken"], "the past came back"
        assert client.put("/clock/held", b"z").code == "LeaseIdMissing"
        before, seen = parsedate_to_datetime(last.headers["last-modified"]), {last.etag}
        for _ in range(20):
            new = client.put("/clock/b", b"z").expect(201)
            now = parsedate_to_datetime(new.headers["last-modified"])
            assert now >= before and new.etag not in seen, "time went back"
            before, _ = now, seen.add(new.etag)
        # The first message stays hidden for what is left of its minute, and no longer.
        second = queue.send("GET", "/clock/messages", hidden).expect(200).xml()[0].findtext("MessageId")
        assert second != first and queue.send("GET", "/clock/messages", hidden).expect(200).xml()[:] == []
        controls.advance("45s")
        back = queue.send("GET", "/clock/messages", hidden + "&numofmessages=9").expect(200).xml()
        assert [found.findtext("MessageId") for found in back] == [first]
        assert states(client)[1] == "leased", "fourteen seconds are left"
        controls.advance("16s")
        assert states(client) == ["expired", "expired", "broken"]
        client.lease("/clock/expired", "acquire", duration=15, proposed=LEASE).expect(201)
        # And back to where it was: an hour ahead is no reason either.
        clock.set(0)
        assert states(client) == ["leased", "expired", "broken"]
        newest = client.put("/clock/b", b"w").expect(201)
        assert parsedate_to_datetime(newest.headers["last-modified"]) >= before and newest.etag not in seen
        print("-- figure clock-back: 20 writes rising, seed none, while the server ran")
