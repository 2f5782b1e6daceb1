"""Turns the clock of a Zaffre server and makes requests fail, from Python tests.

Copy this file into your project; it needs nothing but the standard library. The server must run
with --test-controls.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from contextlib import contextmanager


class Controls:
    """The test controls of one server."""

    def __init__(self, console: str = "http://127.0.0.1:10080") -> None:
        self.console = console.rstrip("/")

    def _ask(self, method: str, path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.console + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            raise RuntimeError(f"{refused.code}: {refused.read().decode()}") from None

    # -- the clock ----------------------------------------------------------------------------

    def clock(self) -> dict:
        """What the server's clock shows."""
        return self._ask("GET", "/test/clock")

    def freeze(self) -> dict:
        """Stops the clock."""
        return self._ask("POST", "/test/clock", {"action": "freeze"})

    def advance(self, by: str | float) -> dict:
        """Turns the clock forward: "15s", "2m", "7d", or seconds."""
        return self._ask("POST", "/test/clock", {"action": "advance", "by": by})

    def resume(self) -> dict:
        """Lets the clock go on."""
        return self._ask("POST", "/test/clock", {"action": "resume"})

    @contextmanager
    def frozen(self):
        """The clock stands inside the `with` block."""
        self.freeze()
        try:
            yield self
        finally:
            self.resume()

    # -- faults -------------------------------------------------------------------------------

    def faults(self) -> list[dict]:
        """All rules, with how many requests each has seen and hit."""
        return self._ask("GET", "/test/faults")["faults"]

    def add_fault(self, action: str, **rule) -> int:
        """Adds a rule: action busy, internal, condition, reset or delay; service, operation,
        container, nth, times, when, delay_ms. Returns its id."""
        return self._ask("POST", "/test/faults", {"action": action, **rule})["id"]

    def remove_fault(self, fault: int) -> None:
        self._ask("DELETE", f"/test/faults/{fault}")

    def clear_faults(self) -> None:
        self._ask("DELETE", "/test/faults")

    @contextmanager
    def fault(self, action: str, **rule):
        """The rule holds inside the `with` block."""
        added = self.add_fault(action, **rule)
        try:
            yield self
        finally:
            self.remove_fault(added)
