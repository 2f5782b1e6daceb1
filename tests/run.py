#!/usr/bin/env python3
"""Runs every client suite against the release binary; installs the clients it needs first.

    python3 tests/run.py [--only NAME]... [--beside | --alone] [--prepare] [--binary PATH] [--list]

Clients live in target/test-env and are installed again only when their pins change. Never relies
on clients that happen to be on the machine, and never writes into the source tree.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import os
import platform
import random
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace
from pathlib import Path

from harness import secrets

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
ENVIRONMENT = ROOT / "target" / "test-env"
TRACES = ENVIRONMENT / "traces"
COMPILED = ENVIRONMENT / "pycache"  # what Python compiles when it imports it, never the source tree
NODE_MAJOR = 20
NODE_PACKAGE = "22.23.3"
AZURITE_PACKAGE = "3.37.0"
SUITE_SECONDS = 900
FETCH_TRIES = 4
FETCH_PAUSE = 15
REASONS = 5  # failed tests of a suite that say why
REASON_LINES = 12  # the last ones of what each says
REASON_WIDTH = 200


@dataclass(frozen=True)
class Suite:
    """`needs`: which client environment; `at least` is a floor, so a gutted suite fails.

    `settings` are those of the server that JavaScript suites get. The servers of a `traced` suite log
    at TRACE, and what they logged is searched for secrets.
    """

    name: str
    needs: str
    paths: tuple[str, ...]
    at_least: int
    settings: tuple[str, ...] = ()
    traced: bool = False  # see OWN_SERVERS and MEASURED


SUITES = (
    Suite("python", "venv", ("suites/sdk",), 209),
    Suite("js", "node", ("blob-*.test.mjs",), 67),
    Suite("pages", "venv", ("suites/pages",), 90),
    Suite("protection", "venv", ("suites/protection",), 137),
    Suite("js-protection", "node", ("protection.test.mjs",), 6,
          ("rehydration-seconds=1", "version-immutability=true", "encryption-scopes=red,blue",
           "container-retention-days=7")),
    Suite("service", "venv", ("suites/service",), 175),
    Suite("history", "venv", ("suites/history",), 18),
    Suite("js-history", "node", ("history.test.mjs",), 5),
    Suite("legacy", "venv", ("suites/legacy/test_wire_versions.py",), 45),
    Suite("legacy-2018", "venv-2018", ("suites/legacy/test_client_2018.py",), 12),
    Suite("legacy-2014", "venv-2014", ("suites/legacy/test_client_2014.py",), 11),
    Suite("legacy-2019", "venv-2019", ("suites/legacy/test_tables_2019.py",), 12),
    Suite("rclone", "rclone", ("suites/rclone",), 7),
    Suite("tables", "venv", ("suites/tables",), 1800),
    Suite("article", "venv", ("suites/article",), 70),
    Suite("access", "venv", ("suites/access",), 2500),
    Suite("tokens", "venv+node", ("suites/tokens",), 38),
    Suite("races", "venv", ("suites/races",), 24),
    Suite("kill", "venv", ("suites/kill",), 6),
    Suite("power", "venv+power", ("suites/power",), 13),
    Suite("abuse", "venv+power", ("suites/abuse",), 16),
    Suite("wire", "venv", ("suites/wire",), 62),
    Suite("bad-input", "venv", ("suites/bad_input",), 315),
    Suite("copy", "venv", ("suites/copy",), 172),
    Suite("query", "venv", ("suites/query",), 22),
    Suite("tags", "venv", ("suites/tags",), 28),
    Suite("table", "venv", ("suites/table_service",), 157),
    Suite("table-js", "node", ("table-*.test.mjs",), 7),
    Suite("queue", "venv", ("suites/queue",), 440),
    Suite("queue-js", "node", ("queue-*.test.mjs",), 10),
    Suite("samples", "venv+node", ("suites/samples",), 8),
    Suite("tools", "venv-tools", ("suites/tools",), 9),
    Suite("docs", "venv+node", ("suites/docs",), 28),
    Suite("az", "venv-az", ("suites/az",), 95),
    Suite("azurite", "venv+azurite", ("suites/azurite",), 4),
    Suite("packaging", "venv", ("suites/packaging",), 25),
    Suite("console", "venv", ("suites/console",), 50),
    Suite("file", "venv+node", ("suites/file",), 95),
    Suite("file-js", "node", ("file-*.test.mjs",), 12),
    Suite("smb", "venv-smb", ("suites/smb",), 140),
    Suite("cli", "venv+node", ("suites/cli",), 63),
)
# Suites whose servers are started by the commands they test, and say what those ask for.
OWN_SERVERS = frozenset("docs packaging".split())
# Suites whose servers log at TRACE only with --trace: they measure.
MEASURED = frozenset("kill power abuse".split())
# Suites that measure time, and those that build: they have the machine for themselves.
ALONE = frozenset("kill power abuse samples docs packaging".split())


def run(command: list[str | Path], tries: int = 1, **kw) -> None:
    for left in reversed(range(tries)):
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kw)
        if done.returncode == 0:
            return
        said = f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
        if left == 0:
            raise SystemExit(said)
        print(f"trying again: {said[-2000:]}", flush=True)
        time.sleep(FETCH_PAUSE)


def fetch(command: list[str | Path], **kw) -> None:
    """Runs what needs the network, which may be away for a moment."""
    run(command, tries=FETCH_TRIES, **kw)


def apt(*packages: str) -> None:
    """Installs Debian packages when that is ours to do; else says how."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise SystemExit(f"missing on this machine; run: apt-get install -y {' '.join(packages)}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    fetch(["apt-get", "update", "-qq"], env=environment)
    fetch(["apt-get", "install", "-y", "-qq", *packages], env=environment)


def apt_missing(*programs: str) -> None:
    """Installs what is not there; for programs that are called like their packages."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        apt(*missing)


def fresh(folder: Path, *pins: Path) -> bool:
    """True when `folder` was installed from exactly these pins; otherwise empties it."""
    digest = hashlib.sha256(b"".join(p.read_bytes() for p in pins)).hexdigest()
    stamp = folder / ".installed-from"
    if stamp.exists() and stamp.read_text() == digest:
        return True
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return False


def mark(folder: Path, *pins: Path) -> None:
    digest = hashlib.sha256(b"".join(p.read_bytes() for p in pins)).hexdigest()
    (folder / ".installed-from").write_text(digest)


def venv(requirements: str, folder_name: str) -> Path:
    pins = TESTS / requirements
    folder = ENVIRONMENT / folder_name
    python = folder / "bin" / "python"
    if fresh(folder, pins):
        return python
    probe = [sys.executable, "-c", "import ensurepip, venv"]
    if subprocess.run(probe, capture_output=True).returncode != 0:
        apt("python3-venv")
    run([sys.executable, "-m", "venv", folder])
    # Not compiled: of the CLI's 300 MB nearly nothing is ever imported; what is, see COMPILED.
    fetch([python, "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check",
         "-r", pins])  # fmt: skip
    mark(folder, pins)
    return python


def node() -> tuple[Path, Path]:
    """(node, folder with the client and the tests)."""
    if shutil.which("npm") is None:
        apt("nodejs", "npm")
    folder = ENVIRONMENT / "node"
    pins = (TESTS / "js" / "package.json", TESTS / "js" / "package-lock.json")
    found = shutil.which("node")
    major = 0
    if found:
        version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
        major = int(version.lstrip("v").split(".")[0] or 0)
    current = fresh(folder, *pins)
    if not current:
        for pin in pins:
            shutil.copy(pin, folder)
        fetch(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder)
    if major < NODE_MAJOR:
        arch = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
        own = ENVIRONMENT / "node-runtime"
        found = own / "node_modules" / f"node-linux-{arch}" / "bin" / "node"
        if not Path(found).exists():
            own.mkdir(parents=True, exist_ok=True)
            fetch(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts",
                 "--prefix", own, f"node-linux-{arch}@{NODE_PACKAGE}"])  # fmt: skip
    if not current:
        mark(folder, *pins)
    for test in (TESTS / "js").glob("*.mjs"):
        shutil.copy(test, folder)
    return Path(found), folder


def azurite() -> None:
    """The real Azurite and a Node that can run it."""
    arch = {"x86_64": "x64", "aarch64": "arm64"}[platform.machine()]
    folder = ENVIRONMENT / "azurite"
    pins = [f"azurite@{AZURITE_PACKAGE}", f"node-linux-{arch}@{NODE_PACKAGE}"]
    stamp = folder / ".installed-from"
    if stamp.exists() and stamp.read_text() == " ".join(pins):
        return
    if shutil.which("npm") is None:
        apt("nodejs", "npm")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fetch(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, *pins])
    stamp.write_text(" ".join(pins))


def powerfail() -> None:
    """The disk that loses power, from its own workspace."""
    run(["cargo", "build", "--locked", "--release", "--manifest-path", TESTS / "powerfail" / "Cargo.toml",
         "--target-dir", ROOT / "target" / "powerfail"])  # fmt: skip


@contextlib.contextmanager
def one_installer():
    """Two runs in one tree install one after the other."""
    ENVIRONMENT.mkdir(parents=True, exist_ok=True)
    with open(ENVIRONMENT / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def prepare(suites: list[Suite]) -> None:
    """Installs everything that these suites need, so that none of them waits for it."""
    for suite in suites:
        began = time.monotonic()
        command_for(suite, Path("unused"))
        seconds = time.monotonic() - began
        if seconds > 1:
            print(f"{suite.name:12} installed in {seconds:.1f} s", flush=True)


def command_for(suite: Suite, report: Path) -> tuple[list[str], Path]:
    with one_installer():
        return installed(suite, report)


def installed(suite: Suite, report: Path) -> tuple[list[str], Path]:
    if suite.needs == "node":
        binary, folder = node()
        # The JavaScript tests get a running server from the same harness as all others.
        python = venv("requirements.txt", "venv")
        return [str(python), str(TESTS / "serve.py"), str(binary), "--test",
                "--test-reporter=junit", f"--test-reporter-destination={report}",
                *sorted(str(p) for glob in suite.paths for p in folder.glob(glob))], folder  # fmt: skip
    if suite.needs == "venv+node":
        node()
    if suite.needs == "venv+azurite":
        azurite()
    if suite.needs == "venv+power":
        powerfail()
    if suite.name == "docs":
        apt_missing("curl", "rclone", "restic", "smbclient")
    if suite.name == "packaging" and shutil.which("buildah") is None:
        apt("buildah")
    if suite.name == "tools" and shutil.which("restic") is None:
        apt("restic")
    if suite.needs == "rclone" and shutil.which("rclone") is None:
        apt("rclone")
    if suite.needs == "venv-smb" and None in (shutil.which("smbclient"), shutil.which("smbtorture")):
        apt("smbclient", "samba-testsuite")
    year = suite.needs.removeprefix("venv-") if suite.needs.startswith("venv-") else ""
    tail = f"-{year}" if year else ""
    python = venv(f"requirements{tail}.txt", f"venv{tail}")
    options = ["-p", "no:cacheprovider", "-q", "--no-header", "--tb=short"]
    options += ["-o", "junit_logging=system-out", f"--junitxml={report}"]
    return [str(python), "-m", "pytest", *options, *suite.paths], TESTS


def findings(report: Path) -> list[str]:
    """What tests counted and want said: lines that begin with two hyphens."""
    if not report.exists():
        return []
    texts = [e.text or "" for e in ElementTree.parse(report).getroot().iter("system-out")]
    lines = (line.strip() for text in texts for line in text.splitlines())
    return [line[3:] for line in lines if line.startswith("-- ")]


def count(report: Path) -> tuple[int, int, list[str]]:
    """(passed, failed, the failed and why); nothing is optional, so skipped is failed."""
    if not report.exists():
        return 0, 1, ["(no report)"]
    passed, failed = 0, []
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        faults = [fault for tag in ("failure", "error", "skipped") for fault in case.iter(tag)]
        if faults:
            failed.append(reason(case.get("name", "?"), faults[0], len(failed)))
        else:
            passed += 1
    return passed, len(failed), failed


def reason(name: str, fault: ElementTree.Element, before: int) -> str:
    """Why a test failed: the machine that has the log may be gone when somebody asks."""
    if before >= REASONS:
        return name
    text = (fault.text or fault.get("message") or "").splitlines()
    return "\n        ".join([name, *(line[:REASON_WIDTH] for line in text[-REASON_LINES:])])


def search(suite: Suite) -> list[str]:
    """Secrets in what the suite's servers logged; none may be there."""
    files, size, found = secrets.found_in(TRACES)
    print(f"{'':12} figure secrets: {size} bytes of TRACE searched, seed none, {files} logs of "
          f"{suite.name}, {len(found)} secrets", flush=True)  # fmt: skip
    if size < secrets.LEAST_BYTES:
        found.append(f"(only {size} bytes of TRACE: nothing was shown)")
    shutil.rmtree(TRACES, ignore_errors=True)
    return found[:20]


def run_suite(suite: Suite, environment: dict[str, str]) -> tuple[int, int, list[str]]:
    reports = ENVIRONMENT / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    report = reports / f"{suite.name}.xml"
    log = reports / f"{suite.name}.log"
    report.unlink(missing_ok=True)
    command, folder = command_for(suite, report)
    environment = {**environment, "ZAFFRE_SETTINGS": " ".join(suite.settings)}
    if suite.traced:
        shutil.rmtree(TRACES, ignore_errors=True)
        TRACES.mkdir(parents=True)
        environment["ZAFFRE_TRACES"] = str(TRACES)
    began = time.monotonic()
    with open(log, "w") as output:
        try:
            done = subprocess.run(command, cwd=folder, env=environment, stdout=output,
                                  stderr=subprocess.STDOUT, timeout=SUITE_SECONDS)  # fmt: skip
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = -1
    passed, failed, names = count(report)
    if passed + failed < suite.at_least:
        failed += 1
        names.append(f"(only {passed + failed - 1} tests ran; the floor is {suite.at_least})")
    if code != 0 and failed == 0:
        failed, names = 1, [f"(the suite ended with code {code})"]
    secrets = search(suite) if suite.traced else []
    failed, names = failed + len(secrets), names + secrets
    seconds = time.monotonic() - began
    print(f"{suite.name:12} {passed:4} passed {failed:3} failed {seconds:6.1f} s", flush=True)
    for line in findings(report):
        print(f"    {line}", flush=True)
    for each in names:
        print(f"    FAILED {each}", flush=True)
    if failed:
        print(f"    see {log.relative_to(ROOT)}", flush=True)
    return passed, failed, names


@contextlib.contextmanager
def samples_beside(suites: list[Suite]):
    """Builds the Rust samples, if one needs them: two minutes of a core when nothing is there yet.

    That fits beside what mostly waits; whoever needs the samples builds them again, and so waits for
    this to end and sees its errors.
    """
    if not {"samples", "docs"} & {suite.name for suite in suites}:
        yield
        return
    manifest = ROOT / "samples" / "concurrency" / "Cargo.toml"
    command = ["nice", "-n", "19", "cargo", "build", "--locked", "--manifest-path", str(manifest)]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target" / "samples")}
    building = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        yield
    finally:
        building.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description="Client suites against the real binary")
    parser.add_argument("--only", action="append", metavar="NAME", help="run only this suite")
    parser.add_argument("--binary", metavar="PATH", help="default: target/release/zaffre")
    parser.add_argument("--trace", action="store_true", help="search the logs of all suites for secrets")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--beside", action="store_true", help="only suites that bear other work beside them")
    which.add_argument("--alone", action="store_true", help="only those that do not")
    parser.add_argument("--prepare", action="store_true", help="install what the suites need and stop")
    parser.add_argument("--list", action="store_true", help="print the suites and stop")
    options = parser.parse_args()
    if options.list:
        print("\n".join(suite.name for suite in SUITES))
        return 0
    unknown = set(options.only or ()) - {suite.name for suite in SUITES}
    if unknown:
        parser.error(f"no such suite: {', '.join(sorted(unknown))}")
    chosen = [suite for suite in SUITES if not options.only or suite.name in options.only]
    if options.beside or options.alone:
        chosen = [suite for suite in chosen if (suite.name in ALONE) == options.alone]
    if options.prepare:
        with samples_beside(chosen):
            prepare(chosen)
        return 0
    binary = options.binary or str(ROOT / "target" / "release" / "zaffre")
    if Path(binary).exists():
        binary = str(Path(binary).resolve())
    if not os.access(binary.split()[0], os.X_OK):
        raise SystemExit(f"{binary} is not there; run: cargo build --release")
    seed = os.environ.get("ZAFFRE_TEST_SEED") or str(random.SystemRandom().randrange(1 << 32))
    environment = {**os.environ, "ZAFFRE_BINARY": binary, "ZAFFRE_TEST_SEED": seed,
                   "PYTHONPYCACHEPREFIX": str(COMPILED), "PYTHONDONTWRITEBYTECODE": ""}  # fmt: skip
    print(f"binary {binary}, ZAFFRE_TEST_SEED={seed}", flush=True)
    began = time.monotonic()
    passed = failed = 0
    with samples_beside(chosen):
        for suite in chosen:
            quiet = OWN_SERVERS if options.trace else OWN_SERVERS | MEASURED
            suite = replace(suite, traced=suite.name not in quiet)
            good, bad, _ = run_suite(suite, environment)
            passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed ({time.monotonic() - began:.0f} s)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
