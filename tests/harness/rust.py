"""The Rust samples, built once per run with their own lock file.

Must never share packages with the server: they are a workspace of their own.
"""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = ROOT / "samples" / "concurrency" / "Cargo.toml"
TARGET = ROOT / "target" / "samples"
BUILD_SECONDS = 900


@functools.cache
def built() -> Path:
    """The folder with the programs."""
    command = ["cargo", "build", "--locked", "--quiet", "--manifest-path", str(MANIFEST)]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=BUILD_SECONDS, env=environment
    )
    assert done.returncode == 0, done.stderr
    return TARGET / "debug"


def rust_program(name: str) -> Path:
    return built() / name
