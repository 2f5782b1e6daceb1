"""A mounted disk that can lose its power and its space; the layer is built from tests/powerfail.

Never skipped: a machine that cannot mount it fails the test.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAYER = ROOT / "target" / "powerfail" / "release" / "zaffre-powerfail"


@dataclass(frozen=True)
class Loss:
    """What became of what was not synced: changes of bytes and of names."""

    kept: int
    torn: int
    dropped: int
    names_kept: int
    names_dropped: int


class PowerDisk:
    """One disk, mounted at `path`."""

    def __enter__(self) -> PowerDisk:
        self.path = tempfile.mkdtemp(prefix="zaffre-power-")
        self.process = subprocess.Popen([str(LAYER), self.path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)  # fmt: skip
        assert self.process.stdout is not None
        answer = self.process.stdout.readline().strip()
        assert answer == "mounted", "cannot mount: this needs /dev/fuse and root"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            subprocess.run(["umount", "-l", self.path])
        os.rmdir(self.path)

    def ask(self, line: str) -> list[str]:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        assert answer and answer[0] != "wrong:", f"{line}: {answer}"
        return answer

    def cut(self, mode: str, seed: int) -> Loss:
        """The power goes, now; everything fails until it is `on` again."""
        return Loss(*map(int, self.ask(f"cut {mode} {seed}")[1:]))

    def plan(self, after: int, what: str) -> None:
        """At the changing call after so many more: `cut MODE SEED`, or `fail`."""
        self.ask(f"plan {after} {what}")

    def calls(self) -> tuple[int, bool]:
        """Changing calls so far, and whether what was planned is still to come."""
        _, calls, planned = self.ask("calls")
        return int(calls), planned == "1"

    def on(self) -> None:
        self.ask("on")

    def space(self, limit: int | None) -> None:
        self.ask(f"space {'none' if limit is None else limit}")

    def used(self) -> int:
        return int(self.ask("state")[1])
