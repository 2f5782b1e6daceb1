"""Finds what pages say to run, and runs it as a reader would: one shell per page, in a fresh clone.

Every fence names a language. `sh` is run, `sh server` is started and stays until the page ends,
`sh not-run: <reason>` is not run; `python run` and `js run` are whole programs. Must never run a
command that differs from what is written: only the programs behind the names are prepared.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = ROOT / "target" / "test-env"
FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1[ ]*$", re.M | re.S)
READY = "SMB service is successfully listening"
# One of them builds the Rust samples.
BLOCK_SECONDS = 300
LANGUAGES = {"text", "python", "js", "rust", "ini", "yaml", "sh"}
# What `cargo` means in the clone: the tree is built already, and a program of it is what runs.
CARGO = """#!/bin/bash
case "$*" in
"run --release" | "run --release -- "*)
    shift 2
    [ "${1:-}" = -- ] && shift
    exec zaffre "$@" ;;
"run --manifest-path samples/concurrency/Cargo.toml"*)
    shift 3
    export CARGO_TARGET_DIR="$TREE/target/samples"
    exec "$REAL_CARGO" run --quiet --locked --manifest-path "$TREE/samples/concurrency/Cargo.toml" "$@" ;;
"install --locked --path crates/zaffre")
    # The real thing, in the tree that is built, but not optimised: linking a release takes minutes.
    exec "$REAL_CARGO" install --quiet --locked --profile dev --path "$TREE/crates/zaffre" \
        --root "$HOME/.cargo" ;;
esac
echo "tests/suites/docs/pages.py does not know: cargo $*" >&2
exit 1
"""


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    how: str
    text: str

    @property
    def runs(self) -> bool:
        programs = self.language in ("python", "js") and self.how == "run"
        return programs or (self.language == "sh" and not self.how.startswith("not-run"))


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "samples" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    found = []
    for match in FENCE.finditer(text):
        language, _, how = match[2].strip().partition(" ")
        line = text.count("\n", 0, match.start()) + 1
        found.append(Block(str(page.relative_to(ROOT)), line, language, how.strip(), match[3]))
    return found


def clone(to: Path) -> None:
    """A fresh clone of what is committed, and on top of it what is changed here."""
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(to)], check=True)
    listed = ["git", "-C", str(ROOT), "ls-files", "-z", "--modified", "--others", "--exclude-standard"]
    changed = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    for name in filter(None, changed.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)


def node_folder() -> str:
    own = list((ENVIRONMENT / "node-runtime").glob("node_modules/*/bin"))
    return str(own[0]) if own else ""


class Reader:
    """Somebody who reads a page and types what it says."""

    def __init__(self, tree: Path, home: Path, binary: str, venv: Path) -> None:
        self.tree, self.home = tree, home
        self.started: list[subprocess.Popen] = []
        self.groups: list[int] = []
        self.programs = home / "bin"
        self.programs.mkdir(parents=True)
        self.program("cargo", CARGO)
        (self.programs / "zaffre").symlink_to(binary)
        places = [str(self.programs), str(venv / "bin"), node_folder(), os.environ["PATH"]]
        self.environment = {
            **os.environ,
            "HOME": str(home),
            "PATH": ":".join(filter(None, places)),
            "TREE": str(ROOT),
            "REAL_CARGO": shutil.which("cargo") or "cargo",
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(Path.home() / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
            "npm_config_cache": str(Path.home() / ".npm"),
            "npm_config_prefer_offline": "true",
            "npm_config_audit": "false",
            "npm_config_fund": "false",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_ROOT_USER_ACTION": "ignore",
        }

    def program(self, name: str, text: str) -> None:
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)

    def read(self, page: list[Block]) -> int:
        """Runs a page's blocks in order; what one exports, the next one has."""
        kept = self.home / "exported"
        kept.write_text("")
        ran = 0
        for block in page:
            if not block.runs:
                continue
            ran += 1
            if block.how == "server":
                self.serve(block)
            elif block.language == "sh":
                script = f"set -e\n. {kept}\n{block.text}\nexport -p > {kept}\n"
                self.run(block, ["bash", "-c", script])
            elif block.language == "python":
                self.run(block, ["python3", "-c", block.text])
            else:
                self.run(block, ["node", "-e", block.text])
        return ran

    def run(self, block: Block, command: list[str]) -> None:
        log = self.home / "block.log"
        # A file, not a pipe: a block may leave a server behind that keeps its output open.
        with open(log, "w") as output:
            process = subprocess.Popen(
                command, cwd=self.tree, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        try:
            code = process.wait(BLOCK_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 0)
            self.groups.append(process.pid)
        assert code == 0, f"{block.page}:{block.line}\n{block.text}\n{log.read_text()}"

    def serve(self, block: Block) -> None:
        log = self.home / f"server-{len(self.started)}.log"
        with open(log, "w") as output:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {block.text.strip()}"], cwd=self.tree, env=self.environment,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self.started.append(process)
        deadline = time.monotonic() + 60
        while READY not in log.read_text():
            where = f"{block.page}:{block.line}"
            assert process.poll() is None, f"{where}\n{log.read_text()}"
            assert time.monotonic() < deadline, f"{where}: no server\n{log.read_text()}"
            time.sleep(0.02)

    def end(self) -> None:
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(20)
        for group in self.groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
