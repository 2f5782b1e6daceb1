"""Runs the real binary: spawn, wait for its readiness line, stop, kill, restart.

Never guesses that the server is up: readiness is the line that users' tools wait for.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

READY = re.compile(
    r"Azurite (\w+) service is successfully listening at (https?|smb)://([^\s/]+):(\d+)"
)
CONSOLE = re.compile(r"Zaffre console is successfully listening at (http://\S+)")
SERVICES = ("Blob", "Queue", "Table", "File", "SMB")
# Flags that let the system choose every port.
ANY_PORTS = ("--blobPort", "0", "--queuePort", "0", "--tablePort", "0",
             "--filePort", "0", "--smbPort", "0", "--consolePort", "0")  # fmt: skip
# Names a folder that servers are to write everything to that they log.
TRACES = "ZAFFRE_TRACES"
_serial = itertools.count(1)
START_SECONDS = 30.0
STOP_SECONDS = 20.0


class SpawnFailed(RuntimeError):
    """The process ended, or stayed silent, before its readiness line."""


def server_command() -> list[str]:
    """The command under test: ZAFFRE_BINARY, or the release build of this tree."""
    default = Path(__file__).resolve().parents[2] / "target" / "release" / "zaffre"
    return shlex.split(os.environ.get("ZAFFRE_BINARY", str(default)))


@contextlib.contextmanager
def temp_dir():
    """A data directory that disappears with the test."""
    path = tempfile.mkdtemp(prefix="zaffre-test-")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


class Server:
    """One server process. `location` is kept over restarts."""

    def __init__(
        self,
        *args: str,
        location: str | None = None,
        env: dict[str, str] | None = None,
        port: int = 0,
    ) -> None:
        self.owns_location = location is None
        self.location = location or tempfile.mkdtemp(prefix="zaffre-test-")
        self.args = list(args)
        self.env = env or {}
        self.asked_port = port
        self.process: subprocess.Popen[str] | None = None
        self.scheme, self.host, self.port = "http", "127.0.0.1", 0
        self.ports: dict[str, int] = {}
        self.console_url = ""
        self.stdout: list[str] = []
        self.stderr: list[str] = []
        self._ready = threading.Event()
        self._readers: list[threading.Thread] = []

    # -- life cycle ---------------------------------------------------------------------------

    def start(self, *, timeout: float = START_SECONDS) -> Server:
        """Spawns the process and returns when it says that it listens."""
        self.stdout, self.stderr = [], []
        self.ports = {}
        self._ready.clear()
        command = [
            *server_command(),
            "--blobPort",
            str(self.asked_port),
            *ANY_PORTS[2:],
            "--location",
            self.location,
            *self.args,
        ]
        environment = {**os.environ, **self.env}
        if TRACES in os.environ and "--debug" not in self.args:
            log, _ = next(_serial), environment.setdefault("ZAFFRE_LOG", "trace")
            command += ["--debug", f"{os.environ[TRACES]}/{os.getpid()}-{log}.log"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            # A location that the server is to make is not there yet.
            cwd=self.location if os.path.isdir(self.location) else None,
            text=True,
            errors="replace",
        )
        self._readers = [
            threading.Thread(target=self._drain, args=(self.process.stdout, self.stdout)),
            threading.Thread(target=self._drain, args=(self.process.stderr, self.stderr)),
        ]
        for reader in self._readers:
            reader.daemon = True
            reader.start()
        deadline = time.monotonic() + timeout
        while not self._ready.wait(0.005):
            if self.process.poll() is not None:
                self._join()
                if self._ready.is_set():
                    break
                raise SpawnFailed(
                    f"exit {self.process.returncode} before readiness\n{self.output()}"
                )
            if time.monotonic() > deadline:
                self.kill()
                raise SpawnFailed(f"no readiness line in {timeout} s\n{self.output()}")
        return self

    def _drain(self, pipe, lines: list[str]) -> None:
        for line in pipe:
            lines.append(line.rstrip("\n"))
            if console := CONSOLE.search(line):
                self.console_url = console[1]
            match = READY.search(line)
            if match:
                self.ports[match[1]] = int(match[4])
                if match[1] == "Blob":
                    self.scheme, self.host, self.port = match[2], match[3], int(match[4])
                if all(service in self.ports for service in SERVICES):
                    self._ready.set()
        pipe.close()

    def _join(self) -> None:
        for reader in self._readers:
            reader.join(timeout=5)

    def stop(self, *, timeout: float = STOP_SECONDS) -> int:
        """SIGTERM, then the exit code; a server that will not end is killed and reported."""
        if self.process is None:
            return 0
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(
                f"no exit within {timeout} s of SIGTERM\n{self.output()}"
            ) from None
        self._join()
        return code

    def kill(self) -> None:
        """kill -9: nothing in the process gets a last word."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self._join()

    def close(self) -> None:
        """Ends the process whatever its state and removes a directory that is ours."""
        if self.process is not None and self.process.poll() is None:
            self.kill()
        if self.owns_location:
            shutil.rmtree(self.location, ignore_errors=True)

    def __enter__(self) -> Server:
        return self.start() if self.process is None else self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- observation --------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def rss_kib(self) -> int:
        """Resident memory now, from the kernel."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        raise AssertionError("no VmRSS line")

    def output(self) -> str:
        return "\n".join([*self.stdout, *self.stderr])

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def table_url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.ports['Table']}"

    @property
    def queue_url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.ports['Queue']}"

    @property
    def file_url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.ports['File']}"
