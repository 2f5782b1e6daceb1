"""Reads spec/*.csv and runs scripts that need time to pass, all of them side by side."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path

SPEC = Path(__file__).resolve().parents[3] / "spec"
A = "aaaaaaaa-1111-1111-1111-111111111111"
B = "bbbbbbbb-2222-2222-2222-222222222222"
C = "cccccccc-3333-3333-3333-333333333333"
IDS = {"A": A, "B": B, "C": C}
WORKERS = 8
# While a machine sets its clock right, a minute of the server's may be this much longer than ours: a
# lease of 15 seconds has not always ended when we have waited for 15.
DRIFT = 0.05

# A script yields how many seconds must pass before it goes on.
Script = Generator[float, None, None]


def rows(name: str) -> list[dict[str, str]]:
    """The cases of one table, as spec/README.md describes its format."""
    text = (SPEC / f"{name}.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    head, *body = [[cell.strip() for cell in line.split(",")] for line in lines]
    return [dict(zip(head, row, strict=True)) for row in body]


def label(row: dict[str, str], *columns: str) -> str:
    return " ".join(row[c] for c in columns).replace(" ", "_").replace(";", "")


class Timeline:
    """Runs many scripts at once on few threads, each step when its time has come.

    The longest script sets how long the whole takes, however many there are.
    """

    def __init__(self) -> None:
        self.due: list[tuple[float, int, str, Script]] = []
        self.serial = itertools.count()
        self.failures: dict[str, BaseException] = {}
        self.done: set[str] = set()
        self.open = 0
        self.changed = threading.Condition()

    def add(self, key: str, script: Script) -> None:
        heapq.heappush(self.due, (time.monotonic(), next(self.serial), key, script))
        self.open += 1

    def run(self) -> None:
        threads = [threading.Thread(target=self._work) for _ in range(WORKERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _work(self) -> None:
        while True:
            with self.changed:
                while self.open and (not self.due or self.due[0][0] > time.monotonic()):
                    pause = self.due[0][0] - time.monotonic() if self.due else 1.0
                    self.changed.wait(max(0.001, pause))
                if not self.open:
                    return
                _, _, key, script = heapq.heappop(self.due)
            try:
                wait = next(script)
            except StopIteration:
                self._finish(key, None)
            except BaseException as error:
                self._finish(key, error)
            else:
                with self.changed:
                    entry = (time.monotonic() + wait, next(self.serial), key, script)
                    heapq.heappush(self.due, entry)
                    self.changed.notify_all()

    def _finish(self, key: str, error: BaseException | None) -> None:
        with self.changed:
            self.open -= 1
            self.done.add(key)
            if error is not None:
                self.failures[key] = error
            self.changed.notify_all()

    def check(self, key: str) -> None:
        """Raises what the script raised."""
        assert key in self.done, f"{key} did not run"
        if key in self.failures:
            raise self.failures[key]


STATES = {row["state"]: row["script"] for row in rows("lease_states")}


class Leased:
    """One blob or container and the lease steps that the tables speak of."""

    def __init__(self, client, path: str, container: bool) -> None:
        self.client, self.path, self.container = client, path, container

    def act(self, action: str, client=None):
        """One lease request, not yet judged."""
        verb, *given = action.split()
        fields: dict[str, str] = {}
        if verb == "acquire":
            if given[0] != "-":
                fields["proposed"] = IDS[given[0]]
            fields["duration"] = given[1]
        elif verb in ("renew", "release"):
            fields["id"] = IDS[given[0]]
        elif verb == "change":
            fields["id"], fields["proposed"] = IDS[given[0]], IDS[given[1]]
        elif verb == "break" and given[0] != "-":
            fields["period"] = given[0]
        return (client or self.client).lease(self.path, verb, container=self.container, **fields)

    def steps(self, script: str) -> Script:
        """Runs a script; every step must succeed."""
        for step in (s.strip() for s in script.split(";")):
            if step == "-":
                continue
            if step in STATES:
                yield from self.steps(STATES[step])
            elif step.startswith("wait"):
                amount = step.split()[1]
                yield float(amount[:-2]) / 1000 if amount.endswith("ms") else float(amount) + DRIFT
            elif step == "write":
                query = "restype=container&comp=metadata" if self.container else "comp=metadata"
                self.client.send("PUT", self.path, query, {"x-ms-meta-w": "1"}).expect(200)
            else:
                self.act(step).expect((200, 201, 202))

    def headers(self) -> dict[str, str]:
        query = "restype=container" if self.container else ""
        return self.client.head(self.path, query=query).expect(200).headers

    def read_with(self, lease_id: str):
        query = "restype=container" if self.container else ""
        return self.client.get(self.path, {"x-ms-lease-id": lease_id}, query)

    def expect_state(self, state: str) -> None:
        found = self.headers()
        assert found["x-ms-lease-state"] == state, (found["x-ms-lease-state"], state)
        locked = state in ("leased", "breaking")
        assert found["x-ms-lease-status"] == ("locked" if locked else "unlocked")
        assert ("x-ms-lease-duration" in found) == (state == "leased")

    def expect_holder(self, state: str, holder: str) -> None:
        """The id that is stored shows in how reads with an id are refused."""
        kind = "Container" if self.container else "Blob"
        if state in ("leased", "breaking"):
            self.read_with(holder).expect(200)
            self.read_with(str_not(holder)).expect(412, f"LeaseIdMismatchWith{kind}Operation")
        elif state == "available":
            self.read_with(A).expect(412, f"LeaseNotPresentWith{kind}Operation")
        else:
            self.read_with(holder).expect(412, "LeaseLost")


def str_not(lease_id: str) -> str:
    return C if lease_id != C else B


def near(found: str, expected: str, slack: int = 2) -> bool:
    """Real time passes between steps, so a remaining time may be a little less, never more."""
    return int(expected) - slack <= int(found) <= int(expected)


Make = Callable[[str], Leased]
