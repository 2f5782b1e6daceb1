"""Power loss for the whole server: its data is on a disk that forgets what was not synced.

The power goes while writers of all services are at work; the disk fails from that moment, the
server is killed, and starts again on the bytes that survived.
"""

from __future__ import annotations

import os
import random
import subprocess
import time

from harness import Server, SpawnFailed, server_command
from harness.power import PowerDisk
from harness.server import ANY_PORTS
from harness.writers import Crew

CYCLES = int(os.environ.get("ZAFFRE_POWER_CYCLES", "24"))
SEED = int(os.environ.get("ZAFFRE_TEST_SEED", "1"))
MODES = ("none", "prefix", "random", "random")


def check(location: str) -> None:
    checked = subprocess.run([*server_command(), "check", location], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_acknowledged_writes_survive_power_losses():
    choose = random.Random(SEED)
    lost = torn = names = unacknowledged = 0
    with PowerDisk() as disk, Server(location=f"{disk.path}/data") as server:
        crew = Crew(server, SEED)
        for cycle in range(CYCLES):
            crew.start(may_fail=True)
            time.sleep(choose.uniform(0.1, 0.5))
            loss = disk.cut(MODES[cycle % len(MODES)], SEED + cycle)
            server.kill()
            crew.join()
            disk.on()
            server.start()
            unacknowledged += crew.verify()
            lost, torn = lost + loss.dropped, torn + loss.torn
            names += loss.names_dropped
        assert server.stop() == 0
        check(server.location)
    print(
        f"-- figure power: {CYCLES} power losses, seed {SEED}, {crew.acknowledged} acknowledged "
        f"writes back, {unacknowledged} others whole, {lost} changes dropped, {torn} torn, "
        f"{names} names forgotten"
    )
    assert crew.acknowledged >= CYCLES * 20, f"only {crew.acknowledged}: too little happened"
    assert crew.least_of_a_kind() >= CYCLES, "a service did too little"
    assert lost + torn >= CYCLES // 2, "hardly anything was lost: the cuts proved nothing"


def test_the_power_goes_while_the_server_starts():
    """A start writes too: whatever it had not synced when the power went again is no loss."""
    choose = random.Random(SEED + 1)
    with PowerDisk() as disk, Server(location=f"{disk.path}/data") as server:
        crew = Crew(server, SEED + 1, threads=4, each=1)
        for cycle in range(max(3, CYCLES // 4)):
            crew.start(may_fail=True)
            time.sleep(choose.uniform(0.1, 0.3))
            disk.cut("random", SEED + cycle)
            server.kill()
            crew.join()
            disk.on()
            half_started(server.location, choose.uniform(0.0, 0.1))
            disk.cut("random", SEED + 1000 + cycle)
            disk.on()
            server.start()
            crew.verify()
        assert server.stop() == 0
        check(server.location)
    assert crew.acknowledged >= 100, f"only {crew.acknowledged}: too little happened"


def test_a_disk_that_lies_about_syncs_is_found_out():
    """The test of the test: with syncs that do nothing, acknowledged writes are missed."""
    for attempt in range(10):
        with PowerDisk() as disk, Server(location=f"{disk.path}/data") as server:
            crew = Crew(server, SEED + attempt, threads=4, each=1)
            disk.ask("lie")
            crew.start(may_fail=True)
            time.sleep(0.3)
            disk.cut("random", SEED + attempt)
            server.kill()
            crew.join()
            disk.on()
            try:
                server.start()
                crew.verify()
            except (AssertionError, SpawnFailed):
                return
    raise AssertionError("nothing was missed in ten losses")


def half_started(location: str, seconds: float) -> None:
    command = [*server_command(), *ANY_PORTS, "--location", location]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    process.kill()
    process.wait()
