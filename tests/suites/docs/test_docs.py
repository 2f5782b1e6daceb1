"""The first five minutes of somebody new: a fresh clone, and every command of the documentation."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from pages import ENVIRONMENT, LANGUAGES, ROOT, Reader, blocks, clone, pages

from harness.server import server_command

PAGES = {str(page.relative_to(ROOT)): blocks(page) for page in pages()}
PORTS = (10_000, 10_001, 10_002, 10_003, 10_080, 10_445)


def runnable() -> list[str]:
    return [name for name, page in PAGES.items() if any(block.runs for block in page)]


def wait_for_ports() -> None:
    """The pages use the ports that the program uses; whoever has them now is nearly done."""
    deadline = time.monotonic() + 60
    for port in PORTS:
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) != 0:
                    break
            assert time.monotonic() < deadline, f"port {port} must be free for this test"
            time.sleep(0.2)


@pytest.mark.parametrize("name", PAGES)
def test_every_fence_says_what_it_is(name):
    for block in PAGES[name]:
        where = f"{name}:{block.line}"
        assert block.language in LANGUAGES, f"{where}: ```{block.language} is none of {LANGUAGES}"
        if block.language == "sh":
            reason = block.how.removeprefix("not-run:").strip()
            known = block.how in ("", "server") or (block.how.startswith("not-run:") and reason)
            assert known, f"{where}: write ```sh, ```sh server or ```sh not-run: <reason>"


@pytest.fixture(scope="module")
def tree():
    """The clone in which the pages are read, one after the other."""
    with tempfile.TemporaryDirectory(prefix="zaffre-docs-") as folder:
        tree = Path(folder) / "zaffre"
        clone(tree)
        # What npm would fetch, in the versions that are pinned; links, so that it takes no time.
        for part in ("node_modules", "package.json", "package-lock.json"):
            subprocess.run(["cp", "-al", ENVIRONMENT / "node" / part, tree / part], check=True)
        yield tree


@pytest.mark.parametrize("name", runnable())
def test_what_a_page_says_works(name, tree, tmp_path):
    wait_for_ports()
    reader = Reader(tree, tmp_path / "home", server_command()[0], Path(sys.prefix))
    try:
        ran = reader.read(PAGES[name])
    finally:
        reader.end()
    print(f"-- {name}: {ran} blocks run")


def test_a_clone_has_everything_that_is_compiled():
    """What the compiler read for the binary is all in the repository."""
    listing = next(
        (path for path in (Path(f"{server_command()[0]}.d"), ROOT / "target/release/zaffre.d",
                           ROOT / "target/debug/zaffre.d") if path.exists()), None)  # fmt: skip
    assert listing, "cargo writes zaffre.d beside the binary"
    words = listing.read_text().split(":", 1)[1].split()
    read = [Path(os.path.normpath(word)) for word in words]
    sources = {path.relative_to(ROOT) for path in read if path.is_relative_to(ROOT)}
    sources = {str(path) for path in sources if path.parts[0] not in ("target", ".git")}
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    known = set(subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split("\0"))
    assert len(sources) > 500, f"{listing} names {len(sources)} files"
    assert not sources - known, sources - known
