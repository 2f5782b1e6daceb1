"""More than the server can do, and connections that only take up room: the others are served."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import time

import pytest
from controls import Controls

from harness import Client, Server
from harness.holders import drip, hold_idle
from harness.load import Load, percentile, signed

SECONDS = float(os.environ.get("ZAFFRE_LOAD_SECONDS", "6"))
IDLE, SLOW = 10_000, 1_000
ROOM, DELAY_MS = 16, 40
LEAST_GOOD = 0.8
# Noise of a machine with other work: below this, times are not compared.
NOISE_SECONDS = 0.025
MIB = 1024


@pytest.fixture
def small(client):
    client.create_container("load")
    client.put("/load/b", b"x" * 1024).expect(201)
    yield signed(client, "GET", "/load/b")
    client.send("DELETE", "/load", "restype=container").expect(202)


def test_twice_what_it_can_do_keeps_goodput_and_answers_the_rest_busy():
    """Each request takes a known time, so that what the server can do is known as well."""
    with Server("--requests-in-flight", str(ROOM), "--test-controls") as server:
        client = Client(server.url)
        client.create_container("load")
        client.put("/load/b", b"x" * 1024).expect(201)
        Controls(server.console_url).add_fault("delay", operation="GetBlob", times=0, delay_ms=DELAY_MS)
        request = signed(client, "GET", "/load/b")
        peak = asyncio.run(Load(server.url, request).closed(ROOM, SECONDS / 2))
        load = Load(server.url, request)
        good = asyncio.run(load.open(2 * peak, SECONDS))
        rss = server.rss_kib()
        print(
            f"-- figure overload: {sum(load.statuses.values())} requests, seed none, peak {peak:.0f}/s, "
            f"at twice that {good:.0f}/s good ({good / peak:.0%}), {load.statuses[503]} busy, "
            f"p99 {percentile(load.times, 0.99):.2f} s, {rss // MIB} MiB"
        )
        assert set(load.statuses) == {200, 503} and load.broken == 0, (load.statuses, load.broken)
        assert good >= LEAST_GOOD * peak, f"{good:.0f} of {peak:.0f} a second"
        assert load.statuses[503] >= peak, "hardly anything was refused: this was no overload"
        assert rss <= 256 * MIB + len(load.pool) * MIB
        assert Client(server.url).get("/load/b").expect(200).body == b"x" * 1024


def p99(server: Server, request: bytes) -> float:
    load = Load(server.url, request)
    asyncio.run(load.closed(4, SECONDS / 2))
    assert set(load.statuses) == {200} and load.broken == 0, (load.statuses, load.broken)
    assert len(load.times) >= 200, f"only {len(load.times)} requests"
    return percentile(load.times, 0.99)


@pytest.mark.parametrize(("what", "holder", "count"), [("idle", hold_idle, IDLE), ("slow", drip, SLOW)])
def test_connections_that_do_nothing_leave_the_others_alone(server, small, what, holder, count):
    before, empty = p99(server, small), server.rss_kib()
    context = multiprocessing.get_context("spawn")
    ready, end = context.Event(), context.Event()
    process = context.Process(target=holder, args=((server.host, server.port), count, ready, end))
    process.start()
    try:
        assert ready.wait(60), f"could not open {count} connections"
        # Noise of the machine only makes it slower: what is true stays so the next time.
        after = p99(server, small)
        for _ in range(3):
            if after <= max(2 * before, NOISE_SECONDS):
                break
            after = min(after, p99(server, small))
        rss = server.rss_kib()
    finally:
        end.set()
        process.join(30)
    print(
        f"-- figure {what}: {count} connections, seed none, p99 {before * 1000:.1f} ms before, "
        f"{after * 1000:.1f} ms beside them, {empty // MIB} MiB before, {rss // MIB} MiB"
    )
    assert after <= max(2 * before, NOISE_SECONDS), f"p99 from {before:.4f} to {after:.4f} s"
    assert rss <= 256 * MIB + count * 64, f"{rss // MIB} MiB"
    deadline = time.monotonic() + 30
    while len(os.listdir(f"/proc/{server.pid}/fd")) > 200:
        assert time.monotonic() < deadline, "descriptors of connections that are gone"
        time.sleep(0.1)
