"""smbtorture: every name in smb/smbtorture.txt passes. The list only grows.

The server does what Windows does beyond Azure: named streams, the sparse attribute, enforced
descriptors, sessions on several connections. Many names need one of them. Suites that wait for
time-outs for minutes run when ZAFFRE_TORTURE=all; the others always do.
"""

from __future__ import annotations

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness import Server

from .conftest import BEYOND_AZURE, Share

LIST = Path(__file__).resolve().parents[2] / "smb" / "smbtorture.txt"
SECONDS = 400
TOGETHER = 8
# Minutes each, nearly all of them spent waiting.
LONG = {"lease", "oplock", "replay", "compound_find", "timestamps", "secleak"}
# It tries wrong keys without end, which slows down everybody at its address.
ALONE = {"secleak"}
# The others of its suite leave a file that its directory does not let be deleted.
FIRST = {"smb2.delete-on-close-perms.READONLY"}
# What is off unless asked for.
FLAGS = (*BEYOND_AZURE, "--smbMultichannel", "--smbHideUnreadable", "hideunread")
# What another program is expected to answer, where the two differ.
OPTIONS = {"getinfo": ("-T", "samba3")}


def suites() -> dict[str, list[str]]:
    """The names that pass, by suite."""
    found: dict[str, list[str]] = {}
    for line in sorted(LIST.read_text().splitlines(), key=lambda line: line not in FIRST):
        if line and not line.startswith("#"):
            # A suite may be a part of one: what it is told apart by is all but the last word.
            found.setdefault(".".join(line.split(".")[1:-1]) or line.split(".")[1], []).append(line)
    return found


def chosen() -> list[str]:
    everything = os.environ.get("ZAFFRE_TORTURE") == "all"
    return sorted(suite for suite in suites() if everything or suite not in LONG)


def run(share: Share, suite: str, names: list[str], options=()) -> tuple[list[str], str]:
    """(names that passed, what was said)"""
    command = ["smbtorture", share.unc, "-p", str(share.port), "-U",
               f"{share.account}%{share.key}", *OPTIONS.get(suite, ()), *options, *names]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        said = done.stdout + done.stderr
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode(errors="replace") + "\nit took too long"
    passed = set(re.findall(r"^success: (.*)$", said, re.MULTILINE))
    return [n for n in names if n.rsplit(".", 1)[-1] in passed], said


def share_name(prefix: str, suite: str) -> str:
    return f"{prefix}-{suite}".replace("_", "-").replace(".", "-")


@pytest.fixture(scope="module")
def server():
    with Server(*FLAGS) as running:
        yield running
        assert running.alive(), f"the server died\n{running.output()[-4000:]}"


@pytest.fixture(scope="module")
def outcomes(server):
    """All suites at once, each on a share of its own: most of their time they wait."""
    shares = {suite: Share(server, share_name("torture", suite)) for suite in chosen()}
    Share(server, "hideunread")  # acls.ACCESSBASED looks for a share of this name.
    together = [suite for suite in chosen() if suite not in ALONE]
    with ThreadPoolExecutor(TOGETHER) as pool:
        ran = pool.map(lambda s: run(shares[s], s, suites()[s]), together)
        found = dict(zip(together, ran, strict=True))
    # Many names measure time: one that fails in the crowd is asked once more, alone, and told.
    for suite, (passed, said) in found.items():
        for at, name in enumerate(sorted(set(suites()[suite]) - set(passed))):
            share = Share(server, share_name("again", f"{suite}-{at}"))
            again, more = run(share, suite, [name])
            print(f"-- smbtorture: {name} failed in the crowd, {'passed' if again else 'failed'} alone")
            passed, said = passed + again, said + more
        found[suite] = (passed, said)
    for suite in chosen():
        if suite in ALONE:
            found[suite] = run(shares[suite], suite, suites()[suite])
    return found


@pytest.mark.parametrize("suite", chosen())
def test_suite(server, outcomes, suite):
    passed, said = outcomes[suite]
    failed = set(suites()[suite]) - set(passed)
    assert not failed, f"{sorted(failed)}\n{said[-6000:]}"
    assert server.alive()


def test_the_list_does_not_shrink():
    count = sum(map(len, suites().values()))
    print(f"-- smbtorture: {count} names pass, of which {sum(len(suites()[s]) for s in chosen())} ran")
    assert count >= FLOOR


# Raised whenever names are added.
FLOOR = 415
