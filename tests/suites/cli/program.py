"""Running the program as a person does."""

from __future__ import annotations

import subprocess
from pathlib import Path

from harness import server_command


def run(
    *args: str, cwd: Path, env: dict | None = None, timeout: float = 20, user: int | None = None
):
    """A start that is expected to end by itself."""
    return subprocess.run(
        [*server_command(), *args],
        cwd=cwd, env=env, capture_output=True, text=True, timeout=timeout, user=user,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
