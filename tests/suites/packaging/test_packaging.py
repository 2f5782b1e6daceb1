"""What is installed beside the binary, and the names it goes by."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from harness.server import ANY_PORTS, READY, server_command

ROOT = Path(__file__).resolve().parents[3]
PACKAGING = ROOT / "packaging"


def run(*words: str) -> str:
    done = subprocess.run(
        [*server_command(), *words], capture_output=True, text=True, timeout=30, check=True
    )
    return done.stdout


def started(command: list[str], cwd: Path, until: str) -> list[str]:
    """Starts a program, reads its lines up to one that contains `until`, ends it."""
    process = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines = []
    deadline = time.monotonic() + 30
    try:
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if until in line or time.monotonic() > deadline:
                break
    finally:
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=30)
    assert process.returncode == 0, "\n".join([*lines, rest])
    assert until in lines[-1], "\n".join([*lines, rest])
    return lines


def test_the_version_says_what_was_built():
    said = run("--version")
    assert re.fullmatch(r"zaffre \d+\.\d+\.\d+ \((\w+ \d{4}-\d\d-\d\d|unknown commit), [\w-]+\)\n", said)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "elvish", "powershell"])
def test_completions(shell, tmp_path):
    text = run("completions", shell)
    for word in ("blobPort", "test-controls", "clock", "completions"):
        assert word in text
    if shell == "bash":
        script = tmp_path / "zaffre"
        script.write_text(text)
        ask = f'source {script}; COMP_WORDS=(zaffre clo); COMP_CWORD=1; _zaffre zaffre clo zaffre; echo "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, timeout=30)
        assert "clock" in done.stdout.split(), done.stderr


def test_the_manual():
    text = run("man")
    assert re.search(r"^\.TH zaffre 1 ", text, re.M)
    for heading in ("NAME", "SYNOPSIS", "OPTIONS", "SUBCOMMANDS"):
        assert f".SH {heading}" in text or f'.SH "{heading}"' in text
    assert r"\-\-blobPort" in text


@pytest.mark.parametrize(
    ("name", "services"),
    [("azurite", {"Blob", "Queue", "Table"}), ("azurite-blob", {"Blob"}),
     ("azurite-queue", {"Queue"}), ("azurite-table", {"Table"})],
)  # fmt: skip
def test_azurites_names_start_what_azurite_would(name, services, tmp_path):
    program = tmp_path / name
    program.symlink_to(shutil.which(server_command()[0]) or server_command()[0])
    # The flags of the service alone, as people give them; the connection strings come last.
    ports = [word for service in sorted(services) for word in (f"--{service.lower()}Port", "0")]
    command = [str(program), *server_command()[1:], "-l", str(tmp_path / "data"), "-L", *ports]
    lines = started(command, tmp_path, "Connection string:")
    ready = {match[1] for line in lines if (match := READY.search(line))}
    assert ready == services
    assert not any("console" in line for line in lines)
    assert set(re.findall(r"(\w+)Endpoint=", lines[-1])) == services


def test_a_console_can_be_asked_for_under_azurites_name(tmp_path):
    program = tmp_path / "azurite-blob"
    program.symlink_to(shutil.which(server_command()[0]) or server_command()[0])
    command = [str(program), *server_command()[1:], "--blobPort", "0", "--consolePort", "0"]
    lines = started(command, tmp_path, "Connection string:")
    assert any(line.startswith("Zaffre console is") for line in lines)


def test_the_units_command_line_is_taken(tmp_path):
    text = (PACKAGING / "systemd" / "zaffre.service").read_text()
    line = re.search(r"^ExecStart=\S+ (.*)$", text, re.M)[1]
    (tmp_path / "accounts").write_text("mine = a2V5\n")
    words = line.replace("${STATE_DIRECTORY}", str(tmp_path / "state"))
    words = words.replace("${CREDENTIALS_DIRECTORY}", str(tmp_path)).split()
    command = [*server_command(), *words, *ANY_PORTS]
    started(command, tmp_path, "Table service is successfully listening")
    keys = re.findall(r"^(\w+)=", text, re.M)
    assert {"ExecStart", "DynamicUser", "StateDirectory", "NoNewPrivileges"} <= set(keys)


def test_the_examples_are_well_formed():
    compose = (PACKAGING / "compose" / "compose.yaml").read_text()
    assert "condition: service_healthy" in compose and "/data" in compose
    source = (PACKAGING / "testcontainers" / "zaffre_container.py").read_text()
    compile(source, "zaffre_container.py", "exec")
    # Every flag that the examples use is one that the program knows.
    known = run("--help")
    for flag in re.findall(r"--[a-zA-Z][\w-]+", source.split("KEY =")[1]):
        assert flag in known, flag


def test_health(tmp_path):
    from harness import Server

    def asked(url: str) -> subprocess.CompletedProcess:
        command = [*server_command(), "health", "--console", url]
        return subprocess.run(command, capture_output=True, text=True, timeout=30)

    with Server() as server:
        url = server.console_url
        deadline = time.monotonic() + 10
        while (said := asked(url)).returncode != 0:
            assert time.monotonic() < deadline, said.stderr
        assert said.stdout == "ok\n"
        server.stop()
    said = asked(url)
    assert said.returncode == 1 and url in said.stderr


def test_the_binary_is_small():
    """What the release profile makes is held to 25 MB; a debug build says nothing about it."""
    size = Path(shutil.which(server_command()[0]) or server_command()[0]).stat().st_size
    print(f"-- the binary under test has {size / 1e6:.1f} MB")
    if "release" in server_command()[0]:
        assert size <= 25_000_000


def test_access_logs(tmp_path):
    from harness import Client, Server

    for form in ("combined", "json"):
        log = tmp_path / form
        with Server("--accessLog", str(log), "--accessLogFormat", form) as server:
            client = Client(server.url)
            client.create_container("logged")
            assert server.stop() == 0
        (line,) = log.read_text().splitlines()
        if form == "json":
            said = json.loads(line)
            assert said["service"] == "blob" and said["operation"] == "CreateContainer"
            assert said["status"] == 201 and said["method"] == "PUT" and said["duration_us"] > 0
        else:
            assert re.fullmatch(
                r'127\.0\.0\.1 - - \[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d \+0000\] '
                r'"PUT /\S+ HTTP/1\.1" 201 \d+ "-" "[^"]*"',
                line,
            ), line
