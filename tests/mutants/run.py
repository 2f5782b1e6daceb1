#!/usr/bin/env python3
"""Tries every mutant of the rules and of authentication: does a test notice it?

    python3 tests/mutants/run.py --tool PATH [--shard K/N] [--only REGEX] [--jobs N]

cargo-mutants says what the mutants are; they are built together (see switched.py) and tried one by
one, each until its first failing test: first the tests next to it, then the others, from the
cheapest on. What cannot be switched, such as a constant, is built by itself. The verdicts are
written as cargo-mutants writes its own, to target/mutants/mutants.out. Never writes into the source
tree, and never calls a mutant noticed when the tests fail without it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import select
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from switched import SWITCH, VARIABLE, Mutant, Source, lines_of

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "target" / "mutants"
TREE = PLACE / "tree"
CRATES = {"zaffre-domain": "crates/domain", "zaffre-auth": "crates/auth"}
# Cheap ones first; with an order among the tests of one binary.
TESTS = {
    "zaffre-domain": (("zaffre_domain",), ("spec_tables",), ("algebra",)),
    "zaffre-auth": (("zaffre_auth",), ("auth", "--skip", "mutations::", "--skip", "random::"),
                    ("auth", "mutations::", "random::")),
}
ENVIRONMENT = {
    **os.environ,
    "CARGO_TARGET_DIR": str(PLACE / "build"),
    "CARGO_PROFILE_DEV_DEBUG": "0",
    "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
    "PROPTEST_MAX_SHRINK_ITERS": "0",
    # Functions with many mutants have large frames.
    "RUST_MIN_STACK": str(128 << 20),
}
# Of the processor, which is shared; far more than any of the tests takes.
TEST_SECONDS = 120
MEMORY_BYTES = 6 << 30
# Errors that take away mutants come in a few waves: names, types, borrows.
MOST_BUILDS = 12


@dataclass
class Build:
    """What one build made, and which mutants stood in its way."""

    programs: dict[str, str]
    unviable: set[int]
    constant: set[str]
    other: list[str]


def put(path: Path, text: str) -> None:
    """Writes only what differs, so that cargo builds no more than it has to."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def copy_tree() -> None:
    """The tracked files of today, without the lints: a mutant may leave something unused."""
    listed = subprocess.check_output(
        ["git", "ls-files", "-co", "--exclude-standard", "Cargo.*", "crates", "spec", "tests", "xtask"],
        cwd=ROOT, text=True)
    for name in listed.splitlines():
        source = ROOT / name
        if not source.is_file() or name.startswith(tuple(f"{c}/src/" for c in CRATES.values())):
            continue
        content = source.read_bytes()
        if name in {f"{crate}/Cargo.toml" for crate in CRATES.values()}:
            content = content.replace(b"[lints]\nworkspace = true\n", b"")
        target = TREE / name
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def read_sources(mutants: list[Mutant]) -> dict[str, Source]:
    """Every source file of the crates, with the mutants in it."""
    found = {}
    for crate in CRATES.values():
        for path in sorted((ROOT / crate / "src").rglob("*.rs")):
            name = str(path.relative_to(ROOT))
            own = [mutant for mutant in mutants if mutant.file == name]
            found[name] = Source(path.read_text(), own)
    return found


def write_sources(sources: dict[str, Source], left_out: set[int]) -> dict[str, dict[int, int]]:
    """Writes them with switches; which mutant each line belongs to, by file."""
    lines = {}
    for name, source in sources.items():
        text = source.switched(left_out)
        if name.endswith("src/lib.rs"):
            text += SWITCH
        put(TREE / name, text)
        lines[name] = lines_of(text)
    return lines


def build(crates: list[str], lines: dict[str, dict[int, int]]) -> Build:
    """Builds their tests; an error in a mutant's line means that it does not compile."""
    packages = [word for package in crates for word in ("-p", package)]
    done = subprocess.run(
        ["cargo", "test", "--locked", *packages, "--lib", "--tests", "--no-run", "--message-format",
         "json"], cwd=TREE, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    made = Build({}, set(), set(), [])
    for line in done.stdout.splitlines():
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("executable") and message["profile"]["test"]:
            made.programs[message["target"]["name"]] = message["executable"]
        error = message.get("message", {})
        if message.get("reason") != "compiler-message" or error["level"] != "error":
            continue
        number = blamed(error["spans"], lines)
        constant = re.match(r"cannot call non-const \S+(?: \S+)? `([^`]+)`", error["message"])
        if number is not None:
            made.unviable.add(number)
        elif constant:
            made.constant.add(constant[1])
        else:
            made.other.append(error["rendered"])
    if done.returncode != 0:
        made.programs = {}
        made.other.append(done.stderr[-4000:])
    return made


def blamed(spans: list[dict], lines: dict[str, dict[int, int]]) -> int | None:
    """The mutant in whose lines an error is, seen through macros."""
    for span in sorted(spans, key=lambda span: not span["is_primary"]):
        while span:
            number = lines.get(span["file_name"], {}).get(span["line_start"])
            if number is not None:
                return number
            span = (span.get("expansion") or {}).get("span")
    return None


def build_all(sources: dict[str, Source], mutants: list[Mutant]) -> tuple[dict[str, str], set[int], set[int]]:
    """The test programs, the mutants that do not compile, and those to be built by themselves."""
    unviable: set[int] = set()
    alone = {mutant.number for mutant in mutants if not mutant.fits_a_switch()}
    for _ in range(MOST_BUILDS):
        made = build(list(CRATES), write_sources(sources, unviable | alone))
        print(f"    built: {len(made.programs)} programs, {len(made.unviable)} do not compile", flush=True)
        if made.programs:
            return made.programs, unviable, alone
        if not made.unviable and not made.constant:
            sys.exit("".join(made.other))
        unviable |= made.unviable
        for mutant in mutants:
            function = (mutant.function or {}).get("function_name", "")
            if any(name == function or name.endswith(f"::{function}") for name in made.constant):
                alone.add(mutant.number)
    sys.exit(f"no build without errors after {MOST_BUILDS}")


def limits() -> None:
    """What a mutant may take of the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (TEST_SECONDS, TEST_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(10)


def run_tests(program: str, words: tuple[str, ...], crate: str, number: int) -> str:
    """`ok`, `failed` or `timeout`; stops at the first test that fails."""
    child = subprocess.Popen(
        [program, "--test-threads", "1", *words], cwd=TREE / crate, preexec_fn=limits,
        env={**ENVIRONMENT, VARIABLE: str(number)}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout is not None
    seen, idle = b"", time.monotonic() + 10 * TEST_SECONDS
    try:
        while time.monotonic() < idle:
            if not select.select([child.stdout], [], [], 5)[0]:
                continue
            more = os.read(child.stdout.fileno(), 1 << 16)
            seen += more
            if re.search(rb"^test \S+.* \.\.\. FAILED", seen, re.M):
                return "failed"
            if not more:
                ended = child.wait()
                return "ok" if ended == 0 else "timeout" if ended in (-24, -9) else "failed"
        return "timeout"
    finally:
        child.kill()
        child.wait()


def try_it(mutant: Mutant, programs: dict[str, str]) -> str:
    """`caught`, `missed` or `timeout`."""
    crate = CRATES[mutant.package]
    module = mutant.file.removeprefix(f"{crate}/src/").removesuffix(".rs").removesuffix("/mod")
    near = (TESTS[mutant.package][0][0], module.replace("/", "::") + "::")
    for program, *words in (near, *TESTS[mutant.package]):
        verdict = run_tests(programs[program], tuple(words), crate, mutant.number)
        if verdict != "ok":
            return "caught" if verdict == "failed" else verdict
    return "missed"


def try_alone(mutant: Mutant, sources: dict[str, Source]) -> str:
    """Builds it by itself, in a tree without switches."""
    source = sources[mutant.file]
    put(TREE / mutant.file, source.changed(mutant))
    try:
        programs = build([mutant.package], {}).programs
        return try_it(mutant, programs) if programs else "unviable"
    finally:
        put(TREE / mutant.file, source.text)


def wanted(arguments: argparse.Namespace, mutants: list[Mutant]) -> list[Mutant]:
    """Those that were asked for."""
    part, parts = (int(word) for word in arguments.shard.split("/"))
    if not 0 <= part < parts:
        sys.exit(f"there is no shard {arguments.shard}")
    return [m for m in mutants[part::parts] if re.search(arguments.only, m.name)]


def main() -> None:
    """See the top of this file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tool", required=True, help="where cargo-mutants is")
    parser.add_argument("--shard", default="0/1", help="the K-th of N parts, spread over all")
    parser.add_argument("--only", default="", help="those whose names match")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    packages = [word for package in CRATES for word in ("-p", package)]
    listed = json.loads(subprocess.check_output(
        [arguments.tool, "mutants", *packages, "--list", "--json"], cwd=ROOT))
    mutants = wanted(arguments, [Mutant.of(n, one) for n, one in enumerate(listed, 1)])
    if not mutants:
        sys.exit("there is no such mutant")
    print(f"    {len(mutants)} of {len(listed)} mutants", flush=True)
    copy_tree()
    sources = read_sources(mutants)
    programs, unviable, alone = build_all(sources, mutants)
    for package in sorted({mutant.package for mutant in mutants}):
        for program, *words in TESTS[package]:
            if run_tests(programs[program], tuple(words), CRATES[package], 0) != "ok":
                sys.exit(f"{program} fails without any mutant")
    switched = [m for m in mutants if m.number not in unviable | alone]
    verdicts = {number: "unviable" for number in unviable}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for mutant, verdict in zip(switched, pool.map(lambda m: try_it(m, programs), switched)):
            verdicts[mutant.number] = verdict
            if verdict != "caught":
                print(f"    {verdict}: {mutant.name}", flush=True)
    for name, source in sources.items():
        put(TREE / name, source.text)
    for mutant in mutants:
        if mutant.number in alone:
            verdict = verdicts[mutant.number] = try_alone(mutant, sources)
            print(f"    {verdict}, by itself: {mutant.name}", flush=True)
    output = PLACE / "mutants.out"
    output.mkdir(parents=True, exist_ok=True)
    for verdict in ("caught", "missed", "timeout", "unviable"):
        names = [m.name for m in mutants if verdicts[m.number] == verdict]
        (output / f"{verdict}.txt").write_text("".join(f"{name}\n" for name in names))


if __name__ == "__main__":
    main()
