"""The machine's clock as one server sees it, which a test can set while it runs.

Never touches the clock of the machine: others use it.
"""

from __future__ import annotations

import os
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")


class MachineClock:
    """Set for servers that are started with `env`."""

    def __init__(self, folder: Path) -> None:
        self.file, library = folder / "clock", folder / "clock.so"
        self.set(0)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE)], check=True)
        self.env = {"LD_PRELOAD": str(library), "ZAFFRE_TEST_CLOCK": str(self.file)}

    def set(self, seconds: int) -> None:
        """So far from the real time."""
        self.offset = seconds
        handle = os.open(self.file, os.O_CREAT | os.O_WRONLY)
        os.pwrite(handle, struct.pack("=q", seconds), 0)
        os.close(handle)
