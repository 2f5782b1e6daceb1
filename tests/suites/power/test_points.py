"""Every write operation of every service, with the power lost or a call failing on its way.

Each has a box of its own, so that several are under way at once: then batches of commits are cut,
too. Afterwards each did happen, as it does undisturbed, or did not: the box is as it was before.
"""

from __future__ import annotations

import http.client
import itertools
import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

from harness import Server
from harness.operations import CALLS, KEEP_SHARES, PROPERTIES, SETTINGS, Box, Call, kinds_in_code
from harness.power import PowerDisk
from harness.state import scrubbed, seen

SEED = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))
PASSES = int(os.environ.get("ZAFFRE_POINT_PASSES", "4"))
AT_ONCE = 6
WRITES = [call for call in CALLS if call.changes]
# Operations of the enums that change nothing one could see, each with why.
NO_WRITES = {
    ("blob", "Batch"): "its parts are operations of their own",
    ("table", "GetServiceStats"): "reads",
    ("file", "CreatePermission"): "makes a key for what the client has",
    ("file", "ForceCloseHandles"): "no handle is open",
}
serial = itertools.count(1)


def view(box: Box, call: Call) -> list[str]:
    """Without the service's properties, which others change, unless it is about them."""
    return [line for line in seen(box)
            if call.kind == "SetServiceProperties" or "StorageServiceProperties" not in line]  # fmt: skip


def prepared(server: Server, call: Call) -> Box:
    box = Box(server, call.service, f"point{next(serial):05d}")
    box.prepare(call)
    return box


def perform(box: Box, call: Call) -> int:
    """The status, or 0 when there was no answer."""
    headers = {name: box.fill(value) for name, value in call.headers.items()}
    try:
        return box.client.send(call.method, box.fill(call.path), box.fill(call.query), headers,
                               box.fill(call.body), retry=False).status  # fmt: skip
    except (OSError, http.client.HTTPException):
        return 0


def undisturbed(server: Server, disk: PowerDisk) -> tuple[dict[int, list[str]], int]:
    """What each leads to, and how many changing calls of the disk one takes at most."""
    Box(server, "file", "").key("PUT", "/", PROPERTIES, {}, KEEP_SHARES).expect(202)
    after, most = {}, 0
    for index, call in enumerate(WRITES):
        box = prepared(server, call)
        before, _ = disk.calls()
        assert perform(box, call) in call.good, call
        most = max(most, disk.calls()[0] - before)
        after[index] = scrubbed(view(box, call), box.name)
    return after, most


def test_every_write_operation_in_the_code_is_here():
    readers = ("Get", "List", "Query", "Find", "Peek", "Preflight", "Abort", "SetBlobExpiry")
    writers = {(s, k) for s, k in kinds_in_code() if not k.startswith(readers)}
    missing = writers - {(c.service, c.kind) for c in WRITES} - set(NO_WRITES)
    assert missing <= {("blob", "UndeleteBlob")}, f"no crash points of {missing}"


def test_crash_points_and_failing_calls():
    choose = random.Random(SEED)
    cases = {"cut": 0, "fail": 0}
    happened = 0
    with PowerDisk() as disk, Server(*words(), location=f"{disk.path}/data") as server:
        reference, most = undisturbed(server, disk)
        order = list(range(len(WRITES)))
        for number in range(PASSES):
            choose.shuffle(order)
            for start in range(0, len(order), AT_ONCE):
                chosen = order[start : start + AT_ONCE]
                boxes = [prepared(server, WRITES[index]) for index in chosen]
                before = [view(box, WRITES[i]) for box, i in zip(boxes, chosen, strict=True)]
                kind = "fail" if number % 4 == 3 else "cut"
                mode = choose.choice(["none", "prefix", "random"])
                what = f"cut {mode} {choose.getrandbits(32)}" if kind == "cut" else "fail"
                disk.plan(choose.randrange(most * 2), what)
                with ThreadPoolExecutor(AT_ONCE) as pool:
                    calls = [WRITES[index] for index in chosen]
                    statuses = list(pool.map(perform, boxes, calls))
                if kind == "cut":
                    disk.cut(mode, choose.getrandbits(32))
                server.kill()
                disk.on()
                server.start()
                for box, index, status, old in zip(boxes, chosen, statuses, before, strict=True):
                    call = WRITES[index]
                    box = again(server, box)
                    wanted = reference[index]
                    now, done = settled(box, call, old, wanted)
                    assert done or (status not in call.good and now == old), (
                        f"{call}, {what}: answered {status}\n{differences(old, now, wanted)}"
                    )
                    happened += done
                    cases[kind] += 1
    total = sum(cases.values())
    print(
        f"-- figure points: {total} operations interrupted, seed {SEED}, {cases['cut']} by power "
        f"losses and {cases['fail']} by failing calls, {happened} had happened, "
        f"{len(WRITES)} requests of every write operation, up to {most} changing calls each"
    )
    assert total >= PASSES * len(WRITES), f"only {total}"
    assert 0 < happened < total, "the points were all before or all after"


def settled(box: Box, call: Call, old: list[str], wanted: list[str]) -> tuple[list[str], bool]:
    """What is there, and whether it happened; a copy that was begun goes on after the start."""
    deadline = time.monotonic() + 10
    while True:
        now = view(box, call)
        done = scrubbed(now, box.name) == wanted
        if done or now == old or time.monotonic() > deadline:
            return now, done
        time.sleep(0.02)


def differences(old: list[str], now: list[str], wanted: list[str]) -> str:
    rows = zip(old, now, wanted, strict=False)
    return "\n".join(f"before {a[:500]}\nnow    {b[:500]}\nwanted {c[:500]}" for a, b, c in rows if a != b)


def again(server: Server, box: Box) -> Box:
    """The same box through the server that came after."""
    other = Box(server, box.service, box.name)
    other.values = box.values
    return other


def words() -> tuple[str, ...]:
    return tuple(word for line in SETTINGS for word in ("--setting", line))
