"""smbtorture: every name in smb/smbtorture.txt passes. The list only grows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

LIST = Path(__file__).resolve().parents[2] / "smb" / "smbtorture.txt"
SECONDS = 240


def suites() -> dict[str, list[str]]:
    """The names that pass, by suite."""
    found: dict[str, list[str]] = {}
    for line in LIST.read_text().splitlines():
        if line and not line.startswith("#"):
            found.setdefault(line.split(".")[1], []).append(line)
    return found


def run(share, names: list[str], *options: str) -> tuple[list[str], str]:
    """(names that did not pass, what was said)"""
    done = subprocess.run(
        ["smbtorture", share.unc, "-p", str(share.port), "-U", f"{share.account}%{share.key}",
         *options, *names],
        capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    said = done.stdout + done.stderr
    passed = set(re.findall(r"^success: (.*)$", said, re.MULTILINE))
    return [name for name in names if name.split(".", 2)[-1].split(".")[-1] not in passed], said


@pytest.mark.parametrize("suite", sorted(suites()))
def test_suite(share, suite):
    names = suites()[suite]
    failed, said = run(share, names)
    assert not failed, f"{failed}\n{said[-6000:]}"
    print(f"-- smb2.{suite}: {len(names)} passed")
    assert share.server.alive()


def test_the_list_does_not_shrink():
    assert sum(map(len, suites().values())) >= FLOOR


# Raised whenever names are added.
FLOOR = 1
